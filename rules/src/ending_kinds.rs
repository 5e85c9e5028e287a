//! The custom kinds whose objects come to an end, as a Job does. Where the health rule for such a kind calls an object current, it has completed;
//! where the rule calls it failed, it has failed for good.

use crate::kinds::Kind;

/// A kind whose objects come to an end.
#[derive(Debug, PartialEq, Eq)]
pub struct Ending {
    /// The API group of the kind.
    pub group: &'static str,
    /// The name of the kind: `JobSet`.
    pub kind: &'static str,
}

const fn ending(group: &'static str, kind: &'static str) -> Ending {
    Ending { group, kind }
}

/// The kinds whose objects come to an end. Each has a rule in the library of health rules that knows completion and failure. A scheduled backup
/// never ends, so it is not here, and neither is a kind that goes on after it is ready.
const ENDINGS: [Ending; 30] = [
    ending("argoproj.io", "AnalysisRun"),
    ending("argoproj.io", "Experiment"),
    ending("argoproj.io", "Workflow"),
    ending("batch.volcano.sh", "Job"),
    ending("flink.apache.org", "FlinkStateSnapshot"),
    ending("flow.volcano.sh", "JobFlow"),
    ending("jobset.x-k8s.io", "JobSet"),
    ending("k8s.mariadb.com", "Restore"),
    ending("kargo.akuity.io", "Promotion"),
    ending("kubeflow.org", "JAXJob"),
    ending("kubeflow.org", "MPIJob"),
    ending("kubeflow.org", "PaddleJob"),
    ending("kubeflow.org", "PyTorchJob"),
    ending("kubeflow.org", "TFJob"),
    ending("kubeflow.org", "Trial"),
    ending("kubeflow.org", "XGBoostJob"),
    ending("kubernetes.dask.org", "DaskJob"),
    ending("postgresql.cnpg.io", "Backup"),
    ending("postgresql.k8s.enterprisedb.io", "Backup"),
    ending("ray.io", "RayJob"),
    ending("shipwright.io", "BuildRun"),
    ending("tekton.dev", "CustomRun"),
    ending("tekton.dev", "PipelineRun"),
    ending("tekton.dev", "Run"),
    ending("tekton.dev", "TaskRun"),
    ending("trainer.kubeflow.org", "TrainJob"),
    ending("velero.io", "Backup"),
    ending("velero.io", "PodVolumeRestore"),
    ending("velero.io", "Restore"),
    ending("vjailbreak.k8s.pf9.io", "Migration"),
];

/// All kinds whose objects come to an end.
pub fn all() -> &'static [Ending] {
    &ENDINGS
}

/// The ending kind with exactly this group and this name, as an object has them; `None` for a kind whose objects do not come to an end.
pub fn named(group: &str, kind: &str) -> Option<&'static Ending> {
    ENDINGS
        .iter()
        .find(|it| it.group == group && it.kind == kind)
}

/// The ending kind that a reference names by its singular or plural, in any letter case; `None` for a kind whose objects do not come to an end.
pub fn of(kind: &Kind) -> Option<&'static Ending> {
    let Kind::Custom { group, word } = kind else {
        return None;
    };
    let singular = word.strip_suffix(['s', 'S']).unwrap_or(word);
    let is_spelled = |it: &&Ending| {
        it.group == group
            && [word, singular]
                .iter()
                .any(|word| it.kind.eq_ignore_ascii_case(word))
    };
    ENDINGS.iter().find(is_spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_spelling_of_a_kind_is_known() {
        let of = |word: &str, group: &str| {
            of(&Kind::Custom {
                group: group.to_owned(),
                word: word.to_owned(),
            })
            .map(|it| it.kind)
        };
        for word in ["JobSet", "jobset", "jobsets", "JobSets"] {
            assert_eq!(of(word, "jobset.x-k8s.io"), Some("JobSet"), "{word}");
        }
        assert_eq!(of("jobset", "example.com"), None);
        assert_eq!(of("rollout", "argoproj.io"), None);
        assert_eq!(named("tekton.dev", "taskrun"), None);
        assert!(named("tekton.dev", "TaskRun").is_some());
    }
}
