//! The table of built-in kinds.
//!
//! Every kind that a cluster of Kubernetes 1.30 or later serves in a stable version, that can be listed, watched and waited for.
//! Left out: requests that are answered and never stored (`Binding`, `TokenReview`, `SubjectAccessReview`, ...), and
//! `ComponentStatus`, which cannot be watched. Kinds that became stable after 1.30 (`ServiceCIDR`, `ResourceClaim`, ...) are
//! named with their group, like installed kinds.

use super::Builtin;

const fn namespaced(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
) -> Builtin {
    Builtin {
        group,
        version,
        kind,
        plural,
        short,
        namespaced: true,
    }
}

const fn cluster(
    group: &'static str,
    version: &'static str,
    kind: &'static str,
    plural: &'static str,
    short: &'static [&'static str],
) -> Builtin {
    Builtin {
        group,
        version,
        kind,
        plural,
        short,
        namespaced: false,
    }
}

const ADMISSION: &str = "admissionregistration.k8s.io";
const FLOW: &str = "flowcontrol.apiserver.k8s.io";
const NETWORKING: &str = "networking.k8s.io";
const RBAC: &str = "rbac.authorization.k8s.io";
const STORAGE: &str = "storage.k8s.io";

/// The built-in kinds, ordered by group, the core group first.
#[rustfmt::skip] // a table reads by its columns
pub(super) const BUILTINS: &[Builtin] = &[
    namespaced("", "v1", "ConfigMap", "configmaps", &["cm"]),
    namespaced("", "v1", "Endpoints", "endpoints", &["ep"]),
    namespaced("", "v1", "Event", "events", &["ev"]),
    namespaced("", "v1", "LimitRange", "limitranges", &["limits"]),
    cluster("", "v1", "Namespace", "namespaces", &["ns"]),
    cluster("", "v1", "Node", "nodes", &["no"]),
    cluster("", "v1", "PersistentVolume", "persistentvolumes", &["pv"]),
    namespaced("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", &["pvc"]),
    namespaced("", "v1", "Pod", "pods", &["po"]),
    namespaced("", "v1", "PodTemplate", "podtemplates", &[]),
    namespaced("", "v1", "ReplicationController", "replicationcontrollers", &["rc"]),
    namespaced("", "v1", "ResourceQuota", "resourcequotas", &["quota"]),
    namespaced("", "v1", "Secret", "secrets", &[]),
    namespaced("", "v1", "Service", "services", &["svc"]),
    namespaced("", "v1", "ServiceAccount", "serviceaccounts", &["sa"]),

    cluster(ADMISSION, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", &[]),
    cluster(ADMISSION, "v1", "ValidatingAdmissionPolicy", "validatingadmissionpolicies", &[]),
    cluster(ADMISSION, "v1", "ValidatingAdmissionPolicyBinding", "validatingadmissionpolicybindings", &[]),
    cluster(ADMISSION, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", &[]),

    cluster("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", &["crd", "crds"]),

    cluster("apiregistration.k8s.io", "v1", "APIService", "apiservices", &[]),

    namespaced("apps", "v1", "ControllerRevision", "controllerrevisions", &[]),
    namespaced("apps", "v1", "DaemonSet", "daemonsets", &["ds"]),
    namespaced("apps", "v1", "Deployment", "deployments", &["deploy"]),
    namespaced("apps", "v1", "ReplicaSet", "replicasets", &["rs"]),
    namespaced("apps", "v1", "StatefulSet", "statefulsets", &["sts"]),

    namespaced("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", &["hpa"]),

    namespaced("batch", "v1", "CronJob", "cronjobs", &["cj"]),
    namespaced("batch", "v1", "Job", "jobs", &[]),

    cluster("certificates.k8s.io", "v1", "CertificateSigningRequest", "certificatesigningrequests", &["csr"]),

    namespaced("coordination.k8s.io", "v1", "Lease", "leases", &[]),

    namespaced("discovery.k8s.io", "v1", "EndpointSlice", "endpointslices", &[]),

    cluster(FLOW, "v1", "FlowSchema", "flowschemas", &[]),
    cluster(FLOW, "v1", "PriorityLevelConfiguration", "prioritylevelconfigurations", &[]),

    namespaced(NETWORKING, "v1", "Ingress", "ingresses", &["ing"]),
    cluster(NETWORKING, "v1", "IngressClass", "ingressclasses", &[]),
    namespaced(NETWORKING, "v1", "NetworkPolicy", "networkpolicies", &["netpol"]),

    cluster("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", &[]),

    namespaced("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", &["pdb"]),

    cluster(RBAC, "v1", "ClusterRole", "clusterroles", &[]),
    cluster(RBAC, "v1", "ClusterRoleBinding", "clusterrolebindings", &[]),
    namespaced(RBAC, "v1", "Role", "roles", &[]),
    namespaced(RBAC, "v1", "RoleBinding", "rolebindings", &[]),

    cluster("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", &["pc"]),

    cluster(STORAGE, "v1", "CSIDriver", "csidrivers", &[]),
    cluster(STORAGE, "v1", "CSINode", "csinodes", &[]),
    namespaced(STORAGE, "v1", "CSIStorageCapacity", "csistoragecapacities", &[]),
    cluster(STORAGE, "v1", "StorageClass", "storageclasses", &["sc"]),
    cluster(STORAGE, "v1", "VolumeAttachment", "volumeattachments", &[]),
];
