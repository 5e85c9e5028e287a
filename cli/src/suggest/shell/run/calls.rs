//! The commands of a script, each with the loops around it.

use std::collections::BTreeMap;

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
