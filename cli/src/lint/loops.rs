//! Notes wait loops that a pod still has although its list says what it waits for.

use super::finding::{Finding, Where};
use crate::objects::Object;
use crate::suggest;
use rules::advice::Level;
use rules::keys;

pub(super) fn check(objects: &[Object]) -> Vec<Finding> {
    let listed = |it: &&Object| it.said(keys::DEPENDS_ON).is_some() && it.owner().is_none();
    objects.iter().filter(listed).flat_map(of_object).collect()
}

fn of_object(object: &Object) -> Vec<Finding> {
    let Some(pods) = object.template() else {
        return Vec::new();
    };
    let path = object.template_path().unwrap_or_default();
    let told = |suggest::WaitLoop { at, name, what }| {
        let told = format!(
            "its init container {name:?} waits by itself ({what}), beside the list; take it away once the list says the same"
        );
        let finding = Finding::new("LoopBesideList", Level::Note, &object.place, told);
        finding.spot(Where::Field(format!("{path}/spec/initContainers/{at}")))
    };
    suggest::wait_loops(&pods["spec"])
        .into_iter()
        .map(told)
        .collect()
}
