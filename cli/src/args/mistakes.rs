//! The likely word for a misspelt one, in the message on wrong arguments.

use clap::Command;
use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use rules::suggest::nearest;
use std::path::Path;

/// Adds the subcommand, the option or the `-f FILE` that the user is likely to have meant to clap's error. An error about anything else, or
/// one without a likely word, stays unchanged.
pub(super) fn explained(mut error: Error, command: &Command) -> Error {
    let word = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => Some(word.clone()),
        _ => None,
    };
    let (kind, value) = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
            let likely = word(ContextKind::InvalidSubcommand)
                .and_then(|word| nearest(&word, names).map(ToOwned::to_owned));
            let Some(likely) = likely else {
                return error;
            };
            let likely = ContextValue::Strings(vec![likely]);
            (ContextKind::SuggestedSubcommand, likely)
        }
        ErrorKind::UnknownArgument => match word(ContextKind::InvalidArg) {
            Some(word) if is_file(&word) => {
                let tip = StyledStr::from(format!("did you mean -f {word}?"));
                (ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]))
            }
            Some(word) => match option(&word, command) {
                Some(option) => (ContextKind::SuggestedArg, ContextValue::String(option)),
                None => return error,
            },
            None => return error,
        },
        _ => return error,
    };
    error.insert(kind, value);
    error
}

/// Whether an argument looks like a file for -f: it has a slash, or the ending of YAML or JSON, or such a file exists. Never with a `-` first.
fn is_file(word: &str) -> bool {
    let endings = [".yaml", ".yml", ".json"];
    let named = word.contains('/') || endings.iter().any(|it| word.ends_with(it));
    !word.starts_with('-') && (named || Path::new(word).exists())
}

/// The long option of any command that a misspelt one, such as `--relase=shop`, is likely to mean; `None` where none is near.
fn option(word: &str, command: &Command) -> Option<String> {
    let of = |command: &Command| -> Vec<String> {
        let longs = command.get_arguments().filter_map(|it| it.get_long());
        longs.map(ToOwned::to_owned).collect()
    };
    let mut options = of(command);
    options.extend(command.get_subcommands().flat_map(of));
    let word = word.strip_prefix("--")?;
    let word = word.split('=').next()?;
    let likely = nearest(word, options.iter().map(String::as_str))?;
    Some(format!("--{likely}"))
}
