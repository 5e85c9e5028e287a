"""What counts as an arrow from file to file, and which circles are found: each case is a small crate."""

import tempfile
import unittest
from pathlib import Path

import circles
from source import files_of


def crate(folder, **texts):
    """Writes the files of a crate, each by its path with `__` for a slash; a file declares the files of its folder itself."""
    for name, text in texts.items():
        file = Path(folder) / (name.replace("__", "/") + ".rs")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return files_of(Path(folder) / "lib.rs")


class Circles(unittest.TestCase):
    def found(self, **texts):
        with tempfile.TemporaryDirectory() as folder:
            found = circles.circles(circles.arrows(crate(folder, **texts)))
        return [["::".join(module) for module in circle] for circle in found]

    def test_two_files_that_import_each_other(self):
        one_way = {"lib": "mod a; mod b;".replace("; ", ";\n"), "a": "use crate::b::B;\npub struct A;"}
        self.assertEqual(self.found(**one_way, b="pub struct B;"), [])
        for back in ("use crate::a::A;\npub struct B;", "pub struct B(super::a::A);", "use super::a::{self, A as It};\npub struct B;"):
            with self.subTest(back):
                self.assertEqual(self.found(**one_way, b=back), [["a", "b"]])

    def test_a_circle_of_three(self):
        texts = {
            "lib": "mod a;\nmod b;\nmod c;",
            "a": "use crate::b::B;\npub struct A;",
            "b": "use crate::c;\npub struct B(c::C);",
            "c": "pub struct C;\nfn f() { crate::a::A }",
        }
        self.assertEqual(self.found(**texts), [["a", "b", "c"]])

    def test_a_name_that_is_handed_on_leads_to_the_file_that_defines_it(self):
        texts = {
            "lib": "mod a;\nmod b;",
            "a": "mod deep;\npub use deep::D;\nuse crate::b::B;",
            "a__deep": "pub struct D;",
            "b": "use crate::a::D;\npub struct B;",
        }
        self.assertEqual(self.found(**texts), [])
        used = {"b": "use crate::a::D;\nuse crate::a::own;\npub struct B;", "a": texts["a"] + "\npub fn own() {}"}
        self.assertEqual(self.found(**(texts | used)), [["a", "b"]])

    def test_a_parent_and_its_folder(self):
        texts = {
            "lib": "mod a;\nmod b;",
            "a": "mod deep;\nuse deep::D;\npub const MOST: usize = 1;\nfn f() { D }",
            "a__deep": "use super::MOST;\npub struct D;",
            "b": "",
        }
        self.assertEqual(self.found(**texts), [], "what the folder shares stands in the parent")
        around = {"a__deep": "use crate::b::B;\npub struct D;", "b": "use crate::a::MOST;\npub struct B;"}
        self.assertEqual(self.found(**(texts | around)), [["a", "a::deep", "b"]], "down into the folder, and back from beside it")

    def test_a_parent_that_only_hands_on_is_no_part_of_a_circle(self):
        texts = {
            "lib": "mod a;\nmod b;",
            "a": "mod deep;\npub use deep::D;\npub const MOST: usize = 1;",
            "a__deep": "use crate::b::B;\npub struct D;",
            "b": "use crate::a::MOST;\npub struct B;",
        }
        self.assertEqual(self.found(**texts), [])

    def test_a_method_is_an_arrow_to_the_file_that_defines_it(self):
        texts = {
            "lib": "mod a;\nmod b;\nmod judge;",
            "judge": "pub struct Judge;\nimpl Judge { pub fn shared(&self) {} }",
            "a": "use crate::judge::Judge;\nimpl Judge { pub fn one(&self) { self.two(); self.shared() } }",
            "b": "use super::judge::Judge;\nimpl Judge { pub fn two(&self) { self.shared() } }",
        }
        self.assertEqual(self.found(**texts), [])
        for back in ("self.one()", "self\n    .one()", "Self::one(self)"):
            with self.subTest(back):
                text = f"use super::judge::Judge;\nimpl<'a, T: Of<X>> Judge<'a> where T: Y {{ pub fn two(&self) {{ {back} }} }}"
                self.assertEqual(self.found(**(texts | {"b": text})), [["a", "b"]])
        other = "use super::judge::Judge;\nstruct Other;\nimpl Other { fn f(&self) { self.one() } }\nimpl Judge { pub fn two(&self) {} }"
        self.assertEqual(self.found(**(texts | {"b": other})), [], "a method of another type")
        own = "use super::judge::Judge;\nimpl Judge { pub fn two(&self) { self.one() }\nfn one(&self) {} }"
        self.assertEqual(self.found(**(texts | {"b": own})), [], "the file has one of that name itself")

    def test_tests_comments_and_texts_are_no_arrows(self):
        texts = {"lib": "mod a;\nmod b;", "a": "use crate::b::B;\npub struct A;"}
        for back in (
            "#[cfg(test)]\nmod tests;\npub struct B;",
            "#[cfg(test)]\nmod tests { use crate::a::A; }\npub struct B;",
            "// use crate::a::A;\npub struct B;",
            'pub struct B;\nconst TEXT: &str = "crate::a::A";',
        ):
            with self.subTest(back):
                self.assertEqual(self.found(**texts, b=back, b__tests="use crate::a::A;"), [])


if __name__ == "__main__":
    unittest.main()
