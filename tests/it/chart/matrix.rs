//! Combinations of values: Helm's linter has nothing to say of any, and an API server takes what they render.

use super::cluster::kubectl;
use super::helm::{Render, chart_dir, helm};
use serde_json::{Value, json};
use std::process::Command;

/// The combinations of values, one a line; a space parts its flags.
const COMBINATIONS: &str = "
podMonitor.enabled=true podMonitor.relabelings[0].action=labeldrop podDisruptionBudget.minAvailable=1 serviceAccount.create=false
replicas=1 podDisruptionBudget.enabled=false priorityClassQuota=true priorityClassName=system-node-critical
injection.backend=policy
injection.backend=policy gate.runAsUser=null gate.image.pullSecrets={mirror,shared} windows.mode=skip certificates.clusterTrustBundle=true
injection.backend=policy admission.failurePolicy=Ignore admission.objectSelector.matchLabels.team=a annotations.configDependsOn=false
admission.failurePolicy=Ignore admission.timeoutSeconds=1 admission.excludeNamespaces={a,b} admission.objectSelector.matchLabels.team=a
admission.namespaceSelector[0].key=team,admission.namespaceSelector[0].operator=Exists workloads.custom=null
backstop.action=Deny windows.mode=skip
holds.enabled=true podConditions.enabled=true serviceAccount.name=ordering
holds.enabled=true holds.default=true prefetch.default=true injection.backend=policy
creationHolds.enabled=true creationHolds.apiServers={10.0.0.0/24} injection.backend=policy
creationHolds.enabled=true admission.clientCA=x admission.objectSelector.matchLabels.team=a holds.enabled=true
backstop.enabled=false networkPolicy.enabled=false
hostNetwork=true ports.admission=9443 ports.status=9000 ports.admin=9090
rbac.secrets=true rbac.presets={argo,cert-manager,cluster-api,cnpg,crossplane,eck,external-secrets,flux,gateway-api}
rbac.presets={karpenter,keda,knative,kserve,kubevirt,kyverno,longhorn,mariadb-operator,olm,opentelemetry,percona,postgres-operator}
rbac.presets={prometheus-operator,rabbitmq,rook,snapshots,strimzi,tekton,vault-secrets-operator,velero}
rbac.kinds[0].group=example.com,rbac.kinds[0].resources={widgets} workloads.custom=null
healthRules.configMap=health healthRules.builtin=false podConditions.enabled=true log.format=text log.level=kube=debug
serviceAccount.name=ordering serviceAccount.annotations.a=b podConditions.enabled=true
podSecurityContext=null securityContext=null resources=null probes.liveness.initialDelaySeconds=5 probes.readiness=null
podSecurityContext.fsGroup=1 securityContext.runAsUser=1000 strategy.type=Recreate revisionHistoryLimit=0
extraArgs={--log-level=debug} extraEnv[0].name=A,extraEnv[0].value=b extraVolumes[0].name=v,extraVolumes[0].emptyDir.medium=Memory extraVolumeMounts[0].name=v,extraVolumeMounts[0].mountPath=/v
networkPolicy.hostGates=null networkPolicy.probes={10.1.0.0/16} networkPolicy.scrapers[0].podSelector.matchLabels.a=b
tolerations[0].operator=Exists nodeSelector.pool=infra topologySpreadConstraints[0].topologyKey=rack,topologySpreadConstraints[0].maxSkew=1,topologySpreadConstraints[0].whenUnsatisfiable=ScheduleAnyway
commonLabels.team=a,commonLabels.app\\.kubernetes\\.io/part-of=platform podLabels.team=a podAnnotations.a=b grafanaDashboard.enabled=true helmTest.enabled=true
serviceMonitor.enabled=true serviceMonitor.scrapeTimeout=5s prometheusRule.enabled=true prometheusRule.alertLabels.team=a prometheusRule.disabled={SluiceDown} certificates.issuerRef.name=corporate
global.imageRegistry=mirror:5000 global.imagePullSecrets={b} image.tag=1.0 image.pullPolicy=Always image.pullSecrets={a} gate.image.pullPolicy=Never
crossNamespace.allow[0].from=web,crossNamespace.allow[0].to=data clusterScoped.allow=null shutdownDelaySeconds=0
";

fn combinations() -> impl Iterator<Item = Vec<&'static str>> {
    // The first line is empty: the defaults.
    COMBINATIONS
        .lines()
        .map(|line| line.split_whitespace().collect())
}

#[test]
fn helms_linter_has_nothing_to_say() {
    let Some(helm) = helm() else { return };
    for flags in combinations() {
        let mut lint = Command::new(&helm);
        lint.args(["lint", "--strict", "--quiet"]).arg(chart_dir());
        lint.args(["--set", "image.registry=registry.example"]);
        lint.args(flags.iter().flat_map(|flag| ["--set", flag]));
        let output = lint.output().expect("helm must start");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{flags:?}: {said}");
    }
}

/// An API server takes the rendered objects of every combination, as a dry run. They have names of their own, so that they are not merged with
/// installed ones; kinds that an operator defines are left out.
#[test]
#[ignore = "needs a cluster: make test"]
fn an_api_server_takes_every_combination() {
    let Some(helm) = helm() else { return };
    for flags in combinations() {
        let mut objects = Render::new(&helm).flags(&flags).manifest().objects();
        objects.retain(|it| {
            let version = it["apiVersion"].as_str().unwrap_or_default();
            !version.starts_with("monitoring.coreos.com/")
                && !version.starts_with("cert-manager.io/")
        });
        for object in &mut objects {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            object["metadata"]["name"] = json!(format!("tried-{name}"));
        }
        let list: Value = json!({"apiVersion": "v1", "kind": "List", "items": objects});
        let create = ["create", "--dry-run=server", "--validate=strict", "-f", "-"];
        assert_eq!(kubectl(&create, &list).err(), None, "{flags:?}");
    }
}
