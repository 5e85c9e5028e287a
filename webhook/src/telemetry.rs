//! Logs one line per event, as text for a terminal or as JSON for a collector.

mod lines;
mod shares;

use std::{io, panic};

use clap::ValueEnum;
use lines::Lines;
use prometheus_client::registry::Registry;
use shares::LogShares;
use tracing::{Dispatch, error};
use tracing_subscriber::{
    filter::{LevelFilter, ParseError, Targets},
    fmt::MakeWriter,
    layer::SubscriberExt,
};

/// A filter that keeps kube's client from logging warnings unless the administrator's filter asks for them: kube warns of an unreadable answer by
/// quoting it, with any tokens and keys in it.
const QUIET: &str = "kube_client=error";

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(crate) enum LogFormat {
    /// Text for a terminal. Control characters in names from the cluster are escaped, so a name cannot colour or
    /// clear the terminal.
    Text,
    /// One JSON object a line.
    #[default]
    Json,
}

/// The reason why logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TelemetryError {
    /// The filter is not in the syntax of `tracing_subscriber`.
    #[error(
        "log filter {filter:?}: {error}; write a level, or levels by module, like \"info\" or \"info,webhook=debug\""
    )]
    Filter {
        /// The filter of the log as it was given.
        filter: String,
        /// The error in the filter of the log.
        error: ParseError,
    },
    /// Another subscriber of the log is set already.
    #[error("logging is set up already")]
    Twice,
    /// The thread that writes log lines could not start.
    #[error("failed to start the thread that writes the log")]
    Thread(#[source] io::Error),
}

/// Keeps the log running. Dropping it waits until all lines are written, for a second at most.
pub(crate) struct Log {
    lines: Lines,
    shares: LogShares,
}

impl Log {
    /// Registers the counters of the lines that are lost to a slow reader, and of those that are left out beyond a share.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register(
            "log_lines_lost",
            "Lines of the log that are lost, because its reader was too slow",
            self.lines.lost(),
        );
        registry.register(
            "log_lines_left_out",
            "Lines of the log that are left out, because too many are about one namespace, or about requests of one client",
            self.shares.left_out(),
        );
    }

    /// Returns a task that logs, once a minute at most, how many lines of each namespace or client were left out. It never ends.
    pub(crate) fn tell_left_out(&self) -> impl Future<Output = ()> + use<> {
        self.shares.clone().tell()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.lines.wait_until_written();
    }
}

/// Sets up the log of the process: events that pass the filter, and panics, are written to standard error by a thread of their own. Fails where
/// the filter cannot be read, the thread cannot start, or a log is set up already.
pub(crate) fn init(filter: &str, format: LogFormat) -> Result<Log, TelemetryError> {
    let lines = Lines::to(io::stderr()).map_err(TelemetryError::Thread)?;
    let (writer, last) = (lines.clone(), lines.clone());
    let shares = LogShares::default();
    let dispatch = dispatch(filter, format, shares.clone(), move || writer.clone())?;
    tracing::dispatcher::set_global_default(dispatch).map_err(|_| TelemetryError::Twice)?;
    panic::set_hook(Box::new(move |panic| {
        let at = panic.location().map(ToString::to_string);
        error!(at, text = panic.payload_as_str(), "Panicked");
        // The panic may be the last thing that this process does.
        last.wait_until_written();
    }));
    Ok(Log { lines, shares })
}

fn dispatch<W>(
    filter: &str,
    format: LogFormat,
    shares: LogShares,
    writer: W,
) -> Result<Dispatch, TelemetryError>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // `Targets` and not `EnvFilter`, which takes a lock whenever a span is entered.
    let targets: Targets =
        format!("{QUIET},{filter}")
            .parse()
            .map_err(|error| TelemetryError::Filter {
                filter: filter.to_owned(),
                error,
            })?;
    let builder = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(writer);
    Ok(match format {
        LogFormat::Text => builder.finish().with(targets).with(shares).into(),
        LogFormat::Json => {
            // The innermost span names the subject of a line. The list of all spans would repeat it.
            let json = builder.json().flatten_event(true).with_span_list(false);
            json.finish().with(targets).with(shares).into()
        }
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{
        io,
        sync::{Arc, Mutex},
    };

    use serde_json::Value;
    use tracing::{
        dispatcher::{DefaultGuard, set_default, with_default},
        info, info_span,
    };

    use super::*;

    /// The log lines of a test.
    #[derive(Clone, Default)]
    pub(crate) struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Lines {
        /// Collects the log of this thread while the guard lives.
        pub(crate) fn listen() -> (Self, DefaultGuard) {
            Self::listen_within(LogShares::default())
        }

        pub(in crate::telemetry) fn listen_within(shares: LogShares) -> (Self, DefaultGuard) {
            let lines = Self::default();
            let writer = lines.clone();
            let format = LogFormat::Text;
            let dispatch = dispatch("info", format, shares, move || writer.clone()).unwrap();
            (lines, set_default(&dispatch))
        }

        pub(crate) fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    impl io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(filter: &str, format: LogFormat, what: impl FnOnce()) -> String {
        let lines = Lines::default();
        let writer = lines.clone();
        with_default(
            &dispatch(filter, format, LogShares::default(), move || writer.clone()).unwrap(),
            what,
        );
        lines.text()
    }

    #[test]
    fn json_is_one_object_a_line() {
        let text = logged("info", LogFormat::Json, || {
            info_span!("conn", client.ip = "10.0.0.1")
                .in_scope(|| info!(reason = "a\nb", "Skipped"));
            tracing::debug!("not asked for");
        });
        let event: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(event["message"], "Skipped");
        assert_eq!(event["reason"], "a\nb");
        assert_eq!(event["span"]["client.ip"], "10.0.0.1");
        assert_eq!(event.get("spans"), None);
    }

    #[test]
    fn an_answer_of_the_api_server_is_not_quoted_unless_somebody_asks_for_it() {
        let quote = || tracing::warn!(target: "kube_client::client", "{}", "{\"token\":");
        assert_eq!(logged("info", LogFormat::Json, quote), "");
        let asked = "info,kube_client=debug";
        assert!(logged(asked, LogFormat::Json, quote).contains("token"));
    }

    #[test]
    fn text_lets_nobody_write_to_the_terminal() {
        let text = logged("info", LogFormat::Text, || {
            info!(name = "\u{1b}[2J\nspoofed", "Skipped");
        });
        assert!(!text.contains('\u{1b}'), "{text:?}");
        assert_eq!(text.lines().count(), 1, "{text:?}");
    }

    #[test]
    fn a_bad_filter_is_refused_with_the_way_out() {
        let error = dispatch(
            "info,,=loud",
            LogFormat::Text,
            LogShares::default(),
            io::stderr,
        )
        .unwrap_err()
        .to_string();
        assert!(
            error.starts_with("log filter \"info,,=loud\": ") && error.contains("webhook=debug"),
            "{error}"
        );
    }
}
