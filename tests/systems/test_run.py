"""run.py with the program of this system, where `cargo test` has built one."""
import os
import subprocess
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = Path(os.environ.get("CARGO_TARGET_DIR", HERE.parent.parent / "target")) / "debug/kubectl-sluice"


def ran(*command):
    return subprocess.run([sys.executable, "-B", HERE / "run.py", *command], capture_output=True, text=True, env={**os.environ, "SLUICE_VERSION": ""})


class Run(unittest.TestCase):
    @unittest.skipUnless(PROGRAM.exists(), "no program")
    def test_the_program_of_this_system(self):
        done = ran(PROGRAM)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ok: ui", done.stdout)

    def test_a_program_that_does_nothing(self):
        done = ran("true")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("exit code 0, and no ['", done.stderr)


if __name__ == "__main__":
    unittest.main()
