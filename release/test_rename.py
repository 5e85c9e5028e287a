"""`rename` in a copy of the checkout."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import home
import release

NEW = {
    "prefix": "order.platform.example.org",
    "registry": "registry.example.net:5000/team/images",
    "repository": "https://git.example.net/platform/sluice",
    "site": "https://docs.example.net/ordering",
}


def tracked():
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    return subprocess.run(listed, cwd=release.ROOT, capture_output=True, text=True).stdout.split("\0")[:-1]


class Rename(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        names = tracked()
        if not names:
            raise unittest.SkipTest("not a checkout")
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = Path(cls.folder.name) / "sluice"
        for name in names:
            source, target = release.ROOT / name, cls.root / name
            if os.path.lexists(source):
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target, follow_symlinks=False)
        # `rename` asks git for the files.
        cls.ran("git", "init", "--quiet")
        cls.ran("git", "add", "--all")
        flags = [part for key, value in NEW.items() for part in (f"--{key}", value)]
        cls.said = cls.ran("release/rename", *flags)

    @classmethod
    def ran(cls, *command, code=0, **environment):
        ran = subprocess.run(command, cwd=cls.root, env=os.environ | environment, capture_output=True, text=True)
        assert ran.returncode == code, f"{command}: {ran.stdout[-2000:]}{ran.stderr[-4000:]}"
        return ran.stdout + ran.stderr

    def left(self, *words):
        """The lines of the copy that still say one of the words."""
        found = []
        for name in tracked():
            path = self.root / name
            if path.is_symlink() or not path.is_file():
                continue
            lines = path.read_bytes().decode(errors="replace").splitlines()
            found += [f"{name}: {line.strip()[:120]}" for line in lines if any(word in line for word in words)]
        return found

    def test_nothing_of_the_old_names_is_left(self):
        old = home.own()
        self.assertRegex(self.said, r"rename: \d{3} files changed")
        words = [old["prefix"], old["prefix"].replace(".", r"\."), old["registry"], old["repository"], old["registry"].split("/", 1)[1]]
        self.assertEqual(self.left(*words), [])
        read = home.read((self.root / "release/home").read_text())
        self.assertEqual(read, old | NEW)

    def test_a_finding_behind_a_longer_key_is_further_to_the_right(self):
        longer = len(NEW["prefix"]) - len(home.own()["prefix"])
        read = lambda root: (root / "docs/cli.md").read_text()
        columns = lambda text: [int(it) for it in re.findall(r"mistakes\.yaml:\d+:(\d+)", text)]
        before, after = columns(read(release.ROOT)), columns(read(self.root))
        self.assertEqual((len(before), [it + longer for it in before]), (2, after))

    def test_what_belongs_to_others_stays(self):
        for name, word in (("LICENSE", "Apache License"), ("tests/fixtures/suggest/queue-k8s-wait-for/templates/worker.yaml", "ghcr.io/groundnuty/")):
            self.assertEqual((self.root / name).read_text(), (release.ROOT / name).read_text())
            self.assertIn(word, (self.root / name).read_text())

    def test_rust_is_formatted_and_compiles(self):
        self.ran("cargo", "fmt", "--all", "--check")
        self.ran("cargo", "metadata", "--locked", "--no-deps", "--format-version=1")
        # Beside the other targets of this checkout, so that only the first run compiles the dependencies.
        self.ran("cargo", "check", "--locked", "--quiet", "-p", "rules", CARGO_TARGET_DIR=str(release.ROOT / "target/renamed"))

    def test_the_chart_renders_with_the_new_names(self):
        helm = shutil.which("helm", path=f"{os.environ['PATH']}:/var/cache/sluice-cluster/bin")
        if not helm:
            self.skipTest("no helm")
        host, _ = NEW["registry"].split("/", 1)
        values = f"holds.enabled=true,podConditions.enabled=true,image.registry={host}"
        text = self.ran(helm, "template", "sluice", "charts/sluice", "--kube-version", "1.36.0", "--set", values)
        self.assertIn(f"{NEW['registry']}/sluice-webhook:", text)
        self.assertIn(f"--gate-image={NEW['registry']}/sluice-gate:", text)
        self.assertIn(f"pods.{NEW['prefix']}", text)
        self.assertGreater(text.count(f"{NEW['prefix']}/"), 20)

    def test_the_release_follows(self):
        asks = "import sys; sys.path.insert(0, 'release'); import release; it = release.Sources('1.2.3', {}); print(it.names, it.site, it.repository)"
        said = self.ran("python3", "-B", "-c", asks)
        for word in (f"{NEW['registry']}/sluice-webhook", NEW["site"], NEW["repository"]):
            self.assertIn(word, said)
        self.assertIn(NEW["repository"], (self.root / "release/install.sh").read_text())

    def test_back_again_is_as_it_was(self):
        copy = self.root.parent / "back"
        shutil.copytree(self.root, copy, symlinks=True)
        flags = [part for key in NEW for part in (f"--{key}", home.own()[key])]
        subprocess.run(["release/rename", *flags], cwd=copy, check=True, capture_output=True)
        for name in tracked():
            before, after = release.ROOT / name, copy / name
            # This file says the new names itself.
            if name != "release/test_rename.py" and before.is_file() and not before.is_symlink():
                self.assertEqual(before.read_bytes(), after.read_bytes(), name)

    def test_arguments(self):
        for flags, word in (
            ([], "--help"),
            (["--prefix", "nodots"], "'nodots' is no DNS name"),
            (["--prefix", "a.kubernetes.io"], "kept by Kubernetes"),
            (["--prefix", "Upper.example"], "no DNS name"),
            (["--registry", "https://a.example/b"], "without a scheme"),
            (["--registry", "a.example"], "is no HOST/FOLDER"),
            (["--repository", "https://a.example/b/other"], "/sluice"),
            (["--site", "a.example"], "https://"),
        ):
            self.assertIn(word, self.ran("release/rename", *flags, code=2), flags)
        said = self.ran("release/rename", "--help")
        for key in NEW:
            self.assertRegex(said, rf"(?m)^  --{key} ")
        self.assertFalse(re.search(r"\bfiles changed", said))


if __name__ == "__main__":
    unittest.main()
