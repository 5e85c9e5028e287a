//! The chart, rendered by the Helm that users have: every branch of its values, and what must never be in it.
//!
//! Without a Helm (`make cluster` builds both, the PATH will do) each test says `skipped:` and passes.

mod account;
mod cluster;
mod helm;
mod holds;
mod matrix;
pub(crate) mod monitoring;
mod policy;
mod presets;
mod readme;
mod rights;
mod suspended;

use helm::{Manifest, Render, chart_dir, helm, versions};
pub(crate) use helm::{files, program};
use serde_json::{Value, json};

/// Renders, or leaves the test where there is no Helm.
macro_rules! render {
    ($($flag:expr),*) => {
        match helm() {
            Some(helm) => Render::new(&helm).flags(&[$($flag),*]).manifest(),
            None => return,
        }
    };
}

fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

#[test]
fn renders_the_defaults() {
    insta::assert_snapshot!(render!().text());
}

#[test]
fn renders_the_same_with_helm_3_and_4() {
    let [old, new] = versions().map(|helm| helm.map(|helm| Render::new(&helm).manifest().text()));
    if let (Some(old), Some(new)) = (old, new) {
        assert_eq!(old, new);
    }
}

#[test]
fn renders_the_same_twice() {
    assert_eq!(render!().text(), render!().text());
}

/// A flag, and where it has to show: kind, JSON pointer, value. `@` stands for the container's own part of the Deployment.
const BRANCHES: &str = r#"
replicas=3                                      | Deployment | /spec/replicas | 3
image.registry=                                 | Deployment | @/image | "sluice-dev/sluice-webhook:0.1.0"
image.registry=mirror:5000                      | Deployment | @/image | "mirror:5000/sluice-dev/sluice-webhook:0.1.0"
image.repository=a/b                            | Deployment | @/image | "ghcr.io/a/b:0.1.0"
global.imageRegistry=mirror:5000                | Deployment | @/image | "mirror:5000/sluice-dev/sluice-webhook:0.1.0"
image.tag=1.0                                   | Deployment | @/image | "ghcr.io/sluice-dev/sluice-webhook:1.0"
image.pullPolicy=Always                         | Deployment | @/imagePullPolicy | "Always"
image.pullSecrets={a,b}                         | Deployment | /spec/template/spec/imagePullSecrets | [{"name": "a"}, {"name": "b"}]
resources=null                                  | Deployment | @/resources | null
ports.admin=9090                                | Deployment | @/ports/2/containerPort | 9090
priorityClassName=                              | Deployment | /spec/template/spec/priorityClassName | null
priorityClassQuota=true                         | ResourceQuota | /spec/hard/pods | "4"
hostNetwork=true                                | Deployment | /spec/template/spec/dnsPolicy | "ClusterFirstWithHostNet"
hostNetwork=true                                | Deployment | /spec/strategy/rollingUpdate/maxSurge | 0
shutdownDelaySeconds=30                         | Deployment | /spec/template/spec/terminationGracePeriodSeconds | 50
nodeSelector.pool=infra                         | Deployment | /spec/template/spec/nodeSelector/pool | "infra"
tolerations[0].operator=Exists                  | Deployment | /spec/template/spec/tolerations | [{"operator": "Exists"}]
affinity.nodeAffinity.x=y                       | Deployment | /spec/template/spec/affinity | {"nodeAffinity": {"x": "y"}}
topologySpreadConstraints[0].topologyKey=rack   | Deployment | /spec/template/spec/topologySpreadConstraints | [{"topologyKey": "rack"}]
podAnnotations.a=b                              | Deployment | /spec/template/metadata/annotations | {"a": "b"}
podLabels.a=b                                   | Deployment | /spec/template/metadata/labels/a | "b"
podLabels.app\.kubernetes\.io/name=b             | Deployment | /spec/template/metadata/labels/app.kubernetes.io~1name | "sluice"
revisionHistoryLimit=2                          | Deployment | /spec/revisionHistoryLimit | 2
strategy.type=Recreate                          | Deployment | /spec/strategy | {"type": "Recreate"}
extraArgs={--x=1}                               | Deployment | @/args/26 | "--x=1"
extraEnv[0].name=A,extraEnv[0].value=b          | Deployment | @/env/2 | {"name": "A", "value": "b"}
extraVolumes[0].name=v                          | Deployment | /spec/template/spec/volumes | [{"name": "v"}]
extraVolumeMounts[0].name=v,extraVolumeMounts[0].mountPath=/v | Deployment | @/volumeMounts/0/mountPath | "/v"
commonLabels.a=b                                | Service | /metadata/labels/a | "b"
serviceAccount.name=ordering                    | Deployment | /spec/template/spec/serviceAccountName | "ordering"
podSecurityContext.fsGroup=1                    | Deployment | /spec/template/spec/securityContext/fsGroup | 1
securityContext=null                            | Deployment | @/securityContext | null
probes.liveness.failureThreshold=9              | Deployment | @/livenessProbe/failureThreshold | 9
admission.objectSelector.matchLabels.team=a     | MutatingWebhookConfiguration | /webhooks/2/objectSelector | {"matchLabels": {"team": "a"}}
admission.objectSelector.matchLabels.team=a     | ValidatingAdmissionPolicy | /spec/matchConstraints/objectSelector | {"matchLabels": {"team": "a"}}
serviceAccount.annotations.a=b                  | ServiceAccount | /metadata/annotations | {"a": "b"}
podDisruptionBudget.maxUnavailable=50%          | PodDisruptionBudget | /spec/maxUnavailable | "50%"
ports.admission=8443                            | NetworkPolicy | /spec/ingress/0 | {"ports": [{"port": 8443, "protocol": "TCP"}]}
ports.status=9000                               | NetworkPolicy | /spec/ingress/1/ports/0/port | 9000
networkPolicy.hostGates=null                    | NetworkPolicy | /spec/ingress/1/from | [{"namespaceSelector": {}}]
networkPolicy.hostGates={10.1.0.0/16}           | NetworkPolicy | /spec/ingress/1/from/1/ipBlock/cidr | "10.1.0.0/16"
replicas=2                                      | NetworkPolicy | /spec/ingress/2 | null
networkPolicy.scrapers[0].podSelector.a=b       | NetworkPolicy | /spec/ingress/2/from | [{"podSelector": {"a": "b"}}]
networkPolicy.probes={10.1.0.0/16}              | NetworkPolicy | /spec/ingress/2/from/0/ipBlock/cidr | "10.1.0.0/16"
networkPolicy.probes={10.1.0.0/16}              | NetworkPolicy | /spec/ingress/2/ports/0/port | 8080
networkPolicy.apiServerPorts={8443}             | NetworkPolicy | /spec/egress/0/ports | [{"port": 8443, "protocol": "TCP"}]
replicas=2                                      | NetworkPolicy | /spec/egress/1/ports/0/port | 53
serviceMonitor.enabled=true                     | ServiceMonitor | /spec/endpoints/0/interval | "30s"
podConditions.enabled=true                      | Deployment | @/args/18 | "--pod-conditions"
holds.enabled=true                              | Deployment | @/args/18 | "--holds=asked"
holds.enabled=true,holds.default=true           | Deployment | @/args/18 | "--holds=all"
holds.enabled=true                              | MutatingWebhookConfiguration | /webhooks/4/clientConfig/service/path | "/admit/held-pods"
holds.enabled=true,holds.default=true           | MutatingWebhookConfiguration | /webhooks/4 | null
podMonitor.enabled=true                         | PodMonitor | /spec/podMetricsEndpoints/0/port | "admin"
prometheusRule.enabled=true,prometheusRule.longWaitSeconds=60 | PrometheusRule | /spec/groups/0/rules/0/expr | "max by (namespace) (sluice_longest_wait_seconds) > 60"
helmTest.enabled=true                           | Pod | /metadata/annotations/sluice.dev~1depends-on | "configmap/kube-root-ca.crt"
admission.failurePolicy=Ignore                  | MutatingWebhookConfiguration | /webhooks/2/failurePolicy | "Ignore"
admission.timeoutSeconds=3                      | MutatingWebhookConfiguration | /webhooks/0/timeoutSeconds | 3
admission.timeoutSeconds=3                      | ValidatingAdmissionPolicy | /spec/failurePolicy | "Ignore"
backstop.action=Warn                            | ValidatingAdmissionPolicyBinding | /spec/validationActions | ["Warn", "Audit"]
backstop.action=Deny                            | ValidatingAdmissionPolicyBinding | /spec/validationActions | ["Deny", "Audit"]
backstop.action=Deny                            | ValidatingAdmissionPolicy | /spec/failurePolicy | "Fail"
windows.mode=refuse                             | ValidatingAdmissionPolicy | /spec/matchConditions/1/name | "asks"
windows.mode=skip                               | ValidatingAdmissionPolicy | /spec/matchConditions/1/name | "not-windows"
workloads.custom=null                           | MutatingWebhookConfiguration | /webhooks/0/rules/3 | null
"#;

#[test]
fn renders_every_branch() {
    for line in BRANCHES.lines().filter(|line| !line.is_empty()) {
        let cells: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let [flag, kind, pointer, expected] = cells[..] else {
            panic!("four cells: {line}")
        };
        let pointer = pointer.replace('@', "/spec/template/spec/containers/0");
        let expected: Value = serde_json::from_str(expected).expect("the last cell is JSON");
        let manifest = render!(flag);
        assert_eq!(
            manifest
                .only(kind)
                .pointer(&pointer)
                .unwrap_or(&Value::Null),
            &expected,
            "{line}"
        );
    }
}

#[test]
fn renders_no_disruption_budget_where_none_is_wanted() {
    let manifest = render!("podDisruptionBudget.enabled=false");
    assert!(manifest.all("PodDisruptionBudget").is_empty());
}

#[test]
fn renders_no_network_policy_where_none_is_wanted() {
    let manifest = render!("networkPolicy.enabled=false");
    assert!(!manifest.text().contains("NetworkPolicy"));
}

#[test]
fn hands_the_values_to_the_controller_as_flags() {
    let digest = format!("gate.image.digest=sha256:{}", "a".repeat(64));
    let manifest = render!(
        digest.as_str(),
        "gate.image.pullPolicy=Always",
        "gate.runAsUser=null",
        "gate.image.pullSecrets={mirror,shared}",
        "gate.resources.limits.memory=64Mi",
        "annotations.configDependsOn=false",
        "crossNamespace.allow[0].from=web,crossNamespace.allow[0].to=data",
        "crossNamespace.allow[1].from=web,crossNamespace.allow[1].to=jobs",
        "clusterScoped.allow[0].from=web,clusterScoped.allow[0].kind=ClusterIssuer.cert-manager.io",
        "healthRules.configMap=health,healthRules.builtin=false",
        "log.format=text,log.level=debug",
        "windows.mode=skip",
        "admission.clientCA=-----BEGIN CERTIFICATE-----",
        "certificates.lifetime=3m,certificates.overlap=1m,certificates.leafLifetime=30s",
        "certificates.clusterTrustBundle=true",
        "shutdownDelaySeconds=0"
    );
    let deployment = manifest.only("Deployment");
    let args = strings(&deployment["spec"]["template"]["spec"]["containers"][0]["args"]).join("\n");
    insta::assert_snapshot!(args, @r"
    --service-name=sluice
    --service-namespace=$(POD_NAMESPACE)
    --admission-port=10250
    --admission-client-ca=-----BEGIN CERTIFICATE-----
    --status-port=9764
    --admin-port=8080
    --webhook-configuration=sluice
    --ca-secret=sluice-ca
    --ca-lifetime=3m
    --ca-overlap=1m
    --leaf-lifetime=30s
    --cluster-trust-bundle=sluice
    --memory-config-map=sluice-memory
    --slots-config-map=sluice-slots
    --health-rules-configmap=health
    --builtin-health-rules=false
    --gate-image=ghcr.io/sluice-dev/sluice-gate@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    --gate-image-pull-policy=Always
    --gate-pull-secrets=mirror,shared
    --gate-requests=cpu=5m,memory=8Mi
    --gate-limits=cpu=50m,memory=64Mi
    --honor-config-depends-on=false
    --windows=skip
    --allow-cross-namespace=web->data,web->jobs
    --allow-cluster-scoped=web->ClusterIssuer.cert-manager.io
    --workloads=argoproj.io/Rollout
    --watch-cluster-role=sluice-watch
    --log-format=text
    --log-level=debug
    --shutdown-delay=0s
    ");
}

#[test]
fn an_issuer_of_cert_manager_signs_instead() {
    let manifest =
        render!("certificates.issuerRef.name=corporate,certificates.issuerRef.kind=ClusterIssuer");
    let certificate = manifest.only("Certificate");
    assert_eq!(certificate["apiVersion"], "cert-manager.io/v1");
    assert_eq!(
        certificate["spec"],
        json!({
            "secretName": "sluice-tls",
            "dnsNames": ["sluice.sluice-system.svc", "sluice.sluice-system.svc.cluster.local"],
            "duration": "168h",
            "usages": ["digital signature", "server auth"],
            "privateKey": {"algorithm": "ECDSA", "size": 256, "rotationPolicy": "Always"},
            "issuerRef": {"name": "corporate", "kind": "ClusterIssuer", "group": "cert-manager.io"},
        })
    );
    let deployment = manifest.only("Deployment");
    let args = strings(&deployment["spec"]["template"]["spec"]["containers"][0]["args"]);
    assert!(args.contains(&"--issued-secret=sluice-tls"), "{args:?}");
    assert!(!args.iter().any(|it| it.starts_with("--ca-")), "{args:?}");
    let role = manifest.only("Role");
    let rules = role["rules"].as_array().unwrap();
    let secrets: Vec<_> = rules
        .iter()
        .filter(|it| it["resources"] == json!(["secrets"]))
        .collect();
    let expected = json!({"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["sluice-tls"], "verbs": ["get"]});
    assert_eq!(secrets, [&expected]);
}

#[test]
fn runs_in_a_restricted_namespace_as_the_images_own_user() {
    let manifest = render!("helmTest.enabled=true");
    let pod = manifest.only("Deployment")["spec"]["template"]["spec"].clone();
    assert_eq!(
        pod["securityContext"],
        json!({"runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}})
    );
    let test = manifest.only("Pod")["spec"].clone();
    assert_eq!(test["securityContext"]["runAsNonRoot"], true);
    for pod in [pod, test] {
        assert_eq!(
            pod["containers"][0]["securityContext"],
            json!({"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": {"drop": ["ALL"]}})
        );
    }
}

#[test]
fn refuses_values_that_nobody_reads() {
    let Some(helm) = helm() else { return };
    for flag in [
        "replica=3",
        "image.name=x",
        "gate.image.pullSecrets={Not_A_Name}",
        "gate.resources.limits.cpu=much",
        "gate.resources.limits.gpu=1",
        "injection.backend=magic",
        "backstop.action=Audit",
        "windows.mode=ignore",
        "rbac.kinds[0].group=g,rbac.kinds[0].resources={a},rbac.kinds[0].verbs={b}",
        "rbac.kinds[0].group=g,rbac.kinds[0].resources={*}",
        "rbac.presets={everything}",
        "workloads.custom[0].group=g,workloads.custom[0].resource=*",
        "admission.failurePolicy=fail",
        "admission.timeoutSeconds=30",
        "admission.excludeNamespaces={Not_A_Name}",
        "crossNamespace.allow[0].from=web",
        "crossNamespace.allow[0].from=web,crossNamespace.allow[0].to=data->x",
        "clusterScoped.allow[0].from=web",
        "clusterScoped.allow[0].from=web,clusterScoped.allow[0].kind=*",
        "image.digest=latest",
        "replicas=0",
        "log.level=chatty",
        "extraArgs={value}",
        "healthRules.builtin=maybe",
        "serviceAccount.name=Not_A_Name",
        "probes.liveness.httpGet.path=/x",
        "healthRules.configMap=Not_A_Name",
        "gate.runAsUser=0",
        "helmTest.enabled=true,helmTest.namespace=sluice-system",
    ] {
        let refusal = Render::new(&helm).flags(&[flag]).run();
        assert!(refusal.is_err(), "--set {flag} was accepted");
    }
}

#[test]
fn the_backstop_is_left_out_where_it_is_turned_off() {
    let manifest = render!("backstop.enabled=false");
    for kind in [
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ] {
        let names = manifest.all(kind).into_iter();
        let names: Vec<Value> = names.map(|it| it["metadata"]["name"].clone()).collect();
        assert_eq!(
            names,
            [
                "sluice-custom-kinds",
                "sluice-foreign-keys",
                "sluice-own-configuration"
            ]
        );
    }
}

#[test]
fn auto_takes_the_policy_where_it_is_served() {
    const SERVED: &[&str] = &["admissionregistration.k8s.io/v1/MutatingAdmissionPolicy"];
    let Some(helm) = helm() else { return };
    let policies = |flag: &str, version: &str| {
        let render = Render::new(&helm)
            .flags(&[flag])
            .kubernetes(version, SERVED);
        render.manifest().all("MutatingAdmissionPolicy").len()
    };
    assert_eq!(policies("injection.backend=auto", "1.36.3"), 3);
    assert_eq!(policies("injection.backend=auto", "1.35.9"), 0);
    assert_eq!(policies("injection.backend=webhook", "1.36.3"), 0);
    assert_eq!(policies("injection.backend=policy", "1.36.3"), 3);
}

/// The API server injects, so nothing has to wait for the webhook but the pods of a namespace that asks for a gate in all of
/// them; and the controller fills what the policies read.
#[test]
fn with_the_policy_the_webhook_only_advises() {
    let manifest = render!("injection.backend=policy", "admission.failurePolicy=Fail");
    let webhooks = manifest.only("MutatingWebhookConfiguration")["webhooks"].clone();
    for webhook in webhooks.as_array().expect("webhooks") {
        let every = webhook["name"] == "every-pod.sluice.dev";
        let policy = if every { "Fail" } else { "Ignore" };
        assert_eq!(webhook["failurePolicy"], policy);
    }
    for policy in manifest.all("MutatingAdmissionPolicy") {
        let pods = policy["metadata"]["name"] == "sluice-pods";
        let failure = if pods { "Ignore" } else { "Fail" };
        assert_eq!(policy["spec"]["failurePolicy"], failure);
        assert_eq!(policy["spec"]["reinvocationPolicy"], "IfNeeded");
    }
    let injection = |object: &&Value| object["metadata"]["name"] == "sluice-injection";
    let config_maps = manifest.all("ConfigMap");
    let parameters = config_maps.iter().find(injection).expect("parameters");
    assert_eq!(parameters.get("data"), None, "the controller's");
    let args = &manifest.only("Deployment")["spec"]["template"]["spec"]["containers"][0]["args"];
    assert!(strings(args).contains(&"--injection-config-map=sluice-injection"));
    let written =
        |(_, rule): &(String, Value)| rule["resourceNames"] == json!(["sluice-injection"]);
    let rule = rules(&manifest).into_iter().find(written).expect("a rule");
    assert_eq!(
        (rule.0.as_str(), strings(&rule.1["verbs"])),
        ("Role", vec!["get", "patch"])
    );
}

/// Where it cannot find what it puts into gates, the API server would refuse every pod, asked for or not; so a policy of its
/// own, which needs nothing, refuses who asked and got none.
#[test]
fn the_policy_refuses_only_pods_that_ask() {
    let flags = ["injection.backend=policy"];
    let manifest = render!(flags[0]);
    let pods = |kind: &str, manifest: &Manifest| {
        let named = |it: &Value| it["metadata"]["name"] == "sluice-pods";
        manifest.all(kind).into_iter().find(named)
    };
    let made = pods("MutatingAdmissionPolicy", &manifest).expect("pods");
    let bound = pods("MutatingAdmissionPolicyBinding", &manifest).expect("pods");
    assert_eq!(
        bound["spec"]["paramRef"]["parameterNotFoundAction"],
        "Allow"
    );
    let refused = pods("ValidatingAdmissionPolicy", &manifest).expect("pods");
    assert_eq!(refused["spec"]["validations"][0]["reason"], "Forbidden");
    assert!(refused["spec"]["paramKind"].is_null());
    assert_eq!(
        refused["spec"]["matchConditions"],
        made["spec"]["matchConditions"]
    );
    let ignored = render!(flags[0], "admission.failurePolicy=Ignore");
    assert_eq!(pods("ValidatingAdmissionPolicy", &ignored), None);
}

#[test]
fn the_policy_puts_the_gates_settings_into_pods() {
    let text = |flags: &[&str]| {
        let manifest = Render::new(&helm()?).flags(flags).manifest();
        let policies = manifest.all("MutatingAdmissionPolicy");
        let pods = policies
            .iter()
            .find(|it| it["metadata"]["name"] == "sluice-pods");
        Some(pods.expect("pods")["spec"]["mutations"].to_string())
    };
    let Some(default) = text(&["injection.backend=policy"]) else {
        return;
    };
    assert!(default.contains("runAsUser: 65532") && !default.contains("imagePullSecrets"));
    assert!(!default.contains("clusterTrustBundle") && !default.contains("SLUICE_CA_FILE"));
    let own = text(&[
        "injection.backend=policy",
        "gate.runAsUser=null",
        "gate.image.pullSecrets={mirror,shared}",
        "gate.resources.limits.cpu=75m",
    ]);
    let own = own.expect("helm is here");
    assert!(!own.contains("runAsUser"));
    assert!(own.contains("['mirror', 'shared'].filter") && own.contains("'75m'"));
}

/// A key that is not honoured asks for nothing; the API server's default reason makes tools delete the object.
#[test]
fn the_backstop_asks_for_what_the_webhook_gates_and_refuses_gently() {
    let policy = |manifest: &Manifest| manifest.only("ValidatingAdmissionPolicy")["spec"].clone();
    let spec = policy(&render!());
    assert_eq!(spec["validations"][0]["reason"], "Forbidden");
    let keys = |spec: &Value| spec["matchConditions"][1]["expression"].to_string();
    assert!(keys(&spec).contains("config.kubernetes.io/depends-on"));
    let own = policy(&render!("annotations.configDependsOn=false"));
    assert!(!keys(&own).contains("config.kubernetes.io/depends-on"));
}

#[test]
fn may_be_a_part_of_another_chart() {
    render!("global.somebody=else");
}

/// Rules of every role, with the place they came from.
fn rules(manifest: &Manifest) -> Vec<(String, Value)> {
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
fn names_no_ca_bundle_no_key_and_no_hook() {
    let manifest = render!();
    let text = manifest.text();
    for word in ["caBundle", "BEGIN ", "helm.sh/hook"] {
        assert!(!text.contains(word), "{word} in the manifest");
    }
    assert!(manifest.all("Secret").is_empty());
    assert!(manifest.all("CustomResourceDefinition").is_empty());
}

/// Flux reads that word in a message as leave to delete and recreate the object.
#[test]
fn never_says_the_word() {
    for file in helm::files(&chart_dir()) {
        let text = std::fs::read_to_string(&file).expect("chart files are text");
        assert!(
            !text.to_lowercase().contains(concat!("immu", "table")),
            "{}",
            file.display()
        );
    }
}

#[test]
fn leaves_the_namespaces_alone_that_keep_the_cluster_up() {
    let manifest = render!(
        "admission.excludeNamespaces={team-a}",
        "admission.namespaceSelector[0].key=sluice,admission.namespaceSelector[0].operator=Exists"
    );
    for webhook in manifest.only("MutatingWebhookConfiguration")["webhooks"]
        .as_array()
        .expect("webhooks")
    {
        let mut selector = webhook["namespaceSelector"].clone();
        if webhook["name"] == "every-pod.sluice.dev" {
            let asks = selector["matchExpressions"].as_array_mut().expect("a list");
            let asks = asks.remove(0);
            assert_eq!(asks["key"], "sluice.dev/inject");
        }
        assert_eq!(
            selector,
            json!({"matchExpressions": [
                {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", "kube-public", "kube-node-lease", "sluice-system", "team-a"]},
                {"key": "sluice", "operator": "Exists"},
            ]})
        );
    }
}

/// A line for each condition of each entry, sorted, without the white space that folding changes.
fn conditions(webhooks: Vec<(String, Vec<(String, String)>)>) -> String {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = webhooks
        .into_iter()
        .flat_map(|(webhook, conditions)| {
            conditions
                .into_iter()
                .map(move |(name, cel)| format!("{webhook} {name}: {}", squeeze(&cel)))
        })
        .collect();
    lines.sort();
    lines.join("\n")
}

#[test]
fn calls_the_webhook_for_exactly_what_was_proven() {
    let text = include_str!("../fixtures/chart/matchconditions.yaml");
    let proven: Value = serde_saphyr::from_str(text).expect("the fixture is YAML");
    let proven = proven
        .as_object()
        .expect("a mapping")
        .iter()
        .map(|(webhook, conditions)| {
            let conditions = conditions.as_object().expect("a mapping").iter();
            (
                webhook.clone(),
                conditions
                    .map(|(name, cel)| (name.clone(), cel.as_str().unwrap_or_default().to_owned()))
                    .collect(),
            )
        });

    // Whatever the values say: they must not reach the conditions.
    let manifest = render!(
        "admission.failurePolicy=Ignore",
        "annotations.configDependsOn=false",
        "workloads.custom=null"
    );
    let rendered = manifest.only("MutatingWebhookConfiguration")["webhooks"].clone();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rendered = rendered
        .as_array()
        .expect("webhooks")
        .iter()
        .map(|webhook| {
            let conditions = webhook["matchConditions"].as_array().into_iter().flatten();
            (
                word(&webhook["name"]),
                conditions
                    .map(|condition| (word(&condition["name"]), word(&condition["expression"])))
                    .collect(),
            )
        });

    assert_eq!(conditions(rendered.collect()), conditions(proven.collect()));
}

/// The one list of keys in the chart is the rules' own, and nothing in the chart spells out another.
#[test]
fn asks_for_the_keys_of_the_rules() {
    let templates = chart_dir().join("templates");
    let conditions = std::fs::read_to_string(templates.join("_matchconditions.tpl"));
    let conditions = conditions.expect("the conditions");
    let define = "{{- define \"sluice.keys\" -}}";
    let list = conditions.split_once(define).and_then(|(_, rest)| {
        let (list, _) = rest.split_once("{{- end }}")?;
        Some(list.split_whitespace().collect::<Vec<_>>())
    });
    assert_eq!(list.as_deref(), Some(&rules::keys::ASKING[..]));
    for file in helm::files(&templates) {
        let text = std::fs::read_to_string(&file).expect("chart files are text");
        for key in ["sluice.dev/weight", "sluice.dev/parallelism"] {
            let listed = usize::from(file.ends_with("_matchconditions.tpl"));
            assert_eq!(text.matches(key).count(), listed, "{key} in {file:?}");
        }
    }
}

/// Each value has its `# --` sentence, and each has a place in the schema.
#[test]
fn explains_every_value() {
    let values = std::fs::read_to_string(chart_dir().join("values.yaml")).expect("values.yaml");
    let schema = helm::schema();
    let parsed: Value = serde_saphyr::from_str(&values).expect("values.yaml is YAML");
    let mut leaves = Vec::new();
    helm::leaves(&parsed, &schema, &mut leaves);
    let explained = values
        .lines()
        .filter(|line| line.trim_start().starts_with("# -- "))
        .count();
    assert_eq!(explained, leaves.len(), "values: {leaves:#?}");
}
