//! One list of addresses in a chart's values, whose elements are set to marks.

/// The action that prints an address which may be a URL, without the scheme.
const URL: &str = r#"{{ trim . | trimPrefix "http://" | trimPrefix "https://" }}"#;

/// A list of addresses in a chart's values, with the marks that its elements are set to. Marks are made-up hosts and ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostList {
    /// Whether the value is one text with commas, and no list.
    pub(super) is_text: bool,
    /// Whether an element may be a URL, by the name of the list.
    pub(super) has_urls: bool,
    pub(super) elements: Vec<Vec<Part>>,
}

/// One value of an element of a list of addresses, such as the element's host or port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Part {
    /// The key of the part; empty where the element is a text.
    pub(super) key: String,
    pub(super) value: String,
    /// The chart's own value in this place; empty where the chart's list has no such element.
    pub(super) own: String,
    pub(super) is_mark: bool,
}

impl HostList {
    /// The pairs of path and value that set the elements at a path of the values, as one text for Helm's `--set`.
    pub(super) fn pairs(&self, path: &str) -> String {
        let escaped = |it: &Part| it.value.replace(',', "\\,");
        if self.is_text {
            let texts: Vec<String> = self.parts().map(escaped).collect();
            return format!("{path}={}", texts.join("\\,"));
        }
        let elements = self.elements.iter().enumerate();
        let pairs = elements.flat_map(|(at, parts)| {
            parts.iter().map(move |it| {
                let key = if it.key.is_empty() {
                    String::new()
                } else {
                    format!(".{}", it.key)
                };
                format!("{path}[{at}]{key}={}", escaped(it))
            })
        });
        pairs.collect::<Vec<_>>().join(",")
    }

    fn parts(&self) -> impl Iterator<Item = &Part> {
        self.elements.iter().flatten()
    }

    /// The made-up hosts and ports (marks) of all elements, each with the action that prints it within the `range`, and with the chart's own value.
    pub(super) fn marks(&self) -> impl Iterator<Item = (&str, String, &str)> {
        let (is_text, has_urls) = (self.is_text, self.has_urls);
        let marks = self.parts().filter(|it| it.is_mark);
        marks.map(move |it| {
            let action = match it.key.as_str() {
                "" if has_urls => URL.to_owned(),
                "" if is_text => "{{ trim . }}".to_owned(),
                key => format!("{{{{ .{key} }}}}"),
            };
            (it.value.as_str(), action, it.own.as_str())
        })
    }

    /// The chart's own hosts and ports in whose places there are made-up ones (marks); empty ones are left out.
    pub(super) fn own(&self) -> impl Iterator<Item = &str> {
        let own = self.parts().filter(|it| it.is_mark).map(|it| &it.own);
        own.map(String::as_str).filter(|it| !it.is_empty())
    }

    /// The actions around the entry that loop over the list at a path of the values, the outermost first.
    pub(super) fn within(&self, path: &str, root: &str) -> Vec<Vec<String>> {
        let value = format!("{root}.Values.{path}");
        if !self.is_text {
            return vec![vec![format!("range {value}")]];
        }
        let range = vec![format!("range splitList \",\" {value}")];
        // An empty text has one element, too.
        let is_set = vec![format!("if {value}")];
        if self.own().next().is_some() {
            vec![range]
        } else {
            vec![is_set, range]
        }
    }
}
