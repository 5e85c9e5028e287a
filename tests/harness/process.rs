//! Runs our binaries as processes: finds them, reads their log line by line, and waits for their end.

#![expect(
    clippy::panic,
    reason = "a process that does not do as expected fails the test that runs it"
)]

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{LazyLock, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// The time limit of one step of a process. It is generous, because only a failing test waits for so long.
pub(crate) const STEP: Duration = Duration::from_mins(5);

/// The environment variable with the folders of programs that are built already, in the form of `PATH`.
const PROGRAMS: &str = "SLUICE_PROGRAMS";

/// Returns the path of a binary of this workspace, e.g. `sluice-gate`. Where `PROGRAMS` is set, the binary lies in one of its
/// folders. Else it is built once for each run of the tests, in the tests' profile.
///
/// # Panics
///
/// The binary lies in none of these folders, or does not build.
pub fn binary(name: &str) -> PathBuf {
    static BUILT: LazyLock<Mutex<HashMap<String, PathBuf>>> = LazyLock::new(Mutex::default);
    let mut built = BUILT.lock().expect("no build panics");
    built
        .entry(name.to_owned())
        .or_insert_with(|| {
            std::env::var_os(PROGRAMS).map_or_else(|| build(name), |it| find(name, &it))
        })
        .clone()
}

fn find(name: &str, folders: &OsStr) -> PathBuf {
    let mut paths = std::env::split_paths(folders).map(|it| it.join(name));
    let found = paths.find(|it| it.is_file());
    found.unwrap_or_else(|| {
        panic!(
            "no {name} in {PROGRAMS}={}; build it with make programs, or unset the variable",
            folders.display()
        )
    })
}

fn build(name: &str) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the workspace is above");
    let mut command = Command::new(cargo);
    command
        .current_dir(root)
        .args(["build", "--quiet", "--message-format=json", "--bin", name]);
    // Remove what cargo tells a test about its package: ring's build script would take a difference for a change and
    // build again.
    let of_package =
        |name: &str| name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_");
    for (name, _) in std::env::vars().filter(|(name, _)| of_package(name)) {
        command.env_remove(name);
    }
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let output = command
        .stderr(Stdio::inherit())
        .output()
        .expect("cargo must start");
    assert!(output.status.success(), "cargo build --bin {name} failed");
    let messages = String::from_utf8_lossy(&output.stdout);
    let artifacts = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    artifacts
        .filter(|message| message["target"]["name"] == name)
        .find_map(|message| message["executable"].as_str().map(PathBuf::from))
        .expect("cargo must name the executable that it built")
}

/// A running process whose standard output is its log. Dropping it kills the process.
pub struct Process {
    child: Child,
    output: mpsc::Receiver<String>,
    log: Vec<String>,
}

/// The end of a process.
#[derive(Debug)]
pub struct Ended {
    /// The exit code; `None` where an unhandled signal ended the process.
    pub code: Option<i32>,
    /// Every line of the standard output.
    pub log: Vec<String>,
}

impl Process {
    /// Starts a command and reads its standard output. Its standard error is the test's own.
    ///
    /// # Panics
    ///
    /// The command does not start.
    pub fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the process must start");
        let (sender, output) = mpsc::channel();
        let stdout = child.stdout.take().expect("standard output is a pipe");
        thread::spawn(move || forward(stdout, &sender));
        Self {
            child,
            output,
            log: vec![],
        }
    }

    /// Reads on in the log until a line contains `text`, and returns that line. Lines that an earlier call has read are not looked at again.
    ///
    /// # Panics
    ///
    /// No such line comes within five minutes, or the log ends before.
    pub fn line(&mut self, text: &str) -> String {
        let end = Instant::now() + STEP;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let Ok(line) = self.output.recv_timeout(left) else {
                panic!("no line with {text:?} in {:#?}", self.log);
            };
            self.log.push(line.clone());
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Sends a signal by its name, e.g. `TERM`.
    ///
    /// # Panics
    ///
    /// The signal cannot be sent.
    pub fn signal(&self, name: &str) {
        // Use the shell's `kill`: std sends no signal but KILL.
        let status = Command::new("sh")
            .args(["-c", &format!("kill -{name} {}", self.child.id())])
            .status();
        assert!(
            status.expect("sh must start").success(),
            "cannot send {name}"
        );
    }

    /// Waits for the end of the process, and returns its exit code and its whole log.
    ///
    /// # Panics
    ///
    /// The process prints nothing for five minutes and does not end.
    pub fn end(mut self) -> Ended {
        let end = Instant::now() + STEP;
        let mut log = std::mem::take(&mut self.log);
        // The output ends when the process does.
        loop {
            match self
                .output
                .recv_timeout(end.saturating_duration_since(Instant::now()))
            {
                Ok(line) => log.push(line),
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => panic!("it does not end: {log:#?}"),
            }
        }
        let code = self
            .child
            .wait()
            .expect("it was not waited for before")
            .code();
        Ended { code, log }
    }
}

fn forward(stdout: impl Read, sender: &mpsc::Sender<String>) {
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        if sender.send(line).is_err() {
            return;
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // A process that has ended already needs no kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs a command to its end with `input` as its standard input. Returns the exit status, the standard output and the standard error; any status is a
/// result.
///
/// # Panics
///
/// The command does not start.
pub fn pipe(command: &mut Command, input: Vec<u8>) -> Output {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the process must start");
    let mut stdin = child.stdin.take().expect("standard input is a pipe");
    // A command may end before it has read everything; its output decides.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("it was not waited for");
    writer.join().expect("writing does not panic");
    output
}

/// Returns the values of an output with one JSON value on each line.
///
/// # Panics
///
/// A line is no JSON.
pub fn json_lines(output: &[u8]) -> Vec<serde_json::Value> {
    let lines = String::from_utf8_lossy(output);
    let read = |line| serde_json::from_str(line).expect("each line must be JSON");
    lines.lines().map(read).collect()
}
