//! Reads facts about a process and the machine from Linux.

use anyhow::{Context, Result};
use std::fs;
use std::time::Duration;

/// Returns a phrase for a report: the number of cores, the model of the processor, and that the cluster shares the machine.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let processors = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown", |line| line.trim_start_matches([' ', '\t', ':']));
    format!("{cores} cores ({model}), shared by the cluster and everything beside it")
}

/// Returns the IDs of the processes that run `program` in containers of this machine. Processes outside of containers, such as those of tests, are
/// left out.
///
/// # Errors
///
/// `/proc` cannot be read.
pub fn contained(program: &str) -> Result<Vec<u32>> {
    let entries = fs::read_dir("/proc").context("failed to read /proc")?;
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_it = |pid: &u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        // One number for each nested namespace: ours, the node's, the container's.
        let spaces = field("NSpid:").map_or(0, |pids| pids.split_whitespace().count());
        field("Name:").is_some_and(|name| name.trim() == program) && spaces > 2
    };
    Ok(pids.filter(is_it).collect())
}

/// Returns the process IDs of the children of a process; none where the process has ended.
pub fn children(pid: u32) -> Vec<u32> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .collect()
}

/// Reads the line `name` of `/proc/PID/FILE`, such as `VmRSS:     1234 kB` of `status`, and returns it in bytes.
///
/// # Errors
///
/// The process has ended, or has no such line.
pub fn bytes(pid: u32, file: &str, name: &str) -> Result<u64> {
    let path = format!("/proc/{pid}/{file}");
    let text = fs::read_to_string(&path).with_context(|| format!("failed to read {path}"))?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    Ok(number.with_context(|| format!("no {name} in {path}"))? * 1024)
}

/// Returns the processor time that a process has used so far, in its own code and in the kernel, to a hundredth of a second.
///
/// # Errors
///
/// The process has ended, so that `/proc/PID/stat` cannot be read.
pub fn processor(pid: u32) -> Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let text = fs::read_to_string(&path).with_context(|| format!("failed to read {path}"))?;
    // The name in the second field may hold blanks; utime and stime are the 12th and 13th field after the name.
    let (_, fields) = text
        .rsplit_once(')')
        .with_context(|| format!("no name in {path}"))?;
    let times = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<u64>);
    let ticks: u64 = times
        .sum::<Result<u64, _>>()
        .with_context(|| format!("no times in {path}"))?;
    // USER_HZ is 100 on every architecture that Kubernetes runs on.
    Ok(Duration::from_millis(ticks * 10))
}
