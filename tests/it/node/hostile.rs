//! Tests of a client on the pod network that is no gate: the little that it learns from either port, with every token that it could have.

use harness::cluster::{Namespace, Node, Program, alone, config_map, deployment, job, pod, sluice};
use serde_json::json;

/// Sends a request by curl, with these further arguments, to a port of the first replica, without a check of the certificate. Returns the HTTP status
/// and the body.
async fn ask(port: u16, path: &str, arguments: &[&str]) -> (String, String) {
    let address = sluice::addresses().await[0];
    let url = format!("https://{address}:{port}{path}");
    let curl = Program::new("curl").args(["-ks", "--max-time", "10", "-w", "\n%{http_code}"]);
    let answer = curl.args(arguments).args([url.as_str()]).run().await.ok();
    let (body, status) = answer.rsplit_once('\n').expect("curl writes the status");
    (status.to_owned(), body.to_owned())
}

/// Asks the status service with this token. Returns the HTTP status and the body.
async fn with_token(token: &str) -> (String, String) {
    let bearer = format!("authorization: Bearer {}", token.trim());
    ask(9764, wire::PATH, &["-H", &bearer]).await
}

/// Returns a token of the namespace's account `default` for an audience, or the API server's own, bound to a pod or to none.
async fn token(ns: &Namespace, audience: Option<&str>, of: Option<(&str, &str)>) -> String {
    let audience = audience.map(|it| format!("--audience={it}"));
    let bound = of.map(|(name, uid)| {
        let kind = "--bound-object-kind=Pod".to_owned();
        let uid = format!("--bound-object-uid={uid}");
        [kind, format!("--bound-object-name={name}"), uid]
    });
    let kubectl = ns.program("kubectl").args(["create", "token", "default"]);
    let kubectl = kubectl.args(audience).args(bound.into_iter().flatten());
    kubectl.run().await.ok()
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_token_that_is_no_gates_own_is_refused_and_told_nothing() {
    if Node::ours().await.is_none() {
        return;
    }
    alone("tokens", async |ns| {
        ns.apply([
            pod("api").depends_on("configmap/hush"),
            pod("other").depends_on("configmap/other"),
            pod("gone").depends_on("configmap/hush"),
        ])
        .await
        .ok();
        let (api, other) = (ns.pod_of("api").await, ns.pod_of("other").await);
        let gone = ns.pod_of("gone").await;
        let of_gone = token(ns, Some("sluice"), Some(("gone", &gone.uid))).await;
        gone.waits_for("ConfigMap/hush", "NotFound").await;
        ns.kubectl(["delete", "pod/gone", "--now"]).await.ok();

        let of_api = Some(("api", api.uid.as_str()));
        let refused = [
            ("for the API server", token(ns, None, of_api).await),
            ("for somebody else", token(ns, Some("vault"), of_api).await),
            ("of no pod", token(ns, Some("sluice"), None).await),
            ("of a pod that is deleted", of_gone),
            ("no token", "x".repeat(900)),
        ];
        for (which, token) in refused {
            let (status, body) = with_token(&token).await;
            assert!(
                ["401", "403"].contains(&status.as_str()),
                "{which}: {status} {body}"
            );
            assert!(
                !body.contains("hush") && !body.contains("api"),
                "{which}: {body}"
            );
        }
        let (status, body) = with_token(&token(ns, Some("sluice"), of_api).await).await;
        assert!(status == "200" && body.contains("hush"), "{status} {body}");
        let of_other = Some(("other", other.uid.as_str()));
        let (status, body) = with_token(&token(ns, Some("sluice"), of_other).await).await;
        assert!(
            status == "200" && !body.contains("hush"),
            "its own list alone: {body}"
        );
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_port_of_admission_tells_a_stranger_of_nothing() {
    if Node::ours().await.is_none() {
        return;
    }
    alone("stranger", async |ns| {
        ns.apply([job("there"), config_map("there"), deployment("there")])
            .await
            .ok();
        let review = |name: &str| {
            let list = format!("job/{name}, configmap/{name}, deployment/{name}");
            let pod = json!({
                "apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "p", "namespace": ns.name, "annotations": {
                    "sluice.dev/depends-on": list, "helm.sh/hook": "pre-install",
                }},
                "spec": {"containers": [{"name": "app", "image": "i"}]},
            });
            let review = json!({
                "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                "request": {
                    "uid": "7", "operation": "CREATE", "namespace": ns.name, "object": pod,
                    "kind": {"group": "", "version": "v1", "kind": "Pod"},
                },
            });
            review.to_string()
        };
        // Names of one length, so that only what is said of them can differ.
        let [there, absent] = ["there", "gones"].map(review);
        let json = "content-type: application/json";
        let (status, of_there) = ask(10250, "/admit/pods", &["-H", json, "-d", &there]).await;
        assert_eq!(status, "200", "{of_there}");
        let (_, of_absent) = ask(10250, "/admit/pods", &["-H", json, "-d", &absent]).await;
        assert_eq!(of_there, of_absent);
        let (status, body) = ask(9764, wire::PATH, &["-H", json, "-d", &there]).await;
        assert_eq!((status.as_str(), body.as_str()), ("405", ""));
        let (status, body) = ask(9764, wire::PATH, &[]).await;
        assert!(
            status == "401" && !body.contains("there"),
            "{status} {body}"
        );
    })
    .await;
}
