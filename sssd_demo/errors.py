"""The one family of errors that a visitor can cause."""


class UserError(Exception):
    """Something the user can mend. Its text is one clear sentence, safe to show on screen.

    The command line prints it on stderr and exits with 2; the app shows it as a message.
    """
