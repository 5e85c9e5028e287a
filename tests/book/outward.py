#!/usr/bin/env python3
"""A preprocessor of mdBook: a link that leads out of docs/ leads to that file of the repository."""
import json
import re
import sys

LINK = re.compile(r"\]\(\.\./([^)\s]*)\)")


def outward(item, address):
    chapter = item.get("Chapter") if isinstance(item, dict) else None
    if chapter:
        chapter["content"] = LINK.sub(lambda found: f"]({address}/blob/main/{found[1]})", chapter["content"])
        for below in chapter["sub_items"]:
            outward(below, address)


if sys.argv[1:2] == ["supports"]:
    sys.exit(0)
context, book = json.load(sys.stdin)
address = context["config"]["output"]["html"]["git-repository-url"]
for item in book["items"]:
    outward(item, address)
json.dump(book, sys.stdout)
