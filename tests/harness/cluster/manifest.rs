//! Objects to apply: each builder returns the smallest object that works, and a test adds the rest.

use serde_json::{Value, json};

/// A script that runs until [`super::Namespace::tell_enough`] is called.
pub const UNTIL_ENOUGH: &str = "until [ -e /tmp/enough ]; do sleep 0.2; done";

/// The port at which the kubelet asks whether an application is ready.
const PROBED: u16 = 8086;

/// An object as a user writes it.
#[derive(Debug, Clone)]
pub struct Manifest {
    object: Value,
    /// The place of the pod template, as a JSON pointer; empty for a pod, which is its own template, and for an object without one.
    template: &'static str,
}

/// Returns a pod template with the label `app: NAME` and one container `app`, which prints `started` and sleeps on. `sleep` becomes process 1 and
/// ignores SIGTERM, so one second of grace is enough.
fn template(name: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": name}},
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "containers": [{
                "name": "app",
                "image": "docker.io/library/busybox:1.35",
                "imagePullPolicy": "IfNotPresent",
                "command": ["sh", "-c", "echo started; exec sleep 100000"],
            }],
        },
    })
}

/// A pod whose application prints `started` and keeps running.
pub fn pod(name: &str) -> Manifest {
    let object = template(name);
    Manifest {
        object,
        template: "",
    }
    .named("v1", "Pod", name)
}

/// A Deployment of one pod.
pub fn deployment(name: &str) -> Manifest {
    workload("apps/v1", "Deployment", name)
}

/// A ReplicaSet of one pod.
pub fn replica_set(name: &str) -> Manifest {
    workload("apps/v1", "ReplicaSet", name)
}

/// A DaemonSet, with one pod on each node. The cluster has one node, or the test takes any of the pods.
pub fn daemon_set(name: &str) -> Manifest {
    workload("apps/v1", "DaemonSet", name)
}

/// A StatefulSet of one pod, `NAME-0`.
pub fn stateful_set(name: &str) -> Manifest {
    workload("apps/v1", "StatefulSet", name).with("/spec/serviceName", name)
}

/// A Rollout of Argo Rollouts for one pod. To apply it, only the definition has to be installed; without the controller no pod is made.
pub fn rollout(name: &str) -> Manifest {
    workload("argoproj.io/v1alpha1", "Rollout", name)
}

/// A `ReplicationController` of one pod.
pub fn replication_controller(name: &str) -> Manifest {
    workload("v1", "ReplicationController", name).with("/spec/selector", json!({"app": name}))
}

/// A Job whose pod prints `started` and completes at once; a pod that fails is not tried again.
pub fn job(name: &str) -> Manifest {
    let object = json!({"spec": {"backoffLimit": 0, "template": template(name)}});
    Manifest {
        object,
        template: "/spec/template",
    }
    .named("batch/v1", "Job", name)
    .in_pod("/spec/restartPolicy", "Never")
    .runs("true")
}

/// A CronJob whose time is 29 February, and so does not come during a test. Its Jobs would complete at once.
pub fn cron_job(name: &str) -> Manifest {
    let job = json!({"spec": {"template": template(name)}});
    let object = json!({"spec": {"schedule": "0 0 29 2 *", "jobTemplate": job}});
    Manifest {
        object,
        template: "/spec/jobTemplate/spec/template",
    }
    .named("batch/v1", "CronJob", name)
    .in_pod("/spec/restartPolicy", "Never")
    .runs("true")
}

/// A Service with port 80 in front of the pods with the label `app: NAME`, as those of the workload `name` have it.
pub fn service(name: &str) -> Manifest {
    let object = json!({"spec": {"selector": {"app": name}, "ports": [{"port": 80}]}});
    Manifest {
        object,
        template: "",
    }
    .named("v1", "Service", name)
}

/// A ConfigMap: a dependency that is satisfied as soon as it exists.
pub fn config_map(name: &str) -> Manifest {
    let object = json!({"data": {}});
    Manifest {
        object,
        template: "",
    }
    .named("v1", "ConfigMap", name)
}

/// A manifest of any object. It has no pod template: the methods for one write into the object itself.
pub fn other(object: Value) -> Manifest {
    Manifest {
        object,
        template: "",
    }
}

fn workload(api_version: &str, kind: &str, name: &str) -> Manifest {
    let selector = json!({"matchLabels": {"app": name}});
    let object = json!({"spec": {"selector": selector, "template": template(name)}});
    Manifest {
        object,
        template: "/spec/template",
    }
    .named(api_version, kind, name)
}

impl Manifest {
    fn named(self, api_version: &str, kind: &str, name: &str) -> Self {
        self.with("/apiVersion", api_version)
            .with("/kind", kind)
            .with("/metadata/name", name)
    }

    /// Returns the object as it is written.
    pub fn into_object(self) -> Value {
        self.object
    }

    /// Returns the object's `kind`.
    pub fn kind(&self) -> &str {
        super::text(&self.object, "/kind")
    }

    /// Returns the object's `metadata.name`.
    pub fn name(&self) -> &str {
        super::text(&self.object, "/metadata/name")
    }

    /// Sets one field, by its JSON pointer. Missing mappings on the way are created.
    #[must_use]
    pub fn with(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        *place(&mut self.object, pointer) = value.into();
        self
    }

    /// Sets one field of the pod template, by its JSON pointer from there.
    #[must_use]
    pub fn in_pod(self, pointer: &str, value: impl Into<Value>) -> Self {
        let pointer = format!("{}{pointer}", self.template);
        self.with(&pointer, value)
    }

    /// Sets one field of the application's container, by its JSON pointer from there.
    #[must_use]
    pub fn in_app(self, pointer: &str, value: impl Into<Value>) -> Self {
        self.in_pod(&format!("/spec/containers/0{pointer}"), value)
    }

    /// Sets an annotation of the object itself, not of its pod template.
    #[must_use]
    pub fn annotated(mut self, key: &str, value: &str) -> Self {
        place(&mut self.object, "/metadata/annotations")[key] = value.into();
        self
    }

    /// Sets an annotation of the pod template, or of the object itself where it has no template.
    #[must_use]
    pub fn template_annotated(mut self, key: &str, value: &str) -> Self {
        let pointer = format!("{}/metadata/annotations", self.template);
        place(&mut self.object, &pointer)[key] = value.into();
        self
    }

    /// Sets the list, `sluice.dev/depends-on`, as an annotation of the object itself, not of its pod template.
    #[must_use]
    pub fn depends_on(self, list: &str) -> Self {
        self.annotated("sluice.dev/depends-on", list)
    }

    /// Sets the annotation `sluice.dev/hold` of the pod template to `word`.
    #[must_use]
    pub fn held(self, word: &str) -> Self {
        self.template_annotated("sluice.dev/hold", word)
    }

    /// Sets the script that the application runs after it has printed `started`.
    #[must_use]
    pub fn runs(self, script: &str) -> Self {
        let script = format!("echo started; {script}");
        self.in_app("/command", json!(["sh", "-c", script]))
    }

    /// Makes the application print `ready` and become ready, `seconds` after its start.
    #[must_use]
    pub fn ready_after(self, seconds: u32) -> Self {
        let script = format!("sleep {seconds}; echo ready; touch /tmp/ready; exec sleep 100000");
        self.runs(&script).ready_when_told()
    }

    /// Makes the application ready while `/tmp/ready` exists. Keeps the script that [`Manifest::runs`] has set before, and lets a server
    /// of files run beside it, which answers the kubelet: for each probe by a command the node starts five processes.
    #[must_use]
    pub fn ready_when_told(self) -> Self {
        let script = format!("{}/spec/containers/0/command/2", self.template);
        let script = super::text(&self.object, &script);
        assert!(script.starts_with("echo started;"), "{script:?}");
        let script = format!("httpd -h /tmp -p {PROBED}; {script}");
        // The timeout is twenty seconds, because a busy node is slow, and the test does not measure that.
        let probe = json!({
            "httpGet": {"path": "/ready", "port": PROBED},
            "periodSeconds": 1,
            "timeoutSeconds": 20,
            "failureThreshold": 1,
        });
        self.in_app("/command/2", script)
            .in_app("/readinessProbe", probe)
    }
}

/// Returns the input of `kubectl apply -f`: one document for each manifest, in this order. JSON is YAML, but kubectl
/// 1.30 takes a stream that begins with `{` for JSON alone.
pub fn yaml(manifests: &[Manifest]) -> String {
    let documents = manifests.iter().map(|it| format!("---\n{}\n", it.object));
    documents.collect()
}

/// Returns the value that a JSON pointer names. Missing mappings on the way are created; a missing item of a list panics.
fn place<'v>(value: &'v mut Value, pointer: &str) -> &'v mut Value {
    let tokens = pointer.split('/').skip(1);
    tokens.fold(value, |value, token| match value {
        Value::Array(items) => {
            let index: usize = token.parse().expect("a place in a list is a number");
            &mut items[index]
        }
        mapping => &mut mapping[token.replace("~1", "/")],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_set_where_the_pod_template_is() {
        for manifest in [pod("x"), deployment("x"), cron_job("x"), rollout("x")] {
            let template = manifest.template;
            let manifest = manifest
                .in_app("/securityContext/runAsUser", 7)
                .template_annotated("a/b", "c");
            let user = format!("{template}/spec/containers/0/securityContext/runAsUser");
            assert_eq!(manifest.object.pointer(&user), Some(&json!(7)));
            let note = format!("{template}/metadata/annotations/a~1b");
            assert_eq!(manifest.object.pointer(&note), Some(&json!("c")));
        }
    }

    #[test]
    fn documents_keep_their_order() {
        let yaml = yaml(&[config_map("b"), config_map("a")]);
        let documents: Vec<Value> = yaml
            .split("---\n")
            .skip(1)
            .map(|document| serde_json::from_str(document).unwrap())
            .collect();
        assert_eq!(documents[0]["metadata"]["name"], "b");
        assert_eq!(documents[1]["metadata"]["name"], "a");
    }
}
