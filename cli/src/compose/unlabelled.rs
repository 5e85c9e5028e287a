//! The reasons why labels cannot say what a service waits for, each with the way out.

use std::fmt;

/// The reason why an entry of `depends_on` becomes no entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unlabelled {
    /// The waiting service has the label `sluice.dev/depends-on` already.
    Listed,
    /// No service of this name is in the file.
    NotHere(String),
    /// The awaited service of this name becomes a CronJob, for which nothing can wait.
    CronJob(String),
    /// The awaited service of this name would have to complete, but kompose makes another object than a pod of it, which is started again for ever.
    Endless(String),
    /// A condition that Compose does not have.
    Condition { service: String, word: String },
    /// The reader of admission refuses the list, in these words.
    Refused(String),
}

/// Writes the reason in the form that follows the name of the service.
impl fmt::Display for Unlabelled {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listed => out.write_str("it has a list already"),
            Self::NotHere(name) => write!(
                out,
                "it depends on {name}, which is not in this file; name the file that has both"
            ),
            Self::CronJob(name) => write!(
                out,
                "it depends on {name}, of which kompose makes a CronJob, and that is never ready; wait for an object that it makes"
            ),
            Self::Endless(name) => write!(
                out,
                "it waits until {name} has completed, and kompose has that started again for ever; write restart: \"no\" there"
            ),
            Self::Condition { service, word } => write!(
                out,
                "it depends on {service} with the condition {word:?}, which Compose does not have"
            ),
            Self::Refused(why) => write!(out, "admission would refuse its list: {why}"),
        }
    }
}
