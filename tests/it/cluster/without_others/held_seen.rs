//! A test of held pods as the command line shows them and lets them go.

use harness::cluster::{Namespace, Outcome, alone, deployment, sluice, text};
use harness::process::binary;
use rules::gate;

const HOLD: &str = "sluice.dev/hold";

async fn ask<const N: usize>(ns: &Namespace, args: [&str; N]) -> Outcome {
    let command = binary("kubectl-sluice");
    let program = ns.program(command.to_str().expect("a path in UTF-8"));
    program.args(args).run().await
}

/// The command line shows held pods and lets them go, while sluice holds pods and after holds are turned off. Their dependency never exists, so they
/// start only when released.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_held_pod_is_shown_and_let_go_with_sluice_and_after_its_holds() {
    alone("held-seen", async |ns| {
        let held = |name| {
            let waits = deployment(name).depends_on("configmap/never");
            waits.template_annotated(HOLD, "true")
        };
        let values = ["--set", "holds.enabled=true"];
        let left = std::cell::OnceCell::new();
        sluice::with_values_alone(&values, async || {
            ns.apply([held("api"), held("web")]).await.ok();
            let (api, web) = (ns.pod_of("api").await, ns.pod_of("web").await);
            assert!(gate::is_held(&api.now().await));

            let status = ask(ns, ["status", &api.name]).await;
            assert_eq!(status.code, Some(3), "{status}");
            let waits = "is held before it takes a node: it waits for 1 of 1 dependencies, since ";
            assert!(status.stdout.contains(waits), "{status}");
            assert!(
                status.stdout.contains("wait  ConfigMap/never  NotFound"),
                "{status}"
            );
            let tree = ask(ns, ["status"]).await;
            assert!(
                tree.stdout.contains("held, waits for 1 of 1 dependency, "),
                "{tree}"
            );
            let graph = ask(ns, ["graph"]).await;
            assert!(
                graph.stdout.contains("Deployment/api, and is held\n"),
                "{graph}"
            );
            let check = ask(ns, ["check"]).await;
            assert!(
                check.stdout.contains("ok       holds: held now: "),
                "{check}"
            );

            let dry = ask(ns, ["release", "--all-holds", "--dry-run"]).await.ok();
            assert!(dry.contains("its gate opens (dry run)\n"), "{dry}");
            assert!(gate::is_held(&api.now().await) && gate::is_held(&web.now().await));
            let released = ask(ns, ["release", &api.name]).await.ok();
            assert!(released.contains(" is held no more.\n"), "{released}");
            api.starts().await;
            assert!(left.set(web).is_ok());
        })
        .await;

        let web = left.get().expect("the pod that is left");
        let check = ask(ns, ["check"]).await;
        assert_eq!(check.code, Some(1), "{check}");
        let why = "problem  holds: holds are off in this installation, so nobody lets these go: ";
        assert!(check.stdout.contains(why), "{check}");
        assert!(
            check
                .stdout
                .contains(&format!("Pod {}/{}", ns.name, web.name)),
            "{check}"
        );

        let released = ask(ns, ["release", "--all-holds"]).await.ok();
        let line = format!(
            "Pod {}/{}: held no more; its gate opens\n",
            ns.name, web.name
        );
        assert!(released.starts_with(&line), "{released}");
        web.starts().await;
        let now = web.now().await;
        assert!(!text(&now, "/spec/nodeName").is_empty());
        let again = ask(ns, ["release", "--all-holds"]).await.ok();
        assert_eq!(again, "nothing is held: there is nothing to release\n");
    })
    .await;
}
