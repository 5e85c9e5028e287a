"""Finds circles of files in a crate.

An arrow leads from a file to the file that defines what it names:
* by an import or a path, through every file that only hands the name on;
* by a method: inside of `impl T`, `self.x()` and `Self::x()` lead to the file that defines `x` of T, so a type whose
  methods are spread over several files has an order, too.

A file and its own folder are a special case: `foo.rs` declares the files of `foo/`, calls them, and defines what they
share. So an arrow from a file up to one of its parents is left out, and so is a parent's `pub use` of a name that the
parent does not use itself. All other arrows count, those of a parent down into its folder with them.
"""

import re

PATH = re.compile(r"(?<![\w:])(?:\w+::)+\w+")
OWN = re.compile(r"\b(?:self\s*\.\s*|Self::)(\w+)\s*(?:::<[^()]*>\s*)?\(")


def target(files, path, seen=()):
    """The file that defines what an absolute path names; None for a module, and for what is of no file here."""
    module = ()
    for at, word in enumerate(path):
        if (*module, word) in files:
            module = (*module, word)
            continue
        file = files[module]
        if word in file.items:
            return file
        if word in file.imports and (module, word) not in seen:
            onward = file.imports[word][0]
            return onward and target(files, onward + path[at + 1 :], (*seen, (module, word)))
        return None
    return None


def named(files, file):
    """The files that define what this one imports or names by a path."""
    found = set()
    for name, (path, public) in file.imports.items():
        handed_on = public and path and path[: len(file.module)] == file.module
        if path and not (handed_on and not re.search(rf"\b{name}\b", file.body)):
            found.add(target(files, path))
    for path in set(PATH.findall(file.body)):
        first, *rest = path.split("::")
        known = file.imports.get(first)
        absolute = known[0] and (*known[0], *rest) if known else file.absolute([first, *rest])
        if absolute:
            found.add(target(files, absolute))
    return found - {None}


def spread(files):
    """The types of the crate: for each, by the file that defines it and its name, the files that define each method."""
    types = {}
    for file in files.values():
        for name, text in file.implementations:
            if owner := home(files, file, name):
                methods = types.setdefault((owner.module, name), {})
                for method in set(re.findall(r"\bfn\s+(\w+)", text)):
                    methods.setdefault(method, set()).add(file.module)
    return types


def home(files, file, name):
    """The file that defines the type that is called `name` in this file."""
    if name in file.items:
        return file
    path = file.imports.get(name, (None, False))[0]
    return target(files, path) if path else None


def called(files, file, types):
    """The files that define the methods that this one calls on its own types."""
    found = set()
    for name, text in file.implementations:
        owner = home(files, file, name)
        methods = types.get((owner.module, name), {}) if owner else {}
        for method in set(OWN.findall(text)):
            places = methods.get(method, set())
            if file.module not in places:
                found |= {files[place] for place in places}
    return found


def arrows(files):
    """From the module of each file to those of the files that it stands on."""
    types = spread(files)
    graph = {}
    for module, file in files.items():
        others = {it.module for it in named(files, file) | called(files, file, types)}
        graph[module] = {it for it in others if it != module[: len(it)]}
    return graph


def circles(graph):
    """The sets of files each of which leads to every other one of its set, the largest first."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found, key=lambda it: (-len(it), it))
