//! Asks one question, over the connection of the last answer or else over the first address that answers.

use crate::config::{Address, Config};
use crate::connection::{Aside, Connection, Limits};
use crate::http::{self, Question};
use crate::marker::Booted;
use crate::trouble::{Attempt, BadToken, Failure, Trouble};
use crate::trust::Trust;
use crate::wait::{Reply, Source};
use rustls::pki_types::ServerName;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use wire::Answer;

/// The time limit for handshake and question, and the time that the answer may take beyond the requested hold.
const PATIENCE: Duration = Duration::from_secs(10);

/// A client of the status service.
pub(crate) struct Client {
    addresses: Vec<Address>,
    server_name: ServerName<'static>,
    trust: Trust,
    token_file: PathBuf,
    patience: Duration,
    silence: Duration,
    /// The present boot of the node, if the gate has opened in an earlier boot.
    rebooted: Option<Booted>,
    /// The connection that gave the last answer.
    kept: Option<Connection>,
}

impl Client {
    /// Returns a client that trusts only the configured authorities and those in the authority file. `rebooted`: the present boot of the
    /// node, if the gate has opened in an earlier boot.
    pub(crate) fn new(config: Config, rebooted: Option<Booted>) -> Self {
        let Config {
            addresses,
            server_name,
            authorities,
            authority_file,
            token_file,
            state_dir: _,
        } = config;
        Self {
            addresses,
            server_name,
            trust: Trust::new(authorities, authority_file),
            token_file,
            patience: PATIENCE,
            silence: wire::SILENCE,
            rebooted,
            kept: None,
        }
    }

    /// Reads the token, without the white space around it; an error for a file that cannot be read, or that holds no token. The kubelet replaces the
    /// file long before the token expires.
    fn token(&self) -> Result<String, BadToken> {
        let text = fs::read_to_string(&self.token_file).map_err(BadToken::Unreadable)?;
        let token = text.trim();
        let printable = token.bytes().all(|byte| byte.is_ascii_graphic());
        if token.is_empty() || !printable {
            Err(BadToken::Malformed)
        } else {
            Ok(token.to_owned())
        }
    }

    /// Sends a request over a connection and reads the answer; `None` if the work of `aside` made the request outdated. A status other than 200 is an
    /// error. A connection that gave an answer is kept, unless the response closes it. Any other is dropped, since a new one may reach another
    /// replica.
    fn exchange(
        &mut self,
        mut connection: Connection,
        request: &str,
        hold: Duration,
        aside: &mut dyn Aside,
    ) -> Result<Option<Answer>, Failure> {
        let limits = Limits {
            asking: self.patience,
            silence: self.silence,
            answer: hold + self.patience,
        };
        let Some(response) = connection.exchange(request, limits, aside)? else {
            return Ok(None);
        };
        if response.status != 200 {
            let body = String::from_utf8_lossy(&response.body).into_owned();
            return Err(Failure::Status(response.status, body));
        }
        let answer = serde_json::from_slice(&response.body).map_err(Failure::NotAnAnswer)?;
        self.kept = response.goes_on.then_some(connection);
        Ok(Some(answer))
    }
}

impl Source for Client {
    fn ask(
        &mut self,
        question: &Question<'_>,
        aside: &mut dyn Aside,
    ) -> Result<Option<Reply>, Trouble> {
        let token = self
            .token()
            .map_err(|problem| Trouble::Token(self.token_file.clone(), problem))?;
        let rebooted = self.rebooted.as_ref().map(Booted::told);
        let host = self.server_name.to_str();
        let request = http::request(&host, &token, question, rebooted.as_ref());
        let hold = question.hold;
        let tls = self.trust.now();
        let mut attempts = Vec::new();
        // A failure on a kept connection proves nothing: the replica may be gone by now.
        if let Some(kept) = self.kept.take()
            && let Ok(answer) = self.exchange(kept, &request, hold, aside)
        {
            return Ok(reply(answer, attempts));
        }
        for address in self.addresses.clone() {
            let answer = Connection::open(&address, &tls, &self.server_name)
                .and_then(|connection| self.exchange(connection, &request, hold, aside));
            let failure = match answer {
                Ok(answer) => return Ok(reply(answer, attempts)),
                Err(failure) => failure,
            };
            let last = failure.final_word();
            attempts.push(Attempt { address, failure });
            if last {
                break;
            }
        }
        Err(Trouble::NoAnswer(attempts))
    }
}

fn reply(answer: Option<Answer>, passed_over: Vec<Attempt>) -> Option<Reply> {
    let answer = answer?;
    Some(Reply {
        answer,
        passed_over,
    })
}

#[cfg(test)]
mod tests;
