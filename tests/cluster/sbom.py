#!/usr/bin/env python3
"""sbom.py PACKAGE TARGET > OUT.cdx.json   what a program is made of: its crates, in CycloneDX.

Asks cargo which crates are compiled into the program for that target, and Cargo.lock for their checksums. There is no time
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
    described = {"type": kind, "bom-ref": reference, "name": name, "version": version, "purl": reference}
    if licence:
        # The old way to write a choice.
        described["licenses"] = [{"expression": licence.replace("/", " OR ")}]
    if checksum:
        described["hashes"] = [{"alg": "SHA-256", "content": checksum}]
    return described


def main(package, target):
    with open("Cargo.lock", "rb") as file:
        locked = {(it["name"], it["version"]): it.get("checksum") for it in tomllib.load(file)["package"]}
    own, others = crates(package, target)
    described = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": component("application", *own, None)},
        "components": [component("library", *crate, locked[crate[:2]]) for crate in others],
    }
    json.dump(described, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
