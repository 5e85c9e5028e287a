//! The words about dependencies that never come, and the way out. They are those of [`advice`], which warns of the same when the list is
//! written.

use super::basis::Explain;
use crate::advice::{self, Advice, Target};
use crate::installer;
use crate::scope::Scope;
use jiff::SignedDuration;
use serde_json::Value;

/// The time after the dependent's creation by which its installer has made every object that it makes at once.
pub const MISSING_AFTER: SignedDuration = SignedDuration::from_secs(6);

impl Explain<'_> {
    /// The sentence that the installer of an object that does not exist may never make it. `None` before [`MISSING_AFTER`] has passed since the
    /// dependent was created, because until then the installer may just not have made the object yet; and `None` for a dependent without an
    /// installer.
    pub(super) fn never_made(&self) -> Option<String> {
        let dependent = self.dependent();
        let installed =
            dependent.scope.is_some() || installer::is_addressed(&dependent.as_written());
        let made = dependent.created.filter(|_| installed);
        let overdue = made.is_some_and(|made| self.judge.reached(made + MISSING_AFTER));
        overdue.then(|| {
            "it may be a later hook or sync wave: if the installer waits for this workload, it never makes it"
                .to_owned()
        })
    }

    /// The sentence on why the installer of an object, which alone can mend the object, never does so; `None` where it may. `name` is kind and
    /// name of the object, `Job/migrate`.
    pub(super) fn never_mended(&self, name: String, object: Value) -> Option<String> {
        let own = self.dependent().scope.as_ref();
        let same_release = own
            .zip(Scope::of(&object))
            .map(|(own, it)| own.is_of_release(&it));
        let target = Target {
            object,
            same_release,
        };
        let late = advice::too_late(&self.dependent().as_written(), name, &target);
        // The object exists, so the advice that it is never made does not apply.
        let late = late.filter(|it| !matches!(it, Advice::NeverMade { .. }));
        late.map(|late| late.to_string())
    }
}

/// The sentence about a cycle, from the names on its way: `Deployment/api`, `Deployment/db`, `Deployment/api`.
pub(super) fn of_cycle(path: &[String]) -> String {
    if let [_, service, _] = path
        && let Some(name) = service.strip_prefix("Service/")
    {
        return Advice::OwnService(name.to_owned()).to_string();
    }
    format!("{}; take one entry out of a list", path.join(" -> "))
}
