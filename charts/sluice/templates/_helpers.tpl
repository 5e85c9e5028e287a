{{/*
Every object is called "sluice", whatever the release: sluice is installed once per cluster, and a second release of
another name fails on the first object it does not own instead of admitting everything twice.
*/}}
{{- define "sluice.name" -}}sluice{{- end }}

{{/* The account of the controller. */}}
{{- define "sluice.account" -}}{{ .Values.serviceAccount.name | default (include "sluice.name" .) }}{{- end }}

{{/* The Secret that the replicas keep their CA in, what they write and read in its place or beside it, and the ConfigMap that remembers completed Jobs and passed gates. */}}
{{- define "sluice.caSecret" -}}sluice-ca{{- end }}
{{- define "sluice.issuedSecret" -}}{{ if .Values.certificates.issuerRef.name }}sluice-tls{{ end }}{{- end }}
{{- define "sluice.clusterTrustBundle" -}}{{ if .Values.certificates.clusterTrustBundle }}{{ include "sluice.name" . }}{{ end }}{{- end }}
{{- define "sluice.memory" -}}sluice-memory{{- end }}
{{- define "sluice.slots" -}}sluice-slots{{- end }}

{{/* The ClusterRole that Kubernetes puts together of all that name custom kinds. */}}
{{- define "sluice.watchRole" -}}sluice-watch{{- end }}

{{/* One ConfigMap holds 1 MiB, so there are several, and each namespace has one of them. The controller knows how many (rules::sheets). */}}
{{- define "sluice.sheets" -}}
{{- range $base := list (include "sluice.memory" .) (include "sluice.slots" .) }}
{{- range untilStep 0 4 1 }} {{ $base }}{{ if . }}-{{ . }}{{ end }}{{ end }}
{{- end }}
{{- end }}

{{/* The ConfigMap with what only the controller knows of a gate: addresses and CA. A policy takes it as its parameters. */}}
{{- define "sluice.injection" -}}sluice-injection{{- end }}

{{/* Who injects: webhook or policy. */}}
{{- define "sluice.backend" -}}
{{- $served := and (semverCompare ">=1.36-0" .Capabilities.KubeVersion.Version) (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy") }}
{{- if ne .Values.injection.backend "auto" }}{{ .Values.injection.backend }}{{ else if $served }}policy{{ else }}webhook{{ end }}
{{- end }}

{{/* The namespaces that anything of sluice looks at. */}}
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

{{/* Which objects and namespaces anything of sluice looks at. */}}
{{- define "sluice.selectors" -}}
namespaceSelector:
  {{- include "sluice.namespaceSelector" . | nindent 2 }}
{{- with .Values.admission.objectSelector }}
objectSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Of these namespaces those that ask for a gate in every pod. */}}
{{- define "sluice.injectedNamespaces" -}}
matchExpressions:
  - key: sluice.dev/inject
    operator: In
    values: [enabled]
{{- include "sluice.namespaceSelector" . | trimPrefix "matchExpressions:" }}
{{- end }}

{{- /* Of these namespaces those that ask for a hold of every gated pod. */}}
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

{{/* The labels of an object: `root`, and where it has them its `component` and `more` of its own. No key comes twice, whatever
     `commonLabels` says; what the chart finds its objects by stays as it is. */}}
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

{{/* The root, image.* or gate.image.*, and the program's name, as one reference. The registry of all charts wins over the image's own, the
     digest over the tag, and the gate's tag is the controller's unless it has one. Where neither is set, it is the image that was released with
     the chart, whose digest `make release` writes down. */}}
{{- define "sluice.image" -}}
{{- $root := index . 0 }}
{{- $released := index $root.Chart.Annotations (printf "sluice.dev/%s-digest" (index . 2)) }}
{{- with index . 1 -}}
{{- with ($root.Values.global | default dict).imageRegistry | default .registry }}{{ . }}/{{ end }}{{ .repository }}
{{- if .digest }}@{{ .digest }}
{{- else if .tag | default $root.Values.image.tag }}:{{ .tag | default $root.Values.image.tag }}
{{- else }}:{{ $root.Chart.AppVersion }}{{ with $released }}@{{ . }}{{ end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The image of pods that are made to see whether gates work; its registry, too, is that of all charts. */}}
{{- define "sluice.tryImage" -}}
{{- $image := .Values.helmTest.image }}
{{- with (.Values.global | default dict).imageRegistry }}{{ . }}/{{ regexReplaceAll "^([^/]*[.:][^/]*|localhost)/" $image "" }}{{ else }}{{ $image }}{{ end }}
{{- end }}

{{/* A quantity as a number. */}}
{{- define "sluice.quantity" -}}
{{- $text := toString . }}
{{- $number := regexFind "^[0-9.]+" $text }}
{{- $times := dict "m" 0.001 "k" 1000 "M" 1000000 "G" 1000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 }}
{{- mulf (float64 $number) (get $times (trimPrefix $number $text) | default 1) }}
{{- end }}

{{/* gate.resources as JSON, with what is left out; empty where gates ask for what their pods ask for. The API server would refuse every
     gated pod whose gate requests more than its limit, and takes an amount of zero for none, so neither is rendered. */}}
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

{{/* Of pull secrets, each a name or {name: …} as other charts have it, the names, as JSON. */}}
{{- define "sluice.pullSecrets" -}}
{{- $names := list }}
{{- range . }}
{{- if kindIs "map" . }}{{ $names = append $names .name }}{{ else }}{{ $names = append $names . }}{{ end }}
{{- end }}
{{- $names | uniq | toJson }}
{{- end }}

{{/* workloads.custom as the flag wants it: group/Kind,group/Kind */}}
{{- define "sluice.workloads" -}}
{{- $kinds := list }}
{{- range .Values.workloads.custom }}{{ $kinds = append $kinds (printf "%s/%s" .group .kind) }}{{ end }}
{{- join "," $kinds }}
{{- end }}

{{/* clusterScoped.allow as the flag wants it: from->kind,from->kind */}}
{{- define "sluice.clusterScoped" -}}
{{- $pairs := list }}
{{- range .Values.clusterScoped.allow }}{{ $pairs = append $pairs (printf "%s->%s" .from .kind) }}{{ end }}
{{- join "," $pairs }}
{{- end }}

{{/* crossNamespace.allow as the flag wants it: from->to,from->to */}}
{{- define "sluice.crossNamespace" -}}
{{- $pairs := list }}
{{- range .Values.crossNamespace.allow }}{{ $pairs = append $pairs (printf "%s->%s" .from .to) }}{{ end }}
{{- join "," $pairs }}
{{- end }}
