//! The faults, in the order of the trials: the worst for waiting gates comes last.

mod certificates;
mod clock;
mod control_plane;
mod floods;
mod records;
mod replicas;
mod sizes;
mod tenants;

use crate::trial::Trial;

pub(crate) fn all() -> Vec<Trial> {
    let by_subject = [
        replicas::trials(),
        control_plane::trials(),
        floods::trials(),
        records::trials(),
        sizes::trials(),
        tenants::trials(),
        certificates::trials(),
        clock::trials(),
        replicas::last(),
    ];
    by_subject.into_iter().flatten().collect()
}
