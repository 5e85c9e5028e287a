"""The chart as it is published: with the version that is released, and the digests of its images."""
import gzip
import re
from pathlib import Path

import changes
import home
from mkoci import tar_of

# As .helmignore says it, and what is hidden.
LEFT_OUT = re.compile(r"(^|/)\.(?!helmignore$)|\.(orig|tgz)$")


def released(manifest, version, digests, notes):
    """Chart.yaml with that version, for itself and for what it installs, annotations with the registry and the digests of the images, the changes
    out of the notes, and whether it is a release before a release."""
    manifest = re.sub(r"^(version|appVersion): .*$", rf"\1: {version}", manifest, flags=re.MULTILINE)
    where = home.own()
    noted = {"registry": where["registry"].split("/", 1)[0]} | {f"{program}-digest": digest for program, digest in sorted(digests.items())}
    annotations = "".join(f"  {where['prefix']}/{key}: {value}\n" for key, value in noted.items())
    manifest = re.sub(r"(image: \S+):\S+$", rf"\1:{version}", manifest, flags=re.MULTILINE)
    annotations += changes.annotations(notes)
    if "-" in version:
        annotations += '  artifacthub.io/prerelease: "true"\n'
    return re.sub(r"^annotations:\n", lambda found: found[0] + annotations, manifest, flags=re.MULTILINE)


def package(folder, version, digests, notes):
    """The archive that `helm push` takes."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    names = {path: path.relative_to(folder).as_posix() for path in paths}
    members = []
    for path, name in names.items():
        if LEFT_OUT.search(name):
            continue
        data = path.read_bytes()
        if name == "Chart.yaml":
            data = released(data.decode(), version, digests, notes).encode()
        members.append((f"sluice/{name}", data, 0o644))
    return gzip.compress(tar_of(members), 9, mtime=0)
