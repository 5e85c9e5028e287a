//! A template's text, line by line. Numbers mask its actions, and each line has the actions that are open around it.

use super::mask::{self, Masked};

/// The actions that are open around a line, the outermost first. Each action is the list of its branches, up to the branch with the line.
pub(super) type Open = Vec<Vec<String>>;

/// A template: its masked text, and the actions around each line.
#[derive(Debug, Default)]
pub(super) struct Template {
    pub(super) masked: Masked,
    /// The actions that are open around each line.
    pub(super) open: Vec<Open>,
}

impl Template {
    pub(super) fn of(text: &str) -> Self {
        let masked = mask::mask(text);
        let mut open: Open = Vec::new();
        let mut all = Vec::new();
        for line in masked.text.lines() {
            let actions = masked.alone(line);
            // A line that opens or closes an action is outside of this action.
            let before = open.clone();
            for action in actions {
                step(&mut open, action);
            }
            let inner = before.len().min(open.len());
            all.push(open[..inner].to_vec());
        }
        Self { masked, open: all }
    }

    /// The lines of the masked text, in which numbers stand in place of the actions.
    pub(super) fn lines(&self) -> Vec<&str> {
        self.masked.text.lines().collect()
    }

    /// The actions that are open around a line of the file, counted from 0; none for a line behind the end.
    pub(super) fn around(&self, line: usize) -> &[Vec<String>] {
        self.open.get(line).map_or(&[], Vec::as_slice)
    }

    /// The actions that are open around a line and not around the line `outer`, both counted from 0 in the file.
    pub(super) fn between(&self, outer: usize, line: usize) -> &[Vec<String>] {
        let around = self.around(outer);
        let within = self.around(line);
        let same = around.iter().zip(within).take_while(|(a, b)| a == b);
        &within[same.count()..]
    }
}

/// Applies an action to the open ones: opens another action, begins the next branch of the last one, or closes it.
fn step(open: &mut Open, action: &str) {
    match word(action) {
        "if" | "with" | "range" | "define" | "block" => open.push(vec![action.to_owned()]),
        "else" => {
            if let Some(last) = open.last_mut() {
                last.push(action.to_owned());
            }
        }
        "end" => {
            open.pop();
        }
        _ => {}
    }
}

/// The first word of an action, such as `if` or `include`.
pub(super) fn word(action: &str) -> &str {
    action.split([' ', '(']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_knows_the_branch_that_it_is_in() {
        let text = "a\n{{- if .x }}\nb\n{{- else if .y }}\nc\n{{- range .z }}\nd\n{{- end }}\n{{- end }}\ne\n";
        let template = Template::of(text);
        assert_eq!(template.between(0, 2), [["if .x"]]);
        assert_eq!(template.between(0, 4), [["if .x", "else if .y"]]);
        assert_eq!(template.between(4, 6), [["range .z"]]);
        assert!(template.between(0, 9).is_empty());
    }
}
