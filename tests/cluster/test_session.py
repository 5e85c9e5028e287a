"""The words of session.sh about stages: before they run, and about those that failed in the end."""

import os
import pathlib
import subprocess
import tempfile
import unittest

SESSION = pathlib.Path(__file__).with_name("session.sh")
SCRIPT = r"""
set -eu -o pipefail
. "$1"
good() { echo 'test result: ok. 3 passed; 0 failed; 4 ignored'; echo 'Ran 2 tests in 0.1s'; }
bad() {
  echo 'test it::stands ... ok'
  printf '%s\n' '---- it::falls stdout ----' "thread 'it::falls' (7) panicked at tests/it.rs:3:5:" 'two is not three' 'note: more'
  printf '%s\n' "thread 'it::falls' (7) panicked at tests/it.rs:9:5:" 'while it fell'
  echo 'test result: FAILED. 1 passed; 1 failed; 0 ignored'
  printf '%s\n' 'Ran 5 tests in 0.1s' '' 'FAILED (failures=1, errors=2, skipped=1)'
  false
  echo 'never said'
}
shell() { echo 'cluster: gave up' >&2; exit 7; }
plan good 2 'what is well'
plan bad 3 'what is not'
plan shell 1 'what is no test'
plan other 1 'what cannot be here'
plan late 1 'what never runs'
announce
stage good; stage bad; stage shell; skip other 'there is none'
[ "$2" = whole ] || exit 9
stage good
"""


def ran(how, stages="", script=SCRIPT):
    with tempfile.TemporaryDirectory() as folder:
        command = ["bash", "-c", script, "bash", SESSION, how]
        environment = {**os.environ, "STAGES": stages}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


BESIDE = r"""
set -eu -o pipefail
. "$1"
plan far 1 'beside the others'
plan lost 1 'beside them, and red'
plan broken 1 'beside them, and gone before its stage'
plan near 1 'here'
near() { echo 'test result: ok. 2 passed; 0 failed; 0 ignored'; }
there='
set -eu -o pipefail
. "$1"
red=$2
near() { false; }
far() { echo "test result: ok. 5 passed; 0 failed; 0 ignored"; }
lost() { echo "test result: FAILED. 4 passed; 3 failed; 0 ignored"; return "$red"; }
for name in near far lost; do plan $name 1 "$name"; stage $name; done
'
stage near
beside far bash -c "$there" bash "$1" 0
beside lost bash -c "$there" bash "$1" 3
beside broken false
joined far
joined lost
joined broken
"""


class Session(unittest.TestCase):
    def test_what_runs_is_said_before_it_does(self):
        said = ran("whole").stdout
        self.assertTrue(said.startswith("test: 5 stages, 8 min on two cores"), said)
        self.assertIn("    3 min  bad        what is not\n", said)

    def test_a_stage_that_fails_hides_none_after_it(self):
        result = ran("whole")
        self.assertEqual(result.returncode, 1)
        self.assertNotIn("never said", result.stdout)
        end = result.stdout[result.stdout.index("  good       passed in ") :]
        self.assertIn("bad        FAILED (1)\n    it::falls: two is not three (tests/it.rs:3:5)\n    all of it: ", end)
        self.assertIn("/target/test-logs/bad.log\n", end)
        self.assertIn("shell      FAILED (7)\n    cluster: gave up\n", end)
        self.assertIn("other      skipped: there is none\n", end)
        self.assertIn("late       not run\n", end)
        self.assertNotIn("while it fell", end)
        self.assertTrue(end.endswith("test: FAILED (1)\ntests: 8 passed, 4 failed\n"), end)

    def test_the_script_itself_may_fail(self):
        result = ran("in the middle")
        self.assertEqual(result.returncode, 9)
        self.assertTrue(result.stdout.endswith("test: FAILED (9)\ntests: 8 passed, 4 failed\n"), result.stdout)

    def test_stages_that_are_named_run_alone(self):
        result = ran("whole", "good late")
        self.assertEqual(result.returncode, 0)
        self.assertTrue(result.stdout.startswith("test: 2 stages, 3 min on two cores"), result.stdout)
        self.assertNotIn("what is no test", result.stdout.split("shell: skipped")[0])
        self.assertIn("bad        skipped: STAGES does not name it\n", result.stdout)

    def test_a_stage_that_is_not_there_is_named(self):
        result = ran("whole", "good lately")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no stage is called lately; there are: good bad shell other late", result.stderr)

    def test_a_stage_of_another_session_counts_as_one_of_this(self):
        result = ran("whole", script=BESIDE)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"\n  far        passed in \d min\n  lost       FAILED \(1\)\n(    .*\n)+  broken     FAILED \(1\)\n")
        self.assertTrue(result.stdout.endswith("test: FAILED (1)\ntests: 11 passed, 3 failed\n"), result.stdout)

    def test_another_session_ends_with_this_one(self):
        sleeps = "beside near bash -c 'echo $$ > pid; exec sleep 600'; until [ -s pid ]; do sleep 0.02; done; cat pid; exit 9"
        result = ran("whole", script=BESIDE.replace("stage near", sleeps))
        self.assertEqual(result.returncode, 9)
        pid = next(int(line) for line in result.stdout.splitlines() if line.isdigit())
        self.assertRaises(ProcessLookupError, os.kill, pid, 0)


if __name__ == "__main__":
    unittest.main()
