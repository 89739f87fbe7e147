"""Text for LaTeX."""

SPECIAL = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
} | {sign: f"\\{sign}" for sign in "&%$#_{}"}


def escaped(text: str) -> str:
    r"""The text with LaTeX's special characters escaped.

    >>> escaped("pass^8 of a_b & 95%")
    'pass\\textasciicircum{}8 of a\\_b \\& 95\\%'
    """
    return "".join(SPECIAL.get(character, character) for character in text)
