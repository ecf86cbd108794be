"""What went wrong, as a message for the person at the terminal."""


class E2EError(Exception):
    """A failure whose message alone is enough to act on; shown without a traceback."""
