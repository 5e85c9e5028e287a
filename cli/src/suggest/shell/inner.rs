//! Finds the text that a command gives to a shell of its own, such as `sh -c TEXT`.

/// The text that a command gives to a shell, as in `sh -c TEXT`, and the words that become `$0` and the arguments; `None` for any other command.
pub(super) fn shell_text(words: &[String]) -> Option<(&str, &[String])> {
    let program = words.first()?.rsplit('/').next()?;
    let is_shell = matches!(program, "sh" | "bash" | "ash" | "dash" | "zsh" | "ksh");
    script_of(&words[1..]).filter(|_| is_shell)
}

/// The text behind a shell's option `-c`, and the words behind the text, which become `$0` and the arguments. `None` without that option, or where
/// anything but options stands before it.
fn script_of(arguments: &[String]) -> Option<(&str, &[String])> {
    let is_option = |at: usize| arguments[at].starts_with(['-', '+']);
    // The options `-o` and `-eo` have a value.
    let of_option = |at: usize| at > 0 && is_option(at - 1) && arguments[at - 1].ends_with('o');
    let named = |it: &String| !it.starts_with("--") && it.starts_with('-') && it.contains('c');
    let at = arguments.iter().position(named)?;
    if !(0..at).all(|it| is_option(it) || of_option(it)) {
        return None;
    }
    let text = (at + 1..arguments.len()).find(|it| !is_option(*it) && !of_option(*it))?;
    Some((&arguments[text], &arguments[text + 1..]))
}
