//! Lists the commands that a shell runs, with the values of their variables and the bodies of their functions. Every branch counts that the
//! environment does not rule out.

mod calls;
mod programs;
mod variables;

pub(in crate::suggest) use calls::{Call, Looped, Script};

use super::branches;
use super::counted;
use super::expand::Scope;
use super::fed;
use super::inner::shell_text;
use super::loops;
use super::tokens::{Token, body, tokens};
use std::collections::BTreeMap;
use variables::parts;

/// The deepest level of calls of functions within functions that is read.
const DEEPEST: usize = 5;
/// The most commands of one container that are read, since a script may have any length.
const MOST: usize = 2000;

/// The commands that a container with these words runs: the commands of a script, where the words give a script to a shell, or else the one
/// command that the words are.
pub(in crate::suggest) fn of_words(words: &[String], env: &BTreeMap<String, String>) -> Script {
    let mut runner = Runner::default();
    for (name, value) in env {
        runner.scope.set(name, vec![value.clone()]);
    }
    runner.env = runner.scope.clone();
    match words {
        [] => {}
        // A single word with blanks is a whole command line in the place of a program.
        [line] if line.contains(' ') => runner.run(&tokens(line), 0),
        words => runner.call(words, 0),
    }
    runner.script
}

#[derive(Debug, Default)]
struct Runner {
    scope: Scope,
    functions: BTreeMap<String, Vec<Token>>,
    script: Script,
    /// The variables of the container alone, without the variables that the script sets.
    env: Scope,
    /// The loops around the present place, the outermost first; each says whether the loop may end.
    loops: Vec<bool>,
    /// Whether the loop whose head is read next may end.
    ends: bool,
    /// Whether another command reads the output of the command that is read next.
    is_read: bool,
    /// Whether the command that is read next is the whole condition of a loop.
    is_head: bool,
    /// The number of the present statement, and the number of the present side of `||` in the statement.
    side: (usize, usize),
    /// The variables that the script has set.
    set: BTreeMap<String, String>,
}

impl Runner {
    fn run(&mut self, tokens: &[Token], depth: usize) {
        let tokens = &branches::taken(tokens, &self.env);
        let outer = self.loops.len();
        let mut words: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                Token::Word(word) if word == "function" && words.is_empty() => {}
                Token::Word(word) => words.push(word.clone()),
                Token::End => {
                    let words = std::mem::take(&mut words);
                    if let Some((name, text)) = fed::of(&words, &tokens[at..]) {
                        let lines = self.scope.expand(text);
                        let lines = lines.iter().flat_map(|it| parts(it)).map(str::to_owned);
                        let lines = lines.collect();
                        self.scope.set(name, lines);
                    }
                    self.ends = loops::ends(&words, &tokens[at..], &self.functions);
                    self.is_read = tokens.get(at) == Some(&Token::Pipe);
                    self.is_head = loops::is_head(&words, &tokens[at..]);
                    self.command(&words, depth);
                }
                Token::Next => self.side = (self.side.0 + 1, 0),
                Token::Or => self.side.1 += 1,
                Token::Pipe => {}
                Token::Function(name) => {
                    let (body, next) = body(tokens, at);
                    self.functions.insert(name.clone(), body.to_vec());
                    at = next;
                }
            }
        }
        self.command(&words, depth);
        self.loops.truncate(outer);
    }

    /// Reads a command behind words such as `while`, `!` and `NAME=value`: opens and closes loops, sets variables, and then reads the call.
    fn command(&mut self, words: &[String], depth: usize) {
        let mut rest = words;
        let mut while_it_succeeds = false;
        loop {
            match rest {
                [word, behind @ ..] if matches!(word.as_str(), "until" | "while") => {
                    self.loops.push(self.ends);
                    while_it_succeeds = self.is_head && word == "while";
                    rest = behind;
                    if let [word, behind @ ..] = rest
                        && word == "!"
                    {
                        while_it_succeeds = self.is_head && !while_it_succeeds;
                        rest = behind;
                    }
                    self.count(rest);
                }
                [word, behind @ ..] if word == "for" => {
                    self.loops.push(true);
                    if let [name, of, each @ ..] = behind
                        && of == "in"
                    {
                        let spread = |it: &String| counted::of_braces(it).unwrap_or(it.clone());
                        let each = each.iter().flat_map(|it| self.scope.expand(&spread(it)));
                        let each: Vec<_> = each
                            .flat_map(|it| parts(&it).map(str::to_owned).collect::<Vec<_>>())
                            .collect();
                        self.scope.set(name, each);
                    }
                    return;
                }
                // Only the input and the output of the loop follow `done`, and no command.
                [word, ..] if word == "done" => {
                    self.loops.pop();
                    return;
                }
                [word, behind @ ..] if STEERING.contains(&word.as_str()) => rest = behind,
                [word, behind @ ..] if DECLARING.contains(&word.as_str()) => {
                    for word in behind {
                        self.assign(word);
                    }
                    return;
                }
                [word, behind @ ..] if self.assign(word) => rest = behind,
                [] => return,
                _ => break,
            }
        }
        let first = self.script.calls.len();
        self.call(rest, depth);
        // A function may succeed although the command in it fails.
        let is_function = rest
            .first()
            .is_some_and(|it| self.functions.contains_key(it));
        if let [call] = &mut self.script.calls[first..] {
            call.while_it_succeeds |= while_it_succeeds && !is_function;
        }
    }

    /// Reads a call of a program or of a function, or the script that a call gives to another shell. Does nothing beyond [`DEEPEST`] levels of calls
    /// or [`MOST`] commands.
    fn call(&mut self, words: &[String], depth: usize) {
        if depth > DEEPEST || self.script.calls.len() > MOST {
            return;
        }
        let Some((text, arguments)) = shell_text(words) else {
            for words in self.each(words) {
                self.call_one(words, depth);
            }
            return;
        };
        // The text is a script of another shell, so its variables are replaced only once that script is read.
        let own = arguments.iter().flat_map(|it| self.scope.expand(it));
        let own: Vec<String> = own.collect();
        let outer = self.scope.clone();
        if let [own_name, own @ ..] = own.as_slice() {
            self.scope.own_name = Some(own_name.clone());
            if !own.is_empty() {
                self.scope.arguments = own.to_vec();
            }
        }
        self.run(&tokens(text), depth + 1);
        self.scope.own_name = outer.own_name;
        self.scope.arguments = outer.arguments;
    }

    fn keep(&mut self, words: Vec<String>) {
        let looped = match &*self.loops {
            [] => Looped::No,
            loops if loops.contains(&true) => Looped::MayEnd,
            _ => Looped::Endless,
        };
        self.script.calls.push(Call {
            words,
            looped,
            own: self.set.clone(),
            is_read: self.is_read,
            while_it_succeeds: false,
            side: self.side,
        });
    }
}

const STEERING: [&str; 10] = [
    "do", "then", "else", "elif", "if", "!", "{", "}", "fi", "in",
];
const DECLARING: [&str; 5] = ["local", "export", "declare", "readonly", "typeset"];

#[cfg(test)]
mod tests;
