"""python3 -m unittest discover examples/shop: what helm makes of the chart; skipped where there is no helm."""
import pathlib, re, shutil, subprocess, tempfile, unittest

CHART = pathlib.Path(__file__).parent / "chart"


def template(*settings, chart=CHART):
    done = subprocess.run(["helm", "template", "shop", chart, *(f"--set={s}" for s in settings)], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr)
    return done.stdout

def migration(*args, **kwargs):
    """The name of the Job."""
    return re.search(r"kind: Job\nmetadata:\n  name: (\S+)", template(*args, **kwargs))[1]


@unittest.skipUnless(shutil.which("helm"), "no helm in PATH")
class Chart(unittest.TestCase):
    def test_one_line_of_order_on_each_workload(self):
        lists = re.findall(r"^  annotations:\n    sluice.dev/depends-on: (.*)$", template(), re.MULTILINE)
        self.assertEqual(sorted(lists), sorted(["svc/postgres", f"job/{migration()}, svc/postgres", "svc/api"]))

    def test_nothing_waits_by_itself(self):
        self.assertNotRegex(template(), r"initContainers|helm.sh/hook|until |sleep [0-9]")

    def test_a_new_schema_is_a_new_job(self):
        self.assertNotEqual(migration(), migration("schema=2"))
        self.assertIn("0002-sold.sql", template("schema=2"))
        self.assertNotIn("0002-sold.sql", template())

    def test_other_values_leave_the_finished_job_alone(self):
        self.assertEqual(migration(), migration("api.replicas=5", "postgres.password=other"))

    def test_changed_sql_is_a_new_job(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = shutil.copytree(CHART, f"{folder}/chart")
            with open(f"{copy}/migrations/0001-products.sql", "a", encoding="utf-8") as file:
                file.write("-- more\n")
            self.assertNotEqual(migration(), migration(chart=copy))

    def test_a_size_makes_a_claim(self):
        self.assertNotIn("volumeClaimTemplates", template())
        self.assertIn("requests: {storage: 1Gi}", template("postgres.size=1Gi"))
        self.assertIn("storageClassName: fast", template("postgres.size=1Gi", "postgres.storageClass=fast"))

    def test_an_unknown_value_is_refused(self):
        with self.assertRaisesRegex(ValueError, "shcema"):
            template("shcema=2")


if __name__ == "__main__":
    unittest.main()
