//! The gate: asks the status service about its pod, and exits 0 when the answer is `open`.
//!
//! The gate is blocking on purpose, with one thread: one connection, one question after the other. It has no async
//! runtime, no Kubernetes client and no YAML. `config` reads the environment, `trust` holds the trusted certificates,
//! `connection` talks, `client` asks once, `wait` asks until there is a decision, `trouble` and [`wire::said`] find
//! the words. `marker` tells whether the gate has opened in this pod before. `probe` tries addresses outside of the cluster while a question is held,
//! and `resolve` finds the addresses of their names. Only several addresses at a time get threads of their own.
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * client
//! * wait
//! * probe
//! * connection, resolve
//! * trouble
//! * trust
//! * config, http, marker

mod client;
mod config;
mod connection;
mod http;
mod marker;
mod probe;
mod resolve;
mod trouble;
mod trust;
mod wait;

use crate::client::Client;
use crate::config::Config;
use crate::marker::{Booted, Marked};
use crate::probe::{Dialer, Prober};
use crate::resolve::Resolver;
use crate::wait::{Clock, Outcome};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::ffi::OsString;
use std::fs;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};
use wire::said;

/// Exit code: by policy, the wait has failed.
const REFUSED: u8 = 1;
/// Exit code: the environment or the command line is wrong.
const MISCONFIGURED: u8 = 2;
/// The name of the marker's file in the state folder; the file says that the gate has opened.
const MARKER: &str = "open";

fn main() -> ExitCode {
    if let Err(error) = die_when_told() {
        say(&format!(
            "cannot listen for SIGTERM: {error}; the pod will take longer to go"
        ));
    }
    let lossy = |word: OsString| word.to_string_lossy().into_owned();
    let arguments: Vec<String> = std::env::args_os().skip(1).map(lossy).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => gate(),
        ["--help" | "-h"] => print(config::HELP),
        ["--version" | "-V"] => print(&format!("sluice-gate {}", wire::VERSION)),
        [word, ..] => {
            say(&format!(
                "unknown argument {word:?}; it takes none but --help and --version"
            ));
            ExitCode::from(MISCONFIGURED)
        }
    }
}

fn gate() -> ExitCode {
    let termination_log = config::termination_log(|name| std::env::var_os(name));
    let config = match Config::read(|name| std::env::var_os(name)) {
        Ok(config) => config,
        Err(error) => {
            let line = format!("{}: {error}", said::MISCONFIGURED);
            say(&line);
            // The file may be missing, and the exit code says the same.
            let _ = fs::write(termination_log, line);
            return ExitCode::from(MISCONFIGURED);
        }
    };
    let marker = config.state_dir.join(MARKER);
    let boot = marker::boot_id();
    let before = marker::read(&marker, boot.as_deref());
    if before == Marked::Opened {
        say(&format!("{}: it opened in this pod before", said::OPEN));
        return ExitCode::SUCCESS;
    }
    say(&config::greeting(&config));
    let rebooted = boot.clone().filter(|_| before == Marked::BeforeBoot);
    if rebooted.is_some() {
        say(said::REBOOTED);
    }
    let mut client = Client::new(config, rebooted.map(Booted::of));
    let mut prober = Prober::new(Dialer::new(Resolver::of_the_pod()));
    let mut clock = Monotonic::start();
    match wait::until_decided(&mut client, &mut prober, &mut clock, &mut random, &mut say) {
        Outcome::Open { for_good } => {
            if let Err(error) = marker::write(&marker, boot.as_deref(), for_good) {
                say(&format!(
                    "cannot write {}: {error}; a restart of this container will ask again",
                    marker.display()
                ));
            }
            ExitCode::SUCCESS
        }
        Outcome::Refused(reason) => {
            let _ = fs::write(termination_log, reason);
            ExitCode::from(REFUSED)
        }
    }
}

/// Ends the process within the signal handler, at any moment. The gate is PID 1 in its container, where the kernel
/// drops a signal without a handler. A flag would be seen only after a name lookup, which cannot be interrupted.
/// There is nothing to clean up.
fn die_when_told() -> io::Result<()> {
    for signal in [SIGTERM, SIGINT] {
        let always = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, always)?;
    }
    Ok(())
}

/// Writes one line of the log to standard output, behind the prefix [`said::SPEAKER`]. An error is ignored: `println!` would panic on a closed log,
/// which must not end the wait.
fn say(line: &str) {
    let _ = io::stdout()
        .lock()
        .write_all(format!("{}{line}\n", said::SPEAKER).as_bytes());
}

fn print(text: &str) -> ExitCode {
    let _ = io::stdout()
        .lock()
        .write_all(format!("{text}\n").as_bytes());
    ExitCode::SUCCESS
}

/// Returns a number in 0..1, uniform, and different in every process: std's hash keys are random enough to spread
/// retries.
fn random() -> f64 {
    let [a, b, c, d, ..] = RandomState::new().hash_one(0u8).to_le_bytes();
    f64::from(u32::from_le_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
}

/// Returns a random number for a question to a name server, so that no stranger can guess it.
fn number() -> u16 {
    let [a, b, ..] = RandomState::new().hash_one(0u8).to_le_bytes();
    u16::from_le_bytes([a, b])
}

/// The time since the gate started.
struct Monotonic(Instant);

impl Monotonic {
    fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for Monotonic {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }

    fn sleep(&mut self, pause: Duration) {
        thread::sleep(pause);
    }
}
