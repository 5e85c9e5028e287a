"""python3 -m unittest discover examples/shop: the live view, the timeline and the check, from recordings of real pods.

`install` and `upgrade` are of a cluster where gates held the pods, `without` of one without sluice.
"""
import copy, io, pathlib, subprocess, sys, tempfile, unittest

import timeline
from looks import Recording, last_word
from timeline import History, Probe, Screen

HERE = pathlib.Path(__file__).parent


def replayed(name, change=lambda look: None):
    begin, looks = Recording.read(HERE / "recordings" / f"{name}.json")
    history, out = History(begin), io.StringIO()
    screen = Screen(out, begin)
    for look in looks:
        look = copy.deepcopy(look)
        change(look)
        history.add(look)
        screen.show(history)
    return history, out.getvalue()

def workloads(history):
    return [p.workload[1].split("-")[0] for p in sorted(history.pods.values(), key=lambda p: p.started)]


class Install(unittest.TestCase):
    def test_the_order_is_the_one_of_the_lists(self):
        history, _ = replayed("install")
        self.assertEqual(workloads(history), ["postgres", "migrate", "api", "api", "web"])
        self.assertEqual([sentence for holds, sentence in history.check() if not holds], [])
        self.assertEqual(len(list(history.check())), 6)
        self.assertTrue(history.settled())

    def test_the_live_view_tells_what_the_gate_said(self):
        _, out = replayed("install")
        self.assertRegex(out, r"\d\.\ds  migrate-1-\S+ +waiting   waiting for svc/postgres")
        self.assertRegex(out, r"web-\S+ +ready\n")

    def test_the_live_view_repeats_nothing(self):
        _, out = replayed("install")
        rows = sorted((line.split("s  ", 1)[1] for line in out.splitlines()), key=lambda row: row.split()[0])    # stable: the order in time of each pod
        self.assertFalse([a for a, b in zip(rows, rows[1:]) if a == b])

    def test_it_is_not_settled_while_a_pod_waits(self):
        begin, looks = Recording.read(HERE / "recordings/install.json")
        history = History(begin)
        for look in looks[:-1]:
            history.add(look)
            self.assertFalse(history.settled())

    def test_one_second_too_early_is_seen(self):
        def earlier(look):
            for item in look["items"]:
                for container in item["status"]["containerStatuses"]:
                    if container["name"] == "web" and "running" in container["state"]:
                        container["state"]["running"]["startedAt"] = "2020-01-01T00:00:00Z"
        history, _ = replayed("install", earlier)
        self.assertEqual([s.split(" ")[0][:3] + s.rpartition(", ")[2][:7] for holds, s in history.check() if not holds], ["websvc/api"])

    def test_a_pod_that_was_ready_once_stays_a_dependency_that_was_there(self):
        begin, looks = Recording.read(HERE / "recordings/install.json")
        last = copy.deepcopy(looks[-1])
        for item in last["items"]:
            item["status"]["conditions"] = [c for c in item["status"]["conditions"] if c["type"] != "Ready"]
        history = History(begin)
        for look in [*looks, last]:
            history.add(look)
        self.assertTrue(all(holds for holds, _ in history.check()))

    def test_bars_say_wait_start_work(self):
        history, _ = replayed("install")
        head, *rows = history.bars(110)
        self.assertIn(". waits", head)
        bars = {row[:3]: row.split("|")[1] for row in rows}
        self.assertRegex(bars["web"], r"^ *\.+-+#+$")
        self.assertRegex(bars["mig"], r"^ *\.+-+#+ +$")          # a Job's pod ends
        self.assertEqual({len(row) for row in rows}, {len(rows[0])})


class Upgrade(unittest.TestCase):
    def test_old_pods_serve_while_new_ones_wait(self):
        history, out = replayed("upgrade")
        old = [p for p in history.pods.values() if p.workload == ("Deployment", "api") and p.created < history.begin]
        new = [p for p in history.pods.values() if p.workload == ("Deployment", "api") and p.created >= history.begin]
        self.assertEqual((len(old), len(new)), (2, 2))
        self.assertGreater(min(p.gone for p in old), min(p.ready for p in new))
        self.assertTrue(all(holds for holds, _ in history.check()))
        self.assertIn("stopping", out)

    def test_only_new_pods_are_judged(self):
        history, _ = replayed("upgrade")
        judged = {sentence.split("-")[0] for _, sentence in history.check()}
        self.assertEqual(judged, {"migrate", "api"})

    def test_the_finished_migration_of_the_release_before_has_no_bar(self):
        history, _ = replayed("upgrade")
        self.assertFalse([row for row in history.bars(110) if row.startswith("migrate-1")])


class Without(unittest.TestCase):
    def test_what_started_in_vain_is_told(self):
        history, out = replayed("without")
        wrong = [sentence for holds, sentence in history.check() if not holds]
        self.assertTrue([s for s in wrong if s.startswith("api") and "in vain" in s])
        self.assertTrue([s for s in wrong if s.startswith("api") and "job/migrate-1" in s])
        self.assertIn("crashing", out)

    def test_a_failed_run_ends_in_its_bar(self):
        history, _ = replayed("without")
        bar = next(row.split("|")[1] for row in history.bars(110) if row.startswith("migrate"))
        self.assertRegex(bar, r"^ *\.+-*x+ +$")

    def test_it_is_told_of_pods_on_their_way_out_too(self):
        begin, looks = Recording.read(HERE / "recordings/without.json")
        last = copy.deepcopy(looks[-1])
        for item in last["items"]:
            item["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        history = History(begin)
        for look in [*looks, last]:
            history.add(look)
        self.assertTrue([s for holds, s in history.check() if "in vain" in s and not holds])


class Parts(unittest.TestCase):
    def test_last_word(self):
        for line, word in [("waiting for job/migrate\n", "waiting for job/migrate"), ('{"level":"info","message":"open"}', "open"), ('{"msg":"open"}', "open"),
                           ("2026-11-21T03:00:00.123Z  INFO waiting", "waiting"), ("", ""), ("17", "17"), ('"x"', '"x"')]:
            with self.subTest(line):
                self.assertEqual(last_word(line), word)

    def test_a_recording_is_read_as_it_was(self):
        begin, looks = Recording.read(HERE / "recordings/upgrade.json")
        again = Recording(begin)
        for look in looks + looks[-1:]:
            again.add(look)
        with tempfile.NamedTemporaryFile() as file:
            again.write(file.name)
            self.assertEqual(Recording.read(file.name), (begin, looks))

    def test_an_empty_namespace_is_not_settled(self):
        history = History(0)
        history.add({"at": 1, "items": [], "said": {}})
        self.assertFalse(history.settled())

    def test_an_unknown_kind_of_dependency_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "group/x"):
            History(0).healthy("group/x")

    def test_the_probe_tells_who_answered_and_who_did_not(self):
        probe = Probe("")
        probe.answers, probe.failures = [(10.5, 1), (11.0, 1), (12.0, 2)], [(11.5, "refused")]
        told = list(probe.summary(10))
        self.assertEqual(told[0], (True, "the API of schema 1 answered 2 requests, from +0.5s to +1.0s"))
        self.assertFalse(told[-1][0])
        self.assertIn("+1.5s refused", told[-1][1])

    def test_exit_codes(self):
        for name, code in [("install", 0), ("upgrade", 0), ("without", 1)]:
            with self.subTest(name):
                done = subprocess.run([sys.executable, timeline.__file__, "--replay", HERE / "recordings" / f"{name}.json"], capture_output=True)
                self.assertEqual(done.returncode, code, done.stdout)


if __name__ == "__main__":
    unittest.main()
