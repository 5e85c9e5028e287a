#!/usr/bin/env python3
"""sbom.py PACKAGE TARGET [VERSION] > OUT.cdx.json   what a program is made of: its crates, in CycloneDX.

VERSION is what the program says it is, where that is not what its crate says. Asks cargo which crates are compiled into the program for that target, and Cargo.lock for their checksums. There is no time
and no serial number in it: the same sources give the same bytes.
"""
import json
import subprocess
import sys
import tomllib


def crates(package, target):
    """(name, version, licence) of the package, then of each crate in it."""
    tree = ["cargo", "tree", "--locked", "--package", package, "--edges", "normal", "--target", target, "--prefix", "none"]
    lines = subprocess.run([*tree, "--format", "{p}|{l}"], check=True, capture_output=True, text=True).stdout.splitlines()
    found = []
    for line in lines:
        # `name v1.2.3 (where it comes from)`, and behind that a mark for a crate that was there before.
        crate, licence = line.split("|", 1)
        name, version = crate.split()[:2]
        found.append((name, version.removeprefix("v"), licence.removesuffix("(*)").strip()))
    return found[0], sorted(set(found[1:]))


def component(kind, name, version, licence, checksum):
    reference = f"pkg:cargo/{name}@{version}"
    listed = {"type": kind, "bom-ref": reference, "name": name, "version": version, "purl": reference}
    if licence:
        # The old way to write a choice.
        listed["licenses"] = [{"expression": licence.replace("/", " OR ")}]
    if checksum:
        listed["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return listed


def described(package, target, version=None):
    with open("Cargo.lock", "rb") as file:
        locked = {(it["name"], it["version"]): it.get("checksum") for it in tomllib.load(file)["package"]}
    (name, of_crate, licence), others = crates(package, target)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component("application", name, version or of_crate, licence, None)},
        "components": [component("library", *crate, locked[crate[:2]]) for crate in others],
    }


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    json.dump(described(*sys.argv[1:]), sys.stdout, indent=1)
    print()
