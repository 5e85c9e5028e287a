//! Runs `kubectl`, `helm` and other programs as a user does.

use std::ffi::OsStr;
use std::process::Stdio;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

/// A program that has not run yet.
pub struct Program {
    command: Command,
    shown: String,
    input: String,
}

/// The result of a program.
#[derive(Debug)]
pub struct Outcome {
    shown: String,
    /// The exit code; `None` where a signal ended the program.
    pub code: Option<i32>,
    /// The standard output.
    pub stdout: String,
    /// The standard error: refusals and warnings.
    pub stderr: String,
}

impl Program {
    /// Returns a program, not run yet, by its name in `PATH` or by its path.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        let shown = program.as_ref().to_string_lossy().into_owned();
        let command = Command::new(program);
        Self {
            command,
            shown,
            input: String::new(),
        }
    }

    /// Adds arguments.
    #[must_use]
    pub fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        for arg in args {
            self.shown.push(' ');
            self.shown.push_str(&arg.as_ref().to_string_lossy());
            self.command.arg(arg);
        }
        self
    }

    /// Sets the standard input.
    #[must_use]
    pub fn input(mut self, input: impl Into<String>) -> Self {
        self.input = input.into();
        self
    }

    /// Runs the program to its end. Any exit code is a result; only a program that cannot be started fails the test.
    pub async fn run(self) -> Outcome {
        let Self {
            mut command,
            shown,
            input,
        } = self;
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command
            .spawn()
            .unwrap_or_else(|error| panic!("{shown}: {error}"));
        let mut stdin = child.stdin.take().expect("standard input is a pipe");
        // The program may end before it has read everything, and then reports the reason itself.
        let _ = stdin.write_all(input.as_bytes()).await;
        drop(stdin);
        let output = child
            .wait_with_output()
            .await
            .expect("a child can be waited for");
        Outcome {
            shown,
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Outcome {
    /// Returns the standard output. Fails unless the program succeeded.
    pub fn ok(self) -> String {
        assert!(self.code == Some(0), "this failed: {self}");
        self.stdout
    }

    /// Returns the standard error. Fails unless the program failed, and also when the text contains `immutable`: Flux takes that word in a refusal
    /// for leave to delete and recreate the object.
    pub fn refused(self) -> String {
        assert!(self.code != Some(0), "this was to be refused: {self}");
        assert!(!self.stderr.contains("immutable"), "{self}");
        self.stderr
    }
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            shown,
            code,
            stdout,
            stderr,
        } = self;
        let code = code.map_or("a signal".to_owned(), |code| format!("exit code {code}"));
        write!(out, "$ {shown}\n{stdout}{stderr}({code})")
    }
}
