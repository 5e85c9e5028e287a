#!/usr/bin/env python3
"""Holds each crate to its order: modules to their floors, files to no circle, types to names of their own.

    check.py CRATE...        a crate's folder; its root is src/lib.rs, else src/main.rs

Floors: the root names them in its documentation, top to bottom, each module of the root on one of them:

    //! Floors, top to bottom; a module imports only from floors below its own:
    //! * verdict
    //! * dependent, health

A module may import only from floors below its own, so no imports make a circle of modules. `use` trees and paths that
begin with `crate::` or with as many `super::` as lead to the root are followed.

Files: circles.py says what an arrow from file to file is, and finds the circles.

Names: doubled.py finds the names that more than one type of a crate has.

Tests are left out: no program rests on what a test looks at. All is read as text (source.py), so what a macro writes
is not seen. CIRCLES and DOUBLED list what is known and not mended yet; an exception that is no longer needed is an error.
"""

import re
import sys
from pathlib import Path

import circles
import doubled
from source import block, files_of, program

HEADING = "//! Floors, top to bottom"
# By crate, the modules below which circles of files are known.
CIRCLES = {}
# By crate, the names that more than one type has.
DOUBLED = {}
PATH = re.compile(r"\b(crate|(?:super::)*super)::(\{|\w+)")


def floors(root):
    """The floors that a root file declares, top to bottom, each a list of modules; empty where it declares none."""
    lines = iter(root.read_text().splitlines())
    if not any(line.startswith(HEADING) for line in lines):
        return []
    declared = []
    for line in lines:
        if not (bullet := re.fullmatch(r"//! \* (.+)", line)):
            break
        declared.append(re.findall(r"\w+", bullet[1]))
    return declared


def first_words(group):
    """The first word of each path in a `use` group: of `a::{b, c}, d` that is a and d."""
    while "{" in group:
        group = re.sub(r"\{[^{}]*\}", "", group)
    return re.findall(r"(?:^|,)\s*(\w+)", group)


def imports(text, depth):
    """The modules of the root that a file names whose own module lies `depth` below the root."""
    text, named = program(text), set()
    for path in PATH.finditer(text):
        way, word = path.groups()
        if way != "crate" and way.count("super") != depth:
            continue
        named.update(first_words(block(text, path.start(2))[0]) if word == "{" else [word])
    return named


def files(source):
    """Each file of a crate's program, with the module of the root that it belongs to and its depth below the root."""
    for file in sorted(source.rglob("*.rs")):
        parts = file.relative_to(source).with_suffix("").parts
        if parts in (("lib",), ("main",)) or "tests" in parts:
            continue
        parts = parts[:-1] if parts[-1] == "mod" else parts
        yield file, parts[0], len(parts)


def root_of(crate):
    return next(it for it in [crate / "src/lib.rs", crate / "src/main.rs"] if it.exists())


def complaints(crate):
    """What is wrong with the imports of one crate, a line each."""
    root = root_of(crate)
    declared = floors(root)
    floor = {module: at for at, modules in enumerate(declared) for module in modules}
    modules = set(re.findall(r"^(?:pub(?:\([^)]*\))? )?mod (\w+);", program(root.read_text()), re.MULTILINE))
    if modules and not declared:
        return [f"{root}: declares no floors; write them as {HEADING[4:]!r} in tests/imports/check.py shows"]
    found = [f"{root}: the module {it} is on no floor" for it in sorted(modules - floor.keys())]
    found += [f"{root}: there is no module {it} to stand on a floor" for it in sorted(floor.keys() - modules)]
    for file, module, depth in files(root.parent):
        for other in sorted(imports(file.read_text(), depth) & floor.keys() - {module}):
            if floor[other] <= floor.get(module, len(declared)):
                found.append(f"{file}: {module} imports {other}, which is not on a floor below it")
    return found


def circles_of(crate, known):
    """The circles of files of one crate, a line each, but for those below the modules that are `known` to have some."""
    files, found, left = files_of(root_of(crate)), [], set(known)
    for circle in circles.circles(circles.arrows(files)):
        below = [module for module in known if all(file[:1] == (module,) for file in circle)]
        left -= set(below)
        if not below:
            names = ", ".join(sorted(str(files[module].path) for module in circle))
            found.append(f"{crate}: {len(circle)} files lead to each other in a circle: {names}")
    return found + [f"{crate}: {it} has no circle of files any more; take it out of CIRCLES" for it in sorted(left)]


def doubled_in(crate, known):
    """The names that more than one type of one crate has, a line each, but for those that are `known`."""
    twice = doubled.doubled(files_of(root_of(crate)))
    found = [
        f"{crate}: {len(files)} types are called {name}, in {', '.join(files)}; say in each name what the type is"
        for name, files in twice.items()
        if name not in known
    ]
    return found + [f"{crate}: {it} is one type by now; take it out of DOUBLED" for it in sorted(set(known) - twice.keys())]


def main(crates):
    found = []
    for crate in map(Path, crates):
        found += complaints(crate) + circles_of(crate, CIRCLES.get(crate.name, [])) + doubled_in(crate, DOUBLED.get(crate.name, []))
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
