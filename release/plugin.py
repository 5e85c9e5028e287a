"""The plugin of kubectl as archives, and what krew and Homebrew have to know of them."""
import gzip
import hashlib
import io
import zipfile
from typing import NamedTuple

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
    uri: {uri}
    sha256: {sha256}
    bin: {program}
"""


FORMULA = """\
class KubectlSluice < Formula
  desc "Tells what pods of a Kubernetes cluster wait for, and why"
  homepage "{home}"
  version "{version}"
  license "Apache-2.0"
{systems}
  def install
    bin.install "kubectl-sluice", "kubectl_complete-sluice"
    bash_completion.install "completions/bash" => "kubectl-sluice"
    zsh_completion.install "completions/zsh" => "_kubectl-sluice"
    fish_completion.install "completions/fish" => "kubectl-sluice.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/kubectl-sluice version --client")
  end
end
"""

DOWNLOAD = """\
    on_{processor} do
      url "{address}"
      sha256 "{sha256}"
    end
"""

# The words of Homebrew for what krew and the archives call otherwise.
SYSTEMS = {"darwin": "macos", "linux": "linux"}
PROCESSORS = {"arm64": "arm", "amd64": "intel"}


class Archive(NamedTuple):
    """The plugin for one platform: its operating system and architecture, the program in it, and the file that is downloaded."""

    os: str
    arch: str
    program: str
    name: str
    data: bytes

    def address(self, repository, version):
        return f"{repository}/releases/download/v{version}/{self.name}"

    def sha256(self):
        return hashlib.sha256(self.data).hexdigest()


def packed(files):
    """What is downloaded for Linux and macOS. `files`: path within it, bytes, mode."""
    return gzip.compress(tar_of(files), 9, mtime=0)


def zipped(files):
    """The same for Windows, which opens this form everywhere. It has no field for "no time", so the time is the first that there is."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        for name, data, mode in files:
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr, info.compress_type = 3, mode << 16, zipfile.ZIP_DEFLATED
            zipped.writestr(info, data, compresslevel=9)
    return out.getvalue()


def manifest(version, home, repository, archives):
    """sluice.yaml of krew."""
    said = MANIFEST.format(version=version, home=home)
    for it in archives:
        said += PLATFORM.format(os=it.os, arch=it.arch, uri=it.address(repository, version), sha256=it.sha256(), program=it.program)
    return said


def formula(version, home, repository, archives):
    """kubectl-sluice.rb of Homebrew, which runs on Linux and macOS."""
    systems = ""
    for os, word in SYSTEMS.items():
        listed = [it for it in archives if it.os == os]
        said = "".join(
            DOWNLOAD.format(processor=PROCESSORS[it.arch], address=it.address(repository, version), sha256=it.sha256()) for it in listed
        )
        systems += f"\n  on_{word} do\n{said}  end\n" if listed else f"\n  depends_on :{'linux' if word == 'macos' else 'macos'}\n"
    return FORMULA.format(version=version, home=home, systems=systems)
