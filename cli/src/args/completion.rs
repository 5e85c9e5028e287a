//! The completion of a command line by a shell.

use crate::explain;
use clap::builder::PossibleValue;
use clap::{Arg, Command, ValueEnum};
use clap_complete::{Shell, generate};
use std::process::ExitCode;

/// The shell that the script is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Completer {
    Bash,
    Zsh,
    Fish,
    Powershell,
    /// kubectl itself, which calls it as kubectl_complete-sluice to complete `kubectl sluice`.
    Kubectl,
}

/// The script that kubectl calls to complete `kubectl sluice`: it passes the words on to `kubectl-sluice __complete`.
const ASKS: &str = "#!/bin/sh\nexec kubectl-sluice __complete -- \"$@\"\n";

/// Tells the shell not to complete with files (cobra's `ShellCompDirectiveNoFileComp`).
const NO_FILES: &str = ":4";

/// Prints the completion script for a shell.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(super) fn script(whom: Completer, mut command: Command) -> ExitCode {
    let shell = match whom {
        Completer::Bash => Shell::Bash,
        Completer::Zsh => Shell::Zsh,
        Completer::Fish => Shell::Fish,
        Completer::Powershell => Shell::PowerShell,
        Completer::Kubectl => {
            print!("{ASKS}");
            return ExitCode::SUCCESS;
        }
    };
    // A script is long. clap_complete would panic in its own words where the reader, such as `head`, has gone.
    let mut text = Vec::new();
    generate(shell, &mut command, "kubectl-sluice", &mut text);
    print!("{}", String::from_utf8_lossy(&text));
    ExitCode::SUCCESS
}

/// Prints the completions of the last of these words, one a line, and after them [`NO_FILES`], as kubectl asks for them.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(super) fn complete(words: &[String], mut command: Command) -> ExitCode {
    command.build();
    for word in candidates(words, &command) {
        println!("{word}");
    }
    println!("{NO_FILES}");
    ExitCode::SUCCESS
}

fn candidates(words: &[String], command: &Command) -> Vec<String> {
    let Some((last, before)) = words.split_last() else {
        return Vec::new();
    };
    let mut at = command;
    for word in before {
        at = at.find_subcommand(word).unwrap_or(at);
    }
    let of_option = before.last().and_then(|word| option(at, word));
    let all: Vec<String> = match of_option {
        Some(arg) if arg.get_action().takes_values() => {
            let values = arg.get_possible_values();
            values
                .iter()
                .map(PossibleValue::get_name)
                .map(str::to_owned)
                .collect()
        }
        _ if last.starts_with('-') => {
            let longs = at.get_arguments().filter_map(Arg::get_long);
            longs.map(|long| format!("--{long}")).collect()
        }
        _ if at.get_name() == "explain" => explain::words().into_iter().collect(),
        _ => {
            let shown = at.get_subcommands().filter(|it| !it.is_hide_set());
            shown.map(|it| it.get_name().to_owned()).collect()
        }
    };
    all.into_iter()
        .filter(|it| it.starts_with(last.as_str()))
        .collect()
}

/// The option of `command` that a word names, `-o` or `--output`; `None` for any other word, also for `--output=json`.
fn option<'c>(command: &'c Command, word: &str) -> Option<&'c Arg> {
    let dashless = word.strip_prefix('-')?;
    command.get_arguments().find(|arg| {
        let short = arg.get_short().map(String::from);
        let long = dashless.strip_prefix('-');
        short.as_deref() == Some(dashless) || long.is_some() && arg.get_long() == long
    })
}

#[cfg(test)]
mod tests {
    use super::super::Args;
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_last_word_is_completed() {
        let mut command = Args::command();
        command.build();
        for (words, expected) in [
            (&["st"][..], &["status"][..]),
            (&["status", "--rel"], &["--release"]),
            (&["-n", "shop", "che"], &["check"]),
            (&["status", "-o", "j"], &["json"]),
            (&["status", "--color", "a"], &["auto", "always"]),
            (&["status", "api"], &[]),
            (&["__c"], &[]),
            (&["explain", "NoE"], &["NoEndpoints"]),
            (&["explain", "sluice.dev/tim"], &["sluice.dev/timeout"]),
            (&["status", "--kube"], &["--kubeconfig"]),
        ] {
            let words: Vec<_> = words.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(candidates(&words, &command), expected, "{words:?}");
        }
    }
}
