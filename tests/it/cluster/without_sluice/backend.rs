use super::one_of_each;
use harness::cluster::{Namespace, Pod, Program, alone, config_map, deployment, pod, sluice};
use serde_json::Value;
use std::env;

const KINDS: [&str; 6] = [
    "deployment",
    "statefulset",
    "daemonset",
    "job",
    "cronjob",
    "replicaset",
];

/// A list with a variable that no container of its pod has.
const MISSING_VARIABLE: &str = "- tcp: $(NOWHERE)";

/// Whether the API server can give pods their gates itself; if not, prints that the test is skipped.
pub(crate) async fn is_served() -> bool {
    let resources = ["get", "--raw", "/apis/admissionregistration.k8s.io/v1"];
    let served = Program::new("kubectl").args(resources).run().await.ok();
    let served = served.contains("mutatingadmissionpolicies");
    if !served {
        eprintln!("skipped: this Kubernetes serves no MutatingAdmissionPolicy");
    }
    served
}

/// Returns name, UID and generation of each workload: a rollout, a replacement or an edit changes one of them, and a new status does not.
async fn revisions(ns: &Namespace) -> Vec<[String; 3]> {
    let mut revisions = vec![];
    for kind in KINDS {
        for object in ns.look.list(kind, "").await {
            let field = |field: &str| object["metadata"][field].to_string();
            revisions.push(["name", "uid", "generation"].map(field));
        }
    }
    revisions
}

async fn gate_of(pod: &Pod) -> Value {
    pod.is_gated().await;
    pod.now().await["spec"]["initContainers"][0].take()
}

/// The injector may change from the webhook to policies and back while pods wait and workloads run: no workload is rolled, and no gate is lost.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn who_injects_may_change() {
    if !is_served().await {
        return;
    }
    alone("backend", async |ns| {
        let manifests = one_of_each("configmap/go");
        ns.apply(manifests.clone()).await.ok();
        let mut waiting = vec![];
        for name in ["web", "db", "agent", "seed"] {
            let pod = ns.pod_of(name).await;
            pod.waits_for("ConfigMap/go", "NotFound").await;
            waiting.push(pod);
        }
        let before = revisions(ns).await;
        let unchanged = async || {
            let said = ns.apply(manifests.clone()).await.ok();
            let changed = |line: &&str| !line.ends_with(" unchanged");
            assert_eq!(said.lines().find(changed), None);
            for args in [&[][..], &["--server-side", "--force-conflicts"]] {
                let diff = ns.pipe("diff", &manifests, args).await;
                assert_eq!(diff.code, Some(0), "{diff}");
            }
            assert_eq!(revisions(ns).await, before);
        };

        sluice::with_values(&["--set", "injection.backend=policy"], async || {
            unchanged().await;
            let lost = [deployment("lost").depends_on(MISSING_VARIABLE)];
            let refused = ns.pipe("apply", &lost, &[]).await.refused();
            assert!(refused.contains("NOWHERE"), "{refused}");
            nobody_waits_for_the_webhook(ns, &waiting[0]).await;
        })
        .await;

        unchanged().await;
        ns.apply([config_map("go")]).await.ok();
        for pod in &waiting {
            pod.starts().await;
            assert_eq!(pod.gate().await["restartCount"], 0);
        }
    })
    .await;
}

/// Checks that the API server gives pods the gate of `waiting` while no replica runs, where it finds the parameters of the policies. No program
/// checks a list then, and the gate reports its error later.
async fn nobody_waits_for_the_webhook(ns: &Namespace, waiting: &Pod) {
    let late = deployment("late").depends_on("configmap/go");
    let lost = deployment("lost").depends_on(MISSING_VARIABLE);
    sluice::restarted_after(async || {
        sluice::stop().await;
        if parameters_are_read(ns).await {
            ns.apply([late, lost]).await.ok();
            let late = ns.pod_of("late").await;
            late.is_shut().await;
            assert_eq!(gate_of(&late).await, gate_of(waiting).await);
        }
    })
    .await;
    if ns.look.find("deployment/late").await.is_some() {
        let late = ns.pod_of("late").await;
        late.waits_for("ConfigMap/go", "NotFound").await;
        let lost = ns.pod_of("lost").await;
        lost.waits_for("tcp://$(NOWHERE)", "NoVariable").await;
        let delete = [
            "delete",
            "deployment/late",
            "deployment/lost",
            "--cascade=foreground",
        ];
        ns.kubectl(delete).await.ok();
    }
}

/// Whether the API server finds the parameters of the policies; if not, prints that the test is skipped, or fails where `SLUICE_TEST_POLICY` is set.
/// An API server that was running when the last policy with parameters was deleted does not find them before its restart; `make test` leaves always
/// one.
async fn parameters_are_read(ns: &Namespace) -> bool {
    let probe = [pod("probe").depends_on("configmap/go")];
    let made = ns.pipe("create", &probe, &["--dry-run=server"]).await;
    if made.code == Some(0) {
        return true;
    }
    let refusal = made.refused();
    assert!(
        refusal.contains("sluice cannot gate this pod yet"),
        "{refusal}"
    );
    assert!(env::var_os("SLUICE_TEST_POLICY").is_none(), "{refusal}");
    eprintln!("skipped: this API server has stopped to read parameters of policies");
    false
}
