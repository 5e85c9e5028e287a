"""What the check of words counts, and what it passes over."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import check


class Words(unittest.TestCase):
    def found(self, text, suffix=".rs"):
        return [word for _, word, _ in check.findings(Path("file" + suffix), text)[1]]

    def test_a_pronoun_counts_wherever_a_comment_stands(self):
        for text in (
            "// A pod whose owner nobody reads.",
            "fn f() {} // For whoever waits.",
            "/* Of whom? */",
            "//! A file.\n//!\n//! Everyone reads it.",
            'const TEXT: &str = "it"; // Somebody wrote it.',
            "const QUOTE: char = '\"'; // No one asks.",
        ):
            with self.subTest(text):
                self.assertEqual(len(self.found(text)), 1)

    def test_code_and_quotations_are_not_prose(self):
        for text in (
            'fn who() { say("nobody // somebody") }',
            'fn f() -> &str { r#"// "nobody""# }',
            "/// Says `who` and \"nobody\".",
            "/// Shows:\n/// ```\n/// let who = 1; // nobody\n/// ```",
            "/// Shows:\n///\n///     nobody",
            "/// See [who waits](https://example.com/nobody), `a`, `who` and [`b`].",
            "// The pod's owner, whose name is short.",
        ):
            with self.subTest(text):
                self.assertEqual(self.found(text), [])

    def test_a_sentence_that_begins_with_what_counts_unless_it_asks(self):
        self.assertEqual(self.found("/// What is kept of an object."), ["What"])
        self.assertEqual(self.found("// An object. What is kept\n// of it."), ["What"])
        self.assertEqual(self.found("// What is kept?"), [])
        self.assertEqual(self.found("// Says what is kept."), [])
        self.assertEqual(self.found("## What a pod waits for\n\nText.\n", ".md"), [])
        self.assertEqual(self.found("What a pod waits for is said.\n", ".md"), ["What"])

    def test_a_doc_comment_stands_alone(self):
        for text in ("The same, of a Job.", "As kstatus does.", "And UIDs.", "Without labels.", "an eighth.", "Bytes of all,"):
            with self.subTest(text):
                self.assertEqual(len(self.found(f"/// {text}")), 1)
                self.assertEqual(len(self.found(f"//! {text}")), 1)
                self.assertEqual(self.found(f"// {text}"), [])
        for text in ("As long as a pod runs.", "kstatus says so.", "`and` is a word.", "An entry."):
            with self.subTest(text):
                self.assertEqual(self.found(f"/// {text}"), [])

    def test_each_line_of_a_comment_is_one_comment(self):
        self.assertEqual(self.found("/// An entry\n/// and its pod."), [])
        self.assertEqual(self.found("/// An entry.\nA: u8,\n/// and its pod."), ["begins: a"])

    def test_yaml_and_templates_are_read(self):
        self.assertEqual(self.found("# Nobody.\nkey: nobody\n", ".yaml"), ["Nobody"])
        self.assertEqual(self.found("{{- /* Nobody. */}}nobody", ".tpl"), ["Nobody"])

    def test_words_are_counted_and_lines_are_said(self):
        words, found = check.findings(Path("file.rs"), "\n// One `two` \"three\" four.\n//\n// Nobody comes.\n")
        self.assertEqual(words, 4)
        self.assertEqual(found[0][0], 4)

    def test_an_area_above_its_limit_is_refused_and_one_far_below_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "file.rs").write_text("// Nobody reads one of these ten words of prose.\n")
            for limit, code, said in ((110, 1, "above 110"), (111.2, 0, ""), (112, 0, "lower its limit, which is 112")):
                stream = io.StringIO()
                with mock.patch.object(check, "LIMITS", {"a": (limit, ["*.rs"])}), contextlib.redirect_stderr(stream):
                    self.assertEqual(check.main([], root=Path(folder)), code)
                self.assertIn(said, stream.getvalue())
                self.assertEqual(bool(said), bool(stream.getvalue()))


if __name__ == "__main__":
    unittest.main()
