{{/*
Every object is called "sluice", whatever the release: sluice is installed once per cluster, and a second release of
another name fails on the first object it does not own instead of admitting everything twice.
*/}}
{{- define "sluice.name" -}}sluice{{- end }}

{{/* The Secret that the replicas keep their CA in, and the ConfigMap that remembers completed Jobs and passed gates. */}}
{{- define "sluice.caSecret" -}}sluice-ca{{- end }}
{{- define "sluice.memory" -}}sluice-memory{{- end }}
{{- define "sluice.slots" -}}sluice-slots{{- end }}

{{- define "sluice.selectorLabels" -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end }}

{{- define "sluice.labels" -}}
{{ include "sluice.labelsOf" (dict "component" "controller" "root" .) }}
{{- end }}

{{/* The standard labels of an object of any component. */}}
{{- define "sluice.labelsOf" -}}
{{- with .root -}}
app.kubernetes.io/name: sluice
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ $.component }}
app.kubernetes.io/part-of: sluice
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{/* image.* or gate.image.* as one reference; the digest wins. */}}
{{- define "sluice.image" -}}
{{- with .registry }}{{ . }}/{{ end }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag }}{{ end }}
{{- end }}

{{/* workloads.custom as the flag wants it: group/Kind,group/Kind */}}
{{- define "sluice.workloads" -}}
{{- $kinds := list }}
{{- range .Values.workloads.custom }}{{ $kinds = append $kinds (printf "%s/%s" .group .kind) }}{{ end }}
{{- join "," $kinds }}
{{- end }}

{{/* crossNamespace.allow as the flag wants it: from->to,from->to */}}
{{- define "sluice.crossNamespace" -}}
{{- $pairs := list }}
{{- range .Values.crossNamespace.allow }}{{ $pairs = append $pairs (printf "%s->%s" .from .to) }}{{ end }}
{{- join "," $pairs }}
{{- end }}
