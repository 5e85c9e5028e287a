//! Makes up helpers in place of those of charts that are not at hand, so that the templates with them render. A made-up helper prints a
//! text of its own where its name asks for a name, and otherwise nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The words in Helm's error about a helper that no template defines.
pub(super) const NO_HELPER: &str = "no template \"";
/// The beginning of each name that a made-up helper prints.
const MARK: &str = "zqstub-";
/// The file in the chart's copy that defines the made-up helpers.
const FILE: &str = "templates/_zqstubs.tpl";

/// The made-up helpers: each name with the text that the helper prints.
#[derive(Debug, Clone, Default)]
pub(in crate::suggest) struct Stubs(BTreeMap<String, String>);

/// The helpers that a text includes and does not define.
fn lacking(text: &str) -> Vec<String> {
    let after = |word: &str| -> BTreeSet<String> {
        let start = format!("{word} \"");
        let behind = text.split(&start).skip(1);
        let names = behind.filter_map(|it| Some(it.split_once('"')?.0));
        let is_name = |it: &&str| {
            let mut letters = it.chars();
            !it.is_empty() && letters.all(|it| it.is_ascii_alphanumeric() || "._-/".contains(it))
        };
        names.filter(is_name).map(str::to_owned).collect()
    };
    let defined = &after("define") | &after("block");
    let included = &after("include") | &after("template");
    included.difference(&defined).cloned().collect()
}

impl Stubs {
    /// Defines the helpers that the templates of a chart's copy include and that no template defines. A packed sub-chart may define some of
    /// them, so with such a sub-chart only the helper in Helm's error is defined.
    pub(super) fn write(&mut self, chart: &Path, error: &str) -> std::io::Result<()> {
        let mut text = String::new();
        if gather(chart, &mut text) {
            let (_, named) = error.split_once(NO_HELPER).unwrap_or_default();
            text = format!("include \"{named}");
        }
        for name in lacking(&text) {
            self.0.insert(name.clone(), given(&name));
        }
        fs::create_dir_all(chart.join("templates"))?;
        fs::write(chart.join(FILE), self.definitions())
    }

    fn definitions(&self) -> String {
        let define =
            |(name, given)| format!("{{{{- define \"{name}\" -}}}}{given}{{{{- end -}}}}\n");
        self.0.iter().map(define).collect()
    }

    /// The names of the made-up helpers, for a message; `None` where no helper was made up.
    pub(in crate::suggest) fn names(&self) -> Option<String> {
        let names: Vec<&str> = self.0.keys().map(String::as_str).collect();
        (!names.is_empty()).then(|| names.join(", "))
    }

    /// Whether a text contains a name that a made-up helper prints.
    pub(in crate::suggest) fn are_in(text: &str) -> bool {
        text.contains(MARK)
    }

    /// The made-up helpers that print a name, each with that name. One made-up name may be the beginning of another, so the longer ones come first.
    fn printed(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter().rev().filter(|it| it.1.starts_with(MARK))
    }

    /// The helper that is made up to print the beginning of a name, and the rest of the name. `None` for any other name.
    pub(in crate::suggest) fn printer<'s>(&'s self, name: &'s str) -> Option<(&'s str, &'s str)> {
        let mut printed = self.printed();
        printed.find_map(|(helper, given)| Some((helper.as_str(), name.strip_prefix(given)?)))
    }

    /// A text for a message, with the name of the helper in place of the text that the helper prints.
    pub(in crate::suggest) fn shown(&self, text: &str) -> String {
        self.printed().fold(text.to_owned(), |text, (name, given)| {
            text.replace(given, &format!("{{{{ include \"{name}\" . }}}}"))
        })
    }
}

/// The text that a made-up helper prints, by the helper's name: `1` for a port, nothing where the name asks for several lines, such as labels, or
/// else a made-up name with the helper's in it.
fn given(name: &str) -> String {
    const OF_LINES: [&str; 15] = [
        "label",
        "annotation",
        "selector",
        "render",
        "affinit",
        "toleration",
        "resource",
        "probe",
        "volume",
        "env",
        "context",
        "metadata",
        "spec",
        "policies",
        "validate",
    ];
    let behind = name
        .split_once('.')
        .map_or(name, |(_, it)| it)
        .to_lowercase();
    if behind.ends_with("port") {
        return "1".to_owned();
    }
    if OF_LINES.iter().any(|it| behind.contains(it)) {
        return String::new();
    }
    let letters = name.chars().map(|it| it.to_ascii_lowercase());
    let letters = letters.map(|it| if it.is_ascii_alphanumeric() { it } else { '-' });
    format!("{MARK}{}", letters.collect::<String>())
}

/// Adds the texts of a chart and of its sub-charts to `text`, and returns whether a sub-chart is packed. A folder that cannot be read
/// defines no helper.
fn gather(folder: &Path, text: &mut String) -> bool {
    let mut is_packed = false;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            is_packed |= gather(&path, text);
        } else if let Ok(own) = fs::read_to_string(&path) {
            text.push_str(&own);
            text.push('\n');
        } else {
            is_packed |= path.extension().is_some_and(|it| it == "tgz");
        }
    }
    is_packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_that_is_not_there_gives_a_name_or_nothing() {
        let text = "{{ define \"own.name\" }}{{ end }}{{ include \"own.name\" . }}{{ include \"lib.db.fullname\" . }}{{ template \"lib.labels\" . }}";
        assert_eq!(lacking(text), ["lib.db.fullname", "lib.labels"]);
        let named = lacking(text).into_iter();
        let stubs = Stubs(named.map(|it| (it.clone(), given(&it))).collect());
        assert_eq!(
            stubs.definitions(),
            "{{- define \"lib.db.fullname\" -}}zqstub-lib-db-fullname{{- end -}}\n{{- define \"lib.labels\" -}}{{- end -}}\n"
        );
        assert_eq!(
            stubs.shown("service/zqstub-lib-db-fullname"),
            "service/{{ include \"lib.db.fullname\" . }}"
        );
    }
}
