//! The grammar of label selectors, as `k8s.io/apimachinery/pkg/labels` reads it, without its comparisons of numbers.

use super::names::{self, NameRule};
use super::problem::{Flaw, Problem};
use crate::selector::{Requirement, Selector, Test};
use crate::text::Quoted;

const OPERATOR: &str = "=, ==, !=, in, notin, a comma or the end";

/// At least one requirement: a text that selects everything is more often a missing value.
pub(super) fn selector(text: &str) -> Result<Selector, Flaw> {
    if text.trim().is_empty() {
        return Err(Flaw::at(0, Problem::Empty { what: "selector" }));
    }
    if let Some(at) = text.find("{{") {
        return Err(Flaw::at(at, Problem::Template(text.to_owned())));
    }
    let mut tokens = Tokens { text, at: 0 };
    let mut requirements = vec![requirement(&mut tokens)?];
    loop {
        match tokens.next() {
            (_, Token::End) => return Ok(Selector(requirements)),
            (_, Token::Symbol(",")) => requirements.push(requirement(&mut tokens)?),
            (at, other) => return Err(other.unexpected(at, "a comma or the end")),
        }
    }
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<Requirement, Flaw> {
    let absent = tokens.eat("!");
    let key = match tokens.next() {
        (at, Token::Word(word)) => {
            check_key(word).map_err(|flaw| flaw.after(at))?;
            word.to_owned()
        }
        (at, other) => return Err(other.unexpected(at, "a label key")),
    };
    let test = if absent { Test::Absent } else { test(tokens)? };
    Ok(Requirement { key, test })
}

/// Reads the test that follows a key; none is a test for existence.
fn test(tokens: &mut Tokens<'_>) -> Result<Test, Flaw> {
    let (at, token) = tokens.peek();
    if matches!(token, Token::End | Token::Symbol(",")) {
        return Ok(Test::Exists);
    }
    tokens.next();
    match token {
        Token::Symbol("=" | "==") => Ok(Test::In(vec![value(tokens)?])),
        Token::Symbol("!=") => Ok(Test::NotIn(vec![value(tokens)?])),
        Token::Word("in") => Ok(Test::In(values(tokens)?)),
        Token::Word("notin") => Ok(Test::NotIn(values(tokens)?)),
        other => Err(other.unexpected(at, OPERATOR)),
    }
}

fn values(tokens: &mut Tokens<'_>) -> Result<Vec<String>, Flaw> {
    let (at, open) = tokens.next();
    if open != Token::Symbol("(") {
        return Err(open.unexpected(at, "\"(\" and the values, e.g. (a, b),"));
    }
    let mut values = vec![value(tokens)?];
    loop {
        match tokens.next() {
            (_, Token::Symbol(")")) => return Ok(values),
            (_, Token::Symbol(",")) => values.push(value(tokens)?),
            (at, other) => return Err(other.unexpected(at, "a comma or \")\"")),
        }
    }
}

/// A label's value; nothing at all is the empty value, as in Kubernetes.
fn value(tokens: &mut Tokens<'_>) -> Result<String, Flaw> {
    let (at, Token::Word(word)) = tokens.peek() else {
        return Ok(String::new());
    };
    tokens.next();
    names::check("label value", word, NameRule::LabelPart).map_err(|flaw| flaw.after(at))?;
    Ok(word.to_owned())
}

/// `name` or `prefix/name`.
fn check_key(key: &str) -> Result<(), Flaw> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if let Some(prefix) = prefix {
        names::check("label prefix", prefix, NameRule::Subdomain)?;
    }
    let offset = prefix.map_or(0, |prefix| prefix.len() + 1);
    names::check("label key", name, NameRule::LabelPart).map_err(|flaw| flaw.after(offset))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    Symbol(&'static str),
    End,
}

impl Token<'_> {
    fn unexpected(self, at: usize, expected: &'static str) -> Flaw {
        let found = match self {
            Self::Word(text) | Self::Symbol(text) => Quoted(text).to_string(),
            Self::End => "the end".to_owned(),
        };
        Flaw::at(at, Problem::Selector { expected, found })
    }
}

struct Tokens<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tokens<'t> {
    /// The longer symbols first.
    const SYMBOLS: [&'static str; 7] = ["!=", "==", "=", "!", "(", ")", ","];

    /// The next token and where it begins; it stays the next one.
    fn peek(&self) -> (usize, Token<'t>) {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let token = rest.trim_start_matches(|it: char| it.is_ascii_whitespace());
        let at = self.at + rest.len() - token.len();
        if token.is_empty() {
            return (at, Token::End);
        }
        if let Some(symbol) = Self::SYMBOLS.into_iter().find(|it| token.starts_with(it)) {
            return (at, Token::Symbol(symbol));
        }
        let ends = |it: char| it.is_ascii_whitespace() || matches!(it, '=' | '!' | '(' | ')' | ',');
        let end = token.find(ends).unwrap_or(token.len());
        (at, Token::Word(token.get(..end).unwrap_or_default()))
    }

    fn next(&mut self) -> (usize, Token<'t>) {
        let (at, token) = self.peek();
        let length = match token {
            Token::Word(text) | Token::Symbol(text) => text.len(),
            Token::End => 0,
        };
        self.at = at + length;
        (at, token)
    }

    fn eat(&mut self, symbol: &'static str) -> bool {
        let found = self.peek().1 == Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }
}
