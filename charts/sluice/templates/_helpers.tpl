{{/*
The name of every object is "sluice", for every release: sluice is installed once per cluster, and a second release of another name
fails on the first object that it does not own, in place of admitting everything twice.
*/}}
{{- define "sluice.name" -}}sluice{{- end }}

{{/* The webhook configuration of held creations. API servers ask webhooks in the order of these names. */}}
{{- define "sluice.creations" -}}0-sluice-creations{{- end }}

{{/* The service account of the controller. */}}
{{- define "sluice.account" -}}{{ .Values.serviceAccount.name | default (include "sluice.name" .) }}{{- end }}

{{/* The Secret with the replicas' own CA, the Secret of another issuer, the ClusterTrustBundle, and the ConfigMaps of memory and slots. */}}
{{- define "sluice.caSecret" -}}sluice-ca{{- end }}
{{- define "sluice.issuedSecret" -}}{{ if .Values.certificates.issuerRef.name }}sluice-tls{{ end }}{{- end }}
{{- define "sluice.clusterTrustBundle" -}}{{ if .Values.certificates.clusterTrustBundle }}{{ include "sluice.name" . }}{{ end }}{{- end }}
{{- define "sluice.memory" -}}sluice-memory{{- end }}
{{- define "sluice.slots" -}}sluice-slots{{- end }}

{{/* The ConfigMap with the settings that every account may read. */}}
{{- define "sluice.installation" -}}sluice-installation{{- end }}

{{/* The ClusterRole that Kubernetes aggregates from all ClusterRoles that name custom kinds. */}}
{{- define "sluice.watchRole" -}}sluice-watch{{- end }}

{{/* The names of all shards. A ConfigMap holds 1 MiB, so there are several, and each namespace uses one. rules::shards has their number. */}}
{{- define "sluice.shards" -}}
{{- range $base := list (include "sluice.memory" .) (include "sluice.slots" .) }}
{{- range untilStep 0 4 1 }} {{ $base }}{{ if . }}-{{ . }}{{ end }}{{ end }}
{{- end }}
{{- end }}

{{/* The ConfigMap with the policy's parameters, which only the controller knows: addresses and CA. */}}
{{- define "sluice.injection" -}}sluice-injection{{- end }}

{{/* The backend that injects gates: webhook or policy. */}}
{{- define "sluice.backend" -}}
{{- $served := and (semverCompare ">=1.36-0" .Capabilities.KubeVersion.Version) (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy") }}
{{- if ne .Values.injection.backend "auto" }}{{ .Values.injection.backend }}{{ else if $served }}policy{{ else }}webhook{{ end }}
{{- end }}

{{/* A selector of the namespaces that sluice looks at. */}}
{{- define "sluice.namespaceSelector" -}}
matchExpressions:
  - key: kubernetes.io/metadata.name
    operator: NotIn
    values:
      {{- concat (list "kube-system" "kube-public" "kube-node-lease" .Release.Namespace) (.Values.admission.excludeNamespaces | default list) | uniq | toYaml | nindent 6 }}
  {{- with .Values.admission.namespaceSelector }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{/* Selectors of the namespaces and the objects that sluice looks at. */}}
{{- define "sluice.selectors" -}}
namespaceSelector:
  {{- include "sluice.namespaceSelector" . | nindent 2 }}
{{- with .Values.admission.objectSelector }}
objectSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* A selector of the namespaces that ask for a gate in every pod. */}}
{{- define "sluice.injectedNamespaces" -}}
matchExpressions:
  - key: sluice.dev/inject
    operator: In
    values: [enabled]
{{- include "sluice.namespaceSelector" . | trimPrefix "matchExpressions:" }}
{{- end }}

{{- /* A selector of the namespaces that ask for a hold of every gated pod. */}}
{{- define "sluice.heldNamespaces" -}}
matchExpressions:
  - key: sluice.dev/hold
    operator: In
    values: [enabled]
{{- include "sluice.namespaceSelector" . | trimPrefix "matchExpressions:" }}
{{- end }}

{{- define "sluice.selectorLabels" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.labelsOf" (dict "root" .) }}
{{- end }}

{{/* The labels of an object, from `root`, and optionally its `component` and `more` labels. A key comes once: `commonLabels` cannot
     replace the labels by which the chart finds its objects. */}}
{{- define "sluice.labelsOf" -}}
{{- $labels := dict "app.kubernetes.io/component" (.component | default "controller") }}
{{- with .root }}
{{- $_ := set $labels "app.kubernetes.io/name" "sluice" }}
{{- $_ := set $labels "app.kubernetes.io/instance" .Release.Name }}
{{- $_ := set $labels "app.kubernetes.io/version" .Chart.AppVersion }}
{{- $_ := set $labels "app.kubernetes.io/managed-by" .Release.Service }}
{{- $_ := set $labels "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_") }}
{{- end }}
{{- merge $labels (.more | default dict) (.root.Values.commonLabels | default dict) (dict "app.kubernetes.io/part-of" "sluice") | toYaml }}
{{- end }}

{{/* The registry of an image, from a list of the root, and image.* or gate.image.*. The global registry wins over the image's own, and a
     gate without one has the controller's. Otherwise it is that of the chart's release, which `make release` has noted: a chart out of a
     clone refuses to render, because a name without a registry would be pulled from one that others own. */}}
{{- define "sluice.registry" -}}
{{- $root := index . 0 }}
{{- $released := index ($root.Chart.Annotations | default dict) "sluice.dev/registry" }}
{{- $refusal := "image.registry is empty, and this chart belongs to no release: set it to the registry that you have pushed both images to, or to localhost where they are loaded onto the nodes" }}
{{- coalesce ($root.Values.global | default dict).imageRegistry (index . 1).registry $root.Values.image.registry $released | required $refusal }}
{{- end }}

{{/* The reference of an image, from a list of the root, image.* or gate.image.*, and the program's name. A digest wins over a tag. A gate
     without a tag has the controller's. Without tag and digest it is the image that was released with the chart, whose digest
     `make release` has noted. */}}
{{- define "sluice.image" -}}
{{- $root := index . 0 }}
{{- $released := index $root.Chart.Annotations (printf "sluice.dev/%s-digest" (index . 2)) }}
{{- with index . 1 -}}
{{- include "sluice.registry" (list $root .) }}/{{ .repository }}
{{- if .digest }}@{{ .digest }}
{{- else if .tag | default $root.Values.image.tag }}:{{ .tag | default $root.Values.image.tag }}
{{- else }}:{{ $root.Chart.AppVersion }}{{ with $released }}@{{ . }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The image of pods that try out a gate. The global registry applies to it too. */}}
{{- define "sluice.tryImage" -}}
{{- $image := .Values.helmTest.image }}
{{- with (.Values.global | default dict).imageRegistry }}{{ . }}/{{ regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $image "" }}{{ else }}{{ $image }}{{ end }}
{{- end }}

{{/* The number of a quantity. */}}
{{- define "sluice.quantity" -}}
{{- $text := toString . }}
{{- $number := regexFind "^[0-9.]+" $text }}
{{- $times := dict "m" 0.001 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 }}
{{- mulf (float64 $number) (get $times (trimPrefix $number $text) | default 1) }}
{{- end }}

{{/* gate.resources as JSON, with defaults for missing amounts; empty where gates take the resources of a container. A request above its
     limit fails here, because the API server would refuse every gated pod; so does an amount of zero, which Kubernetes ignores. */}}
{{- define "sluice.gateResources" -}}
{{- if .Values.gate.resources }}
{{- $usual := dict "requests" (dict "cpu" "5m" "memory" "8Mi") "limits" (dict "cpu" "50m" "memory" "32Mi") }}
{{- $all := dict }}
{{- range $half, $amounts := $usual }}
{{- $own := get $.Values.gate.resources $half | default dict }}
{{- $filled := dict }}
{{- range $key, $amount := $amounts }}
{{- $said := ternary (get $own $key) $amount (and (hasKey $own $key) (not (kindIs "invalid" (get $own $key)))) }}
{{- if le (include "sluice.quantity" $said | float64) 0.0 }}
{{- fail (printf "gate.resources.%s.%s is %v; write an amount above zero" $half $key $said) }}
{{- end }}
{{- $_ := set $filled $key (toString $said) }}
{{- end }}
{{- $_ := set $all $half $filled }}
{{- end }}
{{- range $key := list "cpu" "memory" }}
{{- $request := get $all.requests $key }}
{{- $limit := get $all.limits $key }}
{{- if gt (include "sluice.quantity" $request | float64) (include "sluice.quantity" $limit | float64) }}
{{- fail (printf "gate.resources.requests.%s (%s) is above gate.resources.limits.%s (%s); lower the one or raise the other" $key $request $key $limit) }}
{{- end }}
{{- end }}
{{- $all | toJson }}
{{- end }}
{{- end }}

{{/* The user of the gate; empty where the platform gives one: OpenShift refuses the image's own user, 65532, by its number. */}}
{{- define "sluice.gateUser" -}}
{{- $given := .Capabilities.APIVersions.Has "security.openshift.io/v1" }}
{{- with .Values.gate.runAsUser }}{{ if not (and $given (eq (int64 .) 65532)) }}{{ int64 . }}{{ end }}{{ end }}
{{- end }}

{{/* The names of pull secrets as JSON. Each entry is a name, or {name: …} as in other charts. */}}
{{- define "sluice.pullSecrets" -}}
{{- $names := list }}
{{- range . }}
{{- if kindIs "map" . }}{{ $names = append $names .name }}{{ else }}{{ $names = append $names . }}{{ end }}
{{- end }}
{{- $names | uniq | toJson }}
{{- end }}

{{/* workloads.custom in the form of the flag: group/Kind,group/Kind */}}
{{- define "sluice.workloads" -}}
{{- $kinds := list }}
{{- range .Values.workloads.custom }}{{ $kinds = append $kinds (printf "%s/%s" .group .kind) }}{{ end }}
{{- join "," $kinds }}
{{- end }}

{{/* clusterScoped.allow in the form of the flag: from->kind,from->kind */}}
{{- define "sluice.clusterScoped" -}}
{{- $pairs := list }}
{{- range .Values.clusterScoped.allow }}{{ $pairs = append $pairs (printf "%s->%s" .from .kind) }}{{ end }}
{{- join "," $pairs }}
{{- end }}

{{/* crossNamespace.allow in the form of the flag: from->to,from->to */}}
{{- define "sluice.crossNamespace" -}}
{{- $pairs := list }}
{{- range .Values.crossNamespace.allow }}{{ $pairs = append $pairs (printf "%s->%s" .from .to) }}{{ end }}
{{- join "," $pairs }}
{{- end }}

{{- /* The rules of a ClusterRole that reads the kinds that pods may depend on. No rule has a wildcard. */}}
{{- define "sluice.reads" -}}
- apiGroups: [""]
  resources: [configmaps, limitranges, namespaces, nodes, persistentvolumeclaims, persistentvolumes, pods, replicationcontrollers, resourcequotas, serviceaccounts, services]
  verbs: [get, list, watch]
- apiGroups: [apps]
  resources: [controllerrevisions, daemonsets, deployments, replicasets, statefulsets]
  verbs: [get, list, watch]
- apiGroups: [batch]
  resources: [cronjobs, jobs]
  verbs: [get, list, watch]
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, watch]
- apiGroups: [networking.k8s.io]
  resources: [ingressclasses, ingresses, networkpolicies]
  verbs: [get, list, watch]
- apiGroups: [policy]
  resources: [poddisruptionbudgets]
  verbs: [get, list, watch]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [clusterrolebindings, clusterroles, rolebindings, roles]
  verbs: [get, list, watch]
- apiGroups: [scheduling.k8s.io]
  resources: [priorityclasses]
  verbs: [get, list, watch]
- apiGroups: [storage.k8s.io]
  resources: [csidrivers, storageclasses, volumeattachments]
  verbs: [get, list, watch]
- apiGroups: [apiregistration.k8s.io]
  resources: [apiservices]
  verbs: [get, list, watch]
# A new kind is picked up when its definition is established.
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [get, list, watch]
{{- end }}
