//! Reads the memory and the token that this process's container has.

use std::fs;

/// The files with the memory limit of the container's own control group: version 2, and version 1, which Kubernetes
/// runs on too.
const LIMITS: [&str; 2] = [
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
];

/// The files with the memory that the control group has taken, and with the sorts of it, for version 2 and version 1.
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

/// The bytes of the granted memory that are in use: all but the cache of files, which the kernel takes back. `None` where no file
/// tells it.
pub(crate) fn memory_in_use() -> Option<u64> {
    TAKEN.iter().find_map(|[taken, sorts]| {
        let taken = fs::read_to_string(taken).ok()?;
        in_use(&taken, &fs::read_to_string(sorts).ok()?)
    })
}

/// The bytes in use, out of the bytes that are taken and a line for each sort of them. Version 1 has lines `total_…` for the group with
/// its children, as `taken` counts.
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
        let two = "anon 700\nfile 300\ninactive_anon 1\ninactive_file 100\nactive_file 90\n";
        assert_eq!(in_use("1000\n", two), Some(810));
        let one = "active_file 1\ntotal_cache 300\ntotal_inactive_file 100\ntotal_active_file 90\n";
        assert_eq!(in_use("1000\n", one), Some(810));
        assert_eq!(in_use("max\n", two), None);
        assert_eq!(in_use("1000\n", "active_file many\n"), None);
    }
}
