"""What the check of imports sees: each case plants one thing in a crate of two modules."""

import tempfile
import unittest
from pathlib import Path

import check

ROOT = """//! A crate.
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * upper
//! * lower

mod lower;
pub mod upper;
"""


class Imports(unittest.TestCase):
    def complaints(self, root=ROOT, **texts):
        with tempfile.TemporaryDirectory() as crate:
            source = Path(crate) / "src"
            source.mkdir()
            (source / "lib.rs").write_text(root)
            for name, text in {"upper": "", "lower": "", **texts}.items():
                file = source / (name.replace("__", "/") + ".rs")
                file.parent.mkdir(exist_ok=True)
                file.write_text(text)
            return check.complaints(Path(crate))

    def test_downward_is_fine(self):
        self.assertEqual(self.complaints(upper="use crate::lower::Thing;"), [])

    def test_upward_is_not_however_it_is_written(self):
        for text in (
            "use crate::upper::Thing;",
            "use crate::{upper, lower};",
            "use crate::{\n    lower::{Other, Thing},\n    upper::Thing,\n};",
            "use super::upper;",
            "use super::{upper::Thing};",
            "fn f() { crate::upper::f() }",
            "const QUOTE: char = '\"'; use crate::upper; const OTHER: char = '\"';",
        ):
            with self.subTest(text):
                self.assertEqual(len(self.complaints(lower=text)), 1)

    def test_the_files_of_a_module_are_the_module(self):
        self.assertEqual(len(self.complaints(lower__deep="use super::super::upper;")), 1)
        self.assertEqual(self.complaints(lower__deep="use super::upper;"), [])
        self.assertEqual(self.complaints(lower="mod deep;", lower__deep="use super::Thing;"), [])

    def test_a_cycle_is_upward_one_way(self):
        found = self.complaints(upper="use crate::lower::A;", lower="use crate::upper::B;")
        self.assertEqual(len(found), 1)
        self.assertIn("lower imports upper", found[0])

    def test_neighbours_of_a_floor_do_not_import_each_other(self):
        root = ROOT.replace("* upper\n//! * lower", "* upper, lower")
        self.assertEqual(len(self.complaints(root, upper="use crate::lower::A;")), 1)

    def test_comments_texts_and_tests_import_nothing(self):
        for text in (
            "// use crate::upper;",
            'const TEXT: &str = "crate::upper::Thing";',
            "#[cfg(test)]\nmod tests {\n    use crate::upper::Thing;\n    fn f() { if true {} }\n}",
            "#[cfg(test)]\nuse crate::upper::Thing;",
        ):
            with self.subTest(text):
                self.assertEqual(self.complaints(lower=text), [])
        self.assertEqual(self.complaints(lower__tests="use crate::upper;"), [])

    def test_every_module_stands_on_one_floor(self):
        self.assertEqual(len(self.complaints(ROOT + "mod third;\n")), 1)
        self.assertEqual(len(self.complaints(ROOT.replace("mod lower;\n", ""))), 1)
        self.assertEqual(len(self.complaints("//! A crate.\nmod lower;\n")), 1)
        self.assertEqual(self.complaints("//! A crate without modules.\n"), [])


class Exceptions(unittest.TestCase):
    """A crate whose files `upper::a` and `upper::b` lead to each other, and whose name `Held` is two types."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.crate = Path(folder.name)
        for name, text in {
            "lib": ROOT,
            "lower": "pub struct Held;",
            "upper": "mod a;\nmod b;",
            "upper/a": "use super::b::Held;\npub struct A;",
            "upper/b": "use super::a::A;\npub struct Held;",
        }.items():
            file = self.crate / "src" / f"{name}.rs"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)

    def test_what_is_wrong_is_told_with_its_files(self):
        (circle,) = check.circles_of(self.crate, [])
        self.assertRegex(circle, r"2 files lead to each other in a circle: \S*upper/a.rs, \S*upper/b.rs")
        (twice,) = check.doubled_in(self.crate, [])
        self.assertIn("2 types are called Held, in lower, upper::b", twice)

    def test_what_is_known_is_left_out_while_it_is_there(self):
        self.assertEqual(check.circles_of(self.crate, ["upper"]), [])
        self.assertEqual(check.doubled_in(self.crate, ["Held"]), [])
        self.assertEqual(len(check.circles_of(self.crate, ["lower"])), 2, "another module's exception is none, and is not needed")
        (self.crate / "src/upper/b.rs").write_text("pub struct Free;")
        (over,) = check.circles_of(self.crate, ["upper"])
        self.assertIn("upper has no circle of files any more", over)
        (over,) = check.doubled_in(self.crate, ["Held"])
        self.assertIn("Held is one type by now", over)


if __name__ == "__main__":
    unittest.main()
