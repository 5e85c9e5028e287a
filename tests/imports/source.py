"""Reads the program of a crate as text: its files, and in each file the modules, items, imports and `impl` blocks.

Comments, strings and items for tests are taken away first. What a macro writes is not seen.
"""

import re
from functools import cached_property

# Strings, raw strings, characters (not lifetimes) and comments: no path in them is an import.
NOISE = re.compile(
    r'r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\[^\']+|[^\'\\])\'|//[^\n]*|/\*.*?\*/', re.DOTALL
)
TEST = re.compile(r"#\[cfg\((?:test|all\(test)[^\n]*\]\s*(?:#\[[^\n]*\]\s*)*(?:pub(?:\([^)]*\))? )?(?:mod|use|fn|impl|struct|static|const)\b")
USE = re.compile(r"(?m)^\s*(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
MODULE = re.compile(r"(?m)^(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+);")
ITEM = re.compile(r"\b(struct|enum|union|trait|type|fn|const|static|macro_rules!)\s+(?:mut\s+)?(\w+)")
IMPL = re.compile(r"(?m)^\s*(?:unsafe\s+)?impl\b([^{;]*)\{")


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


def leaves(tree):
    """The paths of a `use` tree, each a list of words, with the name that each has in the file."""
    tree = tree.strip()
    if (brace := tree.find("{")) != -1:
        stem = [word.strip() for word in tree[:brace].split("::") if word.strip()]
        depth, start, parts = 0, brace + 1, []
        for at in range(brace + 1, len(tree)):
            if depth == 0 and tree[at] in ",}":
                parts.append(tree[start:at])
                start = at + 1
            depth += {"{": 1, "}": -1}.get(tree[at], 0)
        for part in filter(str.strip, parts):
            for path, name in leaves(part):
                path = stem + path
                yield (path[:-1], path[-2] if name == "self" else name) if path[-1] == "self" else (path, name)
        return
    path, _, name = tree.partition(" as ")
    path = [word.strip() for word in path.split("::")]
    yield path, name.strip() or path[-1]


class File:
    """One file of the program: `module` is the words of its path below the crate's root."""

    def __init__(self, path, module):
        self.path, self.module = path, module
        self.text = program(path.read_text())

    def __repr__(self):
        return "::".join(self.module) or "the root"

    @cached_property
    def children(self):
        return MODULE.findall(self.text)

    @cached_property
    def body(self):
        """The text without its imports."""
        return USE.sub("", self.text)

    @cached_property
    def items(self):
        """What the file itself defines outside of any block: the word before each name, by the name."""
        text, at, outside = self.body, 0, []
        while (brace := text.find("{", at)) != -1:
            outside.append(text[at:brace])
            at = block(text, brace)[1]
        outside.append(text[at:])
        return {name: word for word, name in ITEM.findall(" ; ".join(outside)) if name != "fn"}

    @cached_property
    def imports(self):
        """Of each imported name: the words of its path, from the root of its crate, and whether it is handed on."""
        found = {}
        for public, tree in USE.findall(self.text):
            for path, name in leaves(tree):
                found[name] = (self.absolute(path), bool(public))
        return found

    def absolute(self, path):
        """A path of this file from the root of the crate, as a tuple; one of another crate is None."""
        first, *rest = path
        if first == "crate":
            return tuple(rest)
        if first == "self":
            return (*self.module, *rest)
        if first == "super":
            at = self.module
            while path and path[0] == "super":
                at, path = at[:-1], path[1:]
            return (*at, *path)
        return (*self.module, *path) if first in self.children else None

    @cached_property
    def implementations(self):
        """Each `impl` block: the name of its type, and its text."""
        found = []
        for head in IMPL.finditer(self.text):
            # `impl<'a, T: Of<X>> Trait<Y> for Type<Z> where ...`
            words, inner = re.sub(r"->", "", head[1]), None
            while words != inner:
                inner, words = words, re.sub(r"<[^<>]*>", "", words)
            name = re.findall(r"\w+", re.split(r"\bwhere\b", words)[0].split(" for ")[-1])
            if name:
                found.append((name[-1], block(self.text, head.end() - 1)[0]))
        return found


def files_of(root):
    """The files of the program of a crate, from its root file on, by their modules."""
    found, open_ = {}, [(root, ())]
    while open_:
        path, module = open_.pop()
        file = found[module] = File(path, module)
        folder = path.parent if not module or path.name == "mod.rs" else path.with_suffix("")
        for child in file.children:
            places = [folder / f"{child}.rs", folder / child / "mod.rs"]
            if place := next((it for it in places if it.exists()), None):
                open_.append((place, (*module, child)))
    return dict(sorted(found.items()))
