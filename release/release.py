#!/usr/bin/env python3
"""release.py VERSION OUT PLATFORM=TRIPLE...   all that a release publishes, out of the programs that were built for each.

PLATFORM is the architecture of Linux (amd64), for which there are images and the plugin, or the name of a platform that has the plugin
alone (darwin-arm64). It asks no network and writes no time: the same sources and programs give the same bytes. `make release` calls it.
"""
import hashlib
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/cluster"))

import chart
import home
import mkoci
import notes
import plugin
import provenance
import sbom

SHELLS = ("bash", "zsh", "fish", "powershell")
DESCRIBED = {
    "webhook": "The controller of sluice: admission webhook and status service.",
    "gate": "The init container of sluice: waits until a pod's dependencies are healthy.",
}


class Sources:
    """What the release is made of."""

    def __init__(self, version, triples):
        self.version = version
        # By architecture for Linux; by system and architecture for what has the plugin alone.
        self.triples = {name: triple for name, triple in triples.items() if "-" not in name}
        self.others = {tuple(name.split("-")): triple for name, triple in triples.items() if "-" in name}
        self.changelog = Path("CHANGELOG.md").read_text()
        where = home.own()
        self.site, self.repository = where["site"], where["repository"]
        self.names = {component: f"{where['registry']}/sluice-{component}" for component in DESCRIBED}

    def plugins(self):
        """Where the plugin of kubectl is built for: system, architecture, triple."""
        return [("linux", architecture, triple) for architecture, triple in self.triples.items()] + [
            (*platform, triple) for platform, triple in self.others.items()
        ]

    def program(self, triple, name):
        profile = "gate" if name == "sluice-gate" else os.environ.get("PROFILE", "release")
        return Path("target", triple, profile, name)


def image(sources, component):
    """An archive with the image for each kind of machine, and the digest of what names them all."""
    program = f"sluice-{component}"
    labels = {
        "org.opencontainers.image.title": program,
        "org.opencontainers.image.description": DESCRIBED[component],
        "org.opencontainers.image.version": sources.version,
        "org.opencontainers.image.source": sources.repository,
        "org.opencontainers.image.licenses": "Apache-2.0",
    }
    files, manifests = {}, {}
    for architecture in sources.triples:
        items = [f"{sources.program(sources.triples[architecture], program)}=/{program}"]
        manifests[architecture] = mkoci.manifest(files, architecture, [f"/{program}"], items, labels)
    top = mkoci.index(files, manifests)
    return mkoci.archive(files, f"{sources.names[component]}:{sources.version}", top), top["digest"]


def images(sources):
    """The archives by file name, and the digests by component."""
    made = {component: image(sources, component) for component in sorted(DESCRIBED)}
    archives = {f"sluice-{component}-{sources.version}.oci.tar": data for component, (data, _) in made.items()}
    return archives, {component: digest for component, (_, digest) in made.items()}


def completions(sources):
    """What shells and kubectl complete with, by file name: the same for all kinds of machine, so this one's program is asked."""
    own = sources.program(sources.triples[mkoci.ARCHITECTURES[platform.machine()]], "kubectl-sluice")
    script = lambda whom: subprocess.run([own, "completion", whom], check=True, capture_output=True).stdout
    return {f"completions/{shell}": script(shell) for shell in SHELLS} | {"kubectl_complete-sluice": script("kubectl")}


def plugins(sources):
    """An archive for each platform, and what krew and Homebrew have to know of them."""
    version = sources.version
    scripts = [(name, script, 0o755 if name.startswith("kubectl") else 0o644) for name, script in completions(sources).items()]
    about = [("LICENSE", Path("LICENSE").read_bytes(), 0o644), *scripts]
    archives = []
    for system, architecture, triple in sources.plugins():
        program, form, pack = ("kubectl-sluice", "tar.gz", plugin.packed)
        if system == "windows":
            program, form, pack = ("kubectl-sluice.exe", "zip", plugin.zipped)
        files = [(program, sources.program(triple, program).read_bytes(), 0o755), *about]
        name = f"kubectl-sluice-{version}-{system}-{architecture}.{form}"
        archives.append(plugin.Archive(system, architecture, program, name, pack(files)))
    where = (version, sources.site, sources.repository, archives)
    return {it.name: it.data for it in archives} | {
        f"kubectl-sluice-{version}-completions.tar.gz": plugin.packed(scripts),
        "sluice.yaml": plugin.manifest(*where).encode(),
        "kubectl-sluice.rb": plugin.formula(*where).encode(),
    }


def installer(sources):
    """install.sh, which takes this release unless it is told another."""
    text = Path("release/install.sh").read_text()
    assert text.count("\nreleased=\n") == 1
    return text.replace("\nreleased=\n", f"\nreleased={sources.version}\n").encode()


def lists_of_crates(sources):
    linked = [("cli", f"kubectl-sluice-{sources.version}-{system}-{architecture}", triple) for system, architecture, triple in sources.plugins()]
    for package, program in (("webhook", "sluice-webhook"), ("gate", "sluice-gate")):
        linked += [(package, f"{program}-{sources.version}-{architecture}", triple) for architecture, triple in sources.triples.items()]
    described = lambda package, triple: json.dumps(sbom.described(package, triple, sources.version), indent=1) + "\n"
    return {f"{name}.cdx.json": described(package, triple).encode() for package, name, triple in linked}


def release(sources):
    """Every file, by name."""
    archives, digests = images(sources)
    files = archives | plugins(sources) | lists_of_crates(sources)
    files[f"sluice-{sources.version}.tgz"] = chart.package("charts/sluice", sources.version, digests, notes.cut(sources.changelog, sources.version))
    named = {f"{sources.names[component]}:{sources.version}@{digest}" for component, digest in digests.items()}
    files["install.sh"] = installer(sources)
    files["images.txt"] = "".join(f"{name}\n" for name in sorted(named)).encode()
    files["notes.md"] = notes.published(sources.changelog, sources.version, sources.repository).encode()
    sums = {name: hashlib.sha256(data).hexdigest() for name, data in files.items()}
    of_images = {sources.names[component]: digest.removeprefix("sha256:") for component, digest in digests.items()}
    files["provenance.json"] = provenance.statement(sources.version, sources.repository, sums | of_images).encode()
    sums["provenance.json"] = hashlib.sha256(files["provenance.json"]).hexdigest()
    files["SHA256SUMS"] = "".join(f"{digest}  {name}\n" for name, digest in sorted(sums.items())).encode()
    return files


def main(version, out, *triples):
    out = Path(out).absolute()
    os.chdir(ROOT)
    out.mkdir(parents=True, exist_ok=True)
    for old in out.iterdir():
        old.unlink()
    for name, data in sorted(release(Sources(version, dict(it.split("=") for it in triples))).items()):
        (out / name).write_bytes(data)
        print(f"  {out.name}/{name} ({len(data) / 1e6:.1f} MB)")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
