//! The controller's account in a real API server, with the rights of its role and one policy of the chart, to try what the two allow together. The
//! account is that of an installed sluice, which need not be there.

use serde_json::{Value, json};
use std::thread::sleep;
use std::time::Duration;

use super::cluster::kubectl;
use super::helm::{Render, helm};

const ACCOUNT: &str = "--as=system:serviceaccount:sluice-system:sluice";

/// The end of every refusal by a policy for holds.
pub(super) const OURS: &str = "change nothing else of it";

const KINDS: [&str; 4] = [
    "ClusterRoleBinding",
    "ClusterRole",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
];

/// An account in a namespace of its own. Its role and its policy have the name of the namespace, and all of it is deleted when this is dropped.
pub(super) struct Account {
    pub(super) namespace: &'static str,
}

impl Account {
    /// Creates the account, with the role that the chart renders with these flags and its policy of this name; `None` without Helm.
    pub(super) fn under(policy: &str, flags: &[&str], namespace: &'static str) -> Option<Self> {
        let manifest = Render::new(&helm()?).flags(flags).manifest();
        let named = |kind: &str, name: &str| {
            let mut all = manifest.all(kind).into_iter();
            let mut found = all.find(|it| it["metadata"]["name"] == name).expect(name);
            found["metadata"]["name"] = json!(namespace);
            for pointer in ["/roleRef/name", "/spec/policyName"] {
                if let Some(name) = found.pointer_mut(pointer) {
                    *name = json!(namespace);
                }
            }
            found
        };
        let account = Self { namespace };
        for object in [
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
            named("ValidatingAdmissionPolicy", policy),
            named("ValidatingAdmissionPolicyBinding", policy),
            named("ClusterRole", "sluice"),
            named("ClusterRoleBinding", "sluice"),
        ] {
            kubectl(&["apply", "-f", "-"], &object).expect("the API server accepts it");
        }
        Some(account)
    }

    /// Applies a patch to an object, such as `pod/p`, as the account. Returns the object after it, or the refusal.
    pub(super) fn patched(
        &self,
        object: &str,
        kind: &str,
        patch: &Value,
        dry: bool,
    ) -> Result<String, String> {
        let (kind, patch) = (format!("--type={kind}"), patch.to_string());
        let mut args = vec![
            "-n",
            self.namespace,
            "patch",
            object,
            ACCOUNT,
            &kind,
            "-p",
            &patch,
        ];
        args.extend(dry.then_some("--dry-run=server"));
        kubectl(&args, &Value::Null)
    }

    /// Waits until the policy is in force, which the API server reads with a delay: until it refuses the account a new label on this object.
    pub(super) fn is_limited(&self, object: &str) {
        let in_force = |_: &usize| {
            sleep(Duration::from_millis(100));
            let label = json!({"metadata": {"labels": {"app": "other"}}});
            let told = self.patched(object, "merge", &label, true);
            told.is_err_and(|complaint| complaint.contains(OURS))
        };
        assert!((0..100).find(in_force).is_some(), "the policy is in force");
    }

    /// Tries each change of the object, a kind of patch and its content, as the account, and fails where one is made. Returns how many the policy
    /// refuses. The API server refuses some of them for every account, with one of the texts in `nobody`.
    pub(super) fn tries<'c>(
        &self,
        object: &str,
        changes: impl IntoIterator<Item = (&'c str, Value)>,
        nobody: &[&str],
    ) -> usize {
        let mut by_us = 0;
        for (kind, change) in changes {
            let complaint = self.patched(object, kind, &change, true);
            let complaint = complaint.expect_err(&change.to_string());
            let ours = complaint.contains(OURS);
            let by_others = nobody.iter().any(|word| complaint.contains(word));
            assert!(ours || by_others, "{change}: {complaint}");
            by_us += usize::from(ours);
        }
        by_us
    }

    /// Returns the value of a field of an object by kubectl's JSONPath, or kubectl's complaint.
    pub(super) fn says(&self, object: &str, field: &str) -> Result<String, String> {
        let path = format!("jsonpath={{{field}}}");
        let get = ["-n", self.namespace, "get", object, "-o", &path];
        kubectl(&get, &Value::Null)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        for kind in KINDS {
            let delete = ["delete", "--ignore-not-found", kind, self.namespace];
            let _ = kubectl(&delete, &Value::Null);
        }
        let delete = ["delete", "--wait=false", "namespace", self.namespace];
        let _ = kubectl(&delete, &Value::Null);
    }
}
