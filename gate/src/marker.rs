//! The marker: the file in the pod's own volume that says that the gate has opened, and in which boot of the node.
//!
//! The volume outlives a container, a sandbox and a boot. A restart of a container must not wait again; a boot must, because
//! everything that the pod needs on its node has gone. So the marker holds the boot ID of the node, and whether the service has said that
//! a boot changes nothing.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use wire::reboot::{Reboot, is_boot_id};

/// The ID of the node's boot, equal to `status.nodeInfo.bootID` of its Node; any container may read the file.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// The word behind the boot ID where the gate has opened for every boot.
const FOR_GOOD: &str = "for-good";
/// The file with the seconds since the node's boot.
const UPTIME: &str = "/proc/uptime";

/// Whether a gate has opened in this pod before, and in which boot of the node, as the pod's marker tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Marked {
    /// The gate has not opened in this pod.
    Never,
    /// The gate has opened in this boot of the node, or for every boot, or the boot is unknown: a gate of an older version
    /// left an empty marker.
    Opened,
    /// The gate has opened in an earlier boot of the node, and has to ask again.
    BeforeBoot,
}

/// Reads the marker; [`Marked::Never`] only where there is no file. `boot`: the ID of the present boot, where it can be read. A file that is empty or
/// cannot be read, or an unknown present boot, counts as [`Marked::Opened`].
pub(crate) fn read(marker: &Path, boot: Option<&str>) -> Marked {
    if !marker.exists() {
        return Marked::Never;
    }
    let text = fs::read_to_string(marker).unwrap_or_default();
    let mut words = text.split_whitespace();
    match (words.next(), words.next(), boot) {
        (None, _, _) | (_, Some(FOR_GOOD), _) | (_, _, None) => Marked::Opened,
        (Some(then), _, Some(boot)) if then == boot => Marked::Opened,
        (Some(_), _, Some(_)) => Marked::BeforeBoot,
    }
}

/// Writes the marker with the ID of the present boot, and whether the gate has opened for every boot; an empty marker where the ID is unknown. The
/// file is written whole or not at all: a power failure may leave a file empty that was not synced.
pub(crate) fn write(marker: &Path, boot: Option<&str>, for_good: bool) -> io::Result<()> {
    let text = match boot {
        Some(boot) if for_good => format!("{boot} {FOR_GOOD}"),
        boot => boot.unwrap_or_default().to_owned(),
    };
    let next = marker.with_extension("next");
    let mut file = File::create(&next)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(next, marker)
}

/// Returns the ID of the node's present boot; `None` where the file cannot be read or holds no ID.
pub(crate) fn boot_id() -> Option<String> {
    let text = fs::read_to_string(BOOT_ID).ok()?;
    let id = text.trim();
    is_boot_id(id).then(|| id.to_owned())
}

/// The node's present boot, for a gate that tells of it.
#[derive(Debug)]
pub(crate) struct Booted {
    id: String,
    at: i64,
    began: Instant,
}

impl Booted {
    /// Returns the boot of this ID, for a gate that begins to ask now. The time of the boot is 0 where the uptime of the node cannot be read.
    pub(crate) fn of(id: String) -> Self {
        let uptime = fs::read_to_string(UPTIME).unwrap_or_default();
        let at = booted(&uptime, SystemTime::now()).unwrap_or_default();
        let began = Instant::now();
        Self { id, at, began }
    }

    /// Returns the boot as the gate tells it to the status service, with the seconds since the gate began to ask.
    pub(crate) fn told(&self) -> Reboot {
        Reboot {
            id: self.id.clone(),
            booted: self.at,
            asked: self.began.elapsed().as_secs(),
        }
    }
}

/// Returns the time of the boot, in seconds since 1970, from the text of [`UPTIME`]; `None` for a text that cannot be read.
fn booted(uptime: &str, now: SystemTime) -> Option<i64> {
    let seconds = uptime.split(['.', ' ']).next()?.parse::<u64>().ok()?;
    let now = now.duration_since(UNIX_EPOCH).ok()?.as_secs();
    i64::try_from(now.checked_sub(seconds)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_marker_says_in_which_boot_the_gate_has_opened() {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("open");
        assert_eq!(read(&marker, Some("b")), Marked::Never);
        write(&marker, Some("b"), false).unwrap();
        assert_eq!(read(&marker, Some("b")), Marked::Opened);
        assert_eq!(read(&marker, Some("c")), Marked::BeforeBoot);
        assert_eq!(read(&marker, None), Marked::Opened, "nothing is known");
    }

    #[test]
    fn a_gate_that_has_opened_for_good_opens_in_every_boot() {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("open");
        write(&marker, Some("b"), true).unwrap();
        assert_eq!(read(&marker, Some("b")), Marked::Opened);
        assert_eq!(read(&marker, Some("c")), Marked::Opened);
        fs::write(&marker, "b a-word-of-a-later-version").unwrap();
        assert_eq!(read(&marker, Some("c")), Marked::BeforeBoot);
    }

    #[test]
    fn an_empty_marker_is_of_an_older_gate_which_has_opened() {
        let folder = tempfile::tempdir().unwrap();
        let marker = folder.path().join("open");
        fs::write(&marker, "").unwrap();
        assert_eq!(read(&marker, Some("b")), Marked::Opened);
        write(&marker, None, true).unwrap();
        assert_eq!(fs::read(&marker).unwrap(), b"");
    }

    #[test]
    fn the_uptime_tells_when_the_node_was_booted() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        assert_eq!(booted("350.99 12.00\n", now), Some(650));
        assert_eq!(booted("7 1\n", now), Some(993));
        for odd in ["", "soon", "1001.00 1", "-1 1"] {
            assert_eq!(booted(odd, now), None, "{odd:?}");
        }
    }
}
