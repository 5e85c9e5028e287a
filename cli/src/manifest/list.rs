//! Reads a text that is one list in JSON, as `kubectl get -o json` writes it: its items are found first, then read side by side.

use super::{Entry, Origin, adopt, list_of};
use crate::parallel;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The items of a list, not read yet.
///
/// This is a short way through the text for [`super::Entries`]. An unusual text is left to `Entries`, which also finds its faults. Wherever
/// this way gives an answer, both agree.
pub(crate) struct List<'t> {
    items: Vec<&'t RawValue>,
    item_kind: String,
    version: Value,
    /// The byte of the text at which the list begins.
    at: usize,
}

/// The fields of a list in JSON. A text in which one is missing or repeated is left to [`super::Entries`].
#[derive(Deserialize)]
struct Written<'t> {
    kind: String,
    #[serde(rename = "apiVersion")]
    version: Value,
    #[serde(borrow)]
    items: Vec<&'t RawValue>,
}

impl<'t> List<'t> {
    /// Finds the items of a text that is one Kubernetes list in JSON and nothing more; `None` for any other text, and where a field of the list is
    /// missing or repeated.
    pub(crate) fn of(text: &'t [u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let list = text.trim_start();
        let written = list.starts_with('{').then(|| serde_json::from_str(list));
        let Written {
            kind,
            version,
            items,
        } = written?.ok()?;
        Some(Self {
            items,
            item_kind: list_of(&kind)?.to_owned(),
            version,
            at: text.len() - list.len(),
        })
    }

    /// The results of `make` for the items, in their order, made side by side; `None` where an item is unusual, so that the text is left to
    /// [`super::Entries`].
    pub(crate) fn map<T: Send>(&self, make: impl Fn(Entry) -> T + Sync) -> Option<Vec<T>> {
        let read = |index, item: &&RawValue| self.entry(index, item).map(&make);
        parallel::map(&self.items, read).into_iter().collect()
    }

    /// Reads one item of the list. An item with neither `kind` nor `apiVersion` gets those that a list such as `PodList` implies. `None` where the
    /// item is no valid JSON, no mapping, without a kind, or a list itself.
    fn entry(&self, index: usize, item: &RawValue) -> Option<Entry> {
        let mut object: Value = serde_json::from_str(item.get()).ok()?;
        adopt(
            object.as_object_mut()?,
            &self.item_kind,
            Some(&self.version),
        );
        let is_list = object.get("kind")?.as_str().and_then(list_of).is_some();
        (!is_list).then(|| Entry {
            object,
            problem: None,
            twice: Vec::new(),
            document: 1,
            origin: Origin {
                at: self.at,
                items: vec![index],
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Entries;

    /// The entries, after an assertion that the longer way reads the same.
    fn read(text: &str) -> Option<Vec<Entry>> {
        let read = List::of(text.as_bytes())?.map(|entry| entry)?;
        let whole: Vec<_> = Entries::new(text.as_bytes()).map(Result::unwrap).collect();
        assert_eq!(read, whole, "{text}");
        Some(read)
    }

    #[test]
    fn it_reads_what_the_longer_way_reads() {
        let items: Vec<_> = (0..2000)
            .map(|it| {
                format!(
                    r#"{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"p{it}"}},"n":1.0}}"#
                )
            })
            .collect();
        let list = |kind: &str, items: &str| {
            format!(
                "\n {{\"items\": [{items}], \"apiVersion\": \"v1\", \"kind\": \"{kind}\", \"metadata\": {{}}}}\n"
            )
        };
        assert_eq!(
            read(&list("List", &items.join(","))).map(|it| it.len()),
            Some(2000)
        );
        assert_eq!(read(&list("List", "")), Some(Vec::new()));
        let untyped = list("PodList", r#"{"metadata": {}}, {"kind": "Pod"}"#);
        let kinds = read(&untyped).unwrap();
        assert_eq!(kinds[0].object["kind"], "Pod");
        assert_eq!(kinds[1].object.get("apiVersion"), None);
    }

    #[test]
    fn the_unusual_is_left_to_the_longer_way() {
        let pod = r#"{"kind": "Pod", "apiVersion": "v1"}"#;
        for text in [
            "",
            "[]",
            pod,
            "kind: List\napiVersion: v1\nitems: []\n",
            r#"{"kind": "List", "apiVersion": "v1"}"#,
            r#"{"kind": "List", "items": []}"#,
            r#"{"kind": "List", "apiVersion": "v1", "items": null}"#,
            r#"{"kind": "List", "apiVersion": "v1", "items": [], "kind": "Pod"}"#,
            r#"{"kind": "List", "apiVersion": "v1", "items": [1]}"#,
            r#"{"kind": "List", "apiVersion": "v1", "items": [{"metadata": {}}]}"#,
            r#"{"kind": "List", "apiVersion": "v1", "items": [{"kind": "Pod", "text": "\ud800"}]}"#,
            r#"{"kind": "List", "apiVersion": "v1", "items": [{"kind": "PodList", "apiVersion": "v1", "items": []}]}"#,
            &format!(r#"{{"kind": "List", "apiVersion": "v1", "items": [{pod}]}}{pod}"#),
            &format!(
                "# a comment\n{{\"kind\": \"List\", \"apiVersion\": \"v1\", \"items\": [{pod}]}}"
            ),
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
