//! Tests of `kubectl sluice ui`: its page and the requests of the page, over a socket.

mod browsed;
mod idle;
mod shop;
mod told;

use super::graph::shop;
use super::server::Server;
use harness::process::{Process, binary};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Command;

/// The process `kubectl sluice ui`, its address and the secret in its URL. Dropping this ends the process.
pub(super) struct Ui {
    /// Address and port of the server, such as `127.0.0.1:41837`.
    host: String,
    secret: String,
    process: Process,
}

/// An answer of the server over HTTP.
struct Answer {
    /// The line of the status, and the headers, all in small letters.
    head: String,
    body: String,
}

impl Ui {
    fn start(server: &Server, args: &[&str]) -> Self {
        Self::of(server.kubeconfig(), args)
    }

    pub(super) fn of(kubeconfig: &str, args: &[&str]) -> Self {
        let mut command = Command::new(binary("kubectl-sluice"));
        command
            .args(["ui", "--kubeconfig", kubeconfig, "--no-browser"])
            .args(args);
        let mut process = Process::start(&mut command);
        let address = process.line("http://");
        let mut parts = address.trim_start_matches("http://").split('/');
        Self {
            host: parts.next().unwrap().to_owned(),
            secret: parts.next().unwrap().to_owned(),
            process,
        }
    }

    fn send(&self, path: &str, headers: &[(&str, &str)]) -> TcpStream {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let headers = headers
            .iter()
            .map(|(name, value)| format!("{name}: {value}\r\n"));
        let headers: String = headers.collect();
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"
        )
        .unwrap();
        stream
    }

    fn get(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut text = String::new();
        self.send(path, headers).read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Answer {
            head: head.to_lowercase(),
            body: body.to_owned(),
        }
    }

    /// Requests a path below the secret of the address, with the headers that the page itself sends.
    fn own(&self, path: &str) -> Answer {
        let path = format!("/{}/{path}", self.secret);
        self.get(&path, &[("Host", &self.host)])
    }

    pub(super) fn graph(&self, query: &str) -> Value {
        serde_json::from_str(&self.own(&format!("api/graph{query}")).body).unwrap()
    }
}

#[test]
fn the_page_may_ask_nobody_but_this_process() {
    let ui = Ui::start(&shop(), &[]);
    let page = ui.own("");
    assert!(page.head.starts_with("http/1.1 200"), "{}", page.head);
    let policy = page
        .head
        .lines()
        .find_map(|it| it.strip_prefix("content-security-policy: "));
    let policy = policy.unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'nonce-"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"), "{policy}");
    let nonce = policy
        .split("'nonce-")
        .nth(1)
        .unwrap()
        .split('\'')
        .next()
        .unwrap();
    assert!(page.body.contains(&format!("<script nonce=\"{nonce}\"")));
    assert!(!ui.own("").body.contains(nonce), "each page has its own");
    for header in [
        "cache-control: no-store",
        "referrer-policy: no-referrer",
        "x-content-type-options: nosniff",
        "x-frame-options: deny",
        "cross-origin-resource-policy: same-origin",
    ] {
        assert!(page.head.contains(header), "{header}: {}", page.head);
    }
    assert!(!page.head.contains("access-control"), "{}", page.head);
}

#[test]
fn nobody_without_the_address_is_told_anything() {
    let ui = Ui::start(&shop(), &[]);
    let whole = format!("/{}/api/graph", ui.secret);
    let host = ("Host", ui.host.as_str());
    for (path, headers, expected) in [
        ("/", vec![host], "404"),
        ("/api/graph", vec![host], "404"),
        (&whole, vec![("Host", "sluice.example:80")], "403"),
        (
            &whole,
            vec![host, ("Origin", "http://sluice.example")],
            "403",
        ),
    ] {
        let answer = ui.get(path, &headers);
        assert!(
            answer.head.starts_with(&format!("http/1.1 {expected}")),
            "{}",
            answer.head
        );
        assert!(
            answer
                .body
                .contains("open the address that kubectl sluice ui printed"),
            "{}",
            answer.body
        );
        assert!(!answer.body.contains("postgres") && !answer.body.contains("nodes"));
        assert!(!answer.head.contains("access-control"), "{}", answer.head);
    }
    let other = Ui::start(&shop(), &[]);
    assert_ne!(ui.secret, other.secret);
}

#[test]
fn it_ends_by_ctrl_c() {
    let ui = Ui::start(&shop(), &[]);
    ui.process.signal("INT");
    assert_eq!(ui.process.end().code, Some(0));
}

/// The page gets the graph that `graph -o json` prints. It gets an error for a namespace that does not exist, and code 400 for a text that is no
/// name.
#[test]
fn the_graph_is_that_of_the_command() {
    let server = shop();
    let mut printed = server.run(&["graph", "-o", "json"]).lines().remove(0);
    let ui = Ui::start(&server, &[]);
    let mut told = ui.graph("");
    for around in ["at", "namespace", "release", "releases", "warnings"] {
        assert_ne!(told[around].take(), json!("not there"));
        told.as_object_mut().unwrap().remove(around);
    }
    // Seconds pass between the two, of what still waits.
    assert_eq!(told["gates"][0]["until"], printed["gates"][0]["until"]);
    assert_eq!(told.take(), printed.take());

    let elsewhere = ui.graph("?namespace=other");
    let error = elsewhere["error"].as_str().unwrap();
    assert!(
        error.starts_with("namespace \"other\" does not exist; "),
        "{error}"
    );
    assert_eq!(elsewhere["namespace"], json!("other"));
    let release = Ui::start(&server, &["--release", "shop"]).graph("");
    assert_eq!(release["release"], json!("shop"));
    assert_eq!(release["releases"], json!(["shop"]));
    let wrong = ui.own("api/graph?namespace=../../secrets");
    assert!(wrong.head.starts_with("http/1.1 400"), "{}", wrong.head);
}

/// Connects to the live events of the page, and returns them one after the other.
fn heard(ui: &Ui) -> impl Iterator<Item = Value> {
    let path = format!("/{}/api/live", ui.secret);
    let lines = BufReader::new(ui.send(&path, &[("Host", &ui.host)])).lines();
    let events = lines.filter_map(|line| Some(line.unwrap().strip_prefix("data: ")?.to_owned()));
    events.map(|event| serde_json::from_str(&event).unwrap())
}

#[test]
fn whoever_listens_is_told_at_once_and_the_same_as_others() {
    let server = shop();
    let ui = Ui::start(&server, &[]);
    let mut one = heard(&ui);
    let first = one.next().unwrap();
    assert_eq!(first["nodes"][0]["id"], json!("StatefulSet/db"));
    // The first event of a second listener is also an event of the first one, to the nanosecond.
    let at = heard(&ui).next().unwrap()["at"].clone();
    assert!(first["at"] == at || one.any(|event| event["at"] == at));
}

#[test]
fn a_cluster_that_does_not_answer_is_an_error_of_the_answer() {
    let server = shop();
    let ui = Ui::start(&server, &[]);
    // Its runtime goes with it, and the kubeconfig has been read.
    drop(server);
    let answer = ui.own("api/graph");
    assert!(answer.head.starts_with("http/1.1 502"), "{}", answer.head);
    let told: Value = serde_json::from_str(&answer.body).unwrap();
    assert!(
        told["error"]
            .as_str()
            .unwrap()
            .starts_with("the API server did not answer"),
        "{told}"
    );
    // The page itself is still there.
    assert!(ui.own("").head.starts_with("http/1.1 200"));
}

#[test]
fn a_port_that_is_taken_is_told() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let ran = shop().run(&["ui", "--port", &port]);
    let expected = format!(
        "error: cannot listen on 127.0.0.1:{port}; name another port with --port, or leave it out for a free one"
    );
    assert!(ran.error.starts_with(&expected), "{}", ran.error);
    assert_eq!(ran.code, Some(1));
}
