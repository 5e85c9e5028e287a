//! Turns a lead, a fact that the judge notes about an entry that is not satisfied, into words.

use super::super::judge::Lead;
use super::basis::Explain;
use crate::judged::Judged;
use crate::kstatus::Status;

impl Explain<'_> {
    /// Adds the words for a lead to the message of an entry that is not satisfied: the object that was meant, or why an installer never makes or
    /// mends it. Without such words the message stays.
    pub(super) fn follow(&self, lead: Option<Lead>, judged: &mut Judged) {
        let told = match lead {
            None => None,
            Some(Lead::NoSuchName(missing)) => {
                let meant = self.near_miss(&missing);
                let meant = meant.map(|meant| format!("did you mean {meant}?"));
                let may_come = judged.status == Status::NotFound;
                meant.or_else(|| may_come.then(|| self.never_made()).flatten())
            }
            Some(Lead::NothingThere) => self.never_made(),
            Some(Lead::OnlyByInstaller { name, object }) => self.never_mended(name, object),
        };
        if let Some(told) = told {
            judged.message = format!("{}; {told}", judged.message);
        }
    }
}
