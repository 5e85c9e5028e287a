//! The outcomes that a gate has reported for its addresses, and their meaning.

use crate::dependency::{Address, Asks, Codes};
use crate::judged::{Judged, Reason, met, unmet};
use crate::kstatus::Status;
use wire::probe::Outcome;

/// The report of a pod's gate on its addresses.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Probed {
    /// No report: the gate has not asked yet, or the question is not a gate's.
    #[default]
    Unheard,
    /// The gate cannot probe: it is of an older version.
    Unable,
    /// The outcome of each probe that the gate has tried, by its `id`.
    Told(Vec<(String, Outcome)>),
}

/// Judges an address by the report of a gate: satisfied only where the reported outcome is the one that the address asks for. Without an outcome it
/// is not satisfied, and its status is unknown.
pub(crate) fn judge(address: &Address, probed: &Probed) -> Judged {
    let outcomes = match probed {
        Probed::Unheard => return not_probed(),
        Probed::Unable => {
            let message = "the gate of this pod is of an older version, which cannot try an address; delete the pod, and the next one \
                           gets a gate that can";
            return unmet(Status::Unknown, Reason::CannotProbe, message.to_owned());
        }
        Probed::Told(outcomes) => outcomes,
    };
    let id = address.probe().id;
    match outcomes.iter().find(|(told, _)| *told == id) {
        Some((_, outcome)) => of(address, *outcome),
        None => not_probed(),
    }
}

fn not_probed() -> Judged {
    let message =
        "the gate tries it from the pod's own network, and has not told yet what came of that";
    unmet(Status::Unknown, Reason::NotProbed, message.to_owned())
}

/// Judges an address whose last try had this outcome.
fn of(address: &Address, outcome: Outcome) -> Judged {
    let unknown = |reason: Reason, message: String| unmet(Status::Unknown, reason, message);
    // The reason's own sentence says all.
    let said = |reason: Reason| unmet(Status::InProgress, reason, reason.sentence().to_owned());
    match (outcome, address.asks) {
        (Outcome::Connected, Asks::Connection) => met("it accepts connections"),
        (Outcome::Found, Asks::Name) => met("the name has an address"),
        (Outcome::Status(code), Asks::Answer(codes)) => of_status(code, codes),
        (Outcome::Refused, _) => said(Reason::ConnectionRefused),
        (Outcome::TimedOut, _) => said(Reason::ConnectionTimedOut),
        (Outcome::Reset, _) => said(Reason::ConnectionReset),
        (Outcome::Unreachable, _) => said(Reason::Unreachable),
        (Outcome::NoName, _) => said(Reason::NoSuchName),
        (Outcome::NoNameServer, _) => said(Reason::NoNameServer),
        (Outcome::NoTls, _) => said(Reason::NoTls),
        (Outcome::NoHttp, _) => said(Reason::NoHttp),
        (Outcome::NoVariable, _) => unknown(Reason::NoVariable, no_variable(address)),
        (Outcome::NoAddress, _) => unknown(
            Reason::BadVariable,
            format!(
                "{} is no address: it takes HOST:PORT, or a URL with a port or of a scheme whose port is known; correct the value",
                named(address)
            ),
        ),
        (Outcome::Connected | Outcome::Found | Outcome::Status(_) | Outcome::Unknown, _) => unknown(
            Reason::CannotProbe,
            "the gate of this pod is of another version, which cannot try such an address; delete the pod, and the next one gets a \
             gate that can"
                .to_owned(),
        ),
        (Outcome::Failed, _) => unknown(
            Reason::NotProbed,
            "the gate could not try it, because it could make no connection; check the limits of the pod's processes and memory"
                .to_owned(),
        ),
    }
}

fn of_status(code: u16, codes: Codes) -> Judged {
    if codes.contains(code) {
        return met(format!("it answers with status {code}"));
    }
    let hint = match code {
        300..=399 => "; no redirect is followed, so write the address to which it leads",
        401 | 403 => {
            "; the gate sends no credentials, so ask for a path that needs none, or for this status"
        }
        _ => "",
    };
    unmet(
        Status::InProgress,
        Reason::HttpStatus,
        format!("it answers with status {code}, and {codes} is asked for{hint}"),
    )
}

fn no_variable(address: &Address) -> String {
    format!(
        "{} was not given to the gate of this pod, or is empty; the list has to stand on the pod template (there admission sees which \
         variables a new pod's gate needs), a container has to have the variable in its env, and a pod that is older than the list is \
         to be deleted",
        named(address)
    )
}

/// The variables of an address, as `$(DATABASE_URL)`: their names alone, never their values, which may be secret.
fn named(address: &Address) -> String {
    let names: Vec<String> = address.variables().map(|it| format!("$({it})")).collect();
    names.join(" and ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::parse_depends_on;
    use crate::dependency::Reference;

    fn address(list: &str) -> Address {
        let entry = parse_depends_on(list).expect(list).remove(0);
        match entry.reference {
            Reference::Address(address) => address,
            other => panic!("{other:?}"),
        }
    }

    fn judged(list: &str, outcome: Outcome) -> Judged {
        let address = address(list);
        let id = address.probe().id;
        judge(&address, &Probed::Told(vec![(id, outcome)]))
    }

    #[test]
    fn each_outcome_has_its_reason() {
        use Outcome as O;
        let (tcp, http, dns) = ("tcp://db:1", "http://web/health", "dns://db");
        for (list, outcome, expected) in [
            (tcp, O::Connected, Reason::Satisfied),
            (dns, O::Found, Reason::Satisfied),
            (http, O::Status(200), Reason::Satisfied),
            (http, O::Status(399), Reason::Satisfied),
            (http, O::Status(400), Reason::HttpStatus),
            (http, O::Status(199), Reason::HttpStatus),
            (
                "- {http: web, status: 503}",
                O::Status(503),
                Reason::Satisfied,
            ),
            (
                "- {http: web, status: 503}",
                O::Status(200),
                Reason::HttpStatus,
            ),
            (
                "- {http: web, status: 200-204}",
                O::Status(204),
                Reason::Satisfied,
            ),
            (
                "- {http: web, status: 200-204}",
                O::Status(205),
                Reason::HttpStatus,
            ),
            (tcp, O::Refused, Reason::ConnectionRefused),
            (tcp, O::TimedOut, Reason::ConnectionTimedOut),
            (tcp, O::Reset, Reason::ConnectionReset),
            (tcp, O::Unreachable, Reason::Unreachable),
            (dns, O::NoName, Reason::NoSuchName),
            (dns, O::NoNameServer, Reason::NoNameServer),
            (http, O::NoTls, Reason::NoTls),
            (http, O::NoHttp, Reason::NoHttp),
            ("- tcp: $(URL)", O::NoVariable, Reason::NoVariable),
            ("- tcp: $(URL)", O::NoAddress, Reason::BadVariable),
            (tcp, O::Unknown, Reason::CannotProbe),
            (tcp, O::Failed, Reason::NotProbed),
            // A gate that says of one thing what is asked of another is believed in nothing.
            (http, O::Connected, Reason::CannotProbe),
            (tcp, O::Status(200), Reason::CannotProbe),
            (tcp, O::Found, Reason::CannotProbe),
            (dns, O::Connected, Reason::CannotProbe),
        ] {
            let judged = judged(list, outcome);
            assert_eq!(judged.reason, expected, "{list} {outcome:?}");
            assert_eq!(
                judged.satisfied,
                expected == Reason::Satisfied,
                "{list} {outcome:?}"
            );
            assert!(!judged.message.is_empty());
            if judged.status == Status::InProgress && judged.reason != Reason::HttpStatus {
                assert_eq!(
                    judged.message,
                    judged.reason.sentence(),
                    "it is worded once"
                );
            }
        }
    }

    #[test]
    fn what_nobody_has_told_opens_nothing() {
        let here = address("tcp://db:1");
        let other = vec![("another".to_owned(), Outcome::Connected)];
        for (probed, expected) in [
            (Probed::Unheard, Reason::NotProbed),
            (Probed::Unable, Reason::CannotProbe),
            (Probed::Told(Vec::new()), Reason::NotProbed),
            (Probed::Told(other), Reason::NotProbed),
        ] {
            let judged = judge(&here, &probed);
            assert_eq!((judged.satisfied, judged.reason), (false, expected));
        }
    }

    #[test]
    fn a_variable_is_told_by_its_name() {
        let list = "- tcp: $(DB_HOST):$(DB_PORT)";
        for outcome in [Outcome::NoVariable, Outcome::NoAddress] {
            let message = judged(list, outcome).message;
            assert!(
                message.starts_with("$(DB_HOST) and $(DB_PORT) "),
                "{message}"
            );
        }
    }
}
