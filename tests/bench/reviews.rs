//! A client of admission: one TLS connection, on which the same review is sent again and again.

use anyhow::{Context, Result, bail};
use rustls::client::Resumption;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::version::TLS13;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The address of a webhook that admits pods.
#[derive(Clone)]
pub(crate) struct Endpoint {
    address: SocketAddr,
    name: String,
    path: &'static str,
    tls: Arc<ClientConfig>,
}

impl Endpoint {
    /// Returns the endpoint at this address and path. Its certificate for `name` has to be signed by an authority of `bundle`, PEM. No TLS session is
    /// resumed.
    pub(crate) fn new(
        address: SocketAddr,
        name: &str,
        path: &'static str,
        bundle: &str,
    ) -> Result<Self> {
        let mut tls = trusting(bundle)?;
        // The API server resumes no session of a webhook either.
        tls.resumption = Resumption::disabled();
        Ok(Self {
            address,
            name: name.to_owned(),
            path,
            tls: Arc::new(tls),
        })
    }
}

/// Returns the configuration of a TLS 1.3 client that trusts a bundle, PEM. It offers only the cipher suite that the API server and the gate ask for
/// first.
pub(crate) fn trusting(bundle: &str) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(bundle.as_bytes()) {
        roots.add(certificate.context("the bundle cannot be read")?)?;
    }
    let provider = CryptoProvider {
        cipher_suites: vec![TLS13_AES_128_GCM_SHA256],
        ..default_provider()
    };
    let config = ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots);
    Ok(config.with_no_client_auth())
}

/// Returns the text of the review that the API server sends when this pod is created.
pub(crate) fn review(pod: &Value) -> String {
    review_of("Pod", "shop", pod)
}

/// Returns the text of the review that the API server sends when an object of a core kind is created in a namespace.
pub(crate) fn review_of(kind: &str, namespace: &str, object: &Value) -> String {
    let plural = format!("{}s", kind.to_lowercase());
    let kind = json!({"group": "", "version": "v1", "kind": kind});
    let resource = json!({"group": "", "version": "v1", "resource": plural});
    let request = json!({
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "kind": kind, "resource": resource, "namespace": namespace, "name": "",
        "operation": "CREATE", "object": object, "oldObject": null, "dryRun": false,
    });
    json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request})
        .to_string()
}

/// A connection that is kept, and the request that is sent on it again and again.
pub(crate) struct Reviews {
    connection: Connection,
    request: String,
}

impl Reviews {
    /// Connects to the endpoint over TCP, for sending this review again and again. The TLS handshake happens with the first one.
    pub(crate) fn begin(endpoint: &Endpoint, review: &str) -> Result<Self> {
        let Endpoint {
            address, name, tls, ..
        } = endpoint;
        let session = ClientConnection::new(tls.clone(), ServerName::try_from(name.clone())?)?;
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        Ok(Self {
            connection: BufReader::new(StreamOwned::new(session, stream)),
            request: post(endpoint, review),
        })
    }

    /// Sends the review once more, which has to be answered with a patch, and returns how long that took. It blocks.
    pub(crate) fn next(&mut self) -> Result<Duration> {
        exchange(&mut self.connection, &self.request, "\"patchType\":")
    }

    /// Sends another review, which has to be refused with code 429, and returns how long it took. It blocks.
    pub(crate) fn held(&mut self, endpoint: &Endpoint, review: &str) -> Result<Duration> {
        exchange(
            &mut self.connection,
            &post(endpoint, review),
            "\"code\":429",
        )
    }
}

fn post(Endpoint { name, path, .. }: &Endpoint, review: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nHost: {name}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{review}",
        review.len()
    )
}

/// Sends a request and returns how long its answer took. An answer without the text `contains` is an error.
fn exchange(connection: &mut Connection, request: &str, contains: &str) -> Result<Duration> {
    let began = Instant::now();
    let stream = connection.get_mut();
    stream.write_all(request.as_bytes())?;
    stream.flush()?;
    let answer = answer(connection)?;
    let took = began.elapsed();
    let contains = contains.as_bytes();
    if !answer.windows(contains.len()).any(|part| part == contains) {
        bail!("another answer: {}", String::from_utf8_lossy(&answer));
    }
    Ok(took)
}

type Connection = BufReader<StreamOwned<ClientConnection, TcpStream>>;

/// Reads the body of one HTTP answer, with a length or in chunks. A status other than 200 is an error.
fn answer(connection: &mut Connection) -> Result<Vec<u8>> {
    let mut line = String::new();
    connection.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 200 ") {
        bail!("admission answers {line:?}");
    }
    let (mut length, mut chunked) = (None, false);
    while line != "\r\n" {
        line.clear();
        connection.read_line(&mut line)?;
        let header = line.to_ascii_lowercase();
        if let Some(value) = header.strip_prefix("content-length:") {
            length = Some(value.trim().parse()?);
        }
        chunked |= header.starts_with("transfer-encoding: chunked");
    }
    if !chunked {
        return exactly(connection, length.context("an answer without a length")?);
    }
    let mut body = vec![];
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let chunk = exactly(connection, usize::from_str_radix(line.trim(), 16)?)?;
        exactly(connection, 2)?;
        if chunk.is_empty() {
            return Ok(body);
        }
        body.extend(chunk);
    }
}

fn exactly(connection: &mut Connection, length: usize) -> Result<Vec<u8>> {
    let mut bytes = vec![0; length];
    connection.read_exact(&mut bytes)?;
    Ok(bytes)
}
