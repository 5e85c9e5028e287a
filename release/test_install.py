"""install.sh of a release that is made up, from a server of files on loopback."""
import functools
import gzip
import http.server
import os
import shutil
import subprocess
import tempfile
import threading
import unittest
from pathlib import Path

import release
from test_release import OTHERS, TRIPLES, VERSION, made

# What each kind of machine says of itself, and how a release calls it.
MACHINES = {("Linux", "x86_64"): "linux-amd64", ("Linux", "aarch64"): "linux-arm64", ("Darwin", "arm64"): "darwin-arm64", ("Darwin", "x86_64"): "darwin-amd64"}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.made = made()

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("served", "programs", "bin"):
            (self.folder / name).mkdir()
        self.publish(self.made)
        handler = functools.partial(Quiet, directory=self.folder / "served")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.address = f"http://127.0.0.1:{server.server_port}"
        self.script = self.folder / "install.sh"
        self.script.write_bytes(self.made["install.sh"])
        self.on("Linux", "x86_64")

    def publish(self, files):
        folder = self.folder / "served" / f"v{VERSION}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for name, data in files.items():
            if "/" not in name:
                (folder / name).write_bytes(data)

    def on(self, system, machine):
        """`uname` of another machine."""
        program = self.folder / "programs" / "uname"
        program.write_text(f'#!/bin/sh\ncase $1 in -s) echo {system} ;; -m) echo {machine} ;; esac\n')
        program.chmod(0o755)

    def run_it(self, *arguments, script=None, **more):
        path = f"{self.folder}/programs:{os.environ['PATH']}"
        environment = {"PATH": path, "SLUICE_RELEASES": self.address, **more}
        shell = shutil.which("dash") or "sh"
        return subprocess.run([shell, script or self.script, *arguments], env=environment, capture_output=True, text=True, timeout=60)

    def installed(self):
        return sorted(it.name for it in (self.folder / "bin").iterdir())

    def into(self):
        return ["--directory", str(self.folder / "bin")]

    def refused(self, ran, *words, code=1):
        self.assertEqual(ran.returncode, code, ran)
        for word in words:
            self.assertIn(word, ran.stderr)
        self.assertTrue(all(line.startswith(("install.sh: ", "curl: ")) for line in ran.stderr.splitlines()), ran.stderr)
        self.assertEqual(self.installed(), [])

    def test_the_program_of_this_kind_of_machine(self):
        for (system, machine), name in MACHINES.items():
            self.on(system, machine)
            ran = self.run_it(*self.into())
            self.assertEqual(ran.returncode, 0, ran)
            self.assertIn(f"kubectl-sluice {VERSION} is in", ran.stdout)
            self.assertEqual(self.installed(), ["kubectl-sluice"])
            program = self.folder / "bin" / "kubectl-sluice"
            self.assertIn(OTHERS[name] if name in OTHERS else TRIPLES[name.removeprefix("linux-")], program.read_text())
            self.assertEqual(program.stat().st_mode & 0o777, 0o755)

    def test_a_wrong_sum_installs_nothing(self):
        name = f"kubectl-sluice-{VERSION}-linux-amd64.tar.gz"
        self.publish(self.made | {name: gzip.compress(b"something else")})
        self.refused(self.run_it(*self.into()), name, "has the SHA-256 sum", "nothing was installed")

    def test_a_file_that_is_not_there(self):
        name = f"kubectl-sluice-{VERSION}-linux-amd64.tar.gz"
        self.publish({key: data for key, data in self.made.items() if key != name})
        self.refused(self.run_it(*self.into()), "404", f"/v{VERSION}/{name}", "linux on amd64")
        self.refused(self.run_it("--version", "9.9.9", *self.into()), "404", "the release 9.9.9 was not found")
        self.on("Darwin", "arm64")
        sums = [line for line in self.made["SHA256SUMS"].splitlines(keepends=True) if b"darwin" not in line]
        self.publish(self.made | {"SHA256SUMS": b"".join(sums)})
        self.refused(self.run_it(*self.into()), "darwin-arm64.tar.gz", "not made for darwin on arm64")

    def test_another_machine(self):
        self.on("Linux", "riscv64")
        self.refused(self.run_it(*self.into()), "riscv64", "amd64")
        self.on("MINGW64_NT-10.0", "x86_64")
        self.refused(self.run_it(*self.into()), "MINGW64_NT-10.0", "Linux and macOS")

    def test_arguments(self):
        self.refused(self.run_it("--versoin", "1"), "--versoin", "--help", code=2)
        self.refused(self.run_it("--directory"), "--directory needs a value", code=2)
        self.refused(self.run_it("--version", "../../x"), "is no version", code=2)
        self.refused(self.run_it("--directory", "/nonexistent/bin"), "no folder /nonexistent/bin")
        ran = self.run_it(f"--version=v{VERSION}", f"--directory={self.folder}/bin")
        self.assertEqual((ran.returncode, self.installed()), (0, ["kubectl-sluice"]), ran)
        self.assertIn("not on your PATH", ran.stderr)

    def test_help_names_every_argument(self):
        ran = self.run_it("--help")
        self.assertEqual(ran.returncode, 0, ran)
        for word in ("--version", "--directory", "--help", "SLUICE_RELEASES", VERSION):
            self.assertIn(word, ran.stdout)

    def test_a_copy_of_no_release_asks_for_one(self):
        own = release.ROOT / "release/install.sh"
        self.refused(self.run_it(*self.into(), script=own), "--version", code=2)
        ran = self.run_it("--version", VERSION, *self.into(), script=own)
        self.assertEqual((ran.returncode, self.installed()), (0, ["kubectl-sluice"]), ran)

    def test_it_asks_where_the_home_says(self):
        text = self.made["install.sh"].decode()
        self.assertIn(f"SLUICE_RELEASES:-{release.home.own()['repository']}/releases/download}}", text)
        self.assertNotRegex(text, r"curl -(?![a-zA-Z]*f)")


if __name__ == "__main__":
    unittest.main()
