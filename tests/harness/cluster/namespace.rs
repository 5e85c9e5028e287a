//! A namespace for one test, and what a user does in it.

use super::manifest::{Manifest, yaml};
use super::object::{Look, text};
use super::pod::Pod;
use super::program::{Outcome, Program};
use super::{LIMIT, await_until};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Mutex;

/// How often a workload is looked at that has to stay available, and written that has to change.
const LOOK: std::time::Duration = std::time::Duration::from_millis(200);

/// A namespace, gone when its test is.
pub struct Namespace {
    /// Its name: `t-`, what the test is about, and a random end.
    pub name: String,
    /// What is in it.
    pub look: Look,
    /// What else goes with it, as `kubectl delete` takes it.
    others: Mutex<Vec<String>>,
}

impl Namespace {
    pub(super) async fn create(prefix: &str) -> Self {
        let name = unique(prefix);
        Program::new("kubectl")
            .args(["create", "namespace", &name])
            .run()
            .await
            .ok();
        let namespace = Self {
            look: Look::at(&name).await,
            name,
            others: Mutex::default(),
        };
        // A pod is refused until its account is there.
        await_until("the namespace has its account", LIMIT, async || {
            let found = namespace
                .kubectl(["get", "serviceaccount", "default"])
                .await;
            if found.code == Some(0) {
                Ok(())
            } else {
                Err(found.stderr)
            }
        })
        .await;
        namespace
    }

    /// A second namespace, which goes when this one does.
    pub async fn another(&self, prefix: &str) -> Self {
        let another = Self::create(prefix).await;
        self.takes_along(&format!("namespace/{}", another.name));
        another
    }

    /// Has something deleted with the namespace, such as `clusterrole/NAME`.
    pub fn takes_along(&self, reference: &str) {
        let mut others = self.others.lock().expect("nothing panics with it");
        others.push(reference.to_owned());
    }

    pub(super) async fn delete(&self) {
        if std::env::var_os("SLUICE_KEEP_NAMESPACES").is_some() {
            eprintln!("kept: namespace {}", self.name);
            return;
        }
        let others = std::mem::take(&mut *self.others.lock().expect("nothing panics with it"));
        let own = format!("namespace/{}", self.name);
        for reference in others.iter().chain([&own]) {
            // The next test may define the kind again; nothing else is worth waiting for.
            let wait = reference.starts_with("customresourcedefinition/");
            let wait = format!("--wait={wait}");
            let outcome = Program::new("kubectl")
                .args([
                    "delete",
                    &wait,
                    "--timeout=60s",
                    "--ignore-not-found",
                    reference,
                ])
                .run()
                .await;
            if outcome.code != Some(0) {
                eprintln!("{outcome}");
            }
        }
    }

    /// `kubectl` in this namespace.
    pub async fn kubectl<const N: usize>(&self, args: [&str; N]) -> Outcome {
        self.program("kubectl").args(args).run().await
    }

    /// A program with `--namespace` and this one's name.
    pub fn program(&self, program: &str) -> Program {
        Program::new(program).args(["--namespace", &self.name])
    }

    /// `kubectl apply -f -`: one document for each manifest, in this order.
    pub async fn apply<const N: usize>(&self, manifests: [Manifest; N]) -> Outcome {
        self.pipe("apply", &manifests, &[]).await
    }

    /// `kubectl VERB -f -` with more arguments.
    pub async fn pipe(&self, verb: &str, manifests: &[Manifest], args: &[&str]) -> Outcome {
        self.program("kubectl")
            .args([verb, "-f", "-"])
            .args(args)
            .input(yaml(manifests))
            .run()
            .await
    }

    /// `kubectl replace -f -`, which reads an object and writes it under the version that it had: tried again, as the API
    /// server asks, where a controller has written between the two. Returns what it printed.
    pub async fn replace(&self, documents: &str) -> String {
        let replaced = async || {
            let replace = self.program("kubectl").args(["replace", "-f", "-"]);
            let outcome = replace.input(documents.to_owned()).run().await;
            if outcome.code != Some(0) && outcome.stderr.contains("(Conflict)") {
                return Err(outcome.stderr);
            }
            Ok(outcome.ok())
        };
        await_until("nobody writes in between", LIMIT, replaced).await
    }

    /// Writes an annotation over: `kubectl annotate --overwrite`.
    pub async fn annotate(&self, reference: &str, key: &str, value: &str) {
        let annotation = format!("{key}={value}");
        self.kubectl(["annotate", "--overwrite", reference, &annotation])
            .await
            .ok();
    }

    /// Makes one change by `kubectl patch`: a merge patch.
    pub async fn patch(&self, reference: &str, patch: &serde_json::Value) {
        let patch = patch.to_string();
        let patch = ["patch", reference, "--type=merge", "--patch", &patch];
        self.kubectl(patch).await.ok();
    }

    /// Writes the spec of a workload again and again, which makes no pod of it anew: whoever waits for the scope to be
    /// quiet waits on. Never ends.
    pub async fn keeps_writing(&self, reference: &str) {
        for limit in 1.. {
            let history = serde_json::json!({"spec": {"revisionHistoryLimit": limit}});
            self.look.patch(reference, &history).await;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// What a controller does that this cluster has not: merges into the status of an object.
    pub async fn set_status(&self, reference: &str, status: &serde_json::Value) {
        let patch = serde_json::json!({"status": status}).to_string();
        let patch = ["patch", reference, "--type=merge", "--patch", &patch];
        let status = ["--subresource=status"];
        let program = self.program("kubectl").args(patch).args(status);
        program.run().await.ok();
    }

    /// `kubectl exec WORKLOAD -- touch /tmp/ready`: what [`super::Manifest::ready_when_told`] waits for.
    pub async fn tell_ready(&self, workload: &str) {
        let touch = ["exec", workload, "--", "touch", "/tmp/ready"];
        self.kubectl(touch).await.ok();
    }

    /// `kubectl exec WORKLOAD -- touch /tmp/enough`: what [`super::UNTIL_ENOUGH`] waits for. The container ends while this still
    /// runs in it, and may end it, too.
    pub async fn tell_enough(&self, workload: &str) {
        let touch = ["exec", workload, "-c", "app", "--", "touch", "/tmp/enough"];
        let told = self.kubectl(touch).await;
        assert!(matches!(told.code, Some(0 | 137)), "{told}");
    }

    /// Edits the list of a workload.
    pub async fn now_depends_on(&self, reference: &str, list: &str) {
        self.annotate(reference, "sluice.dev/depends-on", list)
            .await;
    }

    /// The pod of a workload, as soon as it is there: the only one, or the first by name.
    pub async fn pod_of(&self, workload: &str) -> Pod {
        let mut pods = self.pods_of(workload, 1).await;
        pods.remove(0)
    }

    /// The pods of a workload, as soon as there are so many.
    pub async fn pods_of(&self, workload: &str, count: usize) -> Vec<Pod> {
        let selector = format!("app={workload}");
        let what = format!("{workload} has {count} pods");
        await_until(&what, LIMIT, async || {
            let pods = self.look.list("pod", &selector).await;
            let alive = |pod: &&_| text(pod, "/metadata/deletionTimestamp").is_empty();
            let pods: Vec<_> = pods
                .iter()
                .filter(alive)
                .map(|object| Pod::new(&self.look, object))
                .collect();
            if pods.len() >= count {
                Ok(pods)
            } else {
                Err(format!("{} pods", pods.len()))
            }
        })
        .await
    }

    /// The pod of a workload that takes the place of `old`, or stands beside it, as soon as it is there.
    pub async fn next_pod_of(&self, workload: &str, old: &Pod) -> Pod {
        let what = format!("{workload} has another pod than {}", old.name);
        await_until(&what, LIMIT, async || {
            let mut pods = self.pods_of(workload, 1).await;
            pods.retain(|pod| pod.uid != old.uid);
            pods.pop().ok_or_else(|| "only that one".to_owned())
        })
        .await
    }

    /// Does the work, and fails where meanwhile a workload has fewer available pods than so many.
    pub async fn keeps_available<T>(
        &self,
        workload: &str,
        at_least: u64,
        work: impl Future<Output = T>,
    ) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            let look = tokio::time::timeout(LOOK, &mut work);
            if let Ok(done) = look.await {
                return done;
            }
            let object = self.look.get(workload).await;
            let available = object["status"]["availableReplicas"].as_u64();
            assert!(available >= Some(at_least), "{object:#}");
        }
    }

    /// Waits until an object is as `holds` wants it. `what` completes "until job/migrate ...".
    pub async fn until(
        &self,
        reference: &str,
        what: &str,
        holds: impl Fn(&serde_json::Value) -> bool,
    ) {
        await_until(&format!("{reference} {what}"), LIMIT, async || {
            match self.look.find(reference).await {
                Some(object) if holds(&object) => Ok(()),
                Some(object) => Err(format!("{:#}", object["status"])),
                None => Err("it is not there".to_owned()),
            }
        })
        .await;
    }
}

/// A name that no other run has: two of them may use one cluster.
fn unique(prefix: &str) -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("t-{prefix}-{:06x}", random & 0x00ff_ffff)
}
