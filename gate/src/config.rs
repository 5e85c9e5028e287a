//! Reads the gate's settings from the environment, by hand: a few variables need no parser of command lines.

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use wire::env;

/// The file whose text Kubernetes shows as the reason why a container ended.
const TERMINATION_LOG: &str = "/dev/termination-log";
/// The variable with the path of another file for the reason why the container ended, for a run outside Kubernetes.
const TERMINATION_LOG_VARIABLE: &str = "SLUICE_TERMINATION_LOG";

/// The text that the gate prints for `--help`.
pub(crate) const HELP: &str = "\
sluice-gate waits until the dependencies of its pod are ready. It runs as an init container that the sluice webhook
writes; it takes no arguments and reads its environment:

  SLUICE_ADDRESSES        where the status service is: host:port, comma separated, tried in this order
  SLUICE_SERVER_NAME      the name that the certificate of the status service must carry
  SLUICE_CA_BUNDLE        the CA certificates to check it against, PEM
  SLUICE_CA_FILE          a file with more of them, read again for every request; it may be missing
  SLUICE_TOKEN_FILE       the pod's token for sluice, read again for every request
  SLUICE_STATE_DIR        a folder that outlives the container; a gate that has opened leaves its marker there
  SLUICE_TERMINATION_LOG  where the reason for a refusal is written (default /dev/termination-log)

Exit codes: 0 open, 1 refused by policy, 2 misconfigured. It never gives up by itself.";

/// The settings of the gate.
#[derive(Debug)]
pub(crate) struct Config {
    /// The addresses of the status service, in the order in which the gate tries them; never empty.
    pub(crate) addresses: Vec<Address>,
    /// The DNS name that the status service's certificate must carry.
    pub(crate) server_name: ServerName<'static>,
    /// The authorities in `SLUICE_CA_BUNDLE`. One of these, or of those in `authority_file`, must have signed the certificate of the status
    /// service.
    pub(crate) authorities: RootCertStore,
    /// The file with further authorities, which the kubelet keeps up to date. The gate reads the file again for every request.
    pub(crate) authority_file: Option<PathBuf>,
    /// The token's file, read again for every request.
    pub(crate) token_file: PathBuf,
    /// The folder in which the gate leaves its marker once it has opened.
    pub(crate) state_dir: PathBuf,
}

/// A host name or an IP address (IPv6 without brackets), and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') {
            write!(out, "[{host}]:{port}")
        } else {
            write!(out, "{host}:{port}")
        }
    }
}

/// A variable that cannot be used, and the reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Misconfigured {
    variable: &'static str,
    problem: Problem,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Problem {
    Unset,
    NotText,
    Empty,
    /// The text stands where `host:port` is expected.
    NotAnAddress(String),
    /// The text, such as `fd00::1:9764`, can be read in two ways.
    Unbracketed(String),
    NotAName(String),
    NotAbsolute(String),
    NoCertificate,
    /// The number of the certificate in the bundle, counted from 1, and its error.
    BadCertificate(usize, String),
}

impl fmt::Display for Misconfigured {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ", self.variable)?;
        match &self.problem {
            Problem::Unset => out.write_str(
                "is not set; the sluice webhook writes it, so let the webhook add this container",
            ),
            Problem::NotText => out.write_str("is not UTF-8"),
            Problem::Empty => out.write_str("is empty"),
            Problem::NotAnAddress(text) => write!(out, "has {text:?} where host:port is expected"),
            Problem::Unbracketed(text) => write!(
                out,
                "has {text:?}: write an IPv6 address in brackets, [fd00::1]:9764"
            ),
            Problem::NotAName(text) => write!(out, "is {text:?}, which is no DNS name"),
            Problem::NotAbsolute(text) => write!(out, "is {text:?}, which does not begin with /"),
            Problem::NoCertificate => {
                out.write_str("has no PEM certificate (-----BEGIN CERTIFICATE-----)")
            }
            Problem::BadCertificate(place, error) => {
                write!(out, "has a bad certificate, number {place}: {error}")
            }
        }
    }
}

impl Config {
    /// Reads the variables through `get`, and stops at the first one that is missing, empty or cannot be used. Only `SLUICE_CA_FILE` may be missing.
    pub(crate) fn read(get: impl Fn(&str) -> Option<OsString>) -> Result<Self, Misconfigured> {
        Ok(Self {
            addresses: variable(env::ADDRESSES, &get, addresses)?,
            server_name: variable(env::SERVER_NAME, &get, server_name)?,
            authorities: variable(env::CA_BUNDLE, &get, authorities)?,
            authority_file: get(env::CA_FILE)
                .map(|_| variable(env::CA_FILE, &get, absolute))
                .transpose()?,
            token_file: variable(env::TOKEN_FILE, &get, absolute)?,
            state_dir: variable(env::STATE_DIR, &get, absolute)?,
        })
    }
}

/// Returns the path of the file for the reason of a refusal: that of `SLUICE_TERMINATION_LOG`, else `/dev/termination-log`. The path is not part of
/// [`Config`], because an error in the configuration is written to that file too.
pub(crate) fn termination_log(get: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    get(TERMINATION_LOG_VARIABLE).map_or_else(|| PathBuf::from(TERMINATION_LOG), PathBuf::from)
}

/// Returns the first line of the log: the version, and the addresses that the gate asks.
pub(crate) fn greeting(config: &Config) -> String {
    let addresses: Vec<_> = config.addresses.iter().map(Address::to_string).collect();
    let (version, addresses) = (wire::VERSION, addresses.join(", "));
    format!("version {version}, asks {addresses} until the dependencies of this pod are ready")
}

fn variable<T>(
    variable: &'static str,
    get: impl Fn(&str) -> Option<OsString>,
    parse: impl Fn(&str) -> Result<T, Problem>,
) -> Result<T, Misconfigured> {
    let read = || {
        let text = get(variable)
            .ok_or(Problem::Unset)?
            .into_string()
            .map_err(|_| Problem::NotText)?;
        let text = text.trim();
        if text.is_empty() {
            Err(Problem::Empty)
        } else {
            parse(text)
        }
    };
    read().map_err(|problem| Misconfigured { variable, problem })
}

fn addresses(text: &str) -> Result<Vec<Address>, Problem> {
    text.split(',').map(str::trim).map(address).collect()
}

fn address(text: &str) -> Result<Address, Problem> {
    let wrong = || Problem::NotAnAddress(text.to_owned());
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let port = port
        .parse()
        .ok()
        .filter(|port| *port != 0)
        .ok_or_else(wrong)?;
    let bare = host
        .strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'));
    if bare.is_none() && host.contains(':') {
        return Err(Problem::Unbracketed(text.to_owned()));
    }
    let host = bare.unwrap_or(host);
    if host.is_empty()
        || host.contains(|character: char| character.is_whitespace() || character.is_control())
    {
        return Err(wrong());
    }
    Ok(Address {
        host: host.to_owned(),
        port,
    })
}

fn server_name(text: &str) -> Result<ServerName<'static>, Problem> {
    ServerName::try_from(text.to_owned()).map_err(|_| Problem::NotAName(text.to_owned()))
}

/// Reads the certificates of a PEM text. One bad certificate, or none at all, is an error.
pub(crate) fn authorities(text: &str) -> Result<RootCertStore, Problem> {
    let mut store = RootCertStore::empty();
    for (index, certificate) in CertificateDer::pem_slice_iter(text.as_bytes()).enumerate() {
        let bad = |error: &dyn fmt::Display| Problem::BadCertificate(index + 1, error.to_string());
        let certificate = certificate.map_err(|_| bad(&"its PEM cannot be read to the end"))?;
        store.add(certificate).map_err(|error| bad(&error))?;
    }
    if store.is_empty() {
        Err(Problem::NoCertificate)
    } else {
        Ok(store)
    }
}

fn absolute(text: &str) -> Result<PathBuf, Problem> {
    let path = PathBuf::from(text);
    if path.is_absolute() {
        Ok(path)
    } else {
        Err(Problem::NotAbsolute(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
