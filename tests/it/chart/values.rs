//! Tests of the chart's values: where each shows in the rendered objects, and which are refused.

use super::helm::{self, Render, chart_dir, helm};
use super::strings;
use serde_json::Value;

/// Lines of a flag and the place where it shows: kind, JSON pointer, value. `@` stands for the place of the container in the Deployment.
const BRANCHES: &str = r#"
replicas=3                                      | Deployment | /spec/replicas | 3
image.registry=mirror:5000                      | Deployment | @/image | "mirror:5000/sluice-dev/sluice-webhook:0.1.0"
image.registry=mirror:5000                      | Deployment | @/args/13 | "--gate-image=mirror:5000/sluice-dev/sluice-gate:0.1.0"
gate.image.registry=mirror:5000                 | Deployment | @/image | "registry.example/sluice-dev/sluice-webhook:0.1.0"
gate.image.registry=mirror:5000                 | Deployment | @/args/13 | "--gate-image=mirror:5000/sluice-dev/sluice-gate:0.1.0"
image.repository=a/b                            | Deployment | @/image | "registry.example/a/b:0.1.0"
global.imageRegistry=mirror:5000                | Deployment | @/image | "mirror:5000/sluice-dev/sluice-webhook:0.1.0"
global.imageRegistry=mirror:5000/proxy/ghcr     | Deployment | @/image | "mirror:5000/proxy/ghcr/sluice-dev/sluice-webhook:0.1.0"
image.tag=1.0                                   | Deployment | @/image | "registry.example/sluice-dev/sluice-webhook:1.0"
image.tag=1.0                                   | Deployment | @/args/13 | "--gate-image=registry.example/sluice-dev/sluice-gate:1.0"
image.tag=1.0,gate.image.tag=2.0                | Deployment | @/args/13 | "--gate-image=registry.example/sluice-dev/sluice-gate:2.0"
image.pullPolicy=Always                         | Deployment | @/imagePullPolicy | "Always"
image.pullSecrets={a,b}                         | Deployment | /spec/template/spec/imagePullSecrets | [{"name": "a"}, {"name": "b"}]
image.pullSecrets={a},global.imagePullSecrets={a,b} | Deployment | /spec/template/spec/imagePullSecrets | [{"name": "a"}, {"name": "b"}]
image.pullSecrets[0].name=a,global.imagePullSecrets={a,b} | Deployment | /spec/template/spec/imagePullSecrets | [{"name": "a"}, {"name": "b"}]
image.pullSecrets=null,global.imagePullSecrets=null | Deployment | /spec/template/spec/imagePullSecrets | null
resources=null                                  | Deployment | @/resources | null
ports.admin=9090                                | Deployment | @/ports/2/containerPort | 9090
priorityClassName=                              | Deployment | /spec/template/spec/priorityClassName | null
priorityClassQuota=true                         | ResourceQuota | /spec/hard/pods | "4"
hostNetwork=true,ports.admission=9443           | Deployment | /spec/template/spec/dnsPolicy | "ClusterFirstWithHostNet"
hostNetwork=true,ports.admission=9443           | Deployment | /spec/strategy/rollingUpdate/maxSurge | 0
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
nodeRules[0].kind=DaemonSet,nodeRules[0].name=csi,nodeRules[0].namespace=storage,nodeRules[0].sameNode=true,nodeRules[0].pods.selector=a=b | Deployment | @/args/17 | "--node-rules=[{\"kind\":\"DaemonSet\",\"name\":\"csi\",\"namespace\":\"storage\",\"pods\":{\"selector\":\"a=b\"},\"sameNode\":true}]"
nodeRules=null                                  | Deployment | @/args/17 | "--windows=refuse"
extraArgs={--x=1}                               | Deployment | @/args/24 | "--x=1"
extraEnv[0].name=A,extraEnv[0].value=b          | Deployment | @/env/2 | {"name": "A", "value": "b"}
extraVolumes[0].name=v                          | Deployment | /spec/template/spec/volumes | [{"name": "v"}]
extraVolumeMounts[0].name=v,extraVolumeMounts[0].mountPath=/v | Deployment | @/volumeMounts/0/mountPath | "/v"
gate.resources.limits.cpu=1                     | Deployment | @/args/16 | "--gate-limits=cpu=1,memory=32Mi"
commonLabels.a=b                                | Service | /metadata/labels/a | "b"
commonLabels.app\.kubernetes\.io/part-of=b      | Service | /metadata/labels/app.kubernetes.io~1part-of | "b"
commonLabels.app\.kubernetes\.io/name=b         | Service | /metadata/labels/app.kubernetes.io~1name | "sluice"
commonLabels.a=b,podMonitor.enabled=true,podMonitor.labels.a=c | PodMonitor | /metadata/labels/a | "c"
serviceAccount.name=ordering                    | Deployment | /spec/template/spec/serviceAccountName | "ordering"
podSecurityContext.fsGroup=1                    | Deployment | /spec/template/spec/securityContext/fsGroup | 1
securityContext=null                            | Deployment | @/securityContext | null
probes.liveness.failureThreshold=9              | Deployment | @/livenessProbe/failureThreshold | 9
admission.objectSelector.matchLabels.team=a     | MutatingWebhookConfiguration | /webhooks/2/objectSelector | {"matchLabels": {"team": "a"}}
admission.objectSelector.matchLabels.team=a     | ValidatingAdmissionPolicy | /spec/matchConstraints/objectSelector | {"matchLabels": {"team": "a"}}
serviceAccount.annotations.a=b                  | ServiceAccount | /metadata/annotations | {"a": "b"}
podDisruptionBudget.maxUnavailable=50%          | PodDisruptionBudget | /spec/maxUnavailable | "50%"
podDisruptionBudget.minAvailable=1              | PodDisruptionBudget | /spec/minAvailable | 1
podDisruptionBudget.minAvailable=1              | PodDisruptionBudget | /spec/maxUnavailable | null
ports.admission=8443                            | NetworkPolicy | /spec/ingress/0 | {"ports": [{"port": 8443, "protocol": "TCP"}]}
ports.status=9000                               | NetworkPolicy | /spec/ingress/1/ports/0/port | 9000
replicas=2                                      | NetworkPolicy | /spec/ingress/1/from | null
networkPolicy.hostGates=null                    | NetworkPolicy | /spec/ingress/1/from | [{"namespaceSelector": {}}]
networkPolicy.hostGates={10.1.0.0/16}           | NetworkPolicy | /spec/ingress/1/from/1/ipBlock/cidr | "10.1.0.0/16"
replicas=2                                      | NetworkPolicy | /spec/ingress/2 | null
networkPolicy.scrapers[0].podSelector.a=b       | NetworkPolicy | /spec/ingress/2/from | [{"podSelector": {"a": "b"}}]
networkPolicy.probes={10.1.0.0/16}              | NetworkPolicy | /spec/ingress/2/from/0/ipBlock/cidr | "10.1.0.0/16"
networkPolicy.probes={10.1.0.0/16}              | NetworkPolicy | /spec/ingress/2/ports/0/port | 8080
networkPolicy.apiServerPorts={8443}             | NetworkPolicy | /spec/egress/0/ports | [{"port": 8443, "protocol": "TCP"}]
replicas=2                                      | NetworkPolicy | /spec/egress/1/ports/0/port | 53
serviceMonitor.enabled=true                     | ServiceMonitor | /spec/endpoints/0/interval | "30s"
serviceMonitor.enabled=true,serviceMonitor.scrapeTimeout=5s | ServiceMonitor | /spec/endpoints/0/scrapeTimeout | "5s"
podMonitor.enabled=true,podMonitor.relabelings[0].action=labeldrop | PodMonitor | /spec/podMetricsEndpoints/0/relabelings | [{"action": "labeldrop"}]
podMonitor.enabled=true,podMonitor.metricRelabelings[0].action=drop | PodMonitor | /spec/podMetricsEndpoints/0/metricRelabelings | [{"action": "drop"}]
podConditions.enabled=true                      | Deployment | @/args/16 | "--pod-conditions"
holds.enabled=true                              | Deployment | @/args/16 | "--holds=asked"
holds.enabled=true,holds.default=true           | Deployment | @/args/16 | "--holds=all"
prefetch.default=true                           | Deployment | @/args/16 | "--prefetch-default"
holds.enabled=true                              | MutatingWebhookConfiguration | /webhooks/4/clientConfig/service/path | "/admit/held-pods"
holds.enabled=true,holds.default=true           | MutatingWebhookConfiguration | /webhooks/4 | null
podMonitor.enabled=true                         | PodMonitor | /spec/podMetricsEndpoints/0/port | "admin"
prometheusRule.enabled=true,prometheusRule.longWaitSeconds=60 | PrometheusRule | /spec/groups/0/rules/0/expr | "max by (namespace) (sluice_longest_wait_seconds) > 60"
prometheusRule.enabled=true,prometheusRule.disabled={SluiceGateWaitsLong} | PrometheusRule | /spec/groups/0/rules/0/alert | "SluiceDown"
prometheusRule.enabled=true,prometheusRule.alertLabels.team=a | PrometheusRule | /spec/groups/0/rules/0/labels | {"severity": "warning", "team": "a"}
prometheusRule.enabled=true,prometheusRule.alertLabels.severity=page | PrometheusRule | /spec/groups/0/rules/0/labels | {"severity": "page"}
helmTest.enabled=true,global.imageRegistry=mirror:5000 | Pod | /spec/containers/0/image | "mirror:5000/library/busybox:1.35"
helmTest.enabled=true,global.imageRegistry=mirror:5000,helmTest.image=a/b:1 | Pod | /spec/containers/0/image | "mirror:5000/a/b:1"
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
        "gate.image.pullSecrets[0].name=mirror,gate.image.pullSecrets[1]=shared",
        "gate.resources.limits.memory=64Mi",
        "annotations.configDependsOn=false",
        "regate.default=boot",
        "prefetch.default=true",
        "crossNamespace.allow[0].from=web,crossNamespace.allow[0].to=data",
        "crossNamespace.allow[1].from=*,crossNamespace.allow[1].to=jobs",
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
    --gate-image=registry.example/sluice-dev/sluice-gate@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    --gate-image-pull-policy=Always
    --gate-pull-secrets=mirror,shared
    --gate-requests=cpu=5m,memory=8Mi
    --gate-limits=cpu=50m,memory=64Mi
    --prefetch-default
    --honor-config-depends-on=false
    --regate-default=boot
    --windows=skip
    --allow-cross-namespace=web->data,*->jobs
    --allow-cluster-scoped=web->ClusterIssuer.cert-manager.io
    --workloads=argoproj.io/Rollout
    --watch-cluster-role=sluice-watch
    --log-format=text
    --log-level=debug
    --shutdown-delay=0s
    ");
}

#[test]
fn refuses_values_that_nobody_reads() {
    let Some(helm) = helm() else { return };
    for flag in [
        "replica=3",
        "image.name=x",
        "image.registry=mirror/",
        "image.pullSecrets[0].secret=a",
        "gate.image.pullSecrets={Not_A_Name}",
        "gate.resources.limits.cpu=much",
        "gate.resources.limits.gpu=1",
        "gate.resources.limits.cpu=0",
        "gate.resources.requests.memory=1Gi",
        "ports.status=10250",
        "injection.backend=magic",
        "backstop.action=Audit",
        "windows.mode=ignore",
        "regate.default=never",
        "prefetch.default=maybe",
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
        "hostNetwork=true",
        "podMonitor.enabled=true,serviceMonitor.enabled=true",
        "prometheusRule.disabled={SluiceDwn}",
        "rbac.kinds[0].group=g,rbac.kinds[0].resources={nodes/proxy}",
    ] {
        let refusal = Render::new(&helm).flags(&[flag]).run();
        assert!(refusal.is_err(), "--set {flag} was accepted");
    }
}

/// Helm refuses values that no pod, or no process, could use, alone or together. The message names them and the way out.
#[test]
fn names_the_values_that_do_not_go_together() {
    let Some(helm) = helm() else { return };
    for (flags, told) in [
        (
            "gate.resources.requests.cpu=1,gate.resources.limits.cpu=10m",
            "gate.resources.requests.cpu (1) is above gate.resources.limits.cpu (10m); lower the one or raise the other",
        ),
        (
            "gate.resources.requests.memory=1Gi",
            "gate.resources.requests.memory (1Gi) is above gate.resources.limits.memory (32Mi)",
        ),
        (
            "gate.resources.limits.cpu=0",
            "gate.resources.limits.cpu is 0; write an amount above zero",
        ),
        (
            "gate.resources.requests.memory=0Mi",
            "gate.resources.requests.memory is 0Mi; write an amount above zero",
        ),
        (
            "ports.admission=9443,ports.status=9443,ports.admin=9443",
            "ports.admission and ports.status are both 9443",
        ),
        (
            "ports.status=8080",
            "ports.status and ports.admin are both 8080, and only one of them can listen there; give each a port of its own",
        ),
    ] {
        for backend in ["webhook", "policy"] {
            let backend = format!("injection.backend={backend}");
            let said = Render::new(&helm).flags(&[&backend, flags]).run();
            let said = said.expect_err(flags);
            assert!(said.contains(told), "--set {flags}: {said}");
        }
    }
    for fine in [
        "gate.resources.requests.cpu=1,gate.resources.limits.cpu=1000m",
        "gate.resources.requests.memory=32768Ki",
        "gate.resources.requests.cpu=0.05",
    ] {
        assert!(Render::new(&helm).flags(&[fine]).run().is_ok(), "{fine}");
    }
}

/// Helm refuses to render an image without a registry: the node would pull it from a default registry that others own.
#[test]
fn renders_no_image_of_a_registry_that_nobody_has_named() {
    let Some(helm) = helm() else { return };
    let asked =
        "image.registry is empty, and this chart belongs to no release: set it to the registry";
    for flags in ["image.registry=", "image.registry=,gate.image.registry=a"] {
        let said = Render::new(&helm).flags(&[flags]).run().expect_err(flags);
        assert!(said.contains(asked), "--set {flags}: {said}");
    }
    let both = "image.registry=,global.imageRegistry=mirror";
    assert!(Render::new(&helm).flags(&[both]).run().is_ok());
}

/// Each value may be null: Helm then removes it, and the chart renders, or the refusal names the missing value.
#[test]
fn takes_null_for_empty_or_names_what_is_missing() {
    let Some(helm) = helm() else { return };
    let values = std::fs::read_to_string(chart_dir().join("values.yaml")).expect("values.yaml");
    let values: Value = serde_saphyr::from_str(&values).expect("values.yaml is YAML");
    let enabled = "holds.enabled=true,prometheusRule.enabled=true,helmTest.enabled=true,global.imageRegistry=mirror";
    for path in paths(&values) {
        let null = format!("{path}=null");
        if let Err(said) = Render::new(&helm).flags(&[enabled, &null]).run() {
            let key = path.rsplit('.').next().unwrap_or_default();
            let named = said.contains(&format!("missing property '{key}'"));
            assert!(named, "--set {null}: {said}");
        }
    }
}

/// Returns the path of every value, and of every mapping of values, such as `gate` and `gate.image`.
fn paths(values: &Value) -> Vec<String> {
    let parts = values.as_object().into_iter().flatten();
    parts
        .filter(|(key, _)| !key.contains('.'))
        .flat_map(|(key, part)| {
            let within = paths(part)
                .into_iter()
                .map(move |path| format!("{key}.{path}"));
            std::iter::once(key.clone()).chain(within)
        })
        .collect()
}

#[test]
fn takes_the_plural_names_of_custom_kinds() {
    let kinds = "rbac.kinds[0].group=k8s.cni.cncf.io,rbac.kinds[0].resources={network-attachment-definitions}";
    assert!(
        render!(kinds)
            .text()
            .contains("\"network-attachment-definitions\"")
    );
}

#[test]
fn leaves_the_account_to_others_where_it_is_told_to() {
    let manifest = render!("serviceAccount.create=false,serviceAccount.name=theirs");
    assert!(manifest.all("ServiceAccount").is_empty());
    assert_eq!(
        manifest.only("Deployment")["spec"]["template"]["spec"]["serviceAccountName"],
        "theirs"
    );
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
