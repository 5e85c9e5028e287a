//! The names in the source of the rules: fields, and keys of annotations.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Words in the source of the rules that look like fields and are no field of a built-in kind.
pub(super) const NO_FIELDS: [&str; 50] = [
    // States, statuses and other words of ours.
    "current",
    "enabled",
    "everyPod",
    "sameNode",
    "failure",
    "false",
    "group",
    "lowercase",
    "nodeRules",
    "pods",
    "release",
    "skip",
    "sluice",
    "subchart",
    "timeout",
    "updated",
    // Fields of a pod that admission reads, of the request.
    "image",
    "imagePullPolicy",
    "reference",
    "volumes",
    // A label of Helm's own records, and its value: all labels are kept.
    "helm",
    "owner",
    // API groups, and suffixes of quantities.
    "apps",
    "batch",
    "extensions",
    "k",
    "m",
    "n",
    "policy",
    "u",
    // Values.
    "string",
    "test",
    "true",
    "unknown",
    // Words of a JSON patch.
    "op",
    "path",
    "remove",
    "replace",
    // Fields of custom resources.
    "addresses",
    "comparedTo",
    "health",
    "operation",
    "operationState",
    "source",
    "sourceHydrator",
    "sources",
    "sync",
    "value",
    "valuesObject",
    "workloadRef",
];

/// Keys in the source of the rules that are labels. Trimming keeps every label.
pub(super) const LABELS: [&str; 14] = [
    "app.kubernetes.io/instance",
    "app.kubernetes.io/name",
    "app.kubernetes.io/part-of",
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
    "helm.sh/chart",
    "helm.toolkit.fluxcd.io/name",
    "helm.toolkit.fluxcd.io/namespace",
    "kubernetes.io/service-name",
    "kueue.x-k8s.io/job-uid",
    "kueue.x-k8s.io/queue-name",
    "kustomize.toolkit.fluxcd.io/name",
    "kustomize.toolkit.fluxcd.io/namespace",
    "statefulset.kubernetes.io/pod-name",
];

/// Modules of the rules that read only fields that trimming never removes: of custom resources, and of texts that are no objects.
const OTHERS: [&str; 23] = [
    // These modules read applied objects, which are there whole.
    "advice/limits",
    "advice/spelling",
    "gate/parts",
    "annotation",
    // Reads pods that are listed for it, whole. The kept form of a pod that an edge names may hold fewer fields.
    "cause",
    "comparison",
    "expression",
    "health",
    "jsonpath",
    "judged",
    "kept",
    "kinds",
    "kstatus/go",
    "profile/custom",
    "readiness",
    // Looks at one ClusterRole, which is read whole.
    "rights",
    "selector",
    "suggest",
    "terms",
    // Reads the pod of a request, which is there whole.
    "variables",
    // These modules read the manifests of `lint`, which are there whole.
    "fit",
    "rollout",
    "uses",
];

/// The texts in the source of the rules about built-in kinds, tests and comments apart.
fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open = vec![root.clone()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let module = path.strip_prefix(&root).unwrap().with_extension("");
            let test = ["tests", "arbitrary", "model"];
            if OTHERS.iter().any(|other| module.starts_with(other))
                || test.iter().any(|test| module.ends_with(test))
            {
                continue;
            }
            if path.is_dir() {
                open.push(path);
                continue;
            }
            let source = fs::read_to_string(&path).unwrap();
            let code = source.split("#[cfg(test)]").next().unwrap();
            for line in code
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
            {
                found.extend(line.split('"').skip(1).step_by(2).map(str::to_owned));
            }
        }
    }
    found
}

/// Every text that may be the name of a field.
pub(super) fn fields() -> BTreeSet<String> {
    let is_field = |word: &&str| {
        word.starts_with(|it: char| it.is_ascii_lowercase())
            && word.bytes().all(|it| it.is_ascii_alphabetic())
    };
    let texts = texts();
    let words = texts.iter().flat_map(|text| match text.strip_prefix('/') {
        Some(pointer) => pointer.split('/').collect(),
        None => vec![text.as_str()],
    });
    words.filter(is_field).map(str::to_owned).collect()
}

/// Every text that may be the key of an annotation.
pub(super) fn keys() -> BTreeSet<String> {
    let is_key = |text: &String| {
        let plain = |it: char| it.is_ascii_alphanumeric() || ".-/".contains(it);
        let (domain, name) = text.split_once('/').unwrap_or_default();
        domain.contains('.') && !name.is_empty() && text.chars().all(plain)
    };
    texts().into_iter().filter(is_key).collect()
}
