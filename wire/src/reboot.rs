//! The header by which a gate says that its node was booted again.
//!
//! A gate that has opened leaves the boot ID of its node in its marker. A gate that finds the boot ID of an earlier boot there
//! asks again, and sends [`HEADER`] with each question: `ID,BOOTED,ASKED`. A gate of an older version never sends the header, and
//! a service of an older version ignores it.

use std::fmt;

/// The HTTP header with the present boot of the node, which a gate sends with each question if its node was booted again.
pub const HEADER: &str = "sluice-rebooted";

/// The longest boot ID that a service reads, in bytes: a UUID in text has 36.
const LONGEST: usize = 64;

/// The present boot of a gate's node, as the gate tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reboot {
    /// The boot ID of the node: letters, digits and `-`.
    pub id: String,
    /// The time of the boot by the clock of the node, in seconds since 1970; 0 where the gate cannot tell.
    pub booted: i64,
    /// The seconds since the gate began to ask.
    pub asked: u64,
}

impl fmt::Display for Reboot {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, booted, asked } = self;
        write!(out, "{id},{booted},{asked}")
    }
}

impl Reboot {
    /// Reads the value of [`HEADER`]. Further fields, of a later version, are ignored. Returns `None` for any other text.
    pub fn read(text: &str) -> Option<Self> {
        let mut fields = text.split(',').map(str::trim);
        let id = fields.next().filter(|id| is_boot_id(id))?;
        Some(Self {
            id: id.to_owned(),
            booted: fields.next()?.parse().ok()?,
            asked: fields.next()?.parse().ok()?,
        })
    }
}

/// Returns whether a text may be a boot ID: 1 to 64 ASCII letters, digits and `-`.
pub fn is_boot_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_service_reads_back_the_text_of_the_gate() {
        let told = Reboot {
            id: "5c1a-B7".to_owned(),
            booted: 1_790_000_000,
            asked: 7,
        };
        let text = told.to_string();
        assert_eq!(text, "5c1a-B7,1790000000,7");
        assert_eq!(Reboot::read(&text), Some(told.clone()));
        let later = format!("{text},a field of a later version");
        assert_eq!(Reboot::read(&later), Some(told));
    }

    #[test]
    fn an_odd_header_says_nothing() {
        let long = format!("{},1,1", "a".repeat(65));
        for text in [
            "",
            ",",
            "id",
            "id,1",
            "id,1,x",
            "id,x,1",
            "i d,1,1",
            "i\u{e9},1,1",
            ",1,1",
            &long,
        ] {
            assert_eq!(Reboot::read(text), None, "{text:?}");
        }
    }
}
