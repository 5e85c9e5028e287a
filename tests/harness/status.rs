//! A status service that says what a test tells it: real TLS on loopback, one thread for each connection.

use crate::process::STEP;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{self, BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

/// The name of the Service in the cluster.
pub const NAME: &str = "sluice.sluice-system.svc";

/// A certificate authority of its own key. All have the same name, as before and after a rotation.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// What is unusual about a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// Nothing.
    Good,
    /// It is for another name.
    OtherName,
    /// It expired years ago.
    Expired,
}

impl Authority {
    /// A new one.
    ///
    /// # Panics
    ///
    /// Where no key can be made.
    pub fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters
            .distinguished_name
            .push(DnType::CommonName, "sluice test CA");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be made");
        Self(CertifiedIssuer::self_signed(parameters, key).expect("the parameters are fixed"))
    }

    /// Its certificate.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for these names and its key, PEM.
    ///
    /// # Panics
    ///
    /// Where no key can be made, or a name is none.
    pub fn sign(&self, names: Vec<String>) -> [String; 2] {
        let parameters = CertificateParams::new(names).expect("names of DNS");
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = parameters.signed_by(&key, &self.0);
        let certificate = certificate.expect("the parameters are fixed");
        [certificate.pem(), key.serialize_pem()]
    }

    /// What a server with a leaf of this authority needs.
    ///
    /// # Panics
    ///
    /// Where no key can be made.
    pub fn server(&self, leaf: Leaf) -> Arc<ServerConfig> {
        let name = if leaf == Leaf::OtherName {
            "other.sluice-system.svc"
        } else {
            NAME
        };
        let mut parameters =
            CertificateParams::new(vec![name.to_owned()]).expect("the names are fixed");
        if leaf == Leaf::Expired {
            parameters.not_before = date_time_ymd(2001, 1, 1);
            parameters.not_after = date_time_ymd(2002, 1, 1);
        }
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = parameters
            .signed_by(&key, &self.0)
            .expect("the parameters are fixed");
        let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider knows the versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("the key is the leaf's");
        Arc::new(config)
    }
}

impl Default for Authority {
    fn default() -> Self {
        Self::new()
    }
}

/// One request, as far as a test looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// How many came before it.
    pub number: usize,
    /// `GET /v1/verdict?wait=300 HTTP/1.1`
    pub line: String,
    /// What follows `Authorization: Bearer`.
    pub token: String,
}

/// A response, or whatever a test wants to send in its place.
pub type Out<'a> = &'a mut dyn Write;

/// The service. It serves until the test process ends.
pub struct StatusService {
    /// Where it listens.
    pub address: SocketAddr,
    requests: Arc<Requests>,
}

/// The requests so far, and a bell for each.
#[derive(Default)]
struct Requests(Mutex<Vec<Request>>, Condvar);

impl StatusService {
    /// Serves on a new port of 127.0.0.1; `react` writes the response to each request.
    ///
    /// # Panics
    ///
    /// Where there is no port.
    pub fn start(
        tls: Arc<ServerConfig>,
        react: impl Fn(&Request, Out) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::on(
            TcpListener::bind("127.0.0.1:0").expect("loopback has a free port"),
            tls,
            react,
        )
    }

    /// The same on a listener of the caller's.
    ///
    /// # Panics
    ///
    /// Where the listener has no address.
    pub fn on(
        listener: TcpListener,
        tls: Arc<ServerConfig>,
        react: impl Fn(&Request, Out) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let address = listener.local_addr().expect("a listener has an address");
        let requests = Arc::new(Requests::default());
        let (shared, react, count) = (
            Arc::clone(&requests),
            Arc::new(react),
            Arc::new(AtomicUsize::new(0)),
        );
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (tls, shared) = (Arc::clone(&tls), Arc::clone(&shared));
                let (react, count) = (Arc::clone(&react), Arc::clone(&count));
                // A handshake that fails, or a client that goes, ends the connection and nothing else.
                thread::spawn(move || serve(stream, tls, &shared, &count, &*react));
            }
        });
        Self { address, requests }
    }

    /// The requests so far.
    ///
    /// # Panics
    ///
    /// Where a connection's thread panicked while it noted one.
    pub fn requests(&self) -> Vec<Request> {
        self.requests
            .0
            .lock()
            .expect("noting a request does not panic")
            .clone()
    }

    /// Waits until so many requests have come.
    ///
    /// # Panics
    ///
    /// Where they do not come.
    pub fn asked(&self, count: usize) {
        let Requests(requests, bell) = &*self.requests;
        let requests = requests.lock().expect("noting a request does not panic");
        let few = bell.wait_timeout_while(requests, STEP, |requests| requests.len() < count);
        assert!(
            !few.expect("noting a request does not panic").1.timed_out(),
            "no request number {count}"
        );
    }
}

fn serve(
    stream: TcpStream,
    tls: Arc<ServerConfig>,
    requests: &Requests,
    count: &AtomicUsize,
    react: &dyn Fn(&Request, Out) -> io::Result<()>,
) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let session = ServerConnection::new(tls).map_err(io::Error::other)?;
    let mut reader = BufReader::new(StreamOwned::new(session, stream));
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let (mut header, mut token) = (String::new(), String::new());
    while reader.read_line(&mut header)? > 2 {
        if let Some(value) = header.strip_prefix("Authorization: Bearer ") {
            value.trim_end().clone_into(&mut token);
        }
        header.clear();
    }
    let number = count.fetch_add(1, Ordering::SeqCst);
    let request = Request {
        number,
        line: line.trim_end().to_owned(),
        token,
    };
    requests
        .0
        .lock()
        .map_err(|_| io::Error::other("a test failed"))?
        .push(request.clone());
    requests.1.notify_all();
    let mut stream = reader.into_inner();
    react(&request, &mut stream)?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// A response with status 200 and this body.
pub fn ok(body: &str) -> String {
    response("200 OK", body)
}

/// A response with a status line's end, e.g. `404 Not Found`, and a body.
pub fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// `response` in chunks of a few bytes.
pub fn chunked(body: &str) -> String {
    let chunk = |bytes: &[u8]| {
        format!(
            "{:x}\r\n{}\r\n",
            bytes.len(),
            String::from_utf8_lossy(bytes)
        )
    };
    let chunks: Vec<_> = body.as_bytes().chunks(7).map(chunk).collect();
    format!(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{}0\r\n\r\n",
        chunks.concat()
    )
}
