//! A namespace for one test, and the actions of its user.

use super::manifest::{Manifest, yaml};
use super::object::{Look, text};
use super::pod::Pod;
use super::program::{Outcome, Program};
use super::{LIMIT, TIMEOUT, await_until};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex};

/// The pause between two reads of a workload that has to stay available, and between two writes of one that has to
/// change.
const LOOK: std::time::Duration = std::time::Duration::from_millis(200);

/// A namespace that is deleted at the end of its test.
pub struct Namespace {
    /// The name: `t-`, the prefix of the test, and a random end.
    pub name: String,
    /// Reads the objects in the namespace.
    pub look: Look,
    /// Objects outside of the namespace that are deleted with it, as references for `kubectl delete`. The namespaces that
    /// [`Namespace::another`] creates share them with the first one.
    others: Arc<Mutex<Vec<String>>>,
}

impl Namespace {
    pub(super) async fn create(prefix: &str) -> Self {
        let name = unique(prefix);
        // Every test does this, and a request takes a fraction of the processor time of `kubectl`.
        let look = Look::at(&name).await;
        let object = serde_json::json!({"kind": "Namespace", "metadata": {"name": name}});
        let (status, said) = look.try_to_create(&object).await;
        assert_eq!(status, 201, "{said}");
        // The API server refuses pods until the namespace has its service account.
        await_until("the namespace has its account", LIMIT, async || {
            let found = look.find("serviceaccount/default").await;
            found.map(|_| ()).ok_or_else(|| "none".to_owned())
        })
        .await;
        Self {
            look,
            name,
            others: Arc::default(),
        }
    }

    /// Creates a second namespace, with `prefix` in its name, which is deleted with this one.
    pub async fn another(&self, prefix: &str) -> Self {
        let another = Self::create(prefix).await;
        self.takes_along(&format!("namespace/{}", another.name));
        Self {
            others: Arc::clone(&self.others),
            ..another
        }
    }

    /// Notes an object outside of the namespace, such as `clusterrole/NAME`, that is deleted together with the namespace.
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
        for reference in &others {
            // The next test may define the kind again, so wait for the definition to go. Other objects need no wait.
            let wait = reference.starts_with("customresourcedefinition/");
            let wait = format!("--wait={wait}");
            let outcome = Program::new("kubectl")
                .args(["delete", &wait, TIMEOUT, "--ignore-not-found", reference])
                .run()
                .await;
            if outcome.code != Some(0) {
                eprintln!("{outcome}");
            }
        }
        self.look.delete(&format!("namespace/{}", self.name)).await;
    }

    /// Runs `kubectl` with these arguments in this namespace. Any exit code is a result.
    pub async fn kubectl<const N: usize>(&self, args: [&str; N]) -> Outcome {
        self.program("kubectl").args(args).run().await
    }

    /// Returns a program, not run yet, that gets `--namespace` and the name of this namespace as its first arguments.
    pub fn program(&self, program: &str) -> Program {
        Program::new(program).args(["--namespace", &self.name])
    }

    /// Runs `kubectl apply -f -` with one document for each manifest, in this order.
    pub async fn apply<const N: usize>(&self, manifests: [Manifest; N]) -> Outcome {
        self.pipe("apply", &manifests, &[]).await
    }

    /// Runs `kubectl VERB -f -` with further arguments. Its input has one document for each manifest, in this order.
    pub async fn pipe(&self, verb: &str, manifests: &[Manifest], args: &[&str]) -> Outcome {
        self.program("kubectl")
            .args([verb, "-f", "-"])
            .args(args)
            .input(yaml(manifests))
            .run()
            .await
    }

    /// Runs `kubectl replace -f -`, and returns its output. The documents carry a version, so the API server refuses them when a controller has
    /// written in between; the command is then repeated. Every other refusal fails the test.
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

    /// Sets an annotation of an object, with `kubectl annotate --overwrite`.
    pub async fn annotate(&self, reference: &str, key: &str, value: &str) {
        let annotation = format!("{key}={value}");
        self.kubectl(["annotate", "--overwrite", reference, &annotation])
            .await
            .ok();
    }

    /// Applies a merge patch to an object, with `kubectl patch`.
    pub async fn patch(&self, reference: &str, patch: &serde_json::Value) {
        let patch = patch.to_string();
        let patch = ["patch", reference, "--type=merge", "--patch", &patch];
        self.kubectl(patch).await.ok();
    }

    /// Writes the `revisionHistoryLimit` of a workload every 200 ms, which changes no pod. A gate that waits for the scope to be quiet waits on.
    /// Never returns.
    pub async fn keeps_writing(&self, reference: &str) {
        for limit in 1.. {
            let history = serde_json::json!({"spec": {"revisionHistoryLimit": limit}});
            self.look.patch(reference, &history).await;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Applies a merge patch to the status of an object, in place of a controller that the cluster lacks.
    pub async fn set_status(&self, reference: &str, status: &serde_json::Value) {
        let patch = serde_json::json!({"status": status}).to_string();
        let patch = ["patch", reference, "--type=merge", "--patch", &patch];
        let status = ["--subresource=status"];
        let program = self.program("kubectl").args(patch).args(status);
        program.run().await.ok();
    }

    /// Touches `/tmp/ready` in a pod of the workload, which [`super::Manifest::ready_when_told`] waits for. Fails where the pod does not run yet.
    pub async fn tell_ready(&self, workload: &str) {
        let touch = ["exec", workload, "--", "touch", "/tmp/ready"];
        self.kubectl(touch).await.ok();
    }

    /// Touches `/tmp/ready` as [`Namespace::tell_ready`] does, but tries again until a container of the workload runs.
    pub async fn tell_ready_once_it_runs(&self, workload: &str) {
        await_until(&format!("{workload} runs"), LIMIT, async || {
            let touched = self
                .kubectl(["exec", workload, "--", "touch", "/tmp/ready"])
                .await;
            if touched.code == Some(0) {
                Ok(())
            } else {
                Err(touched.stderr)
            }
        })
        .await;
    }

    /// Touches `/tmp/enough` in a pod of the workload, which [`super::UNTIL_ENOUGH`] waits for. The container may end
    /// while the command runs in it, and end the command too.
    pub async fn tell_enough(&self, workload: &str) {
        let touch = ["exec", workload, "-c", "app", "--", "touch", "/tmp/enough"];
        let told = self.kubectl(touch).await;
        assert!(matches!(told.code, Some(0 | 137)), "{told}");
    }

    /// Sets the list of a workload, as an annotation of the workload itself, not of its pod template.
    pub async fn now_depends_on(&self, reference: &str, list: &str) {
        self.annotate(reference, "sluice.dev/depends-on", list)
            .await;
    }

    /// Waits for a pod with the label `app=WORKLOAD` that is not being deleted, and returns it: the only one, or the first by name.
    pub async fn pod_of(&self, workload: &str) -> Pod {
        let mut pods = self.pods_of(workload, 1).await;
        pods.remove(0)
    }

    /// Waits until at least `count` pods have the label `app=WORKLOAD` and are not being deleted. Returns all of them, sorted by name.
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

    /// Waits for a pod of the workload whose UID is not that of `old`, and returns it.
    pub async fn next_pod_of(&self, workload: &str, old: &Pod) -> Pod {
        let what = format!("{workload} has another pod than {}", old.name);
        await_until(&what, LIMIT, async || {
            let mut pods = self.pods_of(workload, 1).await;
            pods.retain(|pod| pod.uid != old.uid);
            pods.pop().ok_or_else(|| "only that one".to_owned())
        })
        .await
    }

    /// Waits until the workload has `at_least` available pods, then does the work and returns its result. Reads the workload every 200 ms meanwhile,
    /// and fails when it has fewer available pods.
    ///
    /// A pod is ready some time before the status of its workload says so.
    pub async fn keeps_available<T>(
        &self,
        workload: &str,
        at_least: u64,
        work: impl Future<Output = T>,
    ) -> T {
        let is_available = |object: &serde_json::Value| {
            object["status"]["availableReplicas"].as_u64() >= Some(at_least)
        };
        self.until(workload, "has its available pods", is_available)
            .await;
        let mut work = std::pin::pin!(work);
        loop {
            let look = tokio::time::timeout(LOOK, &mut work);
            if let Ok(done) = look.await {
                return done;
            }
            let object = self.look.get(workload).await;
            assert!(is_available(&object), "{object:#}");
        }
    }

    /// Waits until the object exists and `holds` accepts it. `what` completes "until job/migrate ...".
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

/// Returns `t-`, the prefix and a random end: a name that no other run has, since two runs may use one cluster.
fn unique(prefix: &str) -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("t-{prefix}-{:06x}", random & 0x00ff_ffff)
}
