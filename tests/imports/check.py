#!/usr/bin/env python3
"""Holds the modules of each crate to the floors that its root file declares.

    check.py CRATE...        a crate's folder; its root is src/lib.rs, else src/main.rs

The root names its floors in its documentation, top to bottom, each module of the root on one of them:

    //! Floors, top to bottom; a module imports only from floors below its own:
    //! * verdict
    //! * dependent, health

A module may import only from floors below its own, so no imports make a cycle. Tests are left out: what a test looks
at is nobody's dependency. Read as text: comments and strings are taken away, then `use` trees and paths that begin with
`crate::` or with as many `super::` as lead to the root are followed. What a macro writes is not seen.
"""

import re
import sys
from pathlib import Path

HEADING = "//! Floors, top to bottom"
# Strings, raw strings, characters (not lifetimes) and comments: no path in them is an import.
NOISE = re.compile(
    r'r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\[^\']+|[^\'\\])\'|//[^\n]*|/\*.*?\*/', re.DOTALL
)
PATH = re.compile(r"\b(crate|(?:super::)*super)::(\{|\w+)")
TEST = re.compile(r"#\[cfg\((?:test|all\(test)[^\n]*\]\s*(?:#\[[^\n]*\]\s*)*(?:pub(?:\([^)]*\))? )?(?:mod|use|fn|impl|struct)\b")


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


def block(text, start):
    """What stands between the brace at or after `start` and the one that closes it, and where that ends."""
    begin, depth = text.find("{", start), 0
    for at in range(begin, len(text)):
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        if depth == 0:
            return text[begin + 1 : at], at + 1
    return text[begin + 1 :], len(text)


def program(text):
    """The text without what no import stands in: comments, strings, and items for tests."""
    text = NOISE.sub(" ", text)
    while found := TEST.search(text):
        end = text.find(";", found.end())
        brace = text.find("{", found.end())
        if brace != -1 and (end == -1 or brace < end):
            end = block(text, found.end())[1] - 1
        text = text[: found.start()] + text[end + 1 :]
    return text


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


def complaints(crate):
    """What is wrong with the imports of one crate, a line each."""
    root = next(it for it in [crate / "src/lib.rs", crate / "src/main.rs"] if it.exists())
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


def main(crates):
    found = [line for crate in crates for line in complaints(Path(crate))]
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
