//! `kubectl sluice status` judges by the administrator's settings.

use crate::cluster::command_line::judged::assert_told;
use harness::cluster::{alone, config_map, deployment, sluice};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_command_knows_which_namespaces_may_depend_on_another() {
    alone("allowed", async |ns| {
        let host = ns.another("host").await;
        host.apply([config_map("there")]).await.ok();
        let from = format!("crossNamespace.allow[0].from={}", ns.name);
        let to = format!("crossNamespace.allow[0].to={}", host.name);
        sluice::with_values(&["--set", &from, "--set", &to], async || {
            let list = format!("{}/configmap/there", host.name);
            ns.apply([deployment("api").depends_on(&list)]).await.ok();
            let api = ns.pod_of("api").await;
            api.starts().await;
            assert_told(ns, &api, "Satisfied", 0).await;
        })
        .await;
    })
    .await;
}
