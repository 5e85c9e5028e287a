"""Finds the names that more than one type of a crate has.

A type is a struct, enum, union, trait or alias that a file defines outside of any block. A name that stands twice tells a
reader nothing until the path is known, and a search for it finds both.
"""

TYPES = {"struct", "enum", "union", "trait", "type"}


def doubled(files):
    """Each such name, with the files whose types have it."""
    found = {}
    for file in files.values():
        for name, word in file.items.items():
            if word in TYPES:
                found.setdefault(name, []).append(str(file))
    return {name: places for name, places in sorted(found.items()) if len(places) > 1}
