//! Tells by the form of a host which thing it names: the pod itself, a Service, or a server outside of the cluster.

/// A host in a wait loop, by the form of its name. The texts may hold masked actions of a template (module `mask`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Host {
    /// The host is the pod itself, such as `localhost`.
    Itself,
    /// The host is a Service. The host may also name the Service's namespace and one pod behind the Service.
    Service {
        name: String,
        namespace: Option<String>,
        pod: Option<String>,
    },
    /// The host has two parts, of which the second may be a namespace or a domain.
    Two(String, String),
    /// The host is an IP address, or a domain name of three parts or more that is no name of a Service.
    Outside,
}

/// Tells by the form of a host which thing it names.
pub(super) fn of(host: &str) -> Host {
    let host = host.trim_end_matches('.');
    let is_own = ["localhost", "::1", "0.0.0.0", "localhost.localdomain"];
    if is_own.contains(&host) || host.starts_with("127.") {
        return Host::Itself;
    }
    let parts: Vec<&str> = host.split('.').collect();
    let is_number = |it: &&str| it.bytes().all(|it| it.is_ascii_digit());
    if host.contains(':') || parts.len() == 4 && parts.iter().all(is_number) {
        return Host::Outside;
    }
    let service = |name: &str, namespace: Option<&str>, pod: Option<&str>| Host::Service {
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        pod: pod.map(str::to_owned),
    };
    if let Some(at) = parts.iter().position(|it| *it == "svc") {
        return match &parts[..at] {
            [name] => service(name, None, None),
            [name, namespace] => service(name, Some(namespace), None),
            [pod, name, namespace] => service(name, Some(namespace), Some(pod)),
            _ => Host::Outside,
        };
    }
    match parts.as_slice() {
        [name] => service(name, None, None),
        [name, second] => Host::Two((*name).to_owned(), (*second).to_owned()),
        _ => Host::Outside,
    }
}

/// Whether a host is only a number. Such a number is the port in a command such as `nc $(host) 80`, whose host another command prints.
pub(super) fn is_number(host: &str) -> bool {
    !host.is_empty() && host.bytes().all(|it| it.is_ascii_digit())
}

/// Whether a text names this host among its addresses, such as a URL or `host:port`. A text without a colon is no address.
pub(super) fn is_within(text: &str, host: &str) -> bool {
    let is_name = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.' | '_');
    let is_address = text.contains("://") || text.contains(':');
    is_address && text.split(|it| !is_name(it)).any(|it| it == host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_told_by_its_form() {
        let service = |name: &str, namespace: Option<&str>, pod: Option<&str>| Host::Service {
            name: name.to_owned(),
            namespace: namespace.map(str::to_owned),
            pod: pod.map(str::to_owned),
        };
        for (host, expected) in [
            ("localhost", Host::Itself),
            ("127.0.0.1", Host::Itself),
            ("db", service("db", None, None)),
            ("db.shop.svc", service("db", Some("shop"), None)),
            (
                "db.shop.svc.cluster.local.",
                service("db", Some("shop"), None),
            ),
            (
                "db-0.db.shop.svc.cluster.local",
                service("db", Some("shop"), Some("db-0")),
            ),
            ("db.shop", Host::Two("db".to_owned(), "shop".to_owned())),
            ("db.example.com", Host::Outside),
            ("10.0.0.1", Host::Outside),
        ] {
            assert_eq!(of(host), expected, "{host}");
        }
    }
}
