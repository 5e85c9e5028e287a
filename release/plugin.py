"""The plugin of kubectl as archives, and what krew has to know of them."""
import gzip
import hashlib

from mkoci import tar_of

MANIFEST = """\
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: sluice
spec:
  version: v{version}
  homepage: {home}
  shortDescription: Tell what pods wait for, and why
  description: |
    Tells what a pod that sluice holds back waits for and why that is not
    ready, draws the order of a release, finds mistakes in manifests before
    they are applied, and checks an installation of sluice.
  platforms:
"""

PLATFORM = """\
  - selector:
      matchLabels:
        os: {os}
        arch: {arch}
    uri: {repository}/releases/download/v{version}/{archive}
    sha256: {sha256}
    bin: {program}
"""


def archive(files):
    """What is downloaded for one platform. `files`: path within it, bytes, mode."""
    return gzip.compress(tar_of(files), 9, mtime=0)


def manifest(version, home, repository, archives):
    """sluice.yaml. `archives`: (operating system, architecture, file name, its bytes, the program in it)."""
    said = MANIFEST.format(version=version, home=home)
    for os, arch, name, data, program in archives:
        sha256 = hashlib.sha256(data).hexdigest()
        said += PLATFORM.format(os=os, arch=arch, version=version, repository=repository, archive=name, sha256=sha256, program=program)
    return said
