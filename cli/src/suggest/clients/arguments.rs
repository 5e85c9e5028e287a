//! The arguments of a command.

/// The arguments that are no options, nor the numbers of options.
pub(super) fn positional<'w>(arguments: &[&'w str]) -> Vec<&'w str> {
    let mut found = Vec::new();
    let mut before = "";
    for argument in arguments {
        let is_number = argument.bytes().all(|it| it.is_ascii_digit());
        let of_option = before.starts_with('-') && !before.contains('=') && is_number;
        if !argument.starts_with(['-', '>', '<']) && !argument.starts_with("2>") && !of_option {
            found.push(*argument);
        }
        before = argument;
    }
    found.retain(|it| !it.is_empty());
    found
}

/// The value of the first of these options that is there: `-h db`, `-hdb`, `--host=db`.
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
