//! The grammar of label selectors, as `k8s.io/apimachinery/pkg/labels` reads it, without its comparisons of numbers.

use super::names::{self, NameRule};
use super::piece::Piece;
use super::problem::{Flaw, Problem};
use crate::selector::{Requirement, Selector, Test};
use crate::text::Quoted;

const OPERATOR: &str = "=, ==, !=, in, notin, a comma or the end";

/// Reads a label selector. An empty text, which in Kubernetes selects everything, is an error: more often than not a value is missing. So is a text
/// with `{{`, a template that was not rendered.
pub(super) fn selector(written: Piece<'_>) -> Result<Selector, Flaw> {
    if written.trim().is_empty() {
        return Err(written.flaw(Problem::Empty { what: "selector" }));
    }
    if let Some(at) = written.text.find("{{") {
        return Err(written.flaw_at(at, Problem::Template(written.text.to_owned())));
    }
    let mut tokens = Tokens { rest: written };
    let mut requirements = vec![requirement(&mut tokens)?];
    loop {
        match tokens.next() {
            (_, Token::End) => return Ok(Selector(requirements)),
            (_, Token::Symbol(",")) => requirements.push(requirement(&mut tokens)?),
            (found, token) => return Err(token.unexpected(found, "a comma or the end")),
        }
    }
}

fn requirement(tokens: &mut Tokens<'_>) -> Result<Requirement, Flaw> {
    let absent = tokens.eat("!");
    let key = match tokens.next() {
        (word, Token::Word) => {
            check_key(word)?;
            word.text.to_owned()
        }
        (found, token) => return Err(token.unexpected(found, "a label key")),
    };
    let test = if absent { Test::Absent } else { test(tokens)? };
    Ok(Requirement { key, test })
}

/// Reads the test behind a key. A key alone tests whether the label exists.
fn test(tokens: &mut Tokens<'_>) -> Result<Test, Flaw> {
    let (found, token) = tokens.peek();
    if matches!(token, Token::End | Token::Symbol(",")) {
        return Ok(Test::Exists);
    }
    tokens.next();
    match token {
        Token::Symbol("=" | "==") => Ok(Test::In(vec![value(tokens)?])),
        Token::Symbol("!=") => Ok(Test::NotIn(vec![value(tokens)?])),
        Token::Word if found.text == "in" => Ok(Test::In(values(tokens)?)),
        Token::Word if found.text == "notin" => Ok(Test::NotIn(values(tokens)?)),
        other => Err(other.unexpected(found, OPERATOR)),
    }
}

fn values(tokens: &mut Tokens<'_>) -> Result<Vec<String>, Flaw> {
    let (found, open) = tokens.next();
    if open != Token::Symbol("(") {
        return Err(open.unexpected(found, "\"(\" and the values, e.g. (a, b),"));
    }
    let mut values = vec![value(tokens)?];
    loop {
        match tokens.next() {
            (_, Token::Symbol(")")) => return Ok(values),
            (_, Token::Symbol(",")) => values.push(value(tokens)?),
            (found, token) => return Err(token.unexpected(found, "a comma or \")\"")),
        }
    }
}

/// Reads the value of a label. A missing word is the empty value, as in Kubernetes.
fn value(tokens: &mut Tokens<'_>) -> Result<String, Flaw> {
    let (word, Token::Word) = tokens.peek() else {
        return Ok(String::new());
    };
    tokens.next();
    names::check("label value", word, NameRule::LabelPart)?;
    Ok(word.text.to_owned())
}

/// Checks the key of a label in a selector: `name` or `prefix/name`.
fn check_key(key: Piece<'_>) -> Result<(), Flaw> {
    let name = match key.split_once('/') {
        Some((prefix, name)) => {
            names::check("label prefix", prefix, NameRule::Subdomain)?;
            name
        }
        None => key,
    };
    names::check("label key", name, NameRule::LabelPart)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Word,
    Symbol(&'static str),
    End,
}

impl Token {
    /// The flaw of a token at `found` that stands in the place of `expected`.
    fn unexpected(self, found: Piece<'_>, expected: &'static str) -> Flaw {
        let text = match self {
            Self::Word | Self::Symbol(_) => Quoted(found.text).to_string(),
            Self::End => "the end".to_owned(),
        };
        found.flaw(Problem::Selector {
            expected,
            found: text,
        })
    }
}

struct Tokens<'t> {
    rest: Piece<'t>,
}

impl<'t> Tokens<'t> {
    /// The symbols of a selector's text, the longer ones first.
    const SYMBOLS: [&'static str; 7] = ["!=", "==", "=", "!", "(", ")", ","];

    /// The next token with its text, without a step behind it.
    fn peek(&self) -> (Piece<'t>, Token) {
        let (text, token, _) = self.split();
        (text, token)
    }

    fn next(&mut self) -> (Piece<'t>, Token) {
        let (text, token, rest) = self.split();
        self.rest = rest;
        (text, token)
    }

    /// The text of the next token, the token, and the text behind the token.
    fn split(&self) -> (Piece<'t>, Token, Piece<'t>) {
        let space = |it: char| it.is_ascii_whitespace();
        let blank = self.rest.text.find(|it| !space(it));
        let (_, text) = self.rest.split_at(blank.unwrap_or(self.rest.text.len()));
        let symbol = Self::SYMBOLS
            .into_iter()
            .find(|it| text.text.starts_with(it));
        let (token, length) = match symbol {
            _ if text.is_empty() => (Token::End, 0),
            Some(symbol) => (Token::Symbol(symbol), symbol.len()),
            None => {
                let ends = |it| space(it) || matches!(it, '=' | '!' | '(' | ')' | ',');
                (Token::Word, text.text.find(ends).unwrap_or(text.text.len()))
            }
        };
        let (text, rest) = text.split_at(length);
        (text, token, rest)
    }

    fn eat(&mut self, symbol: &'static str) -> bool {
        let found = self.peek().1 == Token::Symbol(symbol);
        if found {
            self.next();
        }
        found
    }
}
