//! The ways to bring up the application in order, as the objects that a user would write for each.

use super::application::{APPLICATION, Workload, depth};
use rules::keys::{DEPENDS_ON, HOLD, SYNC_WAVE, WEIGHT};
use serde_json::{Value, json};

/// The image of every container of the application: busybox, and kubectl.
const IMAGE: &str = "localhost/bench-release:dev";
/// The port on which each stand-in serves.
pub(crate) const PORT: u16 = 8080;
/// The annotation of a pod with the number of its release: another number changes every pod template.
pub(crate) const RELEASE: &str = "example.com/release";
/// The container that stands in for the workload's program.
pub(crate) const APP: &str = "app";
/// The line that the program prints once it could connect to every workload that it needs, before its start-up time.
pub(crate) const STARTING: &str = "starting";
/// The line that the program prints when it begins to serve.
pub(crate) const SERVING: &str = "serving";

/// A way to bring up the application in order, or without order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Way {
    /// No order: a program that cannot connect to a workload that it needs ends, and the kubelet starts it again.
    Nothing,
    /// An init container tries to connect to each Service every two seconds.
    LoopsNc,
    /// An init container runs `kubectl wait` for the Deployments.
    LoopsKubectl,
    /// Hooks of Helm: a tier, then a Job that waits for it, then the next tier.
    Hooks,
    /// Sync waves of Argo CD: a tier is sent when every workload of the tier before is healthy.
    Waves,
    /// Weights of sluice: a wave for each tier.
    Weights,
    /// Lists of sluice: each Deployment names what it needs.
    Lists,
    /// Lists of sluice, in a namespace whose pods get no node while they wait.
    Holds,
}

impl Way {
    /// The ways by the names that the command line takes.
    pub(crate) const ALL: [(&str, Self); 8] = [
        ("nothing", Self::Nothing),
        ("loops-nc", Self::LoopsNc),
        ("loops-kubectl", Self::LoopsKubectl),
        ("hooks", Self::Hooks),
        ("waves", Self::Waves),
        ("weights", Self::Weights),
        ("lists", Self::Lists),
        ("holds", Self::Holds),
    ];

    /// The words for the way in the table.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing: crash, back-off",
            Self::LoopsNc => "loops: `nc`, 2 s",
            Self::LoopsKubectl => "loops: `kubectl wait`",
            Self::Hooks => "Helm hooks, a tier each",
            Self::Waves => "Argo CD sync waves, a tier each",
            Self::Weights => "sluice, by weights",
            Self::Lists => "sluice, by lists",
            Self::Holds => "sluice, by lists, pods held",
        }
    }

    /// Returns the labels of the namespace for this way: the one that holds pods, or none.
    pub(crate) fn labels(self) -> Value {
        match self {
            Self::Holds => json!({HOLD: "enabled"}),
            _ => json!({}),
        }
    }

    /// Returns the objects of one release of the application: a Deployment for each workload, and by hooks the Jobs between the tiers.
    pub(crate) fn objects(self, release: u32) -> Vec<Value> {
        let workloads = APPLICATION.iter();
        let mut objects: Vec<_> = workloads.map(|it| self.workload(it, release)).collect();
        if self == Self::Hooks {
            objects.extend((1..depth()).map(waiting_for));
        }
        objects
    }

    fn workload(self, workload: &Workload, release: u32) -> Value {
        let mut object = deployment(workload, release);
        let needed = |before: &str, between: &str| {
            let needed = workload.needs.iter().map(|it| format!("{before}{it}"));
            needed.collect::<Vec<_>>().join(between)
        };
        let of_pods = &mut object["spec"]["template"]["spec"];
        match self {
            Self::Nothing => {}
            Self::LoopsNc | Self::LoopsKubectl | Self::Lists | Self::Holds
                if workload.needs.is_empty() => {}
            Self::LoopsNc => {
                of_pods["initContainers"] = waits(&format!(
                    "for it in {}; do until nc -w 1 $it {PORT} </dev/null; do sleep 2; done; done",
                    needed("", " ")
                ));
            }
            Self::LoopsKubectl => {
                of_pods["initContainers"] = waits(&format!(
                    "until {}; do sleep 2; done",
                    kubectl_wait(&needed("deployment/", " "))
                ));
            }
            // The last tier is no hook: nothing waits for it.
            Self::Hooks if workload.tier() == depth() => {}
            Self::Hooks => object["metadata"]["annotations"] = hook(2 * workload.tier()),
            Self::Waves | Self::Weights => {
                let key = if self == Self::Waves {
                    SYNC_WAVE
                } else {
                    WEIGHT
                };
                object["metadata"]["annotations"] = json!({key: workload.tier().to_string()});
            }
            Self::Lists | Self::Holds => {
                object["metadata"]["annotations"] =
                    json!({DEPENDS_ON: needed("deployment/", ", ")});
            }
        }
        object
    }
}

/// Returns a Deployment whose program ends where it cannot connect to a workload that it needs, as the originals do, and else serves after its
/// start-up time. That time is slept, and takes no processor.
fn deployment(workload: &Workload, release: u32) -> Value {
    let Workload {
        name,
        startup,
        needs,
    } = workload;
    let script = format!(
        "for it in {}; do nc -w 1 $it {PORT} </dev/null || {{ echo cannot connect to $it; exit 1; }}; done
        echo {STARTING}; sleep {startup}; echo {SERVING}; exec httpd -f -p {PORT} -h /tmp",
        needs.join(" ")
    );
    let probe = json!({"tcpSocket": {"port": PORT}, "periodSeconds": 1});
    let mut app = container(APP, &script);
    app["readinessProbe"] = probe;
    let (labels, annotations) = (json!({"app": name}), json!({RELEASE: release.to_string()}));
    let pods = json!({"terminationGracePeriodSeconds": 1, "containers": [app]});
    let template =
        json!({"metadata": {"labels": labels, "annotations": annotations}, "spec": pods});
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": labels},
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    })
}

/// Returns the Job, a Helm hook, that waits by `kubectl wait` until the Deployments of a tier are ready, before the next tier.
fn waiting_for(tier: usize) -> Value {
    let of_tier = APPLICATION.iter().filter(|it| it.tier() == tier);
    let names: Vec<_> = of_tier
        .map(|it| format!("deployment/{}", it.name))
        .collect();
    let containers = [container("wait", &kubectl_wait(&names.join(" ")))];
    let pods = json!({"restartPolicy": "Never", "containers": containers});
    json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": format!("tier-{tier}"), "annotations": hook(2 * tier + 1)},
        "spec": {"template": {"spec": pods}},
    })
}

fn hook(weight: usize) -> Value {
    json!({"helm.sh/hook": "pre-install,pre-upgrade", "helm.sh/hook-weight": weight.to_string()})
}

fn waits(script: &str) -> Value {
    json!([container("wait", &format!("{script}; echo found"))])
}

fn kubectl_wait(objects: &str) -> String {
    format!("kubectl wait --for=condition=Available --timeout=5m {objects}")
}

fn container(name: &str, script: &str) -> Value {
    json!({"name": name, "image": IMAGE, "command": ["sh", "-c", script]})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_has_the_same_workloads() {
        let nothing = Way::Nothing.objects(7);
        assert_eq!(nothing.len(), APPLICATION.len());
        for (name, way) in Way::ALL {
            let mut objects = way.objects(7);
            objects.retain(|it| it["kind"] == "Deployment");
            for object in &mut objects {
                let fields = object["metadata"].as_object_mut().unwrap();
                fields.remove("annotations");
                let of_pods = &mut object["spec"]["template"]["spec"];
                of_pods.as_object_mut().unwrap().remove("initContainers");
            }
            assert_eq!(objects, nothing, "{name}");
        }
    }

    #[test]
    fn another_release_changes_every_pod_template() {
        for (before, after) in Way::Lists.objects(1).iter().zip(Way::Lists.objects(2)) {
            assert_ne!(before["spec"]["template"], after["spec"]["template"]);
        }
    }

    #[test]
    fn each_way_orders_all_but_the_first_tier() {
        let dependents = APPLICATION.iter().filter(|it| it.tier() > 1).count();
        let with = |way: Way, pointer: &str| {
            let objects = way.objects(1);
            objects
                .iter()
                .filter(|it| it.pointer(pointer).is_some())
                .count()
        };
        let init = "/spec/template/spec/initContainers";
        assert_eq!(with(Way::LoopsNc, init), dependents);
        assert_eq!(with(Way::LoopsKubectl, init), dependents);
        assert_eq!(
            with(Way::Lists, "/metadata/annotations/sluice.dev~1depends-on"),
            dependents
        );
        assert_eq!(
            with(Way::Weights, "/metadata/annotations/sluice.dev~1weight"),
            30
        );
        assert_eq!(
            with(
                Way::Waves,
                "/metadata/annotations/argocd.argoproj.io~1sync-wave"
            ),
            30
        );
        // All Deployments but that of the last tier, and a Job behind each tier but the last.
        assert_eq!(
            with(Way::Hooks, "/metadata/annotations/helm.sh~1hook-weight"),
            29 + 5
        );
    }

    #[test]
    fn a_workload_is_in_a_later_wave_than_those_that_it_needs() {
        let objects = Way::Waves.objects(1);
        let waves: Vec<u32> = objects
            .iter()
            .map(|it| it["metadata"]["annotations"][SYNC_WAVE].as_str().unwrap())
            .map(|wave| wave.parse().unwrap())
            .collect();
        for (workload, wave) in APPLICATION.iter().zip(&waves) {
            assert_eq!(*wave, u32::try_from(workload.tier()).unwrap());
            for needed in workload.needed() {
                let place = APPLICATION.iter().position(|it| it == needed).unwrap();
                assert!(waves[place] < *wave, "{}", workload.name);
            }
        }
    }

    #[test]
    fn no_object_is_a_template_of_helm() {
        for (_, way) in Way::ALL {
            assert!(
                way.objects(1)
                    .iter()
                    .all(|it| !it.to_string().contains("{{"))
            );
        }
    }
}
