//! Addresses outside of the cluster: what is read of them, and every refusal.

use super::super::parse_depends_on;
use super::refused;
use crate::dependency::{Address, Asks, Codes, Reference};

fn address(list: &str) -> Address {
    let mut entries = parse_depends_on(list).unwrap_or_else(|error| panic!("{list}: {error}"));
    match entries.remove(0).reference {
        Reference::Address(address) => address,
        other => panic!("{list}: {other:?}"),
    }
}

#[test]
fn both_forms_say_the_same() {
    let codes = |from, to| Asks::Answer(Codes { from, to });
    let ok = Asks::Answer(Codes::SUCCESS);
    for (short, long, asks, to) in [
        (
            "tcp://db.example.com:5432",
            "tcp: db.example.com:5432",
            Asks::Connection,
            "db.example.com:5432",
        ),
        (
            "TCP://10.0.0.7:1",
            "tcp: tcp://10.0.0.7:1",
            Asks::Connection,
            "10.0.0.7:1",
        ),
        (
            "tcp://[fd00::1]:5432",
            "tcp: \"[fd00::1]:5432\"",
            Asks::Connection,
            "[fd00::1]:5432",
        ),
        (
            "tcp://Some_Host.example.com.:65535",
            "tcp: Some_Host.example.com.:65535",
            Asks::Connection,
            "Some_Host.example.com.:65535",
        ),
        (
            "tcp://$(HOST):$(PORT)",
            "tcp: $(HOST):$(PORT)",
            Asks::Connection,
            "$(HOST):$(PORT)",
        ),
        (
            "tcp://$(DATABASE_URL)",
            "tcp: $(DATABASE_URL)",
            Asks::Connection,
            "$(DATABASE_URL)",
        ),
        (
            "tcp://db-$(STAGE).example.com:1",
            "tcp: db-$(STAGE).example.com:1",
            Asks::Connection,
            "db-$(STAGE).example.com:1",
        ),
        (
            "dns://db.example.com",
            "dns: db.example.com",
            Asks::Name,
            "db.example.com",
        ),
        ("http://web", "http: web", ok, "http://web"),
        (
            "https://web:8443/a?b=c:d",
            "http: https://web:8443/a?b=c:d",
            ok,
            "https://web:8443/a?b=c:d",
        ),
        ("HTTPS://web?a", "http: https://web?a", ok, "https://web/?a"),
        (
            "http://[fd00::1]/x",
            "http: \"[fd00::1]/x\"",
            ok,
            "http://[fd00::1]/x",
        ),
        ("http://$(URL)", "http: $(URL)", ok, "http://$(URL)"),
        (
            "http://$(HOST):9200/_cluster/health",
            "http: $(HOST):9200/_cluster/health",
            ok,
            "http://$(HOST):9200/_cluster/health",
        ),
    ] {
        let read = address(short);
        assert_eq!((read.asks, read.to.as_str()), (asks, to), "{short}");
        assert_eq!(address(&format!("- {long}")), read, "{long}");
        // The printed form reads back.
        assert_eq!(
            address(&parse_depends_on(short).unwrap()[0].to_string()),
            read,
            "{short}"
        );
    }
    for (status, from, to) in [
        ("200", 200, 200),
        ("\"200-299\"", 200, 299),
        ("401", 401, 401),
        ("200 - 204", 200, 204),
    ] {
        let read = address(&format!("- http: web\n  status: {status}"));
        assert_eq!(read.asks, codes(from, to), "{status}");
    }
    let read =
        address("- {tcp: $(URL), container: api, timeout: 2m, on-timeout: proceed, stable: 5s}");
    assert_eq!(read.container.as_deref(), Some("api"));
    let any = parse_depends_on("- any: [tcp://a:1, {http: b, status: 204}, svc/c]").unwrap();
    assert_eq!(any[0].addresses().len(), 2);
}

#[test]
fn what_is_no_address_is_refused_with_the_way_out() {
    for (list, expected) in [
        (
            "svc/db, tcp://db.example.com",
            "line 1, column 15: address \"db.example.com\" has no port; write HOST:PORT, e.g. tcp://db.example.com:5432",
        ),
        (
            "tcp://db:port",
            "column 10: address \"db:port\" has a port that is no number from 1 to 65535; write one, or $(NAME) for a variable",
        ),
        ("tcp://db:0", "has a port that is no number"),
        ("tcp://db:70000", "has a port that is no number"),
        (
            "tcp://fd00::1:5432",
            "address \"fd00::1:5432\" is no host and port; write an IPv6 address in brackets, e.g. tcp://[fd00::1]:5432",
        ),
        ("tcp://[fd00::1:5432", "write an IPv6 address in brackets"),
        (
            "tcp://-db:1",
            "has a host that is no name; write a DNS name, an IPv4 address, or an IPv6 address in brackets",
        ),
        (
            "tcp://db:1/path",
            "has a path, and only a connection is made; write http:// to ask for an answer, or remove it",
        ),
        (
            "tcp://u:p@db:1",
            "has \"@\" before its host; the gate sends no credentials, so remove what is before the host",
        ),
        (
            "http://web/a#b",
            "has a fragment, which no server ever sees; remove what begins with \"#\"",
        ),
        (
            "udp://db:53",
            "column 1: unknown scheme \"udp\" of an address; the schemes are tcp, http, https, dns",
        ),
        ("dns://", "column 7: address is empty; write one"),
        (
            "tcp://$HOST:1",
            "column 7: address \"$HOST:1\" has \"$\" in it; write $(NAME), the name of a variable in env of a container, with letters, digits and \"_\"",
        ),
        (
            "tcp://$(SLUICE_ADDRESSES)",
            "variable \"SLUICE_ADDRESSES\" begins with SLUICE_, as those do that the gate is set up by; give it another name in the container",
        ),
        (
            "- http: ftp://web",
            "line 1, column 9: \"http\": unknown scheme \"ftp\" of an address; the schemes are tcp, http, https, dns",
        ),
        ("- tcp: \"db: 1\"", "has a blank in it; remove it"),
    ] {
        let told = refused(list);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn keys_that_mean_nothing_beside_an_address_are_refused() {
    for (list, expected) in [
        (
            "- {tcp: \"db:1\", optional: true}",
            "column 17: \"optional\" means nothing for an address outside of the cluster",
        ),
        (
            "- {tcp: \"db:1\", status: 200}",
            "\"status\" means nothing beside \"tcp\"; remove it",
        ),
        (
            "- {tcp: \"db:1\", container: api}",
            "\"container\" says whose variables an address is made of, and here is no $(NAME); remove it",
        ),
        (
            "- {tcp: \"db:1\", name: db}",
            "\"name\" means nothing beside \"tcp\"; remove it",
        ),
        (
            "- {http: web, status: 99}",
            "\"status\" takes a status code from 100 to 599, or two with \"-\" between them, not \"99\"",
        ),
        ("- {http: web, status: 300-200}", "not \"300-200\""),
        (
            "- {kind: Service, name: web, status: 200}",
            "\"status\" is a status code, and means nothing without \"http\"; remove it",
        ),
        (
            "- {kind: Service, name: web, container: api}",
            "here is no $(NAME); remove it",
        ),
        (
            "deployment/web:connects",
            "state \"connects\" means nothing for kind \"Deployment\", only for Service; leave it out, or write ready",
        ),
        (
            "group/web:connects",
            "state \"connects\" means nothing for a group",
        ),
    ] {
        let told = refused(list);
        assert!(told.contains(expected), "{told}");
    }
}

#[test]
fn a_service_may_be_written_by_its_dns_name() {
    let told = |text: &str| parse_depends_on(text).expect(text)[0].to_string();
    for (written, expected) in [
        ("svc/db.prod.svc.cluster.local", "prod/Service/db"),
        ("svc/db.prod.svc", "prod/Service/db"),
        ("svc/db.prod.svc.corp.example.", "prod/Service/db"),
        ("prod/svc/db.prod.svc", "prod/Service/db"),
        (
            "svc/db.prod.svc.cluster.local:connects",
            "prod/Service/db:connects",
        ),
        (
            "- {kind: Service, name: db.prod.svc.cluster.local}",
            "prod/Service/db",
        ),
        (
            "- {kind: Service, name: db.prod.svc, namespace: prod, state: present}",
            "prod/Service/db:present",
        ),
    ] {
        assert_eq!(told(written), expected, "{written}");
    }
    for (list, expected) in [
        (
            "data/svc/db.prod.svc",
            "\"db.prod.svc\" is in namespace \"prod\", and the entry says \"data\"; keep one of them",
        ),
        (
            "svc/db-0.db.prod.svc.cluster.local",
            "it is the name of one pod of a Service; write \"prod/pod/db-0\" for the pod, or \"prod/service/db\" for all of them",
        ),
        (
            "svc/db.prod",
            "name \"db.prod\" has '.' in it; if \"prod\" is the namespace, write \"prod/service/db\"",
        ),
        (
            "svc/db:5432",
            "unknown state \"5432\": an object has no port here; leave \":5432\" out, or write the address, such as tcp://HOST:5432",
        ),
        (
            "svc/db.example.com",
            "name \"db.example.com\" has '.' in it",
        ),
        ("deploy/db.prod.svc:1", "unknown state \"1\""),
    ] {
        let told = refused(list);
        assert!(told.contains(expected), "{told}");
    }
}
