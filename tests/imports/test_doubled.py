"""Which names count as doubled: each case is a small crate."""

import tempfile
import unittest

from doubled import doubled
from test_circles import crate


class Doubled(unittest.TestCase):
    def found(self, **texts):
        with tempfile.TemporaryDirectory() as folder:
            return doubled(crate(folder, lib="mod a;\nmod b;", **texts))

    def test_every_sort_of_type_counts(self):
        for text in (
            "struct Held;",
            "pub(crate) enum Held<'a> { A(&'a str) }",
            "pub trait Held: Sized {}",
            "type Held = u8;",
            "fn f() {}\nunion Held { a: u8 }",
        ):
            with self.subTest(text):
                self.assertEqual(self.found(a="pub struct Held { a: u8 }", b=text), {"Held": ["a", "b"]})

    def test_other_uses_of_a_name_do_not(self):
        for text in (
            "use crate::a::Held;\nimpl Held {}",
            "fn held() { struct Held; }",
            "impl Iterator for X { type Held = u8; }",
            "enum State { Held }",
            "#[cfg(test)]\nmod tests { struct Held; }",
            "#[cfg(test)]\nmod tests;",
            "// struct Held;",
        ):
            with self.subTest(text):
                self.assertEqual(self.found(a="pub struct Held;", b=text, b__tests="struct Held;"), {})


if __name__ == "__main__":
    unittest.main()
