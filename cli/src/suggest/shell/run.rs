//! Lists the commands that a shell runs, with the values of their variables and the bodies of their functions. Every branch counts that the
//! environment does not rule out.

use super::branches;
use super::counted;
use super::expand::Scope;
use super::fed;
use super::inner::shell_text;
use super::loops;
use super::tokens::{Token, body, tokens};
use std::collections::BTreeMap;

/// The deepest level of calls of functions within functions that is read.
const DEEPEST: usize = 5;
/// The most commands of one container that are read, since a script may have any length.
const MOST: usize = 2000;

/// A command that a script runs, with its arguments and the loops around it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::suggest) struct Call {
    pub(in crate::suggest) words: Vec<String>,
    /// The loops around the command.
    pub(in crate::suggest) looped: Looped,
    /// The variables that the script sets before the command, each with its value. A variable with several values is left out.
    pub(in crate::suggest) own: BTreeMap<String, String>,
    /// Whether another command reads what the command prints.
    pub(in crate::suggest) is_read: bool,
    /// Whether the loop goes on while the command succeeds, and so waits for the command to fail.
    pub(in crate::suggest) while_it_succeeds: bool,
    /// The number of the command's statement, and the number of the command's side of `||` within the statement. Commands of one statement
    /// on different sides are alternatives.
    pub(in crate::suggest) side: (usize, usize),
}

/// The loops around a command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(in crate::suggest) enum Looped {
    /// No loop is around the command.
    #[default]
    No,
    /// One of the loops around the command may end, or a program repeats the command.
    MayEnd,
    /// No loop around the command ends, such as the main loop of a server.
    Endless,
}

impl Call {
    /// The program that the command runs, by the name of its file.
    pub(in crate::suggest) fn program(&self) -> &str {
        self.words[0].rsplit('/').next().unwrap_or_default()
    }

    /// Whether the command is in a loop, or run by a program that repeats commands.
    pub(in crate::suggest) fn is_looped(&self) -> bool {
        self.looped != Looped::No
    }
}

/// The commands of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::suggest) struct Script {
    pub(in crate::suggest) calls: Vec<Call>,
    /// Whether a loop of the container pauses between its rounds.
    pub(in crate::suggest) pauses: bool,
}

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

    /// Reads a command that may follow words such as `while` and `!`.
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

    /// Gives the variable of a loop that counts its rounds the number of each round.
    fn count(&mut self, test: &[String]) {
        let value = |name: &str| match self.scope.expand(&format!("${{{name}}}")).as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        if let Some((name, numbers)) = counted::of_test(test, value) {
            self.scope.set(&name, numbers);
        }
    }

    /// Reads an assignment, `NAME=value`. Returns whether the word was one.
    fn assign(&mut self, word: &str) -> bool {
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

    /// Reads a call of a program or of a function.
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

    /// The commands that the words may stand for: one for each value of each variable in them.
    fn each(&self, words: &[String]) -> Vec<Vec<String>> {
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

    fn call_one(&mut self, words: Vec<String>, depth: usize) {
        let program = words[0].rsplit('/').next().unwrap_or_default().to_owned();
        let asks_again = ASKING_AGAIN.contains(&program.as_str());
        if let Some(body) = self
            .functions
            .get(&words[0])
            .filter(|_| !asks_again)
            .cloned()
        {
            let outer = std::mem::replace(&mut self.scope.arguments, words[1..].to_vec());
            self.run(&body, depth + 1);
            self.scope.arguments = outer;
            return;
        }
        // The value of a variable may be a whole command.
        if words[0].contains(' ') {
            return self.run(&again(&words.join(" ")), depth + 1);
        }
        let rest = &words[1..];
        let run_by_it = rest.iter().find_map(|it| self.functions.get(it).cloned());
        match program.as_str() {
            "shift" if !self.scope.arguments.is_empty() => {
                self.scope.arguments.remove(0);
            }
            "read" => self.read(rest),
            "sleep" | "usleep" => self.script.pauses |= !self.loops.is_empty(),
            "eval" => self.run(&again(&rest.join(" ")), depth + 1),
            "timeout" => {
                let skipped = rest.iter().take_while(|it| is_time(it)).count();
                self.inner(&rest[skipped..], depth);
            }
            "exec" | "command" | "sudo" | "nohup" | "env" | "time" | "xargs" => {
                self.inner(rest, depth);
            }
            // The first argument is the name of a user.
            "gosu" | "su-exec" if !rest.is_empty() => self.inner(&rest[1..], depth),
            "tini" | "dumb-init" | "busybox" | "toybox" | "npx" | "stdbuf" => {
                let start = rest.iter().take_while(|it| it.starts_with('-')).count();
                self.inner(&rest[start..], depth);
            }
            _ if asks_again => {
                self.script.pauses = true;
                self.loops.push(true);
                match rest.first() {
                    Some(text) if text.contains(' ') || self.functions.contains_key(text) => {
                        self.run(&again(text), depth + 1);
                    }
                    Some(_) => self.inner(rest, depth),
                    None => {}
                }
                self.loops.pop();
            }
            // A function of the image may run a function of the script, which is then one of its arguments.
            _ => match run_by_it {
                Some(body) => self.run(&body, depth + 1),
                None => self.keep(words),
            },
        }
    }

    /// Sets the variable that a command such as `read -a NAME <<< "a b"` fills.
    fn read(&mut self, words: &[String]) {
        let is_array = |it: &String| it.starts_with('-') && it.ends_with('a');
        let name = words.iter().position(is_array).map(|at| words.get(at + 1));
        let text = words.iter().position(|it| it == "<<<");
        let text = text.and_then(|at| words.get(at + 1));
        if let (Some(Some(name)), Some(text)) = (name, text) {
            self.scope.set(name, vec![text.clone()]);
        }
    }

    /// Reads the command that a program such as `timeout` runs.
    fn inner(&mut self, words: &[String], depth: usize) {
        if !words.is_empty() {
            self.command(words, depth + 1);
        }
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

/// The functions of images and of scripts that run a command until the command succeeds. The name alone decides, and not the body that a
/// script gives to the function.
const ASKING_AGAIN: [&str; 5] = [
    "retry",
    "retry_while",
    "retry_until",
    "wait_until",
    "repeat",
];
const STEERING: [&str; 10] = [
    "do", "then", "else", "elif", "if", "!", "{", "}", "fi", "in",
];
const DECLARING: [&str; 5] = ["local", "export", "declare", "readonly", "typeset"];

/// Whether a word is an option of `timeout` or a time, such as `30` or `1.5m`. The first other word is the command to run.
fn is_time(word: &str) -> bool {
    let number = word.trim_end_matches(['s', 'm', 'h', 'd']);
    let is_number = |it: char| it.is_ascii_digit() || it == '.';
    word.starts_with('-') || !number.is_empty() && number.chars().all(is_number)
}

/// The tokens of a text in which values have replaced the variables. In such a text `$(NAME)` is a variable without a known value, and not
/// the output of a command.
fn again(text: &str) -> Vec<Token> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("$(") {
        plain.push_str(before);
        let (name, behind) = behind.split_once(')').unwrap_or((behind, ""));
        plain.extend(["${", name, "}"]);
        rest = behind;
    }
    plain.push_str(rest);
    tokens(&plain)
}

/// The items of the list of a `for`.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\n', '\t', ',', ';'])
        .filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests;
