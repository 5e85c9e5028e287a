//! What the container that this process runs in grants it.

use std::fs;

/// Where the kernel shows a container its own group's limit: in version 2 of control groups, and in version 1, on which
/// Kubernetes runs too.
const LIMITS: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// Where Kubernetes puts the token of a pod's account.
const TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// The bytes of memory that the kernel grants; `None` where it sets no limit, or does not tell.
pub(crate) fn memory_limit() -> Option<u64> {
    let mut texts = LIMITS.iter().map(fs::read_to_string);
    limit(&texts.find_map(Result::ok)?)
}

/// Version 2 has a word for no limit, `max`; version 1 says a number that no machine has.
fn limit(text: &str) -> Option<u64> {
    let bytes = text.trim().parse().ok();
    bytes.filter(|bytes| *bytes < 1 << 60)
}

/// The token of our own account; `None` outside of a cluster.
pub(crate) fn own_token() -> Option<String> {
    fs::read_to_string(TOKEN).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_control_groups_are_understood() {
        assert_eq!(limit("268435456\n"), Some(256 << 20));
        assert_eq!(limit("max\n"), None);
        assert_eq!(limit("9223372036854771712\n"), None);
        assert_eq!(limit(""), None);
    }
}
