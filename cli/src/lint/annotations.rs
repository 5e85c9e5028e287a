//! Checks the annotations of one object, each key by itself, so that one mistake hides no other.

use super::finding::{Finding, Where, pointer};
use crate::objects::{Holder, Object, Role};
use rules::advice::{self, Advice, Level};
use rules::annotation::{self, Created, ParseError, Problem};
use rules::keys;
use rules::kinds::Kind;
use rules::object::group_kind;
use rules::readiness;
use rules::verdict::consents_to_nobody;
use serde_json::{Map, Value};

/// The keys that may stand on any object.
const OF_ANY: [&str; 4] = [keys::REVISION, keys::WEIGHT, keys::GROUP, keys::SCOPE];

/// The annotation that kompose writes on every object that it makes.
const KOMPOSE: &str = "kompose.version";

pub(super) fn check(object: &Object) -> Vec<Finding> {
    let holders = object.holders();
    let mut findings = Vec::new();
    for holder in &holders {
        for (key, value) in holder.annotations {
            findings.extend(of_key(object, holder, key, value));
        }
        findings.extend(pair(object, holder));
        findings.extend(never_healthy(object, holder));
    }
    findings.extend(twice(object, &holders));
    for (path, metadata) in object.metadata() {
        let kind = if path == "metadata" {
            object.word()
        } else {
            ""
        };
        let advice = advice::of_metadata(kind, metadata);
        findings.extend(advice.iter().map(|it| idle_key(object, path, it)));
    }
    findings
}

/// The finding for an advice on the keys of an object's metadata, placed at the annotation or the label that the advice is about; for an advice on
/// no single key, at the object.
fn idle_key(object: &Object, path: &'static str, advice: &Advice) -> Finding {
    let finding = Finding::advice(&object.place, advice);
    match advice {
        Advice::ForeignKey { key, .. } => finding.at(path, key),
        Advice::IdleLabel { key, .. } => finding.spot(Where::Field(pointer(path, "labels", key))),
        Advice::LabelOnly(key) => finding.spot(Where::Field(pointer(path, "labels", key))),
        _ => finding,
    }
}

/// Whether a key is an annotation that holds a list of dependencies.
fn is_list(key: &str) -> bool {
    key == keys::DEPENDS_ON || key == keys::CONFIG_DEPENDS_ON
}

fn of_key(object: &Object, holder: &Holder<'_>, key: &str, value: &Value) -> Option<Finding> {
    // A patch removes an annotation by the value null.
    let removes = value.is_null() && !object.is_dependent() && object.is_of_workload_kind();
    if !removes && (is_list(key) || key.starts_with(keys::PREFIX)) {
        if key == keys::CONFIG_DEPENDS_ON
            && let Some(advice) = advice::of_list(holder.annotations)
        {
            let spot = Where::Field(pointer(holder.path, "annotations", key));
            let finding = Finding::advice(&object.place, &advice).spot(spot);
            // On an object without pods only cli-utils reads the key.
            return Some(finding).filter(|_| object.is_dependent());
        }
        if let Err(error) = grammar(object, holder, key, value) {
            return Some(refused(object, holder, &error));
        }
        let idle = idle(object, holder, key, value).or_else(|| misplaced(object, holder, key));
        return idle.map(|message| {
            Finding::new("NoEffect", Level::Warning, &object.place, message).at(holder.path, key)
        });
    }
    None
}

fn grammar(
    object: &Object,
    holder: &Holder<'_>,
    key: &str,
    value: &Value,
) -> Result<(), ParseError> {
    // On a Namespace, the label holds the pods in it, and the annotation holds the creation of the Namespace itself.
    if key != keys::HOLD || !holds_creation(holder) {
        annotation::no_label(key, |of| of == object.word())?;
    }
    let alone = Map::from_iter([(key.to_owned(), value.clone())]);
    match holder.role {
        Role::Own if object.is_job() => {
            if key == keys::HOLD {
                annotation::suspends_safely(&object.value["metadata"])?;
            }
        }
        Role::Own => annotation::hold_of_object(&alone)?,
        Role::Template | Role::Copied => drop(annotation::hold(&alone)?),
    }
    annotation::declared(&alone)?;
    if is_list(key) && holds_creation(holder) {
        annotation::at_creation(&alone, created(object))?;
    }
    variables(object, holder, &alone)?;
    annotation::health(&alone)?;
    Ok(())
}

/// Checks, as admission does, that the pods have the environment variables that a list names. A list outside of the pod template may name none.
fn variables(
    object: &Object,
    holder: &Holder<'_>,
    alone: &Map<String, Value>,
) -> Result<(), ParseError> {
    let carried = holder.role == Role::Template || object.word() == "Pod";
    match object.template() {
        Some(pod) if carried => annotation::variables(alone, pod).map(drop),
        Some(_) => annotation::no_variables(alone),
        None => Ok(()),
    }
}

/// Whether an object's own annotations ask that its creation be held.
fn holds_creation(holder: &Holder<'_>) -> bool {
    holder.role == Role::Own && annotation::holds_creation(holder.annotations)
}

/// The facts about an object whose creation is held. A custom kind counts as namespaced: no manifest tells, and most custom kinds are.
fn created(object: &Object) -> Created {
    Created {
        has_pods: makes_pods(object),
        namespaced: !matches!(&object.kind, Some(Kind::Builtin(kind)) if !kind.namespaced),
    }
}

/// Whether these annotations stand on a Job itself, so that `sluice.dev/hold: suspend` among them can suspend it.
fn may_suspend(object: &Object, holder: &Holder<'_>) -> bool {
    object.is_job() && holder.role == Role::Own
}

/// Whether a key is one of those that count on a pod or its template: `sluice.dev/hold` and `sluice.dev/prefetch`.
fn of_pods(key: &str) -> bool {
    key == keys::HOLD || key == keys::PREFETCH
}

/// Why a valid `sluice.dev/hold` or `sluice.dev/prefetch` has no effect in this place; `None` where it has one, or where admission says so itself.
fn misplaced(object: &Object, holder: &Holder<'_>, key: &str) -> Option<String> {
    if !of_pods(key) || object.word() == "Pod" || holder.role == Role::Template {
        return None;
    }
    let suspends = key == keys::HOLD
        && may_suspend(object, holder)
        && annotation::suspends(holder.annotations) == Ok(true);
    if holds_creation(holder) {
        let idle =
            "it has no effect on an object without a list; write what its creation waits for";
        return (!has_list(object)).then(|| idle.to_owned());
    }
    if !suspends {
        // For the object itself, admission says so too.
        let copied = holder.role == Role::Copied;
        return copied.then(|| "it has no effect here; write it on the pod template".to_owned());
    }
    if object.value["spec"]["suspend"] == true {
        return Some(
            "it has no effect on a Job whose spec.suspend is true: only its user resumes that; take spec.suspend away"
                .to_owned(),
        );
    }
    let holders = object.holders();
    let mut keys = holders.iter().flat_map(|it| it.annotations.keys());
    let asks = keys.any(|key| keys::ASKING.contains(&key.as_str()));
    (!asks).then(|| "it has no effect on a Job without a list; write what it waits for".to_owned())
}

/// Whether the object itself or a template in it has an annotation with a list.
fn has_list(object: &Object) -> bool {
    let holders = object.holders();
    let mut keys = holders.iter().flat_map(|it| it.annotations.keys());
    keys.any(|key| is_list(key))
}

/// The finding for a refused key: an error, but only a warning for an unknown key, or one that has to be a label, on an object that makes no
/// pods, since admission does not look at that object.
fn refused(object: &Object, holder: &Holder<'_>, error: &ParseError) -> Finding {
    let mut finding = Finding::refused(&object.place, holder.path, error);
    let unknown = matches!(
        error.problem,
        Problem::UnknownAnnotation(_) | Problem::Label { .. }
    );
    if unknown && !makes_pods(object) {
        finding.level = Level::Warning;
    }
    finding
}

/// Whether an object is a pod or makes pods. True also for a workload without a pod template: it is a patch, and its annotations have their effect
/// on the workload that it is applied to.
fn makes_pods(object: &Object) -> bool {
    object.is_dependent() || object.is_of_workload_kind()
}

/// Why a valid key has no effect on this object, or a word in it names no namespace that could be. `None` where the key has an effect, where
/// [`misplaced`] tells that it has none, and where another program may read the key.
fn idle(object: &Object, holder: &Holder<'_>, key: &str, value: &Value) -> Option<String> {
    let of_any = OF_ANY.contains(&key);
    let waits = is_list(key) || of_pods(key) || (keys::TERMS.contains(&key) && !of_any);
    if holder.role == Role::Copied && !of_pods(key) && (waits || of_any) {
        return Some(
            "it has no effect here; write it on the CronJob or on its pod template".to_owned(),
        );
    }
    // cli-utils reads its own key on any object, and kompose writes the labels of a service onto all that comes of it.
    let for_others = key == keys::CONFIG_DEPENDS_ON || holder.annotations.contains_key(KOMPOSE);
    if waits && !makes_pods(object) && !for_others && !holds_creation(holder) {
        let kind = object.word();
        return Some(format!(
            "it has no effect on a {kind}; only workloads and pods wait, unless {}: create holds its own creation",
            keys::HOLD
        ));
    }
    if key == keys::ALLOW_DEPENDENTS_FROM && object.word() != "Namespace" {
        return Some("it has no effect here; write it on the Namespace".to_owned());
    }
    if key == keys::ALLOW_DEPENDENTS_FROM {
        let stranger = consents_to_nobody(value.as_str()?)?;
        return Some(format!(
            "no namespace is called {stranger:?}; name namespaces, with commas between them, or * for all"
        ));
    }
    None
}

/// An error for each health expression among an object's own annotations that can hold on no object of its kind.
fn never_healthy(object: &Object, holder: &Holder<'_>) -> Vec<Finding> {
    if holder.role != Role::Own {
        return Vec::new();
    }
    let (group, kind) = group_kind(&object.value);
    let expressions = annotation::health(holder.annotations).unwrap_or_default();
    let never = expressions.into_iter().filter_map(|(key, it)| {
        let why = it.never_holds(group, kind)?.to_string();
        let finding = Finding::new("NeverHolds", Level::Error, &object.place, why);
        Some(finding.at(holder.path, key))
    });
    never.collect()
}

/// The finding on HIP-0025's two readiness annotations of an object: an unreadable one is an error, one without effect a warning; `None` where
/// both are in order, or neither is there.
fn pair(object: &Object, holder: &Holder<'_>) -> Option<Finding> {
    let told = |rule, level, key: &str, message: String| {
        Some(Finding::new(rule, level, &object.place, message).at(holder.path, key))
    };
    match readiness::of(holder.annotations) {
        Err((key, problem)) => told("Grammar", Level::Error, key, problem.to_string()),
        Ok(Some(_)) => None,
        Ok(None) => {
            let (key, why) = readiness::idle(holder.annotations)?;
            told("NoEffect", Level::Warning, key, format!("it {why}"))
        }
    }
}

/// The findings on keys that stand on both the object and its pod template, where only the template's value counts. An equal value in both
/// places is no finding where a tool writes it so: kompose does with all labels of a service, and `commonAnnotations` of kustomize with the
/// keys in [`OF_ANY`].
fn twice(object: &Object, holders: &[Holder<'_>]) -> Vec<Finding> {
    let of = |role| holders.iter().find(|holder| holder.role == role);
    let (Some(own), Some(template)) = (of(Role::Own), of(Role::Template)) else {
        return Vec::new();
    };
    let read = |key: &&String| is_list(key) || keys::TERMS.contains(&key.as_str());
    let both = own
        .annotations
        .keys()
        .filter(read)
        .filter(|key| template.annotations.contains_key(*key))
        .filter(|key| {
            let by_tool = OF_ANY.contains(&key.as_str()) || own.annotations.contains_key(KOMPOSE);
            !by_tool || own.annotations.get(*key) != template.annotations.get(*key)
        });
    both.map(|key| {
        let message = format!(
            "it stands on {} too, and that one counts; keep one of them",
            template.path
        );
        Finding::new("WrittenTwice", Level::Warning, &object.place, message).at(own.path, key)
    })
    .collect()
}
