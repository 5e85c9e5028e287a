#!/usr/bin/env python3
"""links.py FOLDER: each link of a built book leads to a file of it, and to an anchor that is there."""
import sys
from html.parser import HTMLParser
from pathlib import Path

# One holds every page once more, the other is served from any address.
COPIES = {"print.html", "404.html"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.anchors.add(attributes.get("id"))
        self.links += [attributes[key] for key in ("href", "src") if attributes.get(key)]


def broken(folder):
    pages = {path.name: Page(path.read_text()) for path in folder.glob("*.html")}
    for name in sorted(pages.keys() - COPIES):
        for link in pages[name].links:
            path, _, anchor = link.partition("#")
            target = path or name
            if "://" in link:
                continue
            if not (folder / target).exists() or anchor and anchor not in pages[target].anchors:
                yield f"{name}: {link} leads nowhere"


if __name__ == "__main__":
    found = list(broken(Path(sys.argv[1])))
    print(*found, sep="\n", end="\n" if found else "")
    sys.exit(bool(found))
