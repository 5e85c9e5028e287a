//! Tests lookups, with files and name servers of the test's own.

use super::*;
use std::fs;
use std::net::UdpSocket;
use std::sync::Arc;
use std::thread;
use tempfile::TempDir;

/// A name server on loopback, and the names that it was asked for, each with its type.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<(String, u8)>>>,
}

/// The server's response: a code, and addresses of IPv4; `None` where it stays silent.
type Says = fn(&str) -> Option<(u8, Vec<[u8; 4]>)>;

fn name(query: &[u8]) -> (String, usize) {
    let (mut at, mut labels) = (12, Vec::new());
    while query[at] != 0 {
        let end = at + 1 + usize::from(query[at]);
        labels.push(String::from_utf8_lossy(&query[at + 1..end]).into_owned());
        at = end;
    }
    (labels.join("."), at + 1)
}

impl Server {
    fn start(says: Says) -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let port = socket.local_addr().unwrap().port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        thread::spawn(move || {
            let mut bytes = [0; 512];
            while let Ok((count, from)) = socket.recv_from(&mut bytes) {
                let query = &bytes[..count];
                let (name, end) = name(query);
                noted.lock().unwrap().push((name.clone(), query[end + 1]));
                let Some((code, addresses)) = says(&name) else {
                    continue;
                };
                let v4 = query[end + 1] == 1;
                let addresses = if v4 { addresses } else { Vec::new() };
                let mut out = query.to_vec();
                (out[2], out[3]) = (0x81, 0x80 | code);
                out[7] = u8::try_from(addresses.len()).unwrap();
                for address in addresses {
                    out.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4]);
                    out.extend(address);
                }
                let _ = socket.send_to(&out, from);
            }
        });
        Self { port, asked }
    }

    fn names(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(name, _)| name.clone()).collect()
    }
}

struct Files(TempDir);

impl Files {
    fn new(hosts: &str, configuration: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("hosts"), hosts).unwrap();
        fs::write(folder.path().join("resolv.conf"), configuration).unwrap();
        Self(folder)
    }

    fn resolver(&self, port: u16) -> Resolver {
        let path = |name: &str| self.0.path().join(name);
        Resolver::by(path("hosts"), path("resolv.conf"), port)
    }
}

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(5)
}

const OF_A_POD: &str = "search shop.svc.cluster.local svc.cluster.local cluster.local\n\
                        nameserver 127.0.0.1\noptions ndots:5\n";

#[test]
fn search_domains_come_before_a_name_with_few_dots() {
    let server = Server::start(|name| match name {
        "rds.shop.svc.cluster.local" => Some((0, vec![[10, 0, 0, 7]])),
        _ => Some((3, vec![])),
    });
    let files = Files::new("", OF_A_POD);
    let resolver = files.resolver(server.port);
    let expected = Ok(vec![IpAddr::from([10, 0, 0, 7])]);
    assert_eq!(resolver.find("rds.shop.svc", soon()), expected);
    assert_eq!(
        server.names(),
        [
            "rds.shop.svc.shop.svc.cluster.local",
            "rds.shop.svc.svc.cluster.local",
            "rds.shop.svc.cluster.local"
        ]
    );
    server.asked.lock().unwrap().clear();
    assert_eq!(resolver.find("rds.shop.svc", soon()), expected);
    assert_eq!(
        server.names(),
        ["rds.shop.svc.cluster.local"],
        "it is remembered how it was called"
    );
}

#[test]
fn the_order_is_that_of_the_c_library() {
    let of = |text: &str, host: &str| Configuration::of(text).candidates(host);
    let some = "domain a\nsearch b. c\noptions timeout:1 ndots:2\n";
    assert_eq!(of(some, "db"), ["db.b", "db.c", "db"]);
    assert_eq!(of(some, "db.x.y"), ["db.x.y", "db.x.y.b", "db.x.y.c"]);
    assert_eq!(of(some, "db.x."), ["db.x"]);
    assert_eq!(of("", "db.x"), ["db.x"]);
    assert_eq!(of("search .\n", "db"), ["db"]);
    let servers = "nameserver 10.0.0.1\nnameserver fe80::1%eth0\nnameserver fd00::1\nnameserver 10.0.0.2\nnameserver 10.0.0.3";
    assert_eq!(Configuration::of(servers).servers.len(), SERVERS);
}

#[test]
fn a_name_that_nobody_knows_is_told_apart_from_servers_that_do_not_answer() {
    let files = Files::new("", "nameserver 127.0.0.1\n");
    let unknown = Server::start(|_| Some((3, vec![])));
    let found = files.resolver(unknown.port).find("nowhere.example", soon());
    assert_eq!(found, Err(Unresolved::NoName));
    assert!(
        unknown
            .asked
            .lock()
            .unwrap()
            .iter()
            .any(|(_, kind)| *kind == 28),
        "IPv6 is asked for too"
    );
    let empty = Server::start(|_| Some((0, vec![])));
    assert_eq!(
        files.resolver(empty.port).find("a.example", soon()),
        Err(Unresolved::NoName)
    );
    let failing = Server::start(|_| Some((2, vec![])));
    assert_eq!(
        files.resolver(failing.port).find("a.example", soon()),
        Err(Unresolved::NoServer)
    );
    let silent = Server::start(|_| None);
    let began = Instant::now();
    let until = began + Duration::from_millis(300);
    assert_eq!(
        files.resolver(silent.port).find("a.example", until),
        Err(Unresolved::NoServer)
    );
    assert!(began.elapsed() < Duration::from_secs(1));
    // A port without a listener refuses at once, and is not asked again.
    let gone = UdpSocket::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    assert_eq!(
        files.resolver(gone).find("a.example", soon()),
        Err(Unresolved::NoServer)
    );
}

#[test]
fn hosts_and_addresses_are_asked_of_nobody() {
    let server = Server::start(|_| Some((3, vec![])));
    let files = Files::new(
        "127.0.0.1 localhost\nfd00::7 DB db.x # db.y\n10.0.0.7 db\n",
        OF_A_POD,
    );
    let resolver = files.resolver(server.port);
    let six = IpAddr::from([0xfd00, 0, 0, 0, 0, 0, 0, 7]);
    for (host, expected) in [
        ("db", vec![IpAddr::from([10, 0, 0, 7]), six]),
        ("db.x.", vec![six]),
        ("10.0.0.8", vec![IpAddr::from([10, 0, 0, 8])]),
        ("fd00::7", vec![six]),
    ] {
        assert_eq!(resolver.find(host, soon()), Ok(expected), "{host}");
    }
    assert!(server.names().is_empty());
    assert_eq!(
        resolver.find("db.y", soon()),
        Err(Unresolved::NoName),
        "it stands in a comment"
    );
}
