"""The chart as it is published: with the version that is released, and the digests of its images."""
import gzip
import re
from pathlib import Path

from mkoci import tar_of

# As .helmignore says it, and what is hidden.
LEFT_OUT = re.compile(r"(^|/)\.(?!helmignore$)|\.(orig|tgz)$")


def stated(text, *keys):
    """The scalar that a file of ours states under these keys, such as `gate`, `image`, `registry`."""
    for depth, key in enumerate(keys):
        found = re.search(rf"^{'  ' * depth}{key}:(.*)$", text, re.MULTILINE)
        if not found:
            raise SystemExit(f"release: nothing is stated under {'.'.join(keys)}")
        value, text = found[1].strip(), text[found.end() :]
    return value.strip('"')


def repository(manifest):
    """Where the sources are, and what is released of them: the first of `sources` in Chart.yaml."""
    found = re.search(r"^sources:\n *- (\S+)$", manifest, re.MULTILINE)
    if not found:
        raise SystemExit("release: Chart.yaml names no sources")
    return found[1]


def image_name(values, *keys):
    """Where an image is published, without a tag: REGISTRY/REPOSITORY of values.yaml."""
    return "/".join(stated(values, *keys, part) for part in ("registry", "repository"))


def released(manifest, version, digests):
    """Chart.yaml with that version, for itself and for what it installs, an annotation for each digest, and whether it is a release before a release."""
    manifest = re.sub(r"^(version|appVersion): .*$", rf"\1: {version}", manifest, flags=re.MULTILINE)
    annotations = "".join(f"  sluice.dev/{program}-digest: {digest}\n" for program, digest in sorted(digests.items()))
    manifest = re.sub(r"(image: \S+):\S+$", rf"\1:{version}", manifest, flags=re.MULTILINE)
    if "-" in version:
        annotations += '  artifacthub.io/prerelease: "true"\n'
    return re.sub(r"^annotations:\n", lambda found: found[0] + annotations, manifest, flags=re.MULTILINE)


def package(folder, version, digests):
    """The archive that `helm push` takes."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    names = {path: path.relative_to(folder).as_posix() for path in paths}
    members = []
    for path, name in names.items():
        if LEFT_OUT.search(name):
            continue
        data = path.read_bytes()
        if name == "Chart.yaml":
            data = released(data.decode(), version, digests).encode()
        members.append((f"sluice/{name}", data, 0o644))
    return gzip.compress(tar_of(members), 9, mtime=0)
