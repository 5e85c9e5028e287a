use super::source::Source;
use super::way::{Says, Way};
use harness::cluster::{LIMIT, Look, Namespace, Pod, Program, await_until, text, yaml};
use harness::gitops::{ARGO_CD, REFRESH};
use serde_json::Value;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;
use std::time::Duration;
use tokio::time::sleep;

/// The time without a write after which all writers are taken to be done.
const QUIET: Duration = Duration::from_secs(2);

/// The kinds of objects that sluice or an engine could write without need. ReplicaSets show a rollout.
const KINDS: [&str; 7] = [
    "deployment",
    "statefulset",
    "daemonset",
    "cronjob",
    "job",
    "replicaset",
    "service",
];

/// The application in a namespace of its own, deployed by an engine in one way, and the trace that was noted last.
pub(super) struct Site {
    pub(super) ns: Namespace,
    pub(super) way: Way,
    /// Reads the engine's own object, in its namespace.
    engine: Look,
    noted: Mutex<Option<Trace>>,
}

/// A trace of all writes, to compare with a later one: the engine's own record of its deeds, the UID, generation and resource version of each object
/// of [`KINDS`] by `kind/name`, and the UIDs of the pods.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Trace {
    deeds: Value,
    objects: BTreeMap<String, [String; 3]>,
    pods: Vec<String>,
}

impl Trace {
    /// Returns the UIDs of Jobs and ReplicaSets, by their names: a Job that runs again or a rollout changes them.
    fn runs(self) -> BTreeMap<String, String> {
        let runs = |name: &str| name.starts_with("job/") || name.starts_with("replicaset/");
        let objects = self.objects.into_iter().filter(|(name, _)| runs(name));
        objects.map(|(name, [uid, ..])| (name, uid)).collect()
    }
}

impl Site {
    pub(super) async fn new(root: &Namespace, way: Way) -> Self {
        let ns = root.another(way.label()).await;
        let engine = Look::at(if way.is_argo() { ARGO_CD } else { &ns.name }).await;
        let noted = Mutex::default();
        Self {
            ns,
            way,
            engine,
            noted,
        }
    }

    /// Makes the engine deploy a source: applies the engine's objects for it.
    pub(super) async fn deploy(&self, source: &Source) {
        let objects = yaml(&self.way.objects(&self.ns.name, source));
        let apply = Program::new("kubectl").args(["apply", "-f", "-"]);
        apply.input(objects).run().await.ok();
    }

    fn reference(&self) -> String {
        self.way.reference(&self.ns.name)
    }

    /// Runs `kubectl` in the namespace of the engine's own object.
    async fn kubectl(&self, args: &[&str]) {
        let namespace = if self.way.is_argo() {
            ARGO_CD
        } else {
            &self.ns.name
        };
        let program = Program::new("kubectl").args(["--namespace", namespace]);
        program.args(args).run().await.ok();
    }

    async fn own(&self) -> Value {
        self.engine
            .find(&self.reference())
            .await
            .unwrap_or_default()
    }

    /// Returns the status of the engine's own object.
    pub(super) async fn status(&self) -> Value {
        self.own().await["status"].take()
    }

    /// Makes the engine try again after a failure, as often as needed, where it does not do so by itself.
    pub(super) async fn tries_again(&self) {
        if let Some(patch) = self.way.tries_again() {
            self.engine.patch(&self.reference(), &patch).await;
        }
    }

    /// Fails where the engine needed more than its first attempt to deploy.
    pub(super) async fn has_tried_once(&self) {
        let own = self.own().await;
        assert!(!self.way.has_failed(&own), "{:#}", own["status"]);
    }

    /// Returns the present state of the application in the engine's own object.
    pub(super) async fn says(&self) -> Says {
        self.way.says(&self.own().await)
    }

    /// Waits until the application has this state in the engine's own object.
    pub(super) async fn comes_to(&self, wanted: &Says) {
        let what = format!("{} is {wanted:?}", self.reference());
        await_until(&what, LIMIT, async || match self.says().await {
            said if said == *wanted => Ok(()),
            said => Err(format!("{said:?}")),
        })
        .await;
    }

    /// Makes the engine compare the source and every object again, and waits until it has. Engines remember a comparison: by itself neither would
    /// notice that a webhook answers differently now.
    pub(super) async fn refresh(&self) {
        let token = self.ask().await;
        if self.way.is_argo() {
            self.until("has been refreshed", |own| {
                own["metadata"]["annotations"][REFRESH].is_null()
            })
            .await;
        } else {
            self.until("has been reconciled", |own| {
                own["status"]["lastHandledReconcileAt"] == token.as_str()
            })
            .await;
        }
    }

    /// Makes the engine compare everything again, and does not wait for it. Returns the token that Flux writes into its status when it has.
    pub(super) async fn ask(&self) -> String {
        let reference = self.reference();
        let token = format!("{:x}", RandomState::new().hash_one(0));
        let annotate = async |object: &str, annotation: String| {
            self.kubectl(&["annotate", "--overwrite", object, &annotation])
                .await;
        };
        if self.way.is_argo() {
            annotate(&reference, format!("{REFRESH}=hard")).await;
        } else {
            for object in [self.source_of_flux(), &reference] {
                annotate(object, format!("reconcile.fluxcd.io/requestedAt={token}")).await;
            }
        }
        token
    }

    /// Has the engine compare again and again until the object exists and `published` accepts it.
    pub(super) async fn brings(&self, reference: &str, published: impl Fn(&Value) -> bool) {
        let what = format!("{reference} of {} is as published", self.ns.name);
        await_until(&what, LIMIT, async || {
            self.refresh().await;
            match self.ns.look.find(reference).await {
                Some(object) if published(&object) => Ok(()),
                _ => Err(format!("{:?}", self.says().await)),
            }
        })
        .await;
    }

    fn source_of_flux(&self) -> &'static str {
        if self.way == Way::Kustomization {
            "gitrepository/app"
        } else {
            "helmrepository/app"
        }
    }

    /// Waits until `holds` accepts the engine's own object. `what` says that in the failure.
    pub(super) async fn until(&self, what: &str, holds: impl Fn(&Value) -> bool) {
        let what = format!("{} {what}", self.reference());
        await_until(&what, LIMIT, async || {
            let own = self.own().await;
            if holds(&own) {
                Ok(())
            } else {
                Err(format!("{own:#}"))
            }
        })
        .await;
    }

    /// Returns the trace of all writes to the site so far: where a later trace is equal, no object of [`KINDS`] was written in between, and no pod
    /// replaced.
    async fn trace(&self) -> Trace {
        let mut objects = BTreeMap::new();
        for kind in KINDS {
            for object in self.ns.look.list(kind, "").await {
                let name = format!("{kind}/{}", text(&object, "/metadata/name"));
                let fields = ["uid", "generation", "resourceVersion"];
                objects.insert(
                    name,
                    fields.map(|field| object["metadata"][field].to_string()),
                );
            }
        }
        Trace {
            deeds: self.way.deeds(&self.own().await),
            objects,
            pods: self.pods().await,
        }
    }

    /// Waits until no pod is terminating and two seconds have passed without a write, and keeps the trace for later comparisons, in place of an
    /// earlier one.
    pub(super) async fn note(&self) {
        let mut trace = self.trace().await;
        let what = format!("nobody writes in {}", self.ns.name);
        await_until(&what, LIMIT, async || {
            sleep(QUIET).await;
            // When it has ended its ReplicaSet and its Deployment are written once more.
            if let Some(pod) = self.terminating().await {
                return Err(format!("{pod} is terminating"));
            }
            let last = std::mem::replace(&mut trace, self.trace().await);
            if last == trace {
                Ok(())
            } else {
                Err(format!("{last:?} has become {trace:?}"))
            }
        })
        .await;
        *self.noted.lock().expect("nothing panics with it") = Some(trace);
    }

    fn noted(&self) -> Trace {
        let noted = self.noted.lock().expect("nothing panics with it").clone();
        noted.expect("something was noted")
    }

    /// Fails if an object of [`KINDS`] was written, a pod replaced or a deed recorded by the engine since [`Self::note`].
    pub(super) async fn is_as_noted(&self) {
        assert_eq!(self.trace().await, self.noted(), "{}", self.ns.name);
    }

    /// Fails where pods were replaced, or a Job or ReplicaSet was made or made again, since [`Self::note`].
    pub(super) async fn has_rolled_nothing(&self) {
        assert_eq!(
            self.trace().await.pods,
            self.noted().pods,
            "{}",
            self.ns.name
        );
        self.has_run_nothing_again().await;
    }

    /// Fails unless the Jobs and ReplicaSets are those of [`Self::note`], by name and UID: a Deployment that was rolled, or a Job that ran again, has
    /// another one.
    pub(super) async fn has_run_nothing_again(&self) {
        let [now, then] = [self.trace().await, self.noted()].map(Trace::runs);
        assert_eq!(now, then, "{}", self.ns.name);
    }

    async fn pods(&self) -> Vec<String> {
        let pods = self.ns.look.list("pod", "").await;
        pods.iter()
            .map(|pod| text(pod, "/metadata/uid").to_owned())
            .collect()
    }

    /// Returns the name of a pod that is being deleted; `None` where there is none.
    async fn terminating(&self) -> Option<String> {
        let pods = self.ns.look.list("pod", "").await;
        let deleted = |pod: &&Value| !text(pod, "/metadata/deletionTimestamp").is_empty();
        let pod = pods.iter().find(deleted)?;
        Some(text(pod, "/metadata/name").to_owned())
    }

    /// Deletes the pod of a workload, and returns the pod that takes its place.
    pub(super) async fn replacement(&self, workload: &str) -> Pod {
        let old = self.ns.pod_of(workload).await;
        self.ns.kubectl(["delete", "pod", &old.name]).await.ok();
        self.ns.next_pod_of(workload, &old).await
    }

    /// Deletes the engine's own object, as a user removes an application, and waits until the namespace has no pod, no Secret and no object of
    /// [`KINDS`] any more.
    pub(super) async fn remove(&self) {
        self.kubectl(&["delete", "--timeout=15m", &self.reference()])
            .await;
        let what = format!("nothing of {} is left", self.ns.name);
        await_until(&what, LIMIT, async || {
            let trace = self.trace().await;
            let secrets = self.ns.look.list("secret", "").await.len();
            if trace.objects.is_empty() && trace.pods.is_empty() && secrets == 0 {
                Ok(())
            } else {
                Err(format!("{trace:?} and {secrets} secrets"))
            }
        })
        .await;
    }

    /// Deletes the engine's own object without waiting, to remove the application after a failure. A missing one is no error.
    pub(super) async fn abandon(&self) {
        let reference = self.reference();
        let delete = ["delete", "--ignore-not-found", "--wait=false", &reference];
        self.kubectl(&delete).await;
    }
}
