"""Generated parts of documents, written by commands between two marks."""

from __future__ import annotations

import re


def between(text: str, name: str, inside: str, file: str) -> str:
    """Replace the text between the two marks of a name.

    Args:
        text: the whole document.
        name: name of the part.
        inside: the new part.
        file: name of the document, for the error.

    Raises:
        ValueError: the document does not contain these marks exactly once.
    """
    start, end = f"<!-- begin: {name} -->", f"<!-- end: {name} -->"
    pattern = re.compile(f"{re.escape(start)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"{file} must contain the marks {start} and {end} exactly once")
    return pattern.sub(lambda _: f"{start}\n\n{inside}\n\n{end}", text)
