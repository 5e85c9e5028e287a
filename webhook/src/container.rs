//! What the container that this process runs in grants it.

use std::fs;

/// Where the kernel shows a container its own group's limit.
const LIMIT: &str = "/sys/fs/cgroup/memory.max";

/// Where Kubernetes puts the token of a pod's account.
const TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// The bytes of memory that the kernel grants; `None` where it sets no limit, or does not tell.
pub(crate) fn memory_limit() -> Option<u64> {
    fs::read_to_string(LIMIT).ok()?.trim().parse().ok()
}

/// The token of our own account; `None` outside of a cluster.
pub(crate) fn own_token() -> Option<String> {
    fs::read_to_string(TOKEN).ok()
}
