//! Starts `kubectl sluice`: sets the cryptography of TLS, reads the arguments, runs one command, and ends with its exit code.
//!
//! Floors, top to bottom; a module imports only from floors below its own:
//! * args
//! * ui
//! * lint
//! * check, explain, graph, release, suggest
//! * objects, status
//! * gate_findings, held, installed, root_causes, stranded
//! * installation, watches
//! * health_rules, offline, reader
//! * source
//! * compose
//! * access, gate_log, input, manifest, output, style, subject
//! * home, parallel

mod access;
mod args;
mod check;
mod compose;
mod explain;
mod gate_findings;
mod gate_log;
mod graph;
mod health_rules;
mod held;
mod home;
mod input;
mod installation;
mod installed;
mod lint;
mod manifest;
mod objects;
mod offline;
mod output;
mod parallel;
mod reader;
mod release;
mod root_causes;
mod source;
mod status;
mod stranded;
mod style;
mod subject;
mod suggest;
mod ui;
mod watches;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

/// The memory allocator of the process. A large manifest is millions of small texts, and with the allocator of the C library a third of the time
/// to read one goes into memory. The library of this one builds on Linux alone.
#[cfg(target_os = "linux")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// How Rust ends the message of an error that says that the reader has gone.
const BROKEN_PIPE: &str = if cfg!(windows) {
    "(os error 232)"
} else {
    "(os error 32)"
};

/// The exit code of a process whose reader has gone: that of the signal SIGPIPE in a shell.
const READER_HAS_GONE: u8 = 128 + 13;

/// The exit code with which wrong arguments end a process.
const WRONG_ARGUMENTS: u8 = 2;

/// Ends the process where its output cannot be written: `println!` panics there. Where the reader has gone, as under `head`, it
/// ends with the exit code of a broken pipe. The signal itself stays off, since a connection that its other side has closed would
/// raise it too.
fn end_where_nothing_can_be_written() {
    let told = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let said = panic.payload_as_str().unwrap_or_default();
        match said.strip_prefix("failed printing to std") {
            Some(why) if why.ends_with(BROKEN_PIPE) => std::process::exit(READER_HAS_GONE.into()),
            Some(why) => {
                // The output that cannot be written may be standard error itself.
                let _ = writeln!(io::stderr(), "error: cannot write to std{why}");
                std::process::exit(1);
            }
            None => told(panic),
        }
    }));
}

/// Whether the error says that the reader of the output has gone. A connection to the API server that breaks is an error of another
/// type, with that of the operating system as its source.
fn has_lost_its_reader(error: &anyhow::Error) -> bool {
    let of_output = error.downcast_ref::<io::Error>();
    of_output.is_some_and(|it| it.kind() == ErrorKind::BrokenPipe)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    end_where_nothing_can_be_written();
    // Only this crate's TLS uses it, and nothing installed one before.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match args::Args::read().run().await {
        Ok(code) => code,
        Err(error) if has_lost_its_reader(&error) => ExitCode::from(READER_HAS_GONE),
        Err(error) => {
            eprintln!("error: {error:#}");
            if error.is::<subject::Misnamed>() {
                ExitCode::from(WRONG_ARGUMENTS)
            } else {
                ExitCode::FAILURE
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_gone_is_no_error_to_tell() {
        let of = |kind: ErrorKind| anyhow::Error::from(io::Error::from(kind));
        assert!(has_lost_its_reader(&of(ErrorKind::BrokenPipe)));
        assert!(!has_lost_its_reader(&of(ErrorKind::StorageFull)));
        assert!(!has_lost_its_reader(&anyhow::anyhow!("Broken pipe")));
    }
}
