//! The rights of the controller's account: it reads the kinds of dependencies, and has no other verb without a caller.

use super::helm::{Manifest, Render, helm};
use super::strings;
use serde_json::{Value, json};

/// The rights beyond reading dependencies: kind of the role, resource, the names that it is limited to, verbs. A comment names the module that needs
/// them.
const WRITES_AND_OWN: [(&str, &str, &str, &str); 15] = [
    ("ClusterRole", "tokenreviews", "", "create"), // status::identity
    ("ClusterRole", "events", "", "create patch"), // event: the second tells that one goes on
    ("ClusterRole", "pods/status", "", "patch"),   // status::conditions
    ("ClusterRole", "pods", "", "patch"),          // status::holds
    ("ClusterRole", "jobs", "", "patch"),          // status::suspended
    // authority::changes watches it
    (
        "ClusterRole",
        "mutatingwebhookconfigurations",
        "sluice 0-sluice-creations",
        "get watch patch",
    ),
    ("ClusterRole", "clustertrustbundles", "", "create"), // authority::trust_bundle
    ("ClusterRole", "clustertrustbundles", "sluice", "get update"),
    ("Role", "secrets", "", "create"), // authority::store
    ("Role", "secrets", "sluice-ca", "get update"),
    // follow::single reads and watches, follow::memory and follow::shards write
    (
        "Role",
        "configmaps",
        "sluice-memory sluice-memory-1 sluice-memory-2 sluice-memory-3 sluice-slots sluice-slots-1 sluice-slots-2 sluice-slots-3",
        "get watch patch",
    ),
    ("Role", "configmaps", "", "create"), // follow::shards makes one anew
    ("Role", "configmaps", "sluice-injection", "get patch"), // gate_spec
    ("Role", "configmaps", "health", "get watch"), // follow::health_rules
    ("Role", "services", "sluice", "get"), // gate_spec
];

/// Returns the rules of every ClusterRole and Role, each with the kind of its role.
pub(super) fn rules(manifest: &Manifest) -> Vec<(String, Value)> {
    let of = |kind: &'static str| {
        manifest.all(kind).into_iter().flat_map(move |role| {
            role["rules"]
                .as_array()
                .into_iter()
                .flatten()
                .map(move |rule| (kind.to_owned(), rule.clone()))
                .collect::<Vec<_>>()
        })
    };
    of("ClusterRole").chain(of("Role")).collect()
}

#[test]
fn reads_and_hardly_writes() {
    for (role, rule) in rules(&render!()) {
        let verbs = strings(&rule["verbs"]);
        let resources = strings(&rule["resources"]);
        let text = format!("{role}: {rule}");
        assert!(!text.contains('*'), "wildcard in {text}");
        assert!(
            role == "Role" || !resources.contains(&"secrets"),
            "secrets in {text}"
        );
        let named = rule.get("resourceNames").is_some();
        for verb in verbs {
            let fine = match verb {
                "get" | "list" | "watch" => true,
                "create" => {
                    resources
                        .iter()
                        .all(|resource| ["tokenreviews", "events"].contains(resource))
                        || role == "Role"
                }
                "patch" => named || resources == ["events"],
                "update" => named && role == "Role",
                _ => false,
            };
            assert!(fine, "{verb} in {text}");
        }
    }
}

#[test]
fn reads_secrets_and_more_kinds_only_where_told_to() {
    let cluster_wide = |manifest: &Manifest, resource: &str| {
        rules(manifest).iter().any(|(role, rule)| {
            role == "ClusterRole" && strings(&rule["resources"]).contains(&resource)
        })
    };
    assert!(!cluster_wide(&render!(), "secrets"));
    assert!(cluster_wide(&render!("rbac.secrets=true"), "secrets"));
    assert!(!cluster_wide(&render!(), "certificates"));
    assert!(cluster_wide(
        &render!("rbac.kinds[0].group=cert-manager.io,rbac.kinds[0].resources={certificates}"),
        "certificates"
    ));
    assert!(cluster_wide(
        &render!(
            "workloads.custom[0].group=apps.kruise.io,workloads.custom[0].kind=CloneSet,workloads.custom[0].resource=clonesets"
        ),
        "clonesets"
    ));
}

/// The ClusterRole for users reads what the controller reads, except for Secrets, and what the command line reads besides.
#[test]
fn a_viewer_reads_what_the_controller_reads() {
    let Some(helm) = helm() else { return };
    let manifest = Render::new(&helm).flags(&["rbac.secrets=true"]).manifest();
    let reads = |name: &str| -> Vec<(String, String)> {
        let all = manifest.all("ClusterRole");
        let role = all
            .into_iter()
            .find(|it| it["metadata"]["name"] == name)
            .unwrap();
        let rules = role["rules"].as_array().unwrap().clone();
        let rules = rules
            .into_iter()
            .filter(|it| strings(&it["verbs"]) == ["get", "list", "watch"]);
        let pairs = rules.flat_map(|rule| {
            let (groups, resources) = (
                strings(&rule["apiGroups"]).join(" "),
                rule["resources"].clone(),
            );
            let resources: Vec<String> =
                strings(&resources).into_iter().map(str::to_owned).collect();
            resources
                .into_iter()
                .map(move |it| (groups.clone(), it))
                .collect::<Vec<_>>()
        });
        pairs.collect()
    };
    let mut expected = reads("sluice");
    expected.retain(|(_, resource)| resource != "secrets");
    let more = [
        ("", "events"),
        ("", "pods/log"),
        (
            "admissionregistration.k8s.io",
            "mutatingwebhookconfigurations",
        ),
    ];
    expected.extend(more.map(|(group, resource)| (group.to_owned(), resource.to_owned())));
    let mut viewer = reads("sluice-viewer-builtin");
    expected.sort();
    viewer.sort();
    assert_eq!(viewer, expected);
    for binding in ["ClusterRoleBinding", "RoleBinding"] {
        let bound = manifest
            .all(binding)
            .into_iter()
            .any(|it| it["roleRef"]["name"].as_str().unwrap().contains("viewer"));
        assert!(!bound, "{binding}");
    }
}

/// Every account may read one ConfigMap, `sluice-installation`, and nothing else of the chart. It has the arguments of the Deployment by which the
/// command line judges; the lists that name namespaces and `extraArgs` are left out, and it says that they are withheld.
#[test]
fn every_account_reads_the_public_settings_alone() {
    let Some(helm) = helm() else { return };
    let name = "sluice-installation";
    let render = |flags: &[&str]| Render::new(&helm).flags(flags).manifest();
    let map = |manifest: &Manifest| {
        let all = manifest.all("ConfigMap");
        let mut all = all.into_iter();
        let found = all.find(|it| it["metadata"]["name"] == name);
        found.expect("it is rendered")["data"].clone()
    };
    let manifest = render(&[]);
    let everyone = |binding: &Value| {
        let subjects = binding["subjects"].as_array().cloned().unwrap_or_default();
        let names: Vec<_> = subjects.iter().map(|it| it["name"].clone()).collect();
        names == ["system:authenticated"]
    };
    let mut open = manifest.all("RoleBinding");
    open.extend(manifest.all("ClusterRoleBinding"));
    open.retain(everyone);
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0]["roleRef"]["name"], name);
    assert_eq!(open[0]["roleRef"]["kind"], "Role");
    let roles = manifest.all("Role");
    let role = roles.iter().find(|it| it["metadata"]["name"] == name);
    let expected = json!([{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [name], "verbs": ["get"]}]);
    assert_eq!(role.expect("it is rendered")["rules"], expected);
    assert_eq!(map(&manifest)["withheld"], "");

    let set = render(&[
        "rbac.secrets=true",
        "regate.default=always",
        "healthRules.configMap=health",
        "crossNamespace.allow[0].from=secret-team,crossNamespace.allow[0].to=data",
        "clusterScoped.allow[0].from=secret-team,clusterScoped.allow[0].kind=ClusterIssuer.cert-manager.io",
        "clusterScoped.allow[1].from=*,clusterScoped.allow[1].kind=APIService",
        "extraArgs[0]=--follow-helm-releases",
    ]);
    let data = map(&set);
    assert_eq!(
        data["withheld"],
        "crossNamespace.allow, clusterScoped.allow, extraArgs"
    );
    let deployment = set.only("Deployment");
    let all = strings(&deployment["spec"]["template"]["spec"]["containers"][0]["args"]);
    let told: Vec<&str> = data["arguments"]
        .as_str()
        .expect("a text")
        .lines()
        .collect();
    for argument in &told {
        let shortened = argument.starts_with("--allow-cluster-scoped=");
        assert!(shortened || all.contains(argument), "{argument}: {all:?}");
    }
    for argument in [
        "--follow-helm-releases",
        "--regate-default=always",
        "--health-rules-configmap=health",
        "--allow-cluster-scoped=*->APIService",
    ] {
        assert!(told.contains(&argument), "{argument}: {told:?}");
    }
    assert!(!data.to_string().contains("secret-team"), "{data}");
}

#[test]
fn reads_the_health_rules_by_name() {
    let named = |manifest: &Manifest| {
        let named = |rule: &Value| rule["resourceNames"] == json!(["health"]);
        let role = rules(manifest).into_iter().find(|(_, rule)| named(rule));
        role.map(|(role, rule)| (role, strings(&rule["verbs"]).join(" ")))
    };
    assert_eq!(named(&render!()), None);
    assert_eq!(
        named(&render!("healthRules.configMap=health")),
        Some(("Role".to_owned(), "get watch".to_owned()))
    );
}

#[test]
fn no_verb_is_granted_that_nobody_calls() {
    let Some(helm) = helm() else { return };
    let flags = [
        "injection.backend=policy",
        "healthRules.configMap=health",
        "certificates.clusterTrustBundle=true",
        "podConditions.enabled=true",
        "holds.enabled=true",
        "creationHolds.enabled=true,creationHolds.apiServers={10.0.0.0/24}",
    ];
    let without = Render::new(&helm).flags(&flags[..2]).manifest();
    for off in ["clustertrustbundles", "pods/status", "sluice-holds"] {
        assert!(!without.text().contains(off), "{off}");
    }
    let manifest = Render::new(&helm).flags(&flags).manifest();
    let words = |rule: &Value, key: &str| strings(&rule[key]).join(" ");
    let reads = |(role, rule): &(String, Value)| {
        role == "ClusterRole" && words(rule, "verbs") == "get list watch"
    };
    let mut granted = rules(&manifest);
    // No right of the controller: every account has it.
    let is_public =
        |(_, rule): &(String, Value)| words(rule, "resourceNames") == "sluice-installation";
    granted.retain(|rule| !reads(rule) && !is_public(rule));
    let granted: Vec<_> = granted
        .iter()
        .map(|(role, rule)| {
            let [resources, names, verbs] =
                ["resources", "resourceNames", "verbs"].map(|key| words(rule, key));
            (role.clone(), resources, names, verbs)
        })
        .collect();
    let called = WRITES_AND_OWN.map(|(role, resource, names, verbs)| {
        let [role, resource, names, verbs] = [role, resource, names, verbs].map(str::to_owned);
        (role, resource, names, verbs)
    });
    assert_eq!(granted, called);
}

/// A policy limits the controller's account to the `caBundle` of its own webhooks, because RBAC cannot name a field.
#[test]
fn the_account_is_held_to_the_ca_bundle_of_its_own_webhooks() {
    let Some(helm) = helm() else { return };
    let manifest = Render::new(&helm).manifest();
    let own = |kind: &str| {
        let named = |it: &Value| it["metadata"]["name"] == "sluice-own-configuration";
        manifest.all(kind).into_iter().find(named).expect(kind)
    };
    let policy = own("ValidatingAdmissionPolicy");
    assert_eq!(policy["spec"]["failurePolicy"], "Fail");
    let account = policy["spec"]["matchConditions"][0]["expression"].to_string();
    assert!(account.contains("system:serviceaccount:sluice-system:sluice'"));
    let binding = own("ValidatingAdmissionPolicyBinding");
    assert_eq!(strings(&binding["spec"]["validationActions"]), ["Deny"]);

    // Every field of an entry that the chart renders is held, the caBundle alone is not.
    let expression = policy["spec"]["validations"][0]["expression"].to_string();
    let configuration = manifest.only("MutatingWebhookConfiguration");
    for entry in configuration["webhooks"].as_array().expect("webhooks") {
        for field in entry.as_object().expect("a mapping").keys() {
            let means = ["name", "clientConfig"].contains(&field.as_str())
                || expression.contains(&format!("old.?{field} == new.?{field}"));
            assert!(means, "{field}");
        }
    }
    assert!(!expression.contains("caBundle"));
}
