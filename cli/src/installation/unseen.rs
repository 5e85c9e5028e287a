//! The parts of the installed sluice that the caller may not see, and the assumptions in their place.

use serde::{Serialize, Serializer};

/// A message about a part of the installation that the caller may not see, or that is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unseen {
    /// The part, where a right is missing: `settings`. `None` where the part is not there.
    pub(crate) part: Option<&'static str>,
    /// The whole sentence, with the assumption, and the right to ask for.
    pub(crate) told: String,
}

impl Serialize for Unseen {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.told)
    }
}

/// The lines about the unseen parts: one line in all for the parts for which a right is missing, and the text of each other message.
pub(crate) fn warnings(unseen: &[Unseen]) -> Vec<String> {
    let others = unseen.iter().filter(|it| it.part.is_none());
    let parts: Vec<&str> = unseen.iter().filter_map(|it| it.part).collect();
    let missing = (!parts.is_empty()).then(|| {
        format!(
            "you may not read sluice's {}, so defaults stand in (-o json tells which); the ClusterRole sluice-viewer gives the right",
            parts.join(", ")
        )
    });
    others.map(|it| it.told.clone()).chain(missing).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_rights_are_one_line() {
        let of = |part: Option<&'static str>, told: &str| Unseen {
            part,
            told: told.to_owned(),
        };
        let told = warnings(&[
            of(Some("settings"), "a"),
            of(None, "there is no Deployment of sluice"),
            of(Some("memory"), "b"),
        ]);
        assert_eq!(told.len(), 2);
        assert_eq!(told[0], "there is no Deployment of sluice");
        assert!(told[1].starts_with("you may not read sluice's settings, memory, so "));
        assert_eq!(warnings(&[]), Vec::<String>::new());
    }
}
