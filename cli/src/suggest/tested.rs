//! Finds the conditions that templates test around a wait, and in the helpers that the wait includes.

use super::blocks::Block;
use super::in_text::actions;
use super::template::word;
use super::texts::{File, Texts};
use std::collections::BTreeMap;

/// The most levels of helpers within helpers that are read.
pub(super) const DEPTH: usize = 2;

/// The conditions that are open around a line, counted from 0: all branches of `if` and `with` up to the branch with the line.
pub(super) fn conditions_at(file: &File, line: usize) -> Vec<String> {
    let open = file.template.around(line).iter();
    open.flatten().filter(|it| decides(it)).cloned().collect()
}

/// Whether an action is the condition of a branch.
pub(super) fn decides(action: &str) -> bool {
    matches!(word(action), "if" | "else" | "with")
}

/// The conditions around a line, counted from 0. Where the line is in a helper, also the conditions around the places that use the helper.
pub(super) fn around(texts: &Texts, file: &File, line: usize) -> Vec<String> {
    let mut around = conditions_at(file, line);
    if let Some(helper) = helper_of(file, line) {
        around.extend(around_uses(texts, &helper));
    }
    around
}

/// The name of the helper that contains a line, counted from 0; `None` for a line outside of every helper.
pub(super) fn helper_of(file: &File, line: usize) -> Option<String> {
    let open = file.template.around(line).iter();
    let define = open.flatten().find(|it| word(it) == "define")?;
    Some(define.split('"').nth(1)?.to_owned())
}

/// The texts that a container of this name reads: its own text or that of its helper, the helpers that this text includes, and the
/// conditions around the container.
pub(super) fn read_by(texts: &Texts, name: &str) -> String {
    let mut read = String::new();
    for file in &texts.files {
        let is_it = |it: &&Block| it.branches.iter().any(|it| it.name == name);
        for block in file.blocks.iter().filter(is_it) {
            let helper = helper_of(file, block.first);
            let helper = helper.and_then(|it| texts.helper(&it));
            let own = file.text_of(block);
            read.push_str(&texts.reach(helper.unwrap_or(&own)));
            read.push_str(&texts.reach(&file.variables_of(&own)));
            read.push_str(&texts.reach(&around(texts, file, block.first).join("\n")));
        }
    }
    read
}

/// The conditions around the places that use a helper, and the conditions in the helpers that the arguments there include.
pub(super) fn around_uses(texts: &Texts, helper: &str) -> Vec<String> {
    let mut read = Conditions::default();
    read.around_uses(texts, helper, DEPTH);
    read.found
}

/// The lines that use a helper, each with its file and its number, from 0. A line with a `define` does not count.
pub(super) fn uses<'t>(
    texts: &'t Texts,
    helper: &str,
) -> impl Iterator<Item = (&'t File, usize, &'t str)> {
    let named = format!("\"{helper}\"");
    let files = texts.files.iter();
    let having = files.filter({
        let named = named.clone();
        move |it| it.text.contains(&named)
    });
    let lines = having.flat_map(|file| {
        let lines = file.lines.iter().enumerate();
        lines.map(move |(at, line)| (file, at, line.as_str()))
    });
    lines.filter(move |(_, _, line)| line.contains(&named) && !line.contains("define"))
}

/// The conditions in and around helpers. Each helper is read once.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) found: Vec<String>,
    /// The number of levels below each helper whose conditions were read.
    of_helper: BTreeMap<String, usize>,
    /// The number of levels above each helper, around whose uses the conditions were read.
    of_uses: BTreeMap<String, usize>,
}

impl Conditions {
    /// Reads the conditions around the places that use a helper, and the conditions in the helpers that the arguments there include.
    fn around_uses(&mut self, texts: &Texts, helper: &str, depth: usize) {
        if !is_deeper(&mut self.of_uses, helper, depth) {
            return;
        }
        for (file, at, line) in uses(texts, helper) {
            for condition in conditions_at(file, at) {
                push(&mut self.found, condition);
            }
            self.of_helpers(texts, line, DEPTH);
            // Another helper may use the helper.
            if let (Some(outer), true) = (helper_of(file, at), depth > 0) {
                self.around_uses(texts, &outer, depth - 1);
            }
        }
    }

    /// Reads the conditions in the helpers that a text includes, and in their helpers, `depth` levels further down. An action that reads a value
    /// `enabled`, or that chooses between two schemes, counts as a condition.
    pub(super) fn of_helpers(&mut self, texts: &Texts, text: &str, depth: usize) {
        for action in actions(text) {
            let included = action.split("include \"");
            let included = included.chain(action.split("template \"")).skip(1);
            for name in included.filter_map(|it| it.split('"').next()) {
                let Some(body) = texts.helper(name) else {
                    continue;
                };
                if !is_deeper(&mut self.of_helper, name, depth) {
                    continue;
                }
                for action in actions(body) {
                    let is_test = matches!(word(&action), "if" | "else");
                    if is_test || action.contains(".enabled") || is_of_scheme(&action) {
                        push(&mut self.found, action);
                    }
                }
                if depth > 0 {
                    self.of_helpers(texts, body, depth - 1);
                }
            }
        }
    }
}

/// Whether an action chooses between two schemes, such as `ternary "https" "http" .Values.tls.enabled`.
pub(super) fn is_of_scheme(action: &str) -> bool {
    action.contains("ternary \"https\"") || action.contains("ternary \"http\"")
}

/// Whether the helper `name` has not been read yet, or not so deep. From then on the helper counts as read to this depth.
fn is_deeper(read: &mut BTreeMap<String, usize>, name: &str, depth: usize) -> bool {
    let is_new = read.get(name).is_none_or(|it| *it < depth);
    if is_new {
        read.insert(name.to_owned(), depth);
    }
    is_new
}

/// Adds an item to a list that does not have it.
pub(super) fn push<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}
