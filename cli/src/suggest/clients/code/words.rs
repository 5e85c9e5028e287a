//! Splits code of Python, JavaScript, PHP, Ruby or Perl into words, as far as the search for addresses needs them.

use std::collections::BTreeMap;

/// A word of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CodeWord {
    /// A text in quotes, or a number.
    Literal(String),
    Name(String),
    Mark(char),
}

use CodeWord::{Literal, Mark, Name};

/// Reads the words of code. A variable of the environment is replaced by its value, or by `$(NAME)` where it is not set, and a name that the code
/// sets to a literal is replaced by that literal.
pub(super) fn words(code: &str, env: &BTreeMap<String, String>) -> Vec<CodeWord> {
    let split = split(code);
    let mut set: BTreeMap<String, String> = BTreeMap::new();
    let mut found: Vec<CodeWord> = Vec::new();
    let mut at = 0;
    while at < split.len() {
        let (word, next) = match variable(&split[at..]) {
            Some((name, length)) => {
                drop_owner(&mut found);
                let value = env.get(&name).cloned();
                let value = value.unwrap_or_else(|| format!("$({name})"));
                (Literal(value), at + length)
            }
            None => match &split[at] {
                Name(name) if set.contains_key(name) => (Literal(set[name].clone()), at + 1),
                other => (other.clone(), at + 1),
            },
        };
        found.push(word);
        at = next;
        simplify(&mut found);
        // The words are an assignment such as `host = 'db'`, and no argument of a call.
        if let [before @ .., Name(name), Mark('='), Literal(value)] = found.as_slice()
            && !matches!(before.last(), Some(Mark('(' | ',' | '=')))
        {
            set.insert(name.clone(), value.clone());
        }
    }
    found
}

/// Reduces `int('5432')` to `5432`, so that a port is one word.
fn simplify(found: &mut Vec<CodeWord>) {
    if let [.., Name(name), Mark('('), Literal(value), Mark(')')] = found.as_slice()
        && matches!(
            name.as_str(),
            "int" | "str" | "Number" | "parseInt" | "Integer" | "intval"
        )
    {
        let value = value.clone();
        found.truncate(found.len() - 4);
        found.push(Literal(value));
    }
}

/// The variable of the environment that these words read, and the number of words that the reading takes: `environ['HOST']`,
/// `getenv('HOST')`, `env.HOST`. `None` where the words read none, or one whose name has small letters.
fn variable(words: &[CodeWord]) -> Option<(String, usize)> {
    let Name(source) = words.first()? else {
        return None;
    };
    if !matches!(
        source.as_str(),
        "environ" | "getenv" | "env" | "ENV" | "$_ENV" | "$_SERVER"
    ) {
        return None;
    }
    let is_variable = |it: &str| {
        let is_letter = |it: u8| it.is_ascii_uppercase() || it.is_ascii_digit() || it == b'_';
        !it.is_empty() && it.bytes().all(is_letter)
    };
    match &words[1..] {
        [Mark('.'), Name(name), ..] if is_variable(name) => Some((name.clone(), 3)),
        [Mark('.'), Name(get), rest @ ..] if matches!(get.as_str(), "get" | "fetch") => {
            let (name, length) = in_brackets(rest)?;
            is_variable(&name).then_some((name, length + 3))
        }
        rest => {
            let (name, length) = in_brackets(rest)?;
            is_variable(&name).then_some((name, length + 1))
        }
    }
}

/// The quoted text that comes first in the brackets with which these words begin, and the number of words up to the closing bracket, both brackets
/// included. `None` for words that begin otherwise.
fn in_brackets(words: &[CodeWord]) -> Option<(String, usize)> {
    let [Mark('(' | '[' | '{'), Literal(name), ..] = words else {
        return None;
    };
    let mut open = 0;
    let end = words.iter().position(|it| {
        open += i32::from(matches!(it, Mark('(' | '[' | '{')));
        open -= i32::from(matches!(it, Mark(')' | ']' | '}')));
        open == 0
    })?;
    Some((name.clone(), end + 1))
}

/// Drops the `os.` or `process.` in front of the words that read a variable, so that one form is left.
fn drop_owner(found: &mut Vec<CodeWord>) {
    if let [.., Name(owner), Mark('.')] = found.as_slice()
        && matches!(owner.as_str(), "os" | "process")
    {
        found.truncate(found.len() - 2);
    }
}

fn split(code: &str) -> Vec<CodeWord> {
    let letters: Vec<char> = code.chars().collect();
    let is_name = |it: &char| it.is_alphanumeric() || matches!(it, '_' | '$');
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(letter) = letters.get(at) {
        match letter {
            '\'' | '"' | '`' => {
                let behind = &letters[at + 1..];
                let end = behind.iter().position(|it| it == letter);
                let end = end.unwrap_or(behind.len());
                found.push(Literal(behind[..end].iter().collect()));
                at += end + 2;
            }
            it if is_name(it) => {
                let length = letters[at..].iter().take_while(|it| is_name(it)).count();
                let word: String = letters[at..at + length].iter().collect();
                let is_number = word.bytes().all(|it| it.is_ascii_digit());
                found.push(if is_number { Literal(word) } else { Name(word) });
                at += length;
            }
            it => {
                let is_arrow = *it == '>' && found.last() == Some(&Mark('='));
                if !it.is_whitespace() && !is_arrow {
                    found.push(Mark(*it));
                }
                at += 1;
            }
        }
    }
    found
}
