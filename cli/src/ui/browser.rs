//! Opens the page in the user's browser.
//!
//! The address has a secret, and other users of the machine can read the arguments of a process. So the browser is given a file that
//! only the user can read, and that leads to the address.

use super::random;
use anyhow::Result;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The facts on which it depends whether a browser is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seat {
    /// Whether the user wants a browser.
    pub(crate) wanted: bool,
    /// Whether standard output is a terminal.
    pub(crate) terminal: bool,
    /// The display that the user sees.
    pub(crate) display: Display,
    /// The operating system, as Rust names it.
    pub(crate) system: &'static str,
}

/// The display of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Display {
    /// The environment names a display: without one, no browser opens on Linux.
    Named,
    /// The environment names none.
    Unnamed,
    /// The user sits at another machine, by SSH.
    Remote,
}

/// A file that leads a browser to the page. Dropping the lead removes the file.
#[derive(Debug)]
pub(super) struct Lead(PathBuf);

impl Seat {
    /// The seat of this process; `wanted` is the user's wish.
    pub(crate) fn here(wanted: bool) -> Self {
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|it| !it.is_empty());
        let display = if is_set("SSH_CONNECTION") || is_set("SSH_TTY") {
            Display::Remote
        } else if is_set("DISPLAY") || is_set("WAYLAND_DISPLAY") {
            Display::Named
        } else {
            Display::Unnamed
        };
        Self {
            wanted,
            terminal: std::io::IsTerminal::is_terminal(&std::io::stdout()),
            display,
            system: std::env::consts::OS,
        }
    }

    /// The command that opens a file in the user's browser, and its first arguments; `None` where none is to be opened.
    fn opener(self) -> Option<&'static [&'static str]> {
        if !self.wanted || !self.terminal || self.display == Display::Remote {
            return None;
        }
        match self.system {
            "macos" => Some(&["open"]),
            "windows" => Some(&["rundll32", "url.dll,FileProtocolHandler"]),
            _ => (self.display == Display::Named).then_some(&["xdg-open"]),
        }
    }
}

/// Opens the address of the page in the user's browser, if the seat allows one. Returns the file that leads the browser to the page; `None`
/// where no browser was started, which is no fault: the address is printed anyway.
pub(super) fn open(address: &str, seat: Seat) -> Option<Lead> {
    let [program, first @ ..] = seat.opener()? else {
        return None;
    };
    let lead = Lead::to(address, &std::env::temp_dir()).ok()?;
    let mut command = Command::new(program);
    command.args(first).arg(&lead.0);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().ok()?;
    Some(lead)
}

impl Lead {
    fn to(address: &str, folder: &Path) -> Result<Self> {
        let path = folder.join(format!("sluice-ui-{}.html", random()?));
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path)?;
        let lead = Self(path);
        let page = format!(
            "<!doctype html><meta charset=\"utf-8\"><title>sluice</title><meta name=\"referrer\" content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0; url={address}\">\n"
        );
        file.write_all(page.as_bytes())?;
        Ok(lead)
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        // It may be gone already.
        let _ = std::fs::remove_file(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DESK: Seat = Seat {
        wanted: true,
        terminal: true,
        display: Display::Named,
        system: "linux",
    };

    #[test]
    fn a_browser_opens_for_a_user_at_a_desk_alone() {
        let opener = |seat: Seat| seat.opener().map(|it| it[0]);
        assert_eq!(opener(DESK), Some("xdg-open"));
        let system = |system| Seat {
            system,
            display: Display::Unnamed,
            ..DESK
        };
        assert_eq!(opener(system("macos")), Some("open"));
        assert_eq!(opener(system("windows")), Some("rundll32"));
        for nobody in [
            system("linux"),
            Seat {
                wanted: false,
                ..DESK
            },
            Seat {
                terminal: false,
                ..DESK
            },
            Seat {
                display: Display::Remote,
                ..DESK
            },
        ] {
            assert_eq!(opener(nobody), None, "{nobody:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_where_a_browser_is_led() {
        use std::os::unix::fs::PermissionsExt;
        let folder = std::env::temp_dir();
        let lead = Lead::to("http://127.0.0.1:4000/0123/", &folder).unwrap();
        let path = lead.0.clone();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let page = std::fs::read_to_string(&path).unwrap();
        assert!(page.contains("url=http://127.0.0.1:4000/0123/\""), "{page}");
        drop(lead);
        assert!(!path.exists());
    }
}
