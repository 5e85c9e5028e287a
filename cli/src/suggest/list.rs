//! Writes a list into a template. Each entry stands inside of the actions that decide whether the entry is rendered.

use super::outcome::ListEntry;

/// An entry with the actions around it, the outermost first. Each action is a list of branches: those before the entry's branch, and then
/// that branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) entry: ListEntry,
    pub(super) within: Vec<Vec<String>>,
}

/// The lines of the annotation with the list, without the indentation of their place: one line, or a block with a line for each action and each
/// entry, if an entry has actions around it.
pub(super) fn lines(list: &[Listed]) -> Vec<String> {
    const KEY: &str = "sluice.dev/depends-on:";
    let long = list.iter().any(|it| is_long(&it.entry.text));
    if list.iter().all(|it| it.within.is_empty()) {
        let entries: Vec<String> = list.iter().map(|it| it.entry.text.clone()).collect();
        return vec![format!("{KEY} {}", text(&entries))];
    }
    let mut lines = vec![format!("{KEY} |")];
    let mut open: &[Vec<String>] = &[];
    for listed in list {
        let same = open.iter().zip(&listed.within);
        let same = same.take_while(|(a, b)| a == b).count();
        lines.extend(open[same..].iter().map(|_| "  {{- end }}".to_owned()));
        open = &listed.within;
        let actions = open[same..].iter().flatten();
        lines.extend(actions.map(|it| format!("  {{{{- {it} }}}}")));
        let mark = if long { "- " } else { "" };
        lines.push(format!("  {mark}{}", listed.entry.text));
    }
    lines.extend(open.iter().map(|_| "  {{- end }}".to_owned()));
    lines
}

/// Whether an entry is a mapping, which only the long form of a list can hold. An entry that begins with two braces begins with an action
/// of a template.
fn is_long(entry: &str) -> bool {
    entry.starts_with('{') && !entry.starts_with("{{")
}

/// The text of a list without actions: the short form, or the long form where an entry needs it.
pub(super) fn text(entries: &[String]) -> String {
    let joined = entries.join(", ");
    if entries.iter().any(|it| is_long(it)) {
        format!("'[{joined}]'")
    } else {
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_stands_in_the_branch_that_its_wait_is_in() {
        let listed = |text: &str, within: &[&[&str]]| Listed {
            entry: ListEntry::new(text),
            within: within
                .iter()
                .map(|it| it.iter().map(|it| (*it).to_owned()).collect())
                .collect(),
        };
        assert_eq!(
            lines(&[listed("svc/a", &[]), listed("svc/b", &[])]),
            ["sluice.dev/depends-on: svc/a, svc/b"]
        );
        assert_eq!(
            lines(&[listed("{{ .x }}/ready", &[])]),
            ["sluice.dev/depends-on: {{ .x }}/ready"]
        );
        assert_eq!(
            lines(&[listed("svc/a", &[&["if .x", "else"]]), listed("svc/b", &[])]),
            [
                "sluice.dev/depends-on: |",
                "  {{- if .x }}",
                "  {{- else }}",
                "  svc/a",
                "  {{- end }}",
                "  svc/b"
            ]
        );
        assert_eq!(
            lines(&[
                listed("svc/a", &[&["if .x"], &["if .y"]]),
                listed("svc/b", &[&["if .x"]])
            ]),
            [
                "sluice.dev/depends-on: |",
                "  {{- if .x }}",
                "  {{- if .y }}",
                "  svc/a",
                "  {{- end }}",
                "  svc/b",
                "  {{- end }}"
            ]
        );
    }
}
