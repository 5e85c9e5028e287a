//! Reads the call of one program: many programs, such as `timeout` and `retry`, only run the command in their arguments.

use super::Runner;
use crate::suggest::shell::tokens::{Token, tokens};

/// The functions of images and of scripts that run a command until the command succeeds. The name alone decides, and not the body that a
/// script gives to the function.
const ASKING_AGAIN: [&str; 5] = [
    "retry",
    "retry_while",
    "retry_until",
    "wait_until",
    "repeat",
];

impl Runner {
    pub(super) fn call_one(&mut self, words: Vec<String>, depth: usize) {
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

    /// Sets the variable that a command such as `read -a NAME <<< "a b"` fills. A `read` without `-a` or without `<<<` sets nothing.
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
}

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
