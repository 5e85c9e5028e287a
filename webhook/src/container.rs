//! Reads the memory and the token that this process's container has.

use std::fs;

/// The files with the memory limit of the container's own control group: version 2, and version 1, which Kubernetes
/// runs on too.
const LIMITS: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// The files with the memory that the container's control group has taken, and with its parts by sort (`memory.stat`), for version 2 and version 1.
const TAKEN: [[&str; 2]; 2] = [
    [
        "/sys/fs/cgroup/memory.current",
        "/sys/fs/cgroup/memory.stat",
    ],
    [
        "/sys/fs/cgroup/memory/memory.usage_in_bytes",
        "/sys/fs/cgroup/memory/memory.stat",
    ],
];

/// The file with the token of the pod's service account.
const TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount/token";

/// The memory limit of the container in bytes, or `None` where there is no limit, or no file tells it.
pub(crate) fn memory_limit() -> Option<u64> {
    let mut texts = LIMITS.iter().map(fs::read_to_string);
    limit(&texts.find_map(Result::ok)?)
}

/// Reads the limit in bytes from the text of its file; `None` for no limit. Version 2 writes `max` then; version 1 writes a number that no machine
/// has.
fn limit(text: &str) -> Option<u64> {
    let bytes = text.trim().parse().ok();
    bytes.filter(|bytes| *bytes < 1 << 60)
}

/// The bytes of the container's memory that are in use: all but the cache of files, which the kernel takes back. `None` where no file tells it.
pub(crate) fn memory_in_use() -> Option<u64> {
    TAKEN.iter().find_map(|[taken, sorts]| {
        let taken = fs::read_to_string(taken).ok()?;
        in_use(&taken, &fs::read_to_string(sorts).ok()?)
    })
}

/// Returns the bytes in use: `taken`, the text with all bytes that the group has taken, less the cache of files in `sorts`, which has a line for
/// each sort of bytes. Version 1 has lines `total_…` for the group with its children, as `taken` counts. `None` where a number cannot be read.
fn in_use(taken: &str, sorts: &str) -> Option<u64> {
    let mut lines = sorts.lines().filter_map(|line| line.split_once(' '));
    let is_total = lines.clone().any(|(name, _)| name == "total_cache");
    let names = if is_total {
        ["total_active_file", "total_inactive_file"]
    } else {
        ["active_file", "inactive_file"]
    };
    let cache = lines.try_fold(0_u64, |sum, (name, bytes)| {
        if names.contains(&name) {
            Some(sum + bytes.parse::<u64>().ok()?)
        } else {
            Some(sum)
        }
    });
    Some(taken.trim().parse::<u64>().ok()?.saturating_sub(cache?))
}

/// The token of our own service account; `None` where its file cannot be read, as outside of a cluster.
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
        let two = "anon 700\nfile 300\ninactive_anon 1\ninactive_file 100\nactive_file 90\n";
        assert_eq!(in_use("1000\n", two), Some(810));
        let one = "active_file 1\ntotal_cache 300\ntotal_inactive_file 100\ntotal_active_file 90\n";
        assert_eq!(in_use("1000\n", one), Some(810));
        assert_eq!(in_use("max\n", two), None);
        assert_eq!(in_use("1000\n", "active_file many\n"), None);
    }
}
