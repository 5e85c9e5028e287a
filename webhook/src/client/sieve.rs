//! Cuts a long text of the API server down to the metadata of its objects while the text arrives, so the text is
//! never held as a whole.
//!
//! Each object in the output carries the mark of [`rules::kept::is_too_large`]. The text is JSON as the API server
//! writes it, an event of a watch or a list. Any other text becomes an output that no reader accepts.

use rules::kept::TOO_LARGE;

/// The longest value that the sieve keeps, in bytes. A longer one becomes null.
const LONGEST: usize = 2 << 20;
/// The most bytes of a key that are read. A field of the metadata whose key is as long as this, or longer, is dropped.
const LONGEST_KEY: usize = 64;

/// The state of the sieve within a JSON text, from which it drops the fields that are not kept.
#[derive(Debug, Default)]
pub(super) struct Sieve {
    out: Vec<u8>,
    /// The mappings and lists that the sieve has entered and that are still open, the outermost first; for each, whether an entry was written.
    within: Vec<(EventLevel, bool)>,
    key: Vec<u8>,
    step: SieveStep,
}

/// A mapping or a list that the sieve enters, to decide on each entry by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventLevel {
    /// The outermost mapping of the text: a watch event, or a list.
    Root,
    /// The `items` of a list.
    Items,
    Object,
    Metadata,
}

/// The treatment of a value by the sieve.
#[derive(Debug, Clone, Copy)]
enum Fate {
    Enter(EventLevel),
    Keep,
    Drop,
}

/// The next element of the JSON text that the sieve expects.
#[derive(Debug, Clone, Copy, Default)]
enum SieveStep {
    /// A key, an item, or the end of the innermost open mapping or list.
    #[default]
    Next,
    /// The rest of a mapping's key, after its opening quote.
    Key { escaped: bool },
    /// The value of a key of a mapping.
    Value,
    /// The rest of a value that is kept or dropped as a whole.
    Raw(Raw),
}

#[derive(Debug, Clone, Copy)]
struct Raw {
    /// The place in the output where the value begins; `None` where the value is dropped.
    kept: Option<usize>,
    depth: usize,
    in_text: bool,
    escaped: bool,
}

impl Sieve {
    /// Feeds the sieve with the next part of the text.
    pub(super) fn feed(&mut self, part: &[u8]) {
        let mut rest = part;
        while let [byte, behind @ ..] = rest {
            if let SieveStep::Raw(Raw {
                kept: None,
                in_text: true,
                escaped: false,
                ..
            }) = self.step
            {
                // Skip the inside of a dropped string at once: most of a long text is that.
                let skipped = rest.iter().position(|it| matches!(it, b'"' | b'\\'));
                rest = &rest[skipped.unwrap_or(rest.len())..];
                if skipped != Some(0) {
                    continue;
                }
            }
            if self.take(*byte) {
                rest = behind;
            }
        }
    }

    /// Returns the text that the sieve has kept.
    pub(super) fn finish(self) -> Vec<u8> {
        self.out
    }

    /// Takes the next byte of the text. Returns `false` where the byte only ended or began an element, and has to be taken again as a part of the
    /// next one.
    fn take(&mut self, byte: u8) -> bool {
        match self.step {
            SieveStep::Next => self.next(byte),
            SieveStep::Key { escaped: false } if byte == b'"' => self.step = SieveStep::Value,
            SieveStep::Key { escaped } => {
                if self.key.len() < LONGEST_KEY {
                    self.key.push(byte);
                }
                self.step = SieveStep::Key {
                    escaped: !escaped && byte == b'\\',
                };
            }
            SieveStep::Value if byte.is_ascii_whitespace() || byte == b':' => {}
            SieveStep::Value => return self.value(byte),
            SieveStep::Raw(raw) => return self.raw(raw, byte),
        }
        true
    }

    fn next(&mut self, byte: u8) {
        match (byte, self.within.last()) {
            (b'{', None) => self.enter(EventLevel::Root, b'{'),
            (b'{', Some((EventLevel::Items, _))) => {
                self.separate();
                self.enter(EventLevel::Object, b'{');
            }
            (b'"', Some(_)) => {
                self.key.clear();
                self.step = SieveStep::Key { escaped: false };
            }
            (b'}' | b']', Some(_)) => {
                self.within.pop();
                self.out.push(byte);
            }
            _ => {}
        }
    }

    /// Decides by its key and its first byte whether a value is entered, kept or dropped. Returns whether the byte was taken.
    fn value(&mut self, byte: u8) -> bool {
        let fate = match self.within.last() {
            Some((place, _)) => place.fate(&self.key),
            None => Fate::Drop,
        };
        match (fate, byte) {
            (Fate::Drop, _) => self.begin(None),
            (Fate::Enter(place), b'{' | b'[') => {
                self.write_key();
                self.enter(place, byte);
                return true;
            }
            (Fate::Enter(_) | Fate::Keep, _) => {
                self.write_key();
                self.begin(Some(self.out.len()));
            }
        }
        false
    }

    fn begin(&mut self, kept: Option<usize>) {
        self.step = SieveStep::Raw(Raw {
            kept,
            depth: 0,
            in_text: false,
            escaped: false,
        });
    }

    fn raw(&mut self, mut raw: Raw, byte: u8) -> bool {
        let mut ends = false;
        if raw.in_text {
            let quoted = raw.escaped;
            raw.escaped = byte == b'\\' && !quoted;
            if byte == b'"' && !quoted {
                raw.in_text = false;
                ends = raw.depth == 0;
            }
        } else {
            match byte {
                b'"' => raw.in_text = true,
                b'{' | b'[' => raw.depth += 1,
                // A number, `true`, `false` or `null` ends before this byte, without a mark of its own.
                b'}' | b']' | b',' if raw.depth == 0 => {
                    self.step = SieveStep::Next;
                    return false;
                }
                b'}' | b']' => {
                    raw.depth -= 1;
                    ends = raw.depth == 0;
                }
                _ => {}
            }
        }
        if let Some(from) = raw.kept {
            self.out.push(byte);
            if self.out.len() - from > LONGEST {
                self.out.truncate(from);
                self.out.extend_from_slice(b"null");
                raw.kept = None;
            }
        }
        self.step = if ends {
            SieveStep::Next
        } else {
            SieveStep::Raw(raw)
        };
        true
    }

    fn enter(&mut self, place: EventLevel, byte: u8) {
        self.out.push(byte);
        self.step = SieveStep::Next;
        let marked = place == EventLevel::Metadata;
        if marked {
            let mark = format!("\"{TOO_LARGE}\":true");
            self.out.extend_from_slice(mark.as_bytes());
        }
        self.within.push((place, marked));
    }

    fn separate(&mut self) {
        if let Some((_, filled)) = self.within.last_mut()
            && std::mem::replace(filled, true)
        {
            self.out.push(b',');
        }
    }

    fn write_key(&mut self) {
        self.separate();
        self.out.push(b'"');
        self.out.extend_from_slice(&self.key);
        self.out.extend_from_slice(b"\":");
    }
}

impl EventLevel {
    fn fate(self, key: &[u8]) -> Fate {
        match (self, key) {
            (Self::Root, b"object") => Fate::Enter(Self::Object),
            (Self::Root, b"items") => Fate::Enter(Self::Items),
            (Self::Root, _) | (Self::Object, b"apiVersion" | b"kind") => Fate::Keep,
            (Self::Object, b"metadata") => Fate::Enter(Self::Metadata),
            (Self::Metadata, b"managedFields") => Fate::Drop,
            // A key of this length was cut, or may have been.
            (Self::Metadata, key) if key.len() < LONGEST_KEY => Fate::Keep,
            (Self::Object | Self::Items | Self::Metadata, _) => Fate::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rules::kept::is_too_large;
    use serde_json::{Value, json};

    /// Sieves a text that arrives in parts of `part` bytes.
    fn sieved(text: &str, part: usize) -> Value {
        let mut sieve = Sieve::default();
        for part in text.as_bytes().chunks(part) {
            sieve.feed(part);
        }
        let out = sieve.finish();
        serde_json::from_slice(&out).unwrap_or_else(|error| panic!("{error}: {out:?}"))
    }

    fn object() -> Value {
        json!({
            "apiVersion": "v1", "data": {"metadata": {"name": "false"}, "list": [1, "]}", {"a": "\\\""}]}, "kind": "Pod",
            "metadata": {
                "name": "a", "namespace": "b", "uid": "u", "resourceVersion": "7", "labels": {"a\"{": "}\\"}, "generation": 3,
                "annotations": {"x": "<,]"}, "deletionTimestamp": null,
                "managedFields": [{"manager": "m", "fieldsV1": {"f:x": {}}}],
                "ownerReferences": [{"kind": "Job", "uid": "\u{1F980}"}],
            },
            "number": -1.5e3, "spec": {"deep": [[[[{"x": {}}]]]]}, "status": null, "true": true,
        })
    }

    fn metadata_alone() -> Value {
        let mut lean = object();
        let fields = lean.as_object_mut().unwrap();
        fields.retain(|key, _| ["apiVersion", "kind", "metadata"].contains(&key.as_str()));
        let metadata = lean["metadata"].as_object_mut().unwrap();
        metadata.remove("managedFields");
        metadata.insert(TOO_LARGE.to_owned(), json!(true));
        lean
    }

    #[test]
    fn of_an_object_its_metadata_goes_through_wherever_the_text_is_cut() {
        let event = json!({"type": "MODIFIED", "object": object()});
        let list = json!({
            "apiVersion": "v1", "kind": "PodList", "items": [object(), object()],
            "metadata": {"resourceVersion": "8", "continue": "\"next\""},
        });
        for text in [
            event.to_string(),
            serde_json::to_string_pretty(&event).unwrap(),
        ] {
            for part in 1..40 {
                let out = sieved(&text, part);
                assert_eq!(out, json!({"type": "MODIFIED", "object": metadata_alone()}));
                assert!(is_too_large(&out["object"]));
            }
        }
        for part in [1, 3, 1_000] {
            let mut expected = list.clone();
            expected["items"] = json!([metadata_alone(), metadata_alone()]);
            assert_eq!(sieved(&list.to_string(), part), expected);
        }
        let empty = json!({"items": [], "metadata": {}});
        assert_eq!(sieved(&empty.to_string(), 2), empty);
    }

    #[test]
    fn metadata_that_is_too_long_itself_loses_its_long_fields() {
        let mut long = object();
        long["metadata"]["ownerReferences"][0]["name"] = json!("<".repeat(LONGEST));
        long["spec"] = json!("x".repeat(LONGEST));
        let mut expected = metadata_alone();
        expected["metadata"]["ownerReferences"] = Value::Null;
        let event = json!({"type": "ADDED", "object": long});
        let out = sieved(&event.to_string(), 10_000);
        assert_eq!(out["object"], expected);
    }
}
