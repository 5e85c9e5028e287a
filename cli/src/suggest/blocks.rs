//! Finds the containers in a template's text: each is an item of a list that has a name, and an image or a command.

use super::container::Container;
use super::document::indent;
use super::template::{Template, word};
use super::waits::{self, Reading};
use crate::manifest::Entries;
use serde_json::Value;

/// A container in the text of a template, with its place there.
#[derive(Debug)]
pub(super) struct Block {
    /// The number of the container's first line in the file, from 0.
    pub(super) first: usize,
    /// The number of the container's lines.
    pub(super) length: usize,
    /// The variants of the container, one for each branch of the template inside of its text. The template's actions are masked: numbers
    /// stand in their place (module `mask`).
    pub(super) branches: Vec<Container>,
    /// The waits of each variant in `branches`, in the same order.
    readings: Vec<Reading>,
}

impl Block {
    /// The variants of the container, each with its waits.
    pub(super) fn read(&self) -> impl Iterator<Item = (&Container, &Reading)> {
        self.branches.iter().zip(&self.readings)
    }
}

/// The most branches of a container that are read one by one. Further branches are left out, because a text may have any number of them.
const BRANCHES: usize = 4;

/// The containers in the text of a template, in the order of their lines: the items of lists that have a name, and an image or a command.
pub(super) fn all(template: &Template) -> Vec<Block> {
    let lines = template.lines();
    let mut found: Vec<Block> = Vec::new();
    for (first, line) in lines.iter().enumerate() {
        if !line.trim_start().starts_with("- ") {
            continue;
        }
        let length = length(template, &lines, first);
        let block = &lines[first..first + length];
        if !is_container(template, block) {
            continue;
        }
        let init = is_init(&lines, first);
        let mut branches: Vec<Container> = Vec::new();
        for branch in 0..BRANCHES {
            let text = text_of(template, block, first, branch);
            for mut container in read(&text, init) {
                let words = container.words.iter();
                container.words = words.map(|it| revealed(template, it)).collect();
                if !branches.contains(&container) {
                    branches.push(container);
                }
            }
        }
        found.push(Block {
            first,
            length,
            readings: branches.iter().map(waits::of).collect(),
            branches,
        });
    }
    found
}

/// The number of lines of the list item that begins on line `first`.
fn length(template: &Template, lines: &[&str], first: usize) -> usize {
    let outer = indent(lines[first]);
    let ends = |line: &&str| {
        let actions = template.masked.alone(line);
        if !actions.is_empty() {
            return actions.iter().any(|it| word(it) == "define");
        }
        !line.trim().is_empty() && !line.trim_start().starts_with('#') && indent(line) <= outer
    };
    1 + lines[first + 1..]
        .iter()
        .take_while(|line| !ends(line))
        .count()
}

/// The indentation of the keys of a list item, in blanks, from the item's first line.
fn inside(first: &str) -> usize {
    let text = first.trim_start();
    first.len() - text.trim_start_matches('-').trim_start().len()
}

fn is_container(template: &Template, block: &[&str]) -> bool {
    let depth = inside(block[0]);
    let key = |(at, line): (usize, &&str)| -> Option<String> {
        let own = at == 0 || indent(line) == depth && template.masked.alone(line).is_empty();
        let text = line.get(depth..).filter(|_| own)?;
        Some(text.split_once(':')?.0.trim().to_owned())
    };
    let keys: Vec<String> = block.iter().enumerate().filter_map(key).collect();
    let has = |key: &str| keys.iter().any(|it| it == key);
    has("name") && (has("image") || has("command") || has("args"))
}

/// Whether the item that begins on line `first` is in a list of init containers. `true` where no key above the item tells, as in a helper.
fn is_init(lines: &[&str], first: usize) -> bool {
    let depth = indent(lines[first]);
    let above = lines[..first].iter().rev().find(|line| {
        let text = line.trim();
        text.to_lowercase()
            .trim_end_matches([' ', '|', '[', ']', '{', '}'])
            .ends_with("containers:")
            && indent(line) <= depth
    });
    above.is_none_or(|line| line.to_lowercase().contains("init"))
}

/// The lines of an item as YAML, in which comments and lines of actions are empty. Where actions of the template make branches inside of the item,
/// only the branch with the number `branch`, from 0, is taken, or the last one where there are fewer.
fn text_of(template: &Template, block: &[&str], first: usize, branch: usize) -> String {
    let depth = inside(block[0]);
    let outer = template.around(first).len();
    let mut text = String::new();
    for (at, line) in block.iter().enumerate() {
        let actions = template.masked.alone(line);
        let open = template.around(first + at);
        let inner = open.get(outer..).unwrap_or_default();
        let total = |frame: &Vec<String>| last_branch(template, first + at, frame);
        let kept = inner
            .iter()
            .all(|frame| frame.len() - 1 == branch.min(total(frame)));
        let is_comment = line.trim_start().starts_with('#');
        if actions.is_empty() && kept && !is_comment {
            let line = if at == 0 {
                line.replacen('-', " ", 1)
            } else {
                (*line).to_owned()
            };
            text.push_str(line.get(depth..).unwrap_or(line.trim_start()));
        }
        text.push('\n');
    }
    text
}

/// The number of the last branch of the action `frame`, which is open around a line. The first branch has the number 0.
fn last_branch(template: &Template, line: usize, frame: &[String]) -> usize {
    let level = template.open[line].iter().position(|it| it == frame);
    let Some(level) = level else { return 0 };
    let first = &frame[0];
    let same = template.open[line..]
        .iter()
        .chain(&template.open[..line])
        .filter_map(|open| open.get(level))
        .filter(|it| &it[0] == first);
    same.map(|it| it.len() - 1).max().unwrap_or(0)
}

fn read(text: &str, init: bool) -> Vec<Container> {
    let containers = match Entries::new(text.as_bytes()).next() {
        None => return Vec::new(),
        Some(Ok(entry)) => Container::each(&entry.object, init, &Value::Null),
        // A text that is no YAML once its actions are masked is read as one long script.
        Some(Err(_)) => Vec::new(),
    };
    if containers.is_empty() {
        return vec![crude(text, init)];
    }
    containers
}

/// The text of a command's word. A word that is a single `print` or `printf` of a quoted text stands for that text: `{{ printf "until nc db 1;
/// do sleep 1; done" }}`.
fn revealed(template: &Template, word: &str) -> String {
    let seen = template.masked.seen(word);
    let printed = ["{{ printf \"", "{{ print \""];
    let text = printed.iter().find_map(|it| seen.trim().strip_prefix(it));
    let Some(text) = text.and_then(|it| it.strip_suffix("\" }}")) else {
        return word.to_owned();
    };
    text.replace("\\\"", "\"")
}

fn crude(text: &str, init: bool) -> Container {
    let name = text.lines().find_map(|it| it.trim().strip_prefix("name:"));
    // A script may stand in quotes on one line, so each quoted text becomes a line of its own.
    let mut script = text.to_owned();
    for line in text.lines() {
        let quoted = line.replace("\\\"", "\u{0}");
        let quoted = quoted.split('"').skip(1).step_by(2);
        for part in quoted.filter(|it| it.contains(' ')) {
            script.push('\n');
            script.push_str(&part.replace('\u{0}', "\""));
        }
    }
    let words = ["sh", "-c", script.as_str()].map(str::to_owned);
    Container {
        name: name
            .unwrap_or_default()
            .trim()
            .trim_matches(['"', '\''])
            .to_owned(),
        init,
        words: words.to_vec(),
        ..Container::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_further_left_ends_no_container() {
        let text = "initContainers:\n  - name: wait\n    image: x\n    command: [nc, a]\n  # the next\n  - name: b\n    image: x\n";
        let blocks = all(&Template::of(text));
        assert_eq!(blocks[0].branches[0].words, ["nc", "a"]);
    }

    #[test]
    fn containers_are_found_in_text_branch_by_branch() {
        let text = "initContainers:\n  {{- if .Values.db }}\n  - name: wait\n    image: {{ .Values.image }}\n    {{- if .Values.a }}\n    command: [nc, a]\n    {{- else }}\n    command: [nc, b]\n    {{- end }}\n  {{- end }}\ncontainers:\n  - name: {{ .Chart.Name }}\n    image: x\n    env:\n      - name: A\n        value: b\n";
        let template = Template::of(text);
        let blocks = all(&template);
        let words = |block: &Block| -> Vec<String> {
            block.branches.iter().map(|it| it.words.join(" ")).collect()
        };
        assert_eq!(blocks.len(), 2);
        assert_eq!(words(&blocks[0]), ["nc a", "nc b"]);
        assert!(blocks[0].branches[0].init && !blocks[1].branches[0].init);
        assert_eq!(
            (blocks[0].first, blocks[0].branches[0].name.as_str()),
            (2, "wait")
        );
    }
}
