//! Drops the branches of a shell's `if` that the container's environment rules out.

use super::expand::Scope;
use super::tokens::Token;
use std::collections::BTreeSet;

/// The words of a shell behind which a command begins.
const OPENING: [&str; 9] = [
    "do", "then", "else", "elif", "if", "!", "{", "while", "until",
];

/// The tokens without the branches that `env` rules out. `env` has the variables of the container alone, so a condition on a variable that
/// the script sets stays open.
pub(super) fn taken(tokens: &[Token], env: &Scope) -> Vec<Token> {
    let reader = BranchReader {
        tokens,
        env,
        set: set_names(tokens),
    };
    let mut taken = Vec::new();
    let mut at = 0;
    // A word that closes no branch, such as a stray `fi`, stays among the tokens.
    while at < tokens.len() {
        at = reader.copy(at, &[], &mut taken);
    }
    taken
}

/// The names of the variables that a script sets.
fn set_names(tokens: &[Token]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut before = "";
    for token in tokens {
        let Token::Word(word) = token else {
            before = "";
            continue;
        };
        if let Some((name, _)) = word.split_once('=') {
            names.insert(name.trim_end_matches('+').to_owned());
        }
        if matches!(before, "for" | "read" | "unset" | "let") {
            names.insert(word.clone());
        }
        // The options of `read` stand before the names of its variables.
        if before != "read" || !word.starts_with('-') {
            before = word;
        }
    }
    names
}

struct BranchReader<'t> {
    tokens: &'t [Token],
    env: &'t Scope,
    set: BTreeSet<String>,
}

impl BranchReader<'_> {
    /// Copies the tokens from `at` up to the first of the words `ends` that begins a command, but for the branches that are ruled out. Returns the
    /// place of that word, or of the end of the tokens.
    fn copy(&self, mut at: usize, ends: &[&str], to: &mut Vec<Token>) -> usize {
        let mut begins = true;
        while let Some(token) = self.tokens.get(at) {
            match token {
                Token::Word(word) if begins && ends.contains(&word.as_str()) => return at,
                Token::Word(word) if begins && word == "if" => {
                    at = self.branch(at, to);
                    begins = false;
                    continue;
                }
                Token::Word(word) => begins = begins && OPENING.contains(&word.as_str()),
                _ => begins = true,
            }
            to.push(token.clone());
            at += 1;
        }
        at
    }

    /// Copies the branches of the `if` or `elif` at `at` that may be taken, without the `fi`. Returns the place behind the `fi`.
    fn branch(&self, at: usize, to: &mut Vec<Token>) -> usize {
        let mut condition = Vec::new();
        let then = self.copy(at + 1, &["then"], &mut condition);
        let mut body = Vec::new();
        let next = self.copy(then + 1, &["elif", "else", "fi"], &mut body);
        let is = |word: &str| matches!(self.tokens.get(next), Some(Token::Word(it)) if it == word);
        let (is_elif, is_else) = (is("elif"), is("else"));
        let holds = self.holds(&condition);
        if holds != Some(false) {
            to.push(Token::Word("if".to_owned()));
            if holds.is_none() {
                to.extend(condition);
            }
            to.extend([Token::End, Token::Word("then".to_owned())]);
            to.extend(body);
        }
        // The branches that follow a branch which is always taken are read to find their end, and then dropped.
        let mut dropped = Vec::new();
        let rest = if holds == Some(true) {
            &mut dropped
        } else {
            &mut *to
        };
        if holds.is_none() && (is_elif || is_else) {
            rest.push(Token::Word("else".to_owned()));
        }
        if is_elif {
            self.branch(next, rest)
        } else if is_else {
            self.copy(next + 1, &["fi"], rest) + 1
        } else {
            next + 1
        }
    }

    /// Whether a condition holds; `None` where the environment does not decide it.
    fn holds(&self, condition: &[Token]) -> Option<bool> {
        let end = condition
            .iter()
            .rposition(|it| matches!(it, Token::Word(_)))?;
        let words = condition[..=end].iter().map(|it| match it {
            Token::Word(word) => self.known(word),
            _ => None,
        });
        let words: Option<Vec<String>> = words.collect();
        let words = words?;
        // The reader of tokens puts a 0 in place of every sum, so a condition with a 0 may be unknown.
        let reads = |it: &Token| matches!(it, Token::Word(it) if it.contains('$'));
        if words.iter().any(|it| it == "0") && !condition.iter().any(reads) {
            return None;
        }
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let test = match words.as_slice() {
            ["true"] => return Some(true),
            ["false"] => return Some(false),
            ["[", test @ .., "]"] | ["[[", test @ .., "]]"] | ["test", test @ ..] => test,
            _ => return None,
        };
        match test {
            ["!", test @ ..] => says(test).map(|it| !it),
            test => says(test),
        }
    }

    /// A word with the values of the container's variables. `None` where the script sets one of the variables, or where a value is unknown.
    fn known(&self, word: &str) -> Option<String> {
        let names = word.split(|it: char| !it.is_ascii_alphanumeric() && it != '_');
        let mut names = names.filter(|it| !it.is_empty());
        if word.contains('$') && names.any(|it| self.set.contains(it)) {
            return None;
        }
        let [value]: [String; 1] = self.env.expand(word).try_into().ok()?;
        // A masked action and a pattern may stand for any text.
        let is_known = |it: &String| it.is_ascii() && !it.contains(['$', '*', '?']);
        Some(value).filter(is_known)
    }
}

/// The result of a test on known words; `None` for a test that the words do not decide, such as one for a file.
fn says(test: &[&str]) -> Option<bool> {
    let number = |it: &str| it.parse::<i64>().ok();
    match test {
        ["-z", word] => Some(word.is_empty()),
        ["-n", word] | [word] => Some(!word.is_empty()),
        [one, "=" | "==", other] => Some(one == other),
        [one, "!=", other] => Some(one != other),
        [one, operator, other] => {
            let (one, other) = (number(one)?, number(other)?);
            Some(match *operator {
                "-eq" => one == other,
                "-ne" => one != other,
                "-gt" => one > other,
                "-ge" => one >= other,
                "-lt" => one < other,
                "-le" => one <= other,
                _ => return None,
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tokens::tokens;
    use super::*;

    #[test]
    fn a_branch_that_the_environment_rules_out_is_dropped() {
        let mut env = Scope::default();
        for (name, value) in [("KIND", "pg"), ("EMPTY", ""), ("N", "3")] {
            env.set(name, vec![value.to_owned()]);
        }
        for (script, expected) in [
            (
                "if [ \"$KIND\" = pg ]; then a; else b; fi; c",
                "if then a c",
            ),
            ("if [[ $KIND == my ]]; then a; else b; fi; c", "b c"),
            (
                "if [ $KIND = my ]; then a; elif [ $KIND = pg ]; then b; else d; fi",
                "if then b",
            ),
            ("if [ -n \"$EMPTY\" ]; then a; fi; c", "c"),
            ("if [ $N -ge 3 ]; then a; fi", "if then a"),
            ("if [ $KIND = my ]; then if x; then a; fi; b; fi; c", "c"),
            (
                "while x; do if [ ! $KIND = my ]; then a; fi; done",
                "while x do if then a done",
            ),
            // The environment does not decide this condition, so both branches stay.
            (
                "if [ $OTHER = pg ]; then a; else b; fi",
                "if [ $OTHER = pg ] then a else b",
            ),
            (
                "KIND=my; if [ $KIND = my ]; then a; fi",
                "KIND=my if [ $KIND = my ] then a",
            ),
            ("if nc -z a 1; then b; fi", "if nc -z a 1 then b"),
            (
                "if [ $OTHER = a ]; then a; elif [ $KIND = my ]; then b; else c; fi; d",
                "if [ $OTHER = a ] then a else c d",
            ),
            (
                "if [ $((N % 2)) -eq 0 ]; then a; else b; fi",
                "if [ 0 -eq 0 ] then a else b",
            ),
            ("echo if [ a = b ]", "echo if [ a = b ]"),
        ] {
            let taken = taken(&tokens(script), &env);
            let words = taken.iter().filter_map(|it| match it {
                Token::Word(word) => Some(word.as_str()),
                _ => None,
            });
            assert_eq!(words.collect::<Vec<_>>().join(" "), expected, "{script}");
        }
    }
}
