//! Reads the memory and the token that this process's container has.

use std::fs;

/// The files with the memory limit of the container's own control group: version 2, and version 1, which Kubernetes
/// runs on too.
const LIMITS: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// The file with the token of the pod's service account.
const TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// The bytes of memory that the kernel grants; `None` where there is no limit, or no file tells it.
pub(crate) fn memory_limit() -> Option<u64> {
    let mut texts = LIMITS.iter().map(fs::read_to_string);
    limit(&texts.find_map(Result::ok)?)
}

/// Version 2 writes `max` for no limit; version 1 writes a number that no machine has.
fn limit(text: &str) -> Option<u64> {
    let bytes = text.trim().parse().ok();
    bytes.filter(|bytes| *bytes < 1 << 60)
}

/// The token of our own service account; `None` outside of a cluster.
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
