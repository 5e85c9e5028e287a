//! Finds pods that use an object which their installer makes only after them, such as a Secret that a later hook makes.

use super::finding::{Finding, Where};
use crate::objects::{Graph, Object};
use rules::advice::Level;
use rules::dependency::ObjectRef;
use rules::installer::{self, Installer, Late};
use rules::kinds::Kind;
use rules::uses::{self, Use};

pub(super) fn check(graph: &Graph<'_>) -> Vec<Finding> {
    let objects = graph.objects.iter().enumerate();
    objects
        .flat_map(|(at, object)| of_object(graph, at, object))
        .collect()
}

fn of_object(graph: &Graph<'_>, at: usize, object: &Object) -> Vec<Finding> {
    let Some(template) = object.template().filter(|_| object.owner().is_none()) else {
        return Vec::new();
    };
    let late = |it: Use| {
        let named = ObjectRef {
            kind: Kind::Builtin(it.kind),
            namespace: None,
            name: it.name.clone(),
        };
        let used = graph
            .find(at, &named)
            .filter(|used| graph.is_of_one_release(at, *used))?;
        let late = installer::late(&object.value, &graph.objects[used].value)?;
        told(object, &it, &late)
    };
    uses::of(template).into_iter().filter_map(late).collect()
}

/// The error on a workload whose pods use an object that the installer makes too late; `None` where Helm does not wait for these pods, and so comes
/// to the later object after all.
fn told(object: &Object, used: &Use, late: &Late) -> Option<Finding> {
    let Use { kind, name, field } = used;
    let (late, way_out) = match late {
        // Helm waits for these pods only with --wait. Otherwise Helm comes to its later hooks although the pods do not start.
        Late::RunsAfterwards(hook)
            if hook != "PostSync" && !installer::is_addressed(&object.value) =>
        {
            return None;
        }
        Late::RunsBefore(installer) => (
            format!("{} makes it only once this hook is done", installer.name()),
            match installer {
                Installer::Helm => {
                    "make it a hook of the same phase with a lower helm.sh/hook-weight"
                }
                Installer::ArgoCd => "make it a PreSync hook of an earlier sync wave",
            },
        ),
        Late::RunsAfterwards(hook) => (
            format!("as a {hook} hook it comes only once this is ready"),
            "make it an earlier hook, or a plain object",
        ),
        Late::NeverMade { hook, by } => (
            format!("{by} does not make it, since it is a {hook} hook"),
            "make it an earlier hook of the same phase, or a plain object",
        ),
        Late::LaterHook { theirs, own } => (
            format!(
                "Helm makes it after this hook, by weight ({theirs}, and {own} here), then by name"
            ),
            "give it a lower helm.sh/hook-weight",
        ),
        Late::LaterWave { theirs, own } => (
            format!(
                "Argo CD makes it in wave {theirs}, which comes only once wave {own} is healthy"
            ),
            "put it into this wave, or into an earlier one",
        ),
    };
    let kind = kind.kind;
    let told =
        format!("its pods need {kind}/{name} ({field}), and {late}: they never start; {way_out}");
    let path = object.template_path().unwrap_or_default();
    let list = match *field {
        "envFrom" | "env" => "containers",
        field => field,
    };
    let finding = Finding::new("UsedTooEarly", Level::Error, &object.place, told);
    Some(finding.spot(Where::Field(format!("{path}/spec/{list}"))))
}
