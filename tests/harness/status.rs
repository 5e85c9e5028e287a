//! A status service that answers as its test says: with real TLS on loopback, and one thread for each connection.

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

/// The DNS name of sluice's Service in the cluster, for which a leaf without a defect is issued.
pub const NAME: &str = "sluice.sluice-system.svc";

/// A certificate authority with a key of its own. All authorities have the same name, as before and after a rotation.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// The defect of a server's leaf, its certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// No defect.
    Good,
    /// The leaf is for another name.
    OtherName,
    /// The leaf expired years ago.
    Expired,
}

impl Authority {
    /// Makes a new authority.
    ///
    /// # Panics
    ///
    /// No key can be made.
    pub fn new() -> Self {
        let mut parameters = CertificateParams::default();
        parameters
            .distinguished_name
            .push(DnType::CommonName, "sluice test CA");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key can be made");
        Self(CertifiedIssuer::self_signed(parameters, key).expect("the parameters are fixed"))
    }

    /// Returns the authority's certificate, PEM.
    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Returns a certificate for these names, signed by this authority, and its key, both PEM.
    ///
    /// # Panics
    ///
    /// No key can be made, or a name is invalid.
    pub fn sign(&self, names: Vec<String>) -> [String; 2] {
        let parameters = CertificateParams::new(names).expect("names of DNS");
        let key = KeyPair::generate().expect("a key can be made");
        let certificate = parameters.signed_by(&key, &self.0);
        let certificate = certificate.expect("the parameters are fixed");
        [certificate.pem(), key.serialize_pem()]
    }

    /// Returns the TLS configuration of a server with a leaf of this authority for [`NAME`], or with the defect that `leaf` names.
    ///
    /// # Panics
    ///
    /// No key can be made.
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

/// One request, with the parts that tests read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The number of requests before this one.
    pub number: usize,
    /// The first line, such as `GET /v1/verdict?wait=300 HTTP/1.1`.
    pub line: String,
    /// The text after `Authorization: Bearer`.
    pub token: String,
    /// The header with the outcomes of the addresses that the gate was told to try; `None` where the request has none.
    pub probed: Option<String>,
    /// The header with the boot of the node, which a gate sends that has opened in an earlier boot; `None` where the request has none.
    pub rebooted: Option<String>,
}

/// The connection to the client. A test writes a response to it, or any other bytes.
pub type Out<'a> = &'a mut dyn Write;

/// A status service for gates. It serves until the test process ends.
pub struct StatusService {
    /// The address that the service listens on.
    pub address: SocketAddr,
    requests: Arc<Requests>,
}

/// The requests so far, and a condition variable that each new one notifies.
#[derive(Default)]
struct Requests(Mutex<Vec<Request>>, Condvar);

impl StatusService {
    /// Serves on a new port of 127.0.0.1. `react` writes the response to each request.
    ///
    /// # Panics
    ///
    /// There is no free port.
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

    /// Serves on the caller's listener. `react` writes the response to each request.
    ///
    /// # Panics
    ///
    /// The listener has no address.
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
                // A failed handshake, or a client that leaves, ends only its own connection.
                thread::spawn(move || serve(stream, tls, &shared, &count, &*react));
            }
        });
        Self { address, requests }
    }

    /// Returns the requests so far, in the order of their arrival.
    ///
    /// # Panics
    ///
    /// A connection's thread panicked while it noted a request.
    pub fn requests(&self) -> Vec<Request> {
        self.requests
            .0
            .lock()
            .expect("noting a request does not panic")
            .clone()
    }

    /// Waits until at least `count` requests have come.
    ///
    /// # Panics
    ///
    /// The requests do not come within five minutes.
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
    let (mut probed, mut rebooted) = (None, None);
    while reader.read_line(&mut header)? > 2 {
        if let Some(value) = header.strip_prefix("Authorization: Bearer ") {
            value.trim_end().clone_into(&mut token);
        }
        if let Some((name, value)) = header.split_once(':') {
            let value = || Some(value.trim().to_owned());
            match name.to_ascii_lowercase().as_str() {
                wire::probe::HEADER => probed = value(),
                wire::reboot::HEADER => rebooted = value(),
                _ => {}
            }
        }
        header.clear();
    }
    let number = count.fetch_add(1, Ordering::SeqCst);
    let request = Request {
        number,
        line: line.trim_end().to_owned(),
        token,
        probed,
        rebooted,
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

/// Returns a response with status 200 and `body`.
pub fn ok(body: &str) -> String {
    response("200 OK", body)
}

/// Returns a response with `status`, e.g. `404 Not Found`, and `body`.
pub fn response(status: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Returns a response with status 200 whose body is sent in chunks of at most seven bytes.
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
