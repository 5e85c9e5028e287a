#!/usr/bin/env python3
"""Counts what makes a comment or a page a riddle, area by area, and refuses an area above its limit.

    check.py                    fails when an area is above its limit
    check.py --list [AREA...]   prints each finding (file, line, word, the text around it) and the rates

Counted are, for 1,000 words of prose:
* pronouns in place of the field's word: `who whoever whom nobody somebody anybody everybody whatever` and their like;
* a sentence that begins with `What` or `Who` and asks nothing: "What is kept of an object" is "The kept part of an object";
* a doc comment that needs the one above it: it begins with "The same", "As", "And", "Without" and their like, or with a
  small letter, or ends with a comma.

Prose is the comments of Rust, of YAML and of templates, and the text of pages. Code and quotations are not prose: fenced and
indented blocks, `code`, "quoted words", titles of links, addresses. A heading may ask without a question mark. CHANGELOG.md is not counted: a release's notes stay as they were.
"""

import re
import sys
from pathlib import Path

# For each area: the most findings in 1,000 words, and the files that it is made of. A limit only ever goes down.
LIMITS = {
    "rules": (0.5, ["rules/**/*.rs"]),
    "wire": (1.0, ["wire/**/*.rs"]),
    "certs": (1.0, ["certs/**/*.rs"]),
    "gate": (1.0, ["gate/**/*.rs"]),
    "webhook": (0.5, ["webhook/**/*.rs"]),
    "cli": (0.5, ["cli/**/*.rs"]),
    "tests/harness": (1.0, ["tests/harness/**/*.rs"]),
    "tests/it": (0.5, ["tests/it/**/*.rs"]),
    "tests/bench": (1.0, ["tests/bench/**/*.rs"]),
    "tests/chaos": (1.0, ["tests/chaos/**/*.rs"]),
    "charts": (0.5, ["charts/**/*.yaml", "charts/**/*.tpl", "charts/**/*.md"]),
    "docs": (0.5, ["docs/**/*.md", "cli/*.md", "webhook/*.md", "rules/*.md", "certs/*.md", "tests/*.md", "tests/bench/*.md", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md", "GOVERNANCE.md", "ROADMAP.md"]),
}
# A rate this far below its limit is printed with the request to lower the limit.
SLACK = 0.6
# No limit need be lower than this.
GOAL = 1.0

PRONOUN = re.compile(
    r"\b(?:who(?:m|(?:m?(?:so)?ever))?|(?:no|some|any|every)body|(?:some|any|every)one|no one|whatever)\b", re.IGNORECASE
)
# A sentence that begins so, up to its end; a question is none.
RIDDLE = re.compile(r"(?:^|(?<=[.:!?] ))What\b(?=[^.?!]*(?:[.!]|$))")
BEGINNING = re.compile(
    r"(?:The same\b|(?:As|And|Without|Nor|Or|So|But|Also|Too|Else|Then|Which|Where|Whose|Those|That|Neither|Likewise)\b"
    r"(?! (?:many|much|long|soon|far) )"
    # A name may begin small, and so may a letter that stands for an object.
    r"|(?!(?:sluice|kstatus|kubectl|mdBook)\b|[a-z] )[a-z])"
)
# Strings, raw strings, characters (not lifetimes), and comments, in the order in which they stand.
TOKEN = re.compile(
    r'(?P<text>b?r(?P<marks>#*)".*?"(?P=marks)|"(?:\\.|[^"\\])*"|\'(?:\\[^\']+|[^\'\\])\')'
    r"|(?P<comment>//[^\n]*|/\*.*?\*/)",
    re.DOTALL,
)
MARK = re.compile(r"///(?!/)|//!|//+|/\*+|\*+/")


def rust(text):
    """The comments of a Rust file: line, whether it documents an item, and its lines without their marks."""
    found, last = [], None
    for token in TOKEN.finditer(text):
        if not token["comment"]:
            continue
        line = text.count("\n", 0, token.start()) + 1
        begin = text.rfind("\n", 0, token.start()) + 1
        alone = not text[begin : token.start()].strip()
        mark = MARK.match(token["comment"])[0]
        lines = [MARK.sub("", it, count=1) for it in token["comment"].split("\n")]
        if alone and last == (line - 1, mark):
            found[-1][2].extend(lines)
        else:
            found.append((line, mark in ("///", "//!"), lines))
        last = (line, mark) if alone else None
    return found


def hashed(text):
    """The comments of a YAML file: lines that begin with `#`."""
    found, last = [], None
    for line, it in enumerate(text.split("\n"), 1):
        if comment := re.match(r"\s*#+(?!!)(.*)", it):
            if last == line - 1:
                found[-1][2].append(comment[1])
            else:
                found.append((line, False, [comment[1]]))
            last = line
    return found


def template(text):
    """The comments of a Helm template."""
    found = []
    for comment in re.finditer(r"\{\{-?\s*/\*(.*?)\*/", text, re.DOTALL):
        found.append((text.count("\n", 0, comment.start()) + 1, False, comment[1].split("\n")))
    return found


def page(text):
    """A page, as one comment that documents no item."""
    return [(1, False, text.split("\n"))]


READERS = {".rs": rust, ".yaml": hashed, ".tpl": template, ".md": page}


def prose(lines, first):
    """The paragraphs of a comment without code and quotations, each with the line that it begins on."""
    found, fenced, last = [], False, ""
    for line, it in enumerate(lines, first):
        text = re.sub(r"^\s*(#+ .*[^?.])$", r"\1?", it).strip()
        if text.startswith("```"):
            fenced, last = not fenced, ""
            continue
        indented = re.match(r" {5,}|\t", it) and not last
        if fenced or indented:
            continue
        bullet = re.match(r"(?:[*-]|\d+\.) +", text)
        alone = text.startswith(("#", "|"))
        if not last or bullet or alone:
            found.append((line, ""))
        plain = re.sub(r"^(?:(?:[*-]|\d+\.|#+|>) +)+", "", text)
        found[-1] = (found[-1][0], f"{found[-1][1]} {plain}")
        last = "" if alone else text
    for line, text in found:
        # Inner marks first: code may stand in a quotation, and both in the title of a link.
        text = re.sub(r"`+[^`]*`+", "·", text)
        text = re.sub(r'"[^"]{1,300}?"|“[^”]*”', "·", text)
        text = re.sub(r"\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])", "·", text)
        text = re.sub(r"<?https?://\S+|<!--.*?-->", "·", text)
        text = re.sub(r"\s+", " ", re.sub(r"[*\[\]]+", "", text)).strip()
        if text:
            yield line, text


def findings(file, text):
    """How many words of prose a file has, and its findings: line, what was found, and the text around it."""
    words, found = 0, []
    for first, documents, lines in READERS[file.suffix](text):
        paragraphs = list(prose(lines, first))
        for line, text in paragraphs:
            words += len(re.findall(r"[A-Za-z][\w'’-]*", text))
            for hit in sorted([*PRONOUN.finditer(text), *RIDDLE.finditer(text)], key=lambda it: it.start()):
                found.append((line, hit[0], text[max(0, hit.start() - 40) : hit.end() + 60]))
        if documents and paragraphs:
            line, text = paragraphs[0]
            if begins := BEGINNING.match(text):
                found.append((line, f"begins: {begins[0]}", text[:100]))
            if text.endswith(","):
                found.append((line, "ends: ,", text[-100:]))
    return words, found


def count(root, patterns):
    """The words of an area, and its findings: file, line, what was found, and the text around it."""
    words, found = 0, []
    for file in sorted(it for pattern in patterns for it in root.glob(pattern)):
        more, hits = findings(file, file.read_text())
        words += more
        found += [(file.relative_to(root), *hit) for hit in hits]
    return words, found


def main(arguments, root=Path(__file__).resolve().parents[2]):
    listed = arguments[:1] == ["--list"]
    refused = False
    for area in arguments[1:] or LIMITS:
        limit, patterns = LIMITS[area]
        words, found = count(root, patterns)
        rate = 1000 * len(found) / max(words, 1)
        if listed:
            for file, line, word, text in found:
                print(f"{file}:{line}: {word}: {text}")
        said = f"{area}: {len(found)} in {words} words, {rate:.2f} in 1,000"
        if rate > limit:
            refused = True
            said += f": above {limit}. `tests/english/check.py --list {area}` names each; CONTRIBUTING.md has the rules"
        elif rate < limit - SLACK and limit > GOAL:
            said += f": lower its limit, which is {limit}"
        if listed or not said.endswith("1,000"):
            print(said, file=sys.stdout if listed else sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
