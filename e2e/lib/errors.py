"""What went wrong, in words for the person at the terminal."""


class E2EError(Exception):
    """A failure whose message alone says what to do; shown without a traceback."""
