//! Sets the variables of a script, and puts their values in the place of their names.

use super::Runner;
use crate::suggest::shell::counted;

impl Runner {
    /// Gives the variable of a loop that counts its rounds the number of each round.
    pub(super) fn count(&mut self, test: &[String]) {
        let value = |name: &str| match self.scope.expand(&format!("${{{name}}}")).as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        if let Some((name, numbers)) = counted::of_test(test, value) {
            self.scope.set(&name, numbers);
        }
    }

    /// Reads an assignment, `NAME=value`, and sets the variable unless the value is empty. Returns whether the word is an assignment.
    pub(super) fn assign(&mut self, word: &str) -> bool {
        let Some((name, value)) = word.split_once('=') else {
            return false;
        };
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return false;
        }
        // An empty value may stand for the unknown output of a command, so it replaces no known value.
        if !value.is_empty() {
            let values = self.scope.expand(value);
            if let [value] = values.as_slice() {
                self.set.insert(name.to_owned(), value.clone());
            }
            self.scope.set(name, values);
        }
        true
    }

    /// The commands that the words may stand for: one for each value of each variable in them, at most 64.
    pub(super) fn each(&self, words: &[String]) -> Vec<Vec<String>> {
        let mut each: Vec<Vec<String>> = vec![Vec::new()];
        for word in words {
            // `$@` becomes one word for each argument.
            if matches!(word.as_str(), "$@" | "${@}") && !self.scope.arguments.is_empty() {
                for words in &mut each {
                    words.extend(self.scope.arguments.iter().cloned());
                }
                continue;
            }
            let values = self.scope.expand(word);
            let longer = each.iter().flat_map(|before: &Vec<String>| {
                values.iter().map(move |value| {
                    let mut words = before.clone();
                    words.push(value.clone());
                    words
                })
            });
            each = longer.take(64).collect();
        }
        each
    }
}

/// The items of a text for a loop's variable: white space, commas and semicolons separate them.
pub(super) fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\n', '\t', ',', ';'])
        .filter(|it| !it.is_empty())
}
