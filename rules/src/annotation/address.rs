//! Addresses outside of the cluster: `tcp://db.example.com:5432`, `https://...` and `dns://...` in the short form of a list, and the keys `tcp`,
//! `http` and `dns` of an item in the long form.

use super::fault::AddressFault;
use super::names::{self, NameRule};
use super::piece::Piece;
use super::problem::{Flaw, Problem};
use crate::dependency::{Address, Asks, Codes, Dependency, Reference, is_variable, variables};

/// The keys of an item that name an address.
pub(super) const KEYS: [&str; 3] = ["tcp", "http", "dns"];

/// The schemes with which an entry of the short form is an address.
const SCHEMES: [&str; 4] = ["tcp", "http", "https", "dns"];

/// The beginning of the names of the gate's own variables. A list may name none of them, because the value would change how the gate asks.
const OURS: &str = wire::env::PREFIX;

/// Whether an entry of the short form is an address. An unknown scheme counts too, so that the refusal can name it.
pub(super) fn is_address(text: &str) -> bool {
    text.contains("://")
}

/// Reads an entry of the short form that is an address with its scheme: `tcp`, `http`, `https` or `dns`. Any other scheme, or none, is an error.
pub(super) fn entry(written: Piece<'_>) -> Result<Dependency, Flaw> {
    let (scheme, to) = scheme(written);
    let scheme = scheme.unwrap_or_default();
    let address = match scheme.to_ascii_lowercase().as_str() {
        key @ ("tcp" | "dns") => of_key(key, to)?,
        "http" | "https" => of_key("http", written)?,
        _ => return Err(written.flaw(unknown_scheme(scheme))),
    };
    Ok(Dependency::on(Reference::Address(address)))
}

fn unknown_scheme(scheme: &str) -> Problem {
    Problem::UnknownScheme {
        scheme: scheme.to_owned(),
        words: SCHEMES,
    }
}

/// Reads the value of one of [`KEYS`]: host and port for `tcp`, a URL for `http`, a host for `dns`. The scheme of the key may stand before it. An
/// empty text, a blank in it and a variable of the gate's own are errors.
pub(super) fn of_key(key: &str, written: Piece<'_>) -> Result<Address, Flaw> {
    if written.is_empty() {
        return Err(written.flaw(Problem::Empty { what: "address" }));
    }
    let unfit = |it: char| it.is_whitespace() || it.is_control();
    if let Some(at) = written.text.find(unfit) {
        return Err(bad(written, at, AddressFault::Blank));
    }
    check_variables(written)?;
    let (asks, to) = match key {
        "tcp" => {
            let to = without("tcp", written);
            host_and_port(to, true)?;
            (Asks::Connection, to.text.to_owned())
        }
        "dns" => {
            let to = without("dns", written);
            host(to)?;
            (Asks::Name, to.text.to_owned())
        }
        _ => (Asks::Answer(Codes::SUCCESS), url(written)?),
    };
    let container = None;
    Ok(Address {
        asks,
        to,
        container,
    })
}

/// Reads one status code or a range, `200` or `200-399`, from 100 to 599; `None` for any other text.
pub(super) fn codes(text: &str) -> Option<Codes> {
    let code = |text: &str| {
        let digits = text.len() == 3 && text.bytes().all(|it| it.is_ascii_digit());
        let code = digits.then(|| text.parse().ok())?;
        code.filter(|code| (100..=599).contains(code))
    };
    let (from, to) = text.split_once('-').unwrap_or((text, text));
    let codes = Codes {
        from: code(from.trim())?,
        to: code(to.trim())?,
    };
    (codes.from <= codes.to).then_some(codes)
}

/// The scheme and the text behind `://`, if a word of letters and digits stands before it; else no scheme and the whole text.
fn scheme(written: Piece<'_>) -> (Option<&str>, Piece<'_>) {
    const MARK: &str = "://";
    let is_scheme = |word: &str| word.bytes().all(|it| it.is_ascii_alphanumeric());
    match written.text.split_once(MARK) {
        Some((word, _)) if is_scheme(word) => {
            (Some(word), written.split_at(word.len() + MARK.len()).1)
        }
        _ => (None, written),
    }
}

/// The text behind the scheme `wanted`, in any letter case; the whole text where it has another scheme or none.
fn without<'t>(wanted: &str, written: Piece<'t>) -> Piece<'t> {
    match scheme(written) {
        (Some(word), rest) if word.eq_ignore_ascii_case(wanted) => rest,
        _ => written,
    }
}

/// Checks a URL of `http` or `https`, and returns it with its scheme. A URL without one gets `http`: the value of a variable may have a scheme of
/// its own.
fn url(written: Piece<'_>) -> Result<String, Flaw> {
    let (word, rest) = scheme(written);
    let scheme = word.unwrap_or("http").to_ascii_lowercase();
    if !matches!(scheme.as_str(), "http" | "https") {
        return Err(written.flaw(unknown_scheme(&scheme)));
    }
    if let Some(hash) = rest.text.find('#') {
        return Err(bad(rest, hash, AddressFault::Fragment));
    }
    let end = rest.text.find(['/', '?']).unwrap_or(rest.text.len());
    let (place, path) = rest.split_at(end);
    host_and_port(place, false)?;
    // A query right behind the host belongs to the root.
    let slash = if path.text.starts_with('?') { "/" } else { "" };
    Ok(format!("{scheme}://{}{slash}{}", place.text, path.text))
}

/// Checks `HOST:PORT`, where each may be a variable, and one variable may stand for both. With `needs_port` a host without a port and without a
/// variable is an error.
fn host_and_port(written: Piece<'_>, needs_port: bool) -> Result<(), Flaw> {
    if written.text.contains('@') {
        return Err(bad(written, 0, AddressFault::Credentials));
    }
    if let Some(at) = written.text.find('/') {
        return Err(bad(written, at, AddressFault::Path));
    }
    let (name, port) = split(written)?;
    let Some(port) = port else {
        // The value of a variable may well have a port.
        return if needs_port && variables(name.text).next().is_none() {
            Err(bad(written, 0, AddressFault::NoPort))
        } else {
            host(name)
        };
    };
    host(name)?;
    let port = port.text;
    let number =
        port.parse().is_ok_and(|it: u16| it != 0) && port.bytes().all(|it| it.is_ascii_digit());
    let variable = port
        .strip_prefix("$(")
        .and_then(|it| it.strip_suffix(')'))
        .is_some_and(is_variable);
    if number || variable {
        Ok(())
    } else {
        let at = written.text.len() - port.len();
        Err(bad(written, at, AddressFault::Port))
    }
}

/// Splits `HOST:PORT` or `[IPV6]:PORT` into the host, with its brackets, and the port; no port where there is no colon. An IPv6 address without
/// brackets is an error.
fn split(written: Piece<'_>) -> Result<(Piece<'_>, Option<Piece<'_>>), Flaw> {
    let unbracketed = || bad(written, 0, AddressFault::Unbracketed);
    if written.text.starts_with('[') {
        let end = written.text.find(']').ok_or_else(unbracketed)?;
        let (host, rest) = written.split_at(end + 1);
        return match rest.strip_prefix(":") {
            Some(port) => Ok((host, Some(port))),
            None if rest.is_empty() => Ok((host, None)),
            None => Err(bad(written, end + 1, AddressFault::Port)),
        };
    }
    match written.text.matches(':').count() {
        0 | 1 => Ok(written
            .split_once(':')
            .map_or((written, None), |(host, port)| (host, Some(port)))),
        _ => Err(unbracketed()),
    }
}

/// Checks a name, an IPv4 address, or an IPv6 address in brackets; variables may stand for parts of it.
fn host(written: Piece<'_>) -> Result<(), Flaw> {
    let text = written.text;
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.strip_suffix(']').unwrap_or(inner);
        let known =
            variables(inner).next().is_some() || inner.parse::<std::net::Ipv6Addr>().is_ok();
        return if known {
            Ok(())
        } else {
            Err(bad(written, 0, AddressFault::Unbracketed))
        };
    }
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("$(") {
        plain.push_str(before);
        plain.push('x');
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    let labels = plain.strip_suffix('.').unwrap_or(&plain);
    // Names of hosts outside may have capital letters and underscores, which Kubernetes would refuse.
    let is_label = |label: &str| {
        let label = label.strip_prefix('_').unwrap_or(label);
        names::check("host", Piece::whole(label), NameRule::LabelPart).is_ok()
    };
    if labels.len() <= 253 && labels.split('.').all(is_label) {
        Ok(())
    } else {
        Err(bad(written, 0, AddressFault::Host))
    }
}

fn check_variables(written: Piece<'_>) -> Result<(), Flaw> {
    let text = written.text;
    for (at, _) in text.match_indices('$') {
        let name = text[at..].strip_prefix("$(");
        let name = name.and_then(|rest| rest.split_once(')'));
        let Some((name, _)) = name.filter(|(name, _)| is_variable(name)) else {
            return Err(bad(written, at, AddressFault::Variable));
        };
        if name.starts_with(OURS) {
            return Err(written.flaw_at(at, Problem::OurVariable(name.to_owned())));
        }
    }
    Ok(())
}

fn bad(written: Piece<'_>, at: usize, fault: AddressFault) -> Flaw {
    let text = written.text.to_owned();
    written.flaw_at(at, Problem::Address { text, fault })
}
