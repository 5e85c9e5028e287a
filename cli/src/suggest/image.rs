//! Knows the programs that well-known images run where a container has no command of its own.

/// The name of an image without its version: `example.com/shop` for `example.com/shop:1.2`.
pub(super) fn repository(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or_default();
    match image.rsplit_once(':') {
        // The port of a registry stands before a slash.
        Some((before, tag)) if !tag.contains('/') => before,
        _ => image,
    }
}

/// Returns the program that an image runs with the arguments of a container; `None` for an image that is not known.
pub(super) fn program(image: &str) -> Option<&'static str> {
    let image = image.split('@').next().unwrap_or_default();
    let (owner, name) = image.rsplit_once('/').unwrap_or(("", image));
    let name = name.split(':').next().unwrap_or_default();
    Some(match name {
        "wait-for-it" | "docker-wait-for-it" => "wait-for-it",
        "waitforit" => "waitforit",
        "wait-for" | "docker-wait-for" => "wait-for",
        "wait4x" => "wait4x",
        "wait-on" => "wait-on",
        "wait-port" => "wait-port",
        "wait" if owner.ends_with("dokku") => "dokku-wait",
        "dockerize" => "dockerize",
        "curl" => "curl",
        "grpc-health-probe" | "grpc_health_probe" => "grpc_health_probe",
        _ => return None,
    })
}

/// The commands of `wait4x`, most of them named after a protocol.
pub(super) const PROTOCOLS: [&str; 10] = [
    "tcp",
    "http",
    "postgresql",
    "mysql",
    "redis",
    "mongodb",
    "rabbitmq",
    "kafka",
    "dns",
    "exec",
];

/// Whether an image's program takes the first argument of the container: an option, an address with a colon, or a command of `wait4x`. Any other
/// first argument is a program that runs in place of the image's own.
pub(super) fn takes(argument: &str) -> bool {
    argument.starts_with('-') || argument.contains(':') || PROTOCOLS.contains(&argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_waits_is_known_by_its_name() {
        for (image, expected) in [
            ("willwill/wait-for-it", Some("wait-for-it")),
            ("docker.io/atkrad/wait4x:2.14", Some("wait4x")),
            ("localhost:5000/dokku/wait:0.9.3", Some("dokku-wait")),
            ("curlimages/curl@sha256:0", Some("curl")),
            ("example.com/wait", None),
            ("busybox", None),
        ] {
            assert_eq!(program(image), expected, "{image}");
        }
        for (argument, expected) in [
            ("-c", true),
            ("db:5432", true),
            ("/bin/sh", false),
            ("curl", false),
        ] {
            assert_eq!(takes(argument), expected, "{argument}");
        }
    }
}
