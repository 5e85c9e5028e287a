//! Reads the arguments of a command, and the addresses in these arguments.

use crate::suggest::wait::{Address, Asks, For};

/// The arguments that are neither options, nor redirections, nor numbers that follow an option without `=`.
pub(super) fn positional<'w>(arguments: &[&'w str]) -> Vec<&'w str> {
    let is_number = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    no_options(arguments, |option, it| {
        option.starts_with('-') && !option.contains('=') && is_number(it)
    })
}

/// The arguments that are neither options, nor redirections, nor values that follow an option of one letter, `--eval`, `--execute` or `--file`.
pub(super) fn places<'w>(arguments: &[&'w str]) -> Vec<&'w str> {
    let is_letter = |it: &str| it.len() == 2 && it.starts_with('-') && it != "--";
    no_options(arguments, |option, _| {
        is_letter(option) || matches!(option, "--eval" | "--execute" | "--file")
    })
}

/// The arguments that are neither options nor redirections nor the values of options. `is_value` gets an option and the argument behind it,
/// and tells whether the argument is the option's value.
fn no_options<'w>(arguments: &[&'w str], is_value: impl Fn(&str, &str) -> bool) -> Vec<&'w str> {
    let before = std::iter::once("").chain(arguments.iter().copied());
    let plain = before.zip(arguments.iter().copied());
    let plain = plain.filter(|(before, it)| !it.is_empty() && !is_value(before, it));
    let plain = plain.filter(|(_, it)| !it.starts_with(['-', '>', '<']) && !it.starts_with("2>"));
    plain.map(|(_, it)| it).collect()
}

/// The address in the parameters of a connection to PostgreSQL, such as `host=db port=5432 dbname=shop`; `None` for another text, and without a
/// host.
pub(super) fn conninfo(text: &str) -> Option<String> {
    let parts: Option<Vec<_>> = text
        .split_whitespace()
        .map(|it| it.split_once('='))
        .collect();
    let parts = parts?;
    let value = |key: &str| Some(parts.iter().find(|it| it.0 == key)?.1.trim_matches('\''));
    let host = value("host").filter(|it| !it.is_empty())?;
    let port = value("port").map_or(String::new(), |it| format!(":{it}"));
    Some(format!("{host}{port}"))
}

/// The value of the first option in `names` that the arguments have: `-h db`, `-hdb`, `--host=db`. `None` without one; an empty text and one
/// that begins with `-` are no value.
pub(super) fn option(arguments: &[&str], names: &[&str]) -> Option<String> {
    for name in names {
        for (at, argument) in arguments.iter().enumerate() {
            let short = name.len() == 2 && !argument.starts_with("--");
            let value = match argument.strip_prefix(name) {
                Some("") => arguments.get(at + 1).copied(),
                Some(behind) => behind.strip_prefix('=').or(short.then_some(behind)),
                None => None,
            };
            if let Some(value) = value.filter(|it| !it.is_empty() && !it.starts_with('-')) {
                return Some(value.to_owned());
            }
        }
    }
    None
}

/// The waits for the addresses in a text, which commas separate.
pub(super) fn each(text: &str, asks: Asks) -> Vec<For> {
    let texts = text.split(',').filter(|it| !it.is_empty());
    texts.map(|it| address(it.trim(), asks)).collect()
}

/// The wait for one address.
pub(super) fn address(text: &str, asks: Asks) -> For {
    For::Address(Address::of(text, asks))
}

/// Whether a text is a number of a port, or a variable with `PORT` in its name.
pub(super) fn is_port(text: &str) -> bool {
    let by_variable = text.starts_with("$(") && text.to_uppercase().contains("PORT");
    by_variable || !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit())
}
