"""Names of datastores that have a meaning of their own; this module loads nothing, so commands can mention them."""

SHARED = "shared"  # the store that all visitors may feed
