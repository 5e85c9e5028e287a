"""The changes of a release as Artifact Hub lists them, taken from the notes of the release."""
import json
import re

KINDS = ("added", "changed", "deprecated", "removed", "fixed", "security")

# The first sentence ends here, or where the line does: a colon or a dot in front of a word that begins anew.
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"])")


def plain(item):
    """The first sentence of an item, without the addresses of its links."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(item.split()))
    return SENTENCE.split(text)[0].rstrip(".")


def listed(section):
    """Pairs of kind and description. A heading of the notes that is no kind of Artifact Hub is left out, with all below it."""
    found = []
    for part in re.split(r"^### ", section, flags=re.MULTILINE)[1:]:
        title, text = part.split("\n", 1)
        kind = title.strip().lower()
        if kind in KINDS:
            found += [(kind, plain(item)) for item in re.split(r"^- ", text, flags=re.MULTILINE)[1:]]
    return found


def annotations(section):
    """The lines of Chart.yaml's annotations. The text of an item is JSON, which YAML takes as it is."""
    changes = listed(section)
    lines = "".join(f"    - kind: {kind}\n      description: {json.dumps(text, ensure_ascii=False)}\n" for kind, text in changes)
    mends = any(kind == "security" for kind, _ in changes)
    return f"  artifacthub.io/changes: |\n{lines}" + '  artifacthub.io/containsSecurityUpdates: "true"\n' * mends
