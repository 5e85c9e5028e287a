//! The command line. Every flag has an environment name; the chart sets flags.

mod assemble;

use crate::admission::AddressBlock;
use crate::clock::Clock;
use crate::follow::ConfigMapRef;
use crate::gate_spec::Fixed;
use crate::inject::{Amounts, Holds, Resources, ResourcesError};
use crate::known::{HealthSources, MEMORY, Settings, WallClock};
use crate::memory_alarm::MemoryAlarm;
use crate::telemetry::LogFormat;
use certs::{Lifetimes, LifetimesError};
use clap::{Parser, ValueEnum};
use jiff::{SignedDuration, Timestamp};
use rules::annotation;
use rules::dependency::NodeRules;
use rules::kinds::Kind;
use rules::terms::Regate;
use rules::verdict::{ClusterScoped, CrossNamespace, Policy};
use std::time::{Duration, SystemTime};
use strum::VariantNames;

/// Orders the start of pods: admission webhook and status service.
#[derive(Debug, Clone, Parser)]
// The last of two equal flags counts: the chart puts a user's extra arguments after its own.
#[command(name = "sluice-webhook", version, args_override_self = true)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line, and none rests on another"
)]
pub struct Args {
    /// The name of our own Service.
    #[arg(long, env = "SLUICE_SERVICE_NAME", default_value = "sluice")]
    service_name: String,
    /// The namespace of our own Service, Secret and pods.
    #[arg(long, env = "POD_NAMESPACE")]
    service_namespace: String,
    /// The name of our own pod, for Events and field managers.
    #[arg(long, env = "POD_NAME", default_value = "sluice-webhook")]
    instance: String,
    /// The port of admission.
    #[arg(long, env = "SLUICE_ADMISSION_PORT", default_value_t = 10250)]
    admission_port: u16,
    /// The CA certificates, in PEM, that sign the client certificates of API servers; only a caller of admission with such a certificate gets
    /// warnings that rest on the objects that sluice knows.
    #[arg(long, env = "SLUICE_ADMISSION_CLIENT_CA")]
    admission_client_ca: Option<String>,
    /// The port of the status service.
    #[arg(long, env = "SLUICE_STATUS_PORT", default_value_t = 9764)]
    status_port: u16,
    /// The port of probes and metrics, plain HTTP.
    #[arg(long, env = "SLUICE_ADMIN_PORT", default_value_t = 8080)]
    admin_port: u16,
    /// The MutatingWebhookConfiguration whose caBundle the process keeps up to date.
    #[arg(long, env = "SLUICE_WEBHOOK_CONFIGURATION", default_value = "sluice")]
    webhook_configuration: String,
    /// A second MutatingWebhookConfiguration whose caBundle the process keeps up to date, that of held creations; without it no creation is held.
    #[arg(long, env = "SLUICE_CREATIONS_CONFIGURATION")]
    creations_configuration: Option<String>,
    /// Blocks of addresses of API servers, as 10.0.0.0/8: for them held creations are judged without a client certificate.
    #[arg(long, env = "SLUICE_API_SERVERS", value_delimiter = ',')]
    api_servers: Vec<AddressBlock>,
    /// The Secret that holds the CA.
    #[arg(long, env = "SLUICE_CA_SECRET", default_value = "sluice-ca")]
    ca_secret: String,
    /// The Secret with a certificate that another issuer signs for us, as cert-manager writes it; without it the
    /// replicas have a CA of their own.
    #[arg(long, env = "SLUICE_ISSUED_SECRET")]
    issued_secret: Option<String>,
    /// The ClusterTrustBundle into which the process writes the CAs to trust, so that gates that were made before the newest CA trust it too; none
    /// without it.
    #[arg(long, env = "SLUICE_CLUSTER_TRUST_BUNDLE")]
    cluster_trust_bundle: Option<String>,
    /// How long a CA lives.
    #[arg(long, env = "SLUICE_CA_LIFETIME", default_value = "87600h", value_parser = lifetime)]
    ca_lifetime: SignedDuration,
    /// How long the next CA is trusted before it signs certificates, and how long the CA before it stays valid from then on.
    #[arg(long, env = "SLUICE_CA_OVERLAP", default_value = "8760h", value_parser = lifetime)]
    ca_overlap: SignedDuration,
    /// How long a replica's own certificate lives.
    #[arg(long, env = "SLUICE_LEAF_LIFETIME", default_value = "168h", value_parser = lifetime)]
    leaf_lifetime: SignedDuration,
    /// The ConfigMaps, in our own namespace, that remember completed Jobs and passed gates: their common name, without the number of each.
    #[arg(
        long,
        env = "SLUICE_MEMORY_CONFIG_MAP",
        default_value = "sluice-memory"
    )]
    memory_config_map: String,
    /// The ConfigMaps, in our own namespace, that record which objects hold slots under a cap: their common name, without the number of each.
    #[arg(long, env = "SLUICE_SLOTS_CONFIG_MAP", default_value = "sluice-slots")]
    slots_config_map: String,
    /// The ConfigMap, in our own namespace, with the administrator's health rules; none without it.
    #[arg(long, env = "SLUICE_HEALTH_RULES_CONFIGMAP")]
    health_rules_configmap: Option<String>,
    /// Whether the health rules that are built into sluice count, beside the administrator's.
    #[arg(long, env = "SLUICE_BUILTIN_HEALTH_RULES", default_value_t = true, action = clap::ArgAction::Set)]
    builtin_health_rules: bool,
    /// The image of the gate.
    #[arg(long, env = "SLUICE_GATE_IMAGE")]
    gate_image: String,
    /// The gate's imagePullPolicy; default: Kubernetes' own.
    #[arg(long, env = "SLUICE_GATE_IMAGE_PULL_POLICY", value_parser = ["Always", "IfNotPresent", "Never"])]
    gate_image_pull_policy: Option<String>,
    /// Pull secrets for the gate's image that every gated pod gets; each has to be in the pod's namespace.
    #[arg(long, env = "SLUICE_GATE_PULL_SECRETS", value_delimiter = ',')]
    gate_pull_secrets: Vec<String>,
    /// The gate's requests in a Burstable pod, as cpu=5m,memory=8Mi, with --gate-limits; without both it asks for what the smallest
    /// container of its pod asks for.
    #[arg(long, env = "SLUICE_GATE_REQUESTS")]
    gate_requests: Option<Amounts>,
    /// The gate's limits, and in a Guaranteed pod its requests too; with --gate-requests.
    #[arg(long, env = "SLUICE_GATE_LIMITS")]
    gate_limits: Option<Amounts>,
    /// The gate's runAsUser in a pod that names no user but 0; without it the image's user counts, as OpenShift wants it.
    #[arg(long, env = "SLUICE_GATE_RUN_AS_USER")]
    gate_run_as_user: Option<i64>,
    /// The ConfigMap that a MutatingAdmissionPolicy takes the addresses and the CA from; without it the webhook injects.
    #[arg(long, env = "SLUICE_INJECTION_CONFIG_MAP")]
    injection_config_map: Option<String>,
    /// Whether the labels of Helm's release Secrets are looked at; the process needs the right to watch Secrets for it.
    #[arg(long, env = "SLUICE_FOLLOW_HELM_RELEASES")]
    follow_helm_releases: bool,
    /// Whether pods carry the condition sluice.dev/Released; the process needs the right to patch their status for it.
    #[arg(long, env = "SLUICE_POD_CONDITIONS")]
    pod_conditions: bool,
    /// The gated pods that are held before they take a node: none (off), those that ask for it (asked), or all that do not decline (all). The
    /// process needs the right to patch pods for it.
    #[arg(long, env = "SLUICE_HOLDS", value_enum, default_value = "off")]
    holds: Holds,
    /// Whether the images of a gated pod without the annotation sluice.dev/prefetch are pulled before its gate begins.
    #[arg(long, env = "SLUICE_PREFETCH_DEFAULT")]
    prefetch_default: bool,
    /// Whether the annotation config.kubernetes.io/depends-on counts as a list.
    #[arg(long, env = "SLUICE_HONOR_CONFIG_DEPENDS_ON", default_value_t = true, action = clap::ArgAction::Set)]
    honor_config_depends_on: bool,
    /// When a pod without sluice.dev/regate waits although its revision has passed: never (once), after a boot of its node (boot), or always.
    #[arg(long, env = "SLUICE_REGATE_DEFAULT", default_value = "once", value_parser = regate)]
    regate_default: Regate,
    /// The answer to a pod on Windows, for which there is no gate.
    #[arg(long, env = "SLUICE_WINDOWS", value_enum, default_value = "refuse")]
    windows: Windows,
    /// FROM->TO: namespaces that may depend on another without its consent; * stands for any.
    #[arg(long, env = "SLUICE_ALLOW_CROSS_NAMESPACE", value_delimiter = ',', value_parser = pair("->", "FROM->TO"))]
    allow_cross_namespace: Vec<(String, String)>,
    /// FROM->KIND: namespaces that may depend on objects of a kind that is in no namespace; * stands for any.
    #[arg(long, env = "SLUICE_ALLOW_CLUSTER_SCOPED", value_delimiter = ',', value_parser = from_and_kind)]
    allow_cluster_scoped: Vec<(String, Kind)>,
    /// The DaemonSets that pods of namespaces with sluice.dev/inject: enabled wait for, as a JSON list of
    /// {"kind":"DaemonSet","name":NAME,"namespace":NAMESPACE,"sameNode":true}. Each may also have optional, timeout and on-timeout, as an entry of a
    /// list has them, and "pods":{"selector":LABELS} for some of those pods alone.
    #[arg(long, env = "SLUICE_NODE_RULES", default_value = "[]", value_parser = annotation::node_rules)]
    node_rules: NodeRules,
    /// GROUP/KIND: custom kinds that own pods and may carry a list.
    #[arg(long, env = "SLUICE_WORKLOADS", value_delimiter = ',', value_parser = pair("/", "GROUP/KIND"))]
    workloads: Vec<(String, String)>,
    /// The ClusterRole whose rules name the custom kinds that may be watched and may belong to a wave, a group or a release;
    /// none without it.
    #[arg(long, env = "SLUICE_WATCH_CLUSTER_ROLE")]
    watch_cluster_role: Option<String>,
    /// The format of the log.
    #[arg(long, env = "SLUICE_LOG_FORMAT", value_enum, default_value = "json")]
    log_format: LogFormat,
    /// The filter of the log, in the syntax of tracing's env filter.
    #[arg(long, env = "SLUICE_LOG_LEVEL", default_value = "info")]
    log_level: String,
    /// Seconds between SIGTERM and the end of accepting connections.
    #[arg(long, env = "SLUICE_SHUTDOWN_DELAY", default_value = "10", value_parser = seconds)]
    shutdown_delay: Duration,
    /// For tests alone: seconds by which this process takes the clock of its node to be ahead.
    #[arg(long, hide = true, default_value_t = 0, allow_negative_numbers = true)]
    clock_offset: i64,
}

/// The answer to a pod that asks for a gate and runs on Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Windows {
    /// The pod is refused.
    Refuse,
    /// The pod starts without a gate, with a warning.
    Skip,
}

impl Args {
    fn clock(&self) -> Clock {
        let ahead = SignedDuration::from_secs(self.clock_offset);
        Clock::new(move || {
            Timestamp::now()
                .saturating_add(ahead)
                .unwrap_or(Timestamp::MAX)
        })
    }

    /// Returns the lifetimes of the CA and of leaves; an error where they do not fit together.
    fn lifetimes(&self) -> Result<Lifetimes, LifetimesError> {
        Lifetimes::new(self.ca_lifetime, self.ca_overlap, self.leaf_lifetime)
    }

    /// Returns the parts of a gate that the flags set, such as the name of our own Service and the gate's image; an error where requests and limits
    /// do not fit together.
    fn fixed(&self) -> Result<Fixed, ResourcesError> {
        let resources = Resources::new(self.gate_requests.clone(), self.gate_limits.clone())?;
        Ok(Fixed {
            service: self.service_name.clone(),
            namespace: self.service_namespace.clone(),
            image: self.gate_image.clone(),
            image_pull_policy: self.gate_image_pull_policy.clone(),
            image_pull_secrets: self.gate_pull_secrets.clone(),
            resources,
            run_as_user: self.gate_run_as_user,
            cluster_trust_bundle: self.cluster_trust_bundle.clone(),
            config_map: self.injection_config_map.clone(),
        })
    }

    /// Returns the settings that verdicts rest on, beside the state of the cluster. `memory` is the container's limit in bytes; without a limit
    /// [`MEMORY`] counts.
    fn settings(&self, memory: Option<u64>, memory_alarm: MemoryAlarm) -> Settings {
        Settings {
            policy: Policy {
                cross_namespace: CrossNamespace(self.allow_cross_namespace.clone()),
                cluster_scoped: ClusterScoped(self.allow_cluster_scoped.clone()),
                config_depends_on: self.honor_config_depends_on,
                node_rules: self.node_rules.clone(),
                regate: self.regate_default,
            },
            workloads: self.workloads.clone(),
            reads_by_role: self.watch_cluster_role.is_some(),
            follows_helm_releases: self.follow_helm_releases,
            memory: memory.map_or(MEMORY, |it| usize::try_from(it).unwrap_or(usize::MAX)),
            memory_alarm,
            health_rules: HealthSources {
                administrator: self.health_rules_configmap().is_some(),
                builtin: self.builtin_health_rules,
            },
            wall: WallClock::new(SystemTime::now),
        }
    }

    /// Returns the name of the ConfigMap with the administrator's health rules; `None` where the flag is absent or empty.
    fn health_rules_configmap(&self) -> Option<&str> {
        let name = self.health_rules_configmap.as_deref();
        name.filter(|name| !name.is_empty())
    }

    /// Returns the reference to the ConfigMap of this name in our own namespace.
    fn config_map(&self, name: &str) -> ConfigMapRef {
        ConfigMapRef {
            namespace: self.service_namespace.clone(),
            name: name.to_owned(),
        }
    }
}

/// Reads a whole number of seconds, written as `10` or `10s`.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text);
    number
        .parse()
        .map(Duration::from_secs)
        .map_err(|_| format!("{text:?} is no number of seconds; write 10 or 10s"))
}

/// Reads a duration such as `87600h`, `1h30m` or `60s`.
fn lifetime(text: &str) -> Result<SignedDuration, String> {
    text.parse()
        .map_err(|error| format!("{text:?} is no time ({error}); write 87600h, 1h30m or 60s"))
}

fn regate(text: &str) -> Result<Regate, String> {
    let words = Regate::VARIANTS.join(", ");
    text.parse()
        .map_err(|_| format!("{text:?} is no such word; the words are {words}"))
}

fn from_and_kind(text: &str) -> Result<(String, Kind), String> {
    let (from, kind) = pair("->", "FROM->KIND")(text)?;
    match annotation::kind(&kind) {
        Ok(kind) => Ok((from, kind)),
        Err(problem) => Err(problem.to_string()),
    }
}

fn pair(
    separator: &'static str,
    form: &'static str,
) -> impl Fn(&str) -> Result<(String, String), String> + Clone + Send + Sync {
    move |text| {
        let (left, right) = text
            .split_once(separator)
            .ok_or_else(|| format!("{text:?} lacks {separator:?}; write {form}"))?;
        Ok((left.trim().to_owned(), right.trim().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn node_rules_that_cannot_be_read_are_refused_with_their_key_and_the_way_out() {
        let read = |rules: &str| {
            let flag = format!("--node-rules={rules}");
            let always = [
                "sluice-webhook",
                "--service-namespace=sluice-system",
                "--gate-image=gate",
            ];
            Args::try_parse_from(always.into_iter().chain([flag.as_str()]))
        };
        let rule = r#"{"kind":"DaemonSet","name":"csi","namespace":"storage","sameNode":true}"#;
        let args = read(&format!("[{rule},{rule}]")).unwrap();
        assert_eq!(
            args.settings(None, MemoryAlarm::default())
                .policy
                .node_rules
                .0
                .len(),
            2
        );
        let told = read(r#"[{"kind":"DaemonSet","name":"csi","sameNode":true}]"#).unwrap_err();
        let told = told.to_string();
        assert!(
            told.contains("nodeRules: line 1, column 2: a node rule needs the namespace"),
            "{told}"
        );
    }

    #[test]
    fn a_pair_that_is_none_is_refused_with_what_to_write() {
        let told = pair("->", "FROM->TO")("a=b").unwrap_err();
        assert_eq!(told, r#""a=b" lacks "->"; write FROM->TO"#);
    }
}
