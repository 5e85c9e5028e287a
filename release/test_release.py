"""What a release publishes, made of programs that are no programs: `python3 -m unittest discover --start-directory release`."""
import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

import release
from release import chart, home, notes

import changes

HOME = home.own()
VERSION = "1.2.3"
TRIPLES = {"amd64": "x86_64-unknown-linux-gnu", "arm64": "aarch64-unknown-linux-gnu"}
OTHERS = {"darwin-amd64": "x86_64-apple-darwin", "darwin-arm64": "aarch64-apple-darwin", "windows-amd64": "x86_64-pc-windows-gnu"}
PLATFORMS = [f"linux-{architecture}" for architecture in TRIPLES] + list(OTHERS)


class Stubs(release.Sources):
    """A script in place of each program, in a folder of its own and as old as it happens to be."""

    def __init__(self, folder, age):
        super().__init__(VERSION, TRIPLES | OTHERS)
        self.changelog = Notes.LOG
        self.folder, self.age = Path(folder), age

    def program(self, triple, name):
        path = self.folder / triple / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "{triple} {name} $*"\n')
        path.chmod(0o755)
        os.utime(path, (self.age, self.age))
        return path


def made(age=1_000_000_000):
    os.chdir(release.ROOT)
    with tempfile.TemporaryDirectory() as folder:
        return release.release(Stubs(folder, age))


def entries(data):
    """The files of an archive."""
    if data.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(data)) as zipped:
            return {it.filename: (zipped.read(it), it.external_attr >> 16, it.date_time, it.create_system) for it in zipped.infolist()}
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {it.name: (tar.extractfile(it).read(), it.mode, it.mtime, it.uid) for it in tar if it.isfile()}


class Release(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = made()

    def test_twice_the_same(self):
        again = made(age=1_234_567_890)
        self.assertEqual(sorted(self.files), sorted(again))
        for name, data in self.files.items():
            self.assertEqual(data, again[name], name)

    def test_the_sums_are_of_every_file(self):
        sums = dict(line.split("  ")[::-1] for line in self.files["SHA256SUMS"].decode().splitlines())
        self.assertEqual(set(sums), set(self.files) - {"SHA256SUMS"})
        for name, digest in sums.items():
            self.assertEqual(digest, hashlib.sha256(self.files[name]).hexdigest())

    def test_an_image_has_the_program_of_each_kind_of_machine(self):
        for program in ("sluice-webhook", "sluice-gate"):
            blobs = {name: it[0] for name, it in entries(self.files[f"{program}-{VERSION}.oci.tar"]).items()}

            def blob(described):
                data = blobs["blobs/" + described["digest"].replace(":", "/")]
                self.assertEqual((described["size"], described["digest"]), (len(data), "sha256:" + hashlib.sha256(data).hexdigest()))
                return data

            [top] = json.loads(blobs["index.json"])["manifests"]
            self.assertIn(f"{program}:{VERSION}@{top['digest']}\n", self.files["images.txt"].decode())
            platforms = json.loads(blob(top))["manifests"]
            self.assertEqual([it["platform"]["architecture"] for it in platforms], list(TRIPLES))
            for platform in platforms:
                architecture = platform["platform"]["architecture"]
                manifest = json.loads(blob(platform))
                config, [layer] = json.loads(blob(manifest["config"])), manifest["layers"]
                unpacked = gzip.decompress(blob(layer))
                self.assertEqual(config["architecture"], architecture)
                self.assertEqual(config["config"]["Labels"]["org.opencontainers.image.version"], VERSION)
                self.assertEqual(config["rootfs"]["diff_ids"], ["sha256:" + hashlib.sha256(unpacked).hexdigest()])
                data, mode, time, owner = entries(unpacked)[program]
                self.assertIn(f"{TRIPLES[architecture]} {program}", data.decode())
                self.assertEqual((mode, time, owner), (0o755, 0, 0))

    def test_the_provenance_names_what_is_published(self):
        subjects = json.loads(self.files["provenance.json"])["subject"]
        named = {it["name"]: it["digest"]["sha256"] for it in subjects}
        self.assertIn(f"{HOME['repository']}/make-release", self.files["provenance.json"].decode())
        for line in self.files["images.txt"].decode().splitlines():
            name, digest = line.rsplit(f":{VERSION}@sha256:")
            self.assertEqual(named[name], digest)
        self.assertEqual(set(self.files) - set(named), {"SHA256SUMS", "provenance.json"})

    def test_a_list_of_crates_says_the_version_that_is_released(self):
        names = [f"{program}-{VERSION}-{architecture}" for program in ("sluice-webhook", "sluice-gate") for architecture in TRIPLES]
        listed = {name.removesuffix(".cdx.json"): json.loads(data) for name, data in self.files.items() if name.endswith(".cdx.json")}
        self.assertEqual(sorted(listed), sorted(names + [f"kubectl-sluice-{VERSION}-{platform}" for platform in PLATFORMS]))
        for name, crates in listed.items():
            self.assertEqual(crates["metadata"]["component"]["version"], VERSION)
            keychain = any(it["name"] == "security-framework" for it in crates["components"])
            self.assertEqual(keychain, "darwin" in name, "each has the crates of its own system")

    def test_one_system_alone(self):
        """What a test of a release makes: nothing of the systems that it was not built for."""
        with tempfile.TemporaryDirectory() as folder:
            sources = Stubs(folder, 0)
            sources.others = {}
            files = release.plugins(sources)
        self.assertFalse([name for name in files if "darwin" in name or "windows" in name])
        self.assertEqual(files["sluice.yaml"].count(b"os: "), len(TRIPLES))
        self.assertIn(b"depends_on :linux\n", files["kubectl-sluice.rb"])


class Chart(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.chdir(release.ROOT)
        cls.digests = {"webhook": "sha256:" + "1" * 64, "gate": "sha256:" + "2" * 64}
        cls.archive = chart.package("charts/sluice", VERSION, cls.digests, Notes.CHANGES)

    def test_it_has_every_file_of_the_folder(self):
        tracked = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "charts/sluice"], capture_output=True, text=True).stdout.splitlines()
        if not tracked:
            self.skipTest("not a checkout")
        self.assertEqual(sorted(entries(self.archive)), sorted(it.removeprefix("charts/") for it in tracked))

    def test_it_installs_the_images_of_its_release(self):
        helm = shutil.which("helm", path=f"{os.environ['PATH']}:/var/cache/sluice-cluster/bin")
        if not helm:
            self.skipTest("no helm")

        def rendered(*flags):
            with tempfile.NamedTemporaryFile(suffix=".tgz") as file:
                file.write(self.archive)
                file.flush()
                command = [helm, "template", "sluice", file.name, "--kube-version", "1.36.0", *flags]
                return subprocess.run(command, check=True, capture_output=True, text=True).stdout

        text = rendered()
        for component, digest in self.digests.items():
            self.assertIn(f"{HOME['registry']}/sluice-{component}:{VERSION}@{digest}", text)
        self.assertIn(f"app.kubernetes.io/version: {VERSION}\n", text)
        self.assertIn(f"{HOME['registry']}/sluice-webhook:mine\n", rendered("--set", "image.tag=mine"))

    def test_what_comes_before_a_release_says_so(self):
        manifest = (release.ROOT / "charts/sluice/Chart.yaml").read_text()
        says = lambda version: 'artifacthub.io/prerelease: "true"' in chart.released(manifest, version, self.digests, "")
        self.assertEqual([says("1.2.3"), says("1.2.3-rc.1")], [False, True])

    def test_its_changes_are_those_of_the_notes(self):
        manifest = entries(self.archive)["sluice/Chart.yaml"][0].decode()
        expected = (
            "  artifacthub.io/changes: |\n"
            "    - kind: added\n      description: \"A list may name `tcp://a:1`, \\\"an address\\\": see the page\"\n"
            "    - kind: fixed\n      description: \"x\"\n"
            "    - kind: security\n      description: \"y\"\n"
            '  artifacthub.io/containsSecurityUpdates: "true"\n'
        )
        self.assertIn(expected, manifest)
        self.assertNotIn("containsSecurityUpdates", changes.annotations("### Added\n\n- z\n"))


class Krew(unittest.TestCase):
    """The rules by which krew refuses a manifest, and those that its index asks for besides."""

    @classmethod
    def setUpClass(cls):
        cls.files = made()
        cls.text = cls.files["sluice.yaml"].decode()

    def stated(self, key):
        return re.findall(rf"^ *{key}: (.*)$", self.text, re.MULTILINE)

    def test_head(self):
        self.assertEqual(self.stated("apiVersion"), ["krew.googlecontainertools.github.com/v1alpha2"])
        self.assertEqual(self.stated("kind"), ["Plugin"])
        self.assertEqual(self.stated("name"), ["sluice"])
        self.assertEqual(self.stated("version"), [f"v{VERSION}"])
        [short] = self.stated("shortDescription")
        self.assertTrue(0 < len(short) <= 70 and not short.endswith("."))
        self.assertTrue(all(len(line) <= 80 + 4 for line in self.text.split("description: |\n")[1].split("  platforms")[0].splitlines()))

    def test_platforms(self):
        pairs = list(zip(self.stated("os"), self.stated("arch"), strict=True))
        self.assertEqual([f"{os}-{arch}" for os, arch in pairs], PLATFORMS, "each once, and of no overlap")
        for uri, digest, program in zip(self.stated("uri"), self.stated("sha256"), self.stated("bin"), strict=True):
            self.assertRegex(digest, "^[a-f0-9]{64}$")
            data = self.files[uri.rsplit("/", 1)[1]]
            self.assertEqual(hashlib.sha256(data).hexdigest(), digest)
            self.assertEqual(uri.rsplit("/", 1)[0], f"{HOME['repository']}/releases/download/v{VERSION}", "where the workflow publishes")
            inside = entries(data)
            self.assertEqual(inside[program][1], 0o755)
            self.assertEqual(program, "kubectl-sluice.exe" if "windows" in uri else "kubectl-sluice")
            triple = next(triple for name, triple in (OTHERS | {f"linux-{it}": to for it, to in TRIPLES.items()}).items() if name in uri)
            self.assertIn(f"{triple} {program}", inside[program][0].decode())
            self.assertIn("LICENSE", inside, "the index takes no plugin without one")
            self.assertIn("completions/bash", inside)


class Homebrew(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.files = made()
        cls.text = cls.files["kubectl-sluice.rb"].decode()

    def test_each_system_and_processor_has_its_archive(self):
        system, found = None, []
        for line in self.text.splitlines():
            system = line.split("_")[1].split()[0] if line.startswith("  on_") else system
            if line.startswith("    on_"):
                found.append((system, line.split("_")[1].split()[0]))
        self.assertEqual(found, [("macos", "intel"), ("macos", "arm"), ("linux", "intel"), ("linux", "arm")])
        addresses, digests = re.findall(r'^ +url "(.*)"$', self.text, re.MULTILINE), re.findall(r'^ +sha256 "(.*)"$', self.text, re.MULTILINE)
        words = {"macos": "darwin", "linux": "linux", "intel": "amd64", "arm": "arm64"}
        for (system, processor), address, digest in zip(found, addresses, digests, strict=True):
            name = f"kubectl-sluice-{VERSION}-{words[system]}-{words[processor]}.tar.gz"
            self.assertEqual(address, f"{HOME['repository']}/releases/download/v{VERSION}/{name}")
            self.assertEqual(digest, hashlib.sha256(self.files[name]).hexdigest())

    def test_it_installs_what_the_archive_has(self):
        inside = entries(self.files[f"kubectl-sluice-{VERSION}-darwin-arm64.tar.gz"])
        installed = [name for line in re.findall(r"\.install (.*)$", self.text, re.MULTILINE) for name in re.findall(r'"([^"]+)"', line.split(" => ")[0])]
        self.assertEqual(set(installed) - set(inside), set())
        self.assertIn("kubectl-sluice", installed)

    def test_ruby_reads_it(self):
        ruby = shutil.which("ruby")
        if not ruby:
            self.skipTest("no ruby")
        ran = subprocess.run([ruby, "-c"], input=self.text, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stderr)


class Signatures(unittest.TestCase):
    """`sign.sh` with stand-ins for cosign and crane, which note what they are asked for."""

    def test_each_image_and_the_chart_are_signed_and_each_image_has_its_crates(self):
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            (root / "release").mkdir()
            shutil.copy2(release.ROOT / "release/sign.sh", root / "release/sign.sh")
            made_here = root / f"target/release-{VERSION}"
            made_here.mkdir(parents=True)
            for program in ("sluice-webhook", "sluice-gate", "kubectl-sluice"):
                for architecture in TRIPLES:
                    (made_here / f"{program}-{VERSION}-{architecture}.cdx.json").touch()
            for name, script in (("cosign", 'echo "$*" >> "$ASKED"'), ("crane", 'echo "sha256:${3#linux/}"')):
                (root / name).write_text(f"#!/bin/bash\n{script}\n")
                (root / name).chmod(0o755)
            where = "r.example:5000/us"
            names = (f"{where}/sluice-webhook", f"{where}/sluice-gate", f"{where}/charts/sluice")
            (root / "published").write_text("".join(f"{name}:{VERSION}@sha256:{at}\n" for at, name in enumerate(names)))
            environment = {"PATH": f"{root}:{os.environ['PATH']}", "ASKED": str(root / "asked")}
            subprocess.run([root / "release/sign.sh", VERSION, root / "published"], env=environment, check=True)
            asked = (root / "asked").read_text().splitlines()
        signed = [line.split()[-1] for line in asked if line.startswith("sign --yes ")]
        self.assertEqual(signed, [f"{name}@sha256:{at}" for at, name in enumerate(names)])
        attested = [line.split() for line in asked if line.startswith("attest --yes --type cyclonedx ")]
        expected = [
            (f"target/release-{VERSION}/{name.rsplit('/', 1)[1]}-{VERSION}-{architecture}.cdx.json", f"{name}@sha256:{architecture}")
            for name in names[:2]
            for architecture in TRIPLES
        ]
        self.assertEqual([(words[-2], words[-1]) for words in attested], expected)
        self.assertEqual(len(asked), len(signed) + len(attested))


class Notes(unittest.TestCase):
    LOG = "# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.0 (2026-01-01)\n\n- old\n"
    CHANGES = (
        "### Added\n\n- A list may name `tcp://a:1`, \"an address\":\n  see [the page](docs/outside.md). More of it.\n\n### Fixed\n\n- x\n\n"
        "### Security\n\n- y.\n\n### Before these changes\n\n- z\n"
    )

    def test_the_section_of_the_version_or_what_is_unreleased(self):
        self.assertEqual(notes.cut(self.LOG, "1.2.0"), "- old\n")
        self.assertEqual(notes.cut(self.LOG, "1.3.0"), "- new\n")
        with self.assertRaisesRegex(SystemExit, "no section for 1.3.0"):
            notes.cut(self.LOG.replace("- new\n", ""), "1.3.0")

    def test_a_link_leads_to_the_tag(self):
        log = "## 1.0.0\n\n- [here](docs/a.md#b), [there](https://example.com)\n"
        expected = "- [here](https://e/r/blob/v1.0.0/docs/a.md#b), [there](https://example.com)\n"
        self.assertEqual(notes.published(log, "1.0.0", "https://e/r"), expected)

    def test_the_version_that_is_here_has_notes(self):
        version = re.search(r'^version = "(.*)"$', (release.ROOT / "Cargo.toml").read_text(), re.MULTILINE)[1]
        log = (release.ROOT / "CHANGELOG.md").read_text()
        self.assertRegex(log, "(?m)^## Unreleased$", "where the next change goes")
        self.assertRegex(notes.cut(log, version), "(?m)^- ")


if __name__ == "__main__":
    unittest.main()
