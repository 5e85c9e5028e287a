//! The parts of a gate, for tests without a cluster.

use webhook::{GATE_USER, GateSpec};

/// Returns the parts of a gate that are equal in every pod, as the controller knows them. The values are fixed: no pull secrets, no resources, image
/// volumes, and a CA bundle without a certificate.
pub fn policy() -> GateSpec {
    GateSpec {
        image: "localhost/sluice-gate:dev".to_owned(),
        image_pull_policy: None,
        image_pull_secrets: Vec::new(),
        ca_bundle: "-----BEGIN CERTIFICATE-----\n".to_owned(),
        cluster_trust_bundle: None,
        addresses: vec![
            "10.96.0.7:9764".to_owned(),
            "sluice.sluice-system.svc:9764".to_owned(),
        ],
        server_name: "sluice.sluice-system.svc".to_owned(),
        run_as_user: Some(GATE_USER),
        resources: None,
        image_volumes: true,
    }
}
