//! Follows the custom kinds that sluice may read: those that a ClusterRole names. Kubernetes aggregates the ClusterRole from all
//! ClusterRoles with our label, so a chart or an administrator grants a kind by one ClusterRole alone.

use super::one_object::{self, Notice};
use crate::known::Known;
use futures::{Stream, StreamExt};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::Client;
use kube::api::Api;
use rules::ending_kinds;
use rules::rights::Rights;
use serde_json::{Value, json};
use std::pin::pin;
use std::sync::Arc;
use tracing::{info, warn};

/// Follows the ClusterRole of this name for as long as the process runs. Notes the custom kinds that it grants in `known`, and asks for watches
/// of those that come to an end as Jobs do. A ClusterRole that is missing or cannot be read changes nothing.
pub(crate) async fn keep(client: Client, name: String, known: Arc<Known>) {
    let changes = one_object::follow(Api::all(client), name.clone());
    learn(changes, &name, &known).await;
}

async fn learn(changes: impl Stream<Item = Notice<ClusterRole>>, name: &str, known: &Known) {
    let mut changes = pin!(changes);
    while let Some(news) = changes.next().await {
        match news {
            Notice::Read(role) | Notice::Written(role) => {
                let kinds: Vec<_> = Rights::of([&rules_of(&role)]).custom().collect();
                info!(count = kinds.len(), "Custom kinds to read");
                // Such kinds are watched from the beginning, as Jobs are: an object may complete and be removed before the first
                // gate asks for it.
                let ending = kinds.iter().filter(|kind| ending_kinds::of(kind).is_some());
                let ending: Vec<_> = ending.cloned().collect();
                known.grant(kinds);
                for kind in &ending {
                    known.want(kind);
                }
            }
            // The kinds that were read before stay granted. Before the first reading the kinds are unknown.
            Notice::Absent => {
                warn!(
                    name,
                    "The ClusterRole that names custom kinds is missing; upgrade the release"
                );
            }
            Notice::Refused | Notice::Sign => {}
        }
    }
}

/// The rules of a ClusterRole as JSON, in the form that `rules::rights` reads.
fn rules_of(role: &ClusterRole) -> Value {
    json!({"rules": role.rules})
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Settings;
    use futures::stream;

    fn role(rules: &Value) -> Box<ClusterRole> {
        Box::new(serde_json::from_value(json!({"rules": rules})).expect("a role"))
    }

    async fn after(changes: Vec<Notice<ClusterRole>>) -> Option<Vec<String>> {
        let (known, _) = Known::new(Settings {
            reads_by_role: true,
            ..Settings::of_the_chart()
        });
        learn(stream::iter(changes), "sluice-watch", &known).await;
        let kinds = known.granted().kinds()?;
        Some(kinds.iter().map(ToString::to_string).collect())
    }

    /// An object of such a kind may complete and be removed before a list names the kind.
    #[tokio::test]
    async fn what_ends_as_a_job_does_is_watched_from_the_beginning() {
        let (known, _) = Known::new(Settings::of_the_chart());
        let rules = json!([
            {"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": ["get", "list", "watch"]},
            {"apiGroups": ["jobset.x-k8s.io"], "resources": ["jobsets"], "verbs": ["get", "list", "watch"]},
        ]);
        learn(
            stream::iter([Notice::Read(role(&rules))]),
            "sluice-watch",
            &known,
        )
        .await;
        let watched: Vec<_> = known
            .stores()
            .into_iter()
            .map(|(kind, _)| kind.to_string())
            .collect();
        assert_eq!(watched, ["jobsets.jobset.x-k8s.io"]);
    }

    #[tokio::test]
    async fn what_the_role_says_counts_until_it_says_something_else() {
        let verbs = ["get", "list", "watch"];
        let widgets =
            json!([{"apiGroups": ["example.com"], "resources": ["widgets"], "verbs": verbs}]);
        let widgets = || role(&widgets);
        let named = Some(vec!["widgets.example.com".to_owned()]);
        assert_eq!(after(vec![Notice::Absent, Notice::Refused]).await, None);
        assert_eq!(after(vec![Notice::Read(widgets())]).await, named);
        let gone = [Notice::Read(widgets()), Notice::Sign, Notice::Absent];
        assert_eq!(after(gone.into()).await, named);
        let emptied = [Notice::Read(widgets()), Notice::Written(role(&Value::Null))];
        assert_eq!(after(emptied.into()).await, Some(Vec::new()));
    }
}
