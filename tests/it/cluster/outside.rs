//! Tests of addresses outside of the cluster: servers on the machine, in another network namespace than the node's.

use harness::cluster::{Namespace, Node, other, pod, service, stateful_set, with_namespace};
use serde_json::json;
use socket2::{Domain, Socket, Type};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;

/// Returns the address of the machine as pods reach it. In another cluster, prints that the test is skipped and returns `None`.
async fn machine() -> Option<IpAddr> {
    let node = Node::ours().await;
    if node.is_none() {
        eprintln!("skipped: it needs the cluster of this machine");
    }
    node.map(|node| node.machine())
}

/// Returns a socket that is bound to a free port of the machine but does not listen, so that the port refuses connections, and its address.
fn reserved(machine: IpAddr) -> (Socket, SocketAddr) {
    let socket = Socket::new(Domain::for_address((machine, 0).into()), Type::STREAM, None);
    let socket = socket.expect("a socket");
    socket
        .bind(&SocketAddr::from((machine, 0)).into())
        .expect("a free port");
    let address = socket.local_addr().expect("it is bound").as_socket();
    (socket, address.expect("an address of IP"))
}

/// Starts a server on the machine that answers each request with this text; without a text it resets each connection.
fn answers(machine: IpAddr, text: Option<&'static str>) -> SocketAddr {
    let listener = TcpListener::bind((machine, 0)).expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            if let Some(text) = text {
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(text.as_bytes());
            } else {
                let _ = Socket::from(stream).set_linger(Some(Duration::ZERO));
            }
        }
    });
    address
}

async fn waiting(ns: &Namespace, name: &str, list: &str, dependency: &str, reason: &str) {
    ns.apply([pod(name).depends_on(list)]).await.ok();
    let waiting = ns.pod_of(name).await;
    waiting.waits_for(dependency, reason).await;
    waiting.has_event("Waiting", reason).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_address_that_begins_to_listen_later_lets_the_pod_start() {
    let Some(machine) = machine().await else {
        return;
    };
    with_namespace("outside", async |ns| {
        let (socket, later) = reserved(machine);
        let list = format!("tcp://{later}");
        ns.apply([pod("api").depends_on(&list)]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for(&list, "ConnectionRefused").await;
        api.stays_shut().await;
        socket.listen(16).expect("it listens");
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_keeps_an_address_from_answering_is_named() {
    let Some(machine) = machine().await else {
        return;
    };
    with_namespace("outside-reasons", async |ns| {
        let (_refused, refused) = reserved(machine);
        let (dropped, dropped_at) = reserved(machine);
        // Its queue is full, so no connection gets a reply.
        dropped.listen(0).expect("it listens");
        let mut queue = vec![];
        while let Ok(stream) =
            std::net::TcpStream::connect_timeout(&dropped_at, Duration::from_millis(300))
        {
            queue.push(stream);
        }
        let reset = answers(machine, None);
        let unavailable = answers(machine, Some("HTTP/1.1 503 Service Unavailable\r\n\r\n"));
        for (name, address, reason) in [
            ("refused", format!("tcp://{refused}"), "ConnectionRefused"),
            (
                "dropped",
                format!("tcp://{dropped_at}"),
                "ConnectionTimedOut",
            ),
            ("reset", format!("tcp://{reset}"), "ConnectionReset"),
            (
                "status",
                format!("http://{unavailable}/health"),
                "HttpStatus",
            ),
            ("tls", format!("https://{unavailable}/health"), "NoTls"),
            (
                "name",
                "dns://no-such-name.default.svc.cluster.local".to_owned(),
                "NoSuchName",
            ),
        ] {
            waiting(ns, name, &address, &address, reason).await;
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_list_that_is_edited_is_tried_at_once() {
    let Some(machine) = machine().await else {
        return;
    };
    with_namespace("outside-edit", async |ns| {
        let (_refused, refused) = reserved(machine);
        let ok = answers(machine, Some("HTTP/1.1 200 OK\r\n\r\n"));
        ns.apply([pod("api").depends_on(&format!("tcp://{refused}"))])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for(&format!("tcp://{refused}"), "ConnectionRefused")
            .await;
        ns.now_depends_on("pod/api", &format!("http://{ok}/")).await;
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_variable_names_the_address_and_its_value_is_told_nowhere() {
    let Some(machine) = machine().await else {
        return;
    };
    with_namespace("outside-variable", async |ns| {
        let (socket, later) = reserved(machine);
        let url = format!("postgres://app:sesame@{later}/app");
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "stringData": {"url": url}});
        let env = json!([
            {"name": "DATABASE_URL", "valueFrom": {"secretKeyRef": {"name": "db", "key": "url"}}},
            {"name": "HOST", "value": later.ip().to_string()},
            {"name": "PORT", "value": later.port().to_string()},
            {"name": "BOTH", "value": "$(HOST):$(PORT)"},
        ]);
        let with = |name: &str, list: &str| pod(name).depends_on(list).in_app("/env", env.clone());
        ns.apply([
            other(secret),
            with("of-secret", "- tcp: $(DATABASE_URL)"),
            with("of-values", "- tcp: $(HOST):$(PORT)\n- tcp: $(BOTH)"),
        ])
        .await
        .ok();
        let of_secret = ns.pod_of("of-secret").await;
        let line = of_secret.waits_for("tcp://$(DATABASE_URL)", "ConnectionRefused").await;
        let of_values = ns.pod_of("of-values").await;
        of_values.gate_says("ConnectionRefused").await;
        let events = format!("{:?}", ns.look.list("event", "").await);
        let said = format!("{line} {events} {:?}", of_secret.gate_log().await.iter().map(|it| &it.text).collect::<Vec<_>>());
        assert!(!said.contains("sesame") && !said.contains(&url), "{said}");
        let refused = ns.pipe("apply", &[with("none", "- tcp: $(NOWHERE)")], &[]).await.refused();
        assert!(refused.contains("no container of the pod has NOWHERE"), "{refused}");
        socket.listen(16).expect("it listens");
        of_secret.starts().await;
        of_values.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_external_name_connects_by_its_own_name() {
    let Some(machine) = machine().await else {
        return;
    };
    with_namespace("outside-service", async |ns| {
        let (socket, later) = reserved(machine);
        // Without a selector, and with the machine behind it.
        let slice = json!({
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
            "metadata": {"name": "rds-1", "labels": {"kubernetes.io/service-name": "rds"}},
            "ports": [{"port": later.port()}], "endpoints": [{"addresses": [machine.to_string()]}],
        });
        let rds = json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "rds"},
            "spec": {"ports": [{"port": 5432, "targetPort": later.port()}]},
        });
        let name = format!("rds.{}.svc.cluster.local", ns.name);
        let external = service("external").with(
            "/spec",
            json!({"type": "ExternalName", "externalName": name, "ports": [{"port": 5432}]}),
        );
        ns.apply([
            other(rds),
            other(slice),
            external,
            pod("api").depends_on("svc/rds:connects"),
            pod("late").depends_on("svc/external:connects"),
        ])
        .await
        .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Service/rds:connects", "ConnectionRefused")
            .await;
        let late = ns.pod_of("late").await;
        late.waits_for("Service/external:connects", "ConnectionRefused")
            .await;
        socket.listen(16).expect("it listens");
        api.starts().await;
        late.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn ordinals_of_a_stateful_set_wait_for_ordinal_0() {
    with_namespace("ordinal", async |ns| {
        let set = stateful_set("db")
            .depends_on("pod/db-0")
            .with("/spec/replicas", 3)
            .with("/spec/podManagementPolicy", "Parallel")
            .ready_when_told();
        ns.apply([set]).await.ok();
        let pods = ns.pods_of("db", 3).await;
        let [zero, one, two] = &pods[..] else {
            panic!("three pods")
        };
        zero.starts().await;
        one.gate_says("for Pod/db-0").await;
        two.gate_says("for Pod/db-0").await;
        ns.kubectl(["exec", "db-0", "--", "touch", "/tmp/ready"])
            .await
            .ok();
        one.starts().await;
        two.starts().await;
    })
    .await;
}
