"""The app: what a visitor sees. Views are pure functions of a `Trace`; the core never imports this package."""
