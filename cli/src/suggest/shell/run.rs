//! The commands that a shell runs, with their variables and functions resolved. Nothing is decided: every branch is taken.

use super::expand::Scope;
use super::tokens::{Token, tokens};
use std::collections::BTreeMap;

/// The deepest level of functions that call each other.
const DEEPEST: usize = 5;
/// The most commands that are read of one container.
const MOST: usize = 2000;

/// A command with its arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::suggest) struct Call {
    pub(in crate::suggest) words: Vec<String>,
    /// Whether the command is in a loop, or run by a program that repeats commands.
    pub(in crate::suggest) looped: bool,
}

/// The commands of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::suggest) struct Script {
    pub(in crate::suggest) calls: Vec<Call>,
    /// Whether a loop of the container pauses between its rounds.
    pub(in crate::suggest) pauses: bool,
}

/// The commands of a container's words: of a shell's text, else the one that the words are.
pub(in crate::suggest) fn of_words(words: &[String], env: &BTreeMap<String, String>) -> Script {
    let mut runner = Runner::default();
    for (name, value) in env {
        runner.scope.set(name, vec![value.clone()]);
    }
    match words {
        [] => {}
        // A whole line stands where a program belongs.
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
    /// The number of loops that are open.
    loops: usize,
}

impl Runner {
    fn run(&mut self, tokens: &[Token], depth: usize) {
        let outer = self.loops;
        let mut words: Vec<String> = Vec::new();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                Token::Word(word) if word == "function" && words.is_empty() => {}
                Token::Word(word) => words.push(word.clone()),
                Token::End => self.command(&std::mem::take(&mut words), depth),
                Token::Function(name) => {
                    let (body, next) = body(tokens, at);
                    self.functions.insert(name.clone(), body.to_vec());
                    at = next;
                }
            }
        }
        self.command(&words, depth);
        self.loops = outer;
    }

    /// Reads a command that follows words such as `while` and `!`.
    fn command(&mut self, words: &[String], depth: usize) {
        let mut rest = words;
        loop {
            match rest {
                [word, behind @ ..] if matches!(word.as_str(), "until" | "while") => {
                    self.loops += 1;
                    rest = behind;
                }
                [word, behind @ ..] if word == "for" => {
                    self.loops += 1;
                    if let [name, of, each @ ..] = behind
                        && of == "in"
                    {
                        let each = each.iter().flat_map(|it| self.scope.expand(it));
                        let each: Vec<_> = each
                            .flat_map(|it| parts(&it).map(str::to_owned).collect::<Vec<_>>())
                            .collect();
                        self.scope.set(name, each);
                    }
                    return;
                }
                [word, behind @ ..] if word == "done" => {
                    self.loops = self.loops.saturating_sub(1);
                    rest = behind;
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
        self.call(rest, depth);
    }

    /// Takes `NAME=value`.
    fn assign(&mut self, word: &str) -> bool {
        let Some((name, value)) = word.split_once('=') else {
            return false;
        };
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        if name.is_empty() || !name.chars().all(is_name) {
            return false;
        }
        // The output of a command is not known, and a value that says nothing hides none that does.
        if !value.is_empty() {
            let values = self.scope.expand(value);
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
        // The text is another shell's: its variables are not read before it has set them.
        let own = arguments.iter().flat_map(|it| self.scope.expand(it));
        let own: Vec<String> = own.collect();
        let inherits = own.is_empty();
        let outer = self.scope.arguments.clone();
        if !inherits {
            self.scope.arguments = own;
        }
        self.run(&tokens(text), depth + 1);
        self.scope.arguments = outer;
    }

    /// The calls that the words may be.
    fn each(&self, words: &[String]) -> Vec<Vec<String>> {
        let mut each: Vec<Vec<String>> = vec![Vec::new()];
        for word in words {
            // The arguments stay words of their own.
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
        // A variable may hold a whole command.
        if words[0].contains(' ') {
            return self.run(&again(&words.join(" ")), depth + 1);
        }
        let rest = &words[1..];
        let run_by_it = rest.iter().find_map(|it| self.functions.get(it).cloned());
        match program.as_str() {
            "shift" if !self.scope.arguments.is_empty() => {
                self.scope.arguments.remove(0);
            }
            "sleep" | "usleep" => self.script.pauses |= self.loops > 0,
            "eval" => self.run(&again(&rest.join(" ")), depth + 1),
            "timeout" => {
                let skipped = rest.iter().take_while(|it| is_time(it)).count();
                self.inner(&rest[skipped..], depth);
            }
            "exec" | "command" | "sudo" | "nohup" | "env" | "time" | "xargs" => {
                self.inner(rest, depth);
            }
            "tini" | "dumb-init" => {
                let start = rest.iter().take_while(|it| it.starts_with('-')).count();
                self.inner(&rest[start..], depth);
            }
            _ if asks_again => {
                self.script.pauses = true;
                self.loops += 1;
                match rest.first() {
                    Some(text) if text.contains(' ') || self.functions.contains_key(text) => {
                        self.run(&again(text), depth + 1);
                    }
                    Some(_) => self.inner(rest, depth),
                    None => {}
                }
                self.loops -= 1;
            }
            // A function of an image that runs one of the script's.
            _ => match run_by_it {
                Some(body) => self.run(&body, depth + 1),
                None => self.keep(words),
            },
        }
    }

    /// Runs the command that a program like `timeout` is given.
    fn inner(&mut self, words: &[String], depth: usize) {
        if !words.is_empty() {
            self.command(words, depth + 1);
        }
    }

    fn keep(&mut self, words: Vec<String>) {
        let looped = self.loops > 0;
        self.script.calls.push(Call { words, looped });
    }
}

/// The functions of images and of scripts that run what they are given until it succeeds, however a script defines them.
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

/// An option of `timeout`, or a time: `30`, `1.5m`.
fn is_time(word: &str) -> bool {
    let number = word.trim_end_matches(['s', 'm', 'h', 'd']);
    let is_number = |it: char| it.is_ascii_digit() || it == '.';
    word.starts_with('-') || !number.is_empty() && number.chars().all(is_number)
}

/// The tokens of a text whose variables have been looked up: one of which nothing is known is `$(NAME)` there, and no command.
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

/// The text that a command gives to a shell, and the arguments behind it.
fn shell_text(words: &[String]) -> Option<(&str, &[String])> {
    let program = words.first()?.rsplit('/').next()?;
    let is_shell = matches!(program, "sh" | "bash" | "ash" | "dash" | "zsh" | "ksh");
    script_of(&words[1..]).filter(|_| is_shell)
}

/// The text that a shell is given by `-c`, and the arguments behind it.
fn script_of(arguments: &[String]) -> Option<(&str, &[String])> {
    let is_option = |at: usize| arguments[at].starts_with(['-', '+']);
    // `-o` and `-eo` have a value.
    let of_option = |at: usize| at > 0 && is_option(at - 1) && arguments[at - 1].ends_with('o');
    let named = |it: &String| !it.starts_with("--") && it.starts_with('-') && it.contains('c');
    let at = arguments.iter().position(named)?;
    if !(0..at).all(|it| is_option(it) || of_option(it)) {
        return None;
    }
    let text = (at + 1..arguments.len()).find(|it| !is_option(*it) && !of_option(*it))?;
    // The word behind the text is `$0`.
    Some((
        &arguments[text],
        arguments.get(text + 2..).unwrap_or_default(),
    ))
}

/// The body of a function: the tokens between its braces; and where what follows begins.
fn body(tokens: &[Token], from: usize) -> (&[Token], usize) {
    let is = |at: usize, text: &str| matches!(&tokens[at], Token::Word(word) if word == text);
    let mut start = from;
    while start < tokens.len() && tokens[start] == Token::End {
        start += 1;
    }
    if start >= tokens.len() || !is(start, "{") {
        return (&[], from);
    }
    let mut open = 0;
    for at in start..tokens.len() {
        open += i32::from(is(at, "{")) - i32::from(is(at, "}"));
        if open == 0 {
            return (&tokens[start + 1..at], at + 1);
        }
    }
    (&tokens[start + 1..], tokens.len())
}

/// The parts of a list that a `for` goes through.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split([' ', '\n', '\t', ','])
        .filter(|it| !it.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(script: &str, env: &[(&str, &str)]) -> Vec<String> {
        let words = ["sh", "-ec", script].map(str::to_owned);
        let env = env.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned()));
        let script = of_words(&words, &env.collect());
        let mut shown: Vec<String> = Vec::new();
        for call in script.calls {
            let mark = if call.looped { "*" } else { "" };
            shown.push(format!("{mark}{}", call.words.join(" ")));
        }
        shown
    }

    #[test]
    fn commands_are_found_wherever_they_stand() {
        for (script, expected) in [
            (
                "until nc -z db 1; do sleep 1; done; echo x",
                vec!["*nc -z db 1", "echo x"],
            ),
            ("while ! nc -z db 1; do sleep 1; done", vec!["*nc -z db 1"]),
            (
                "for h in a b; do until nc -z $h 1; do sleep 1; done; done",
                vec!["*nc -z a 1", "*nc -z b 1"],
            ),
            ("timeout -k 1 30 nc db 1", vec!["nc db 1"]),
            ("H=db; nc ${H} $PORT", vec!["nc db 5432"]),
            (
                "timeout 9 sh -eo pipefail -c 'until nc -z $1 $2; do sleep 1; done' _ db 1",
                vec!["*nc -z db 1"],
            ),
            ("eval \"nc $host 1\"", vec!["nc $(host) 1"]),
            (
                "while [ $(curl -s http://a) != 1 ]; do sleep 1; done",
                vec!["*[  != 1 ]", "*curl -s http://a"],
            ),
        ] {
            assert_eq!(calls(script, &[("PORT", "5432")]), expected, "{script}");
        }
    }

    #[test]
    fn functions_are_followed_with_their_arguments() {
        let script = "retry_while() { local -r cmd=\"${1:?}\"; sleep 5; }\ncheck() {\n  local host=\"${1:?missing}\"\n  wait-for-port --host=$host $2\n}\n\
                      retry_while \"check db 1\" 60";
        assert_eq!(calls(script, &[]), ["*wait-for-port --host=db 1"]);
        let script = "ask() { local c=\"$1\"; shift; \"$ASK\" \"$c\" \"$@\" --last; }\nuntil ask get --server a; do sleep 1; done";
        let env = [("ASK", "/bin/kcadm.sh")];
        assert_eq!(
            calls(script, &env),
            ["*/bin/kcadm.sh get --server a --last"]
        );
    }
}
