{{/*
Which requests the API server sends at all. No value reaches these templates: they decide what a stopped webhook holds up.

With failurePolicy Fail an expression that errors rejects the request, so each path is guarded before it is read. The
guards are conditions of their own because one false condition outweighs any number of errors. The API server accepts
no user function in them, so the keys and the path are spelled out by these helpers.
*/}}

{{/* The keys by which an object asks for a gate: the one list of them. */}}
{{- define "sluice.keys" -}}
sluice.dev/depends-on config.kubernetes.io/depends-on sluice.dev/weight sluice.dev/parallelism
{{- end }}

{{- define "sluice.match.keys" -}}
{{ include "sluice.match.list" (splitList " " (include "sluice.keys" .)) }}
{{- end }}

{{/* Texts as a list in CEL. */}}
{{- define "sluice.match.list" -}}
['{{ join "', '" . }}']
{{- end }}

{{/* Does the object itself carry one of the keys? */}}
{{- define "sluice.match.annotated" -}}
has(object.metadata.annotations) && {{ include "sluice.match.keys" . }}.exists(k, k in object.metadata.annotations)
{{- end }}

{{/* Is there anything at this path, of object or oldObject? */}}
{{- define "sluice.match.there" -}}
{{- $steps := splitList "." . }}
{{- $path := first $steps }}
{{- $guards := list }}
{{- range $step := rest $steps }}
{{- $path = printf "%s.%s" $path $step }}
{{- $guards = append $guards (printf "has(%s)" $path) }}
{{- end }}
{{- join " && " $guards }}
{{- end }}

{{/*
Does the pod template at a path carry one of these keys? What a custom kind keeps there may be anything, so types are asked too.
*/}}
{{- define "sluice.match.inside" -}}
{{- $metadata := printf "%s.metadata" .path }}
{{- $annotations := printf "%s.annotations" $metadata }}
{{- include "sluice.match.there" $metadata }} && type({{ $metadata }}) == map && has({{ $annotations }}) && type({{ $annotations }}) == map && {{ include "sluice.match.list" .keys }}.exists(k, k in {{ $annotations }})
{{- end }}

{{/* What this key says, on object or oldObject; empty where it is not there. */}}
{{- define "sluice.match.text" -}}
(has({{ . }}.metadata.annotations) && k in {{ . }}.metadata.annotations ? {{ . }}.metadata.annotations[k] : '')
{{- end }}

{{/*
The conditions for one workload; the argument is the path of its pod template.

On CREATE the keys decide, the object's own and its template's. On UPDATE there is work only where the template changes, or
where a list changes and has to be checked: that leaves alone the writes by which controllers keep a cluster running
(revision annotations, finalizers). A stored object need not have had a template: a Rollout may name a Deployment instead.
*/}}
{{- define "sluice.match.workload" -}}
{{- $keys := splitList " " (include "sluice.keys" .) }}
{{- $new := printf "object.%s" . }}
{{- $old := printf "oldObject.%s" . }}
- name: has-template
  expression: {{ include "sluice.match.there" $new | quote }}
- name: not-deleting
  expression: "!has(object.metadata.deletionTimestamp)"
- name: not-controller-owned
  expression: "!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(r, has(r.controller) && r.controller)"
- name: relevant
  expression: >-
    request.operation == 'CREATE'
    ? ({{ include "sluice.match.annotated" . }})
    || ({{ include "sluice.match.inside" (dict "path" $new "keys" $keys) }})
    : ((({{ include "sluice.match.annotated" . }})
    || ({{ include "sluice.match.inside" (dict "path" $new "keys" (prepend $keys "sluice.dev/gated")) }})
    || ({{ include "sluice.match.inside" (dict "path" $old "keys" (list "sluice.dev/gated")) }}))
    && !({{ include "sluice.match.there" $old }} && {{ $new }} == {{ $old }}))
    || {{ include "sluice.match.keys" . }}.exists(k, {{ include "sluice.match.text" "object" }} != {{ include "sluice.match.text" "oldObject" }})
{{- end }}

{{/*
The conditions for a pod, which is only ever looked at when it is created. A mirror pod shows what the kubelet runs already.
A pod that has the gate and no label is a copy, as kubectl debug makes one: without the label its gate is never answered.
*/}}
{{- define "sluice.match.not-mirror" -}}
- name: not-mirror
  expression: "!has(object.metadata.annotations) || !('kubernetes.io/config.mirror' in object.metadata.annotations)"
{{- end }}

{{- define "sluice.match.not-windows" -}}
- name: not-windows
  expression: >-
    !(has(object.spec.os) && object.spec.os.name == 'windows')
    && !(has(object.spec.nodeSelector) && ['kubernetes.io/os', 'beta.kubernetes.io/os'].exists(k,
    k in object.spec.nodeSelector && object.spec.nodeSelector[k] == 'windows'))
{{- end }}

{{- define "sluice.match.pod" -}}
{{ include "sluice.match.not-mirror" . }}
- name: relevant
  expression: >-
    (has(object.metadata.annotations)
    && ({{ include "sluice.match.list" (prepend (splitList " " (include "sluice.keys" .)) "sluice.dev/gated") }}.exists(k, k in object.metadata.annotations)))
    || (has(object.spec.initContainers) && object.spec.initContainers.exists(c, c.name == 'sluice-gate')
    && !(has(object.metadata.labels) && 'sluice.dev/gated' in object.metadata.labels))
{{- end }}

{{/* The rules of the three halves: workloads with their pod template in the usual place, CronJobs, pods. */}}
{{- define "sluice.match.workloads" -}}
- apiGroups: [apps]
  apiVersions: [v1]
  resources: [deployments, statefulsets, daemonsets, replicasets]
  operations: [CREATE, UPDATE]
  scope: Namespaced
- apiGroups: [""]
  apiVersions: [v1]
  resources: [replicationcontrollers]
  operations: [CREATE, UPDATE]
  scope: Namespaced
- apiGroups: [batch]
  apiVersions: [v1]
  resources: [jobs]
  operations: [CREATE, UPDATE]
  scope: Namespaced
{{- range .Values.workloads.custom }}
- apiGroups: [{{ .group | quote }}]
  apiVersions: ["*"]
  resources: [{{ .resource | quote }}]
  operations: [CREATE, UPDATE]
  scope: Namespaced
{{- end }}
{{- end }}

{{- define "sluice.match.cronjobs" -}}
- apiGroups: [batch]
  apiVersions: [v1]
  resources: [cronjobs]
  operations: [CREATE, UPDATE]
  scope: Namespaced
{{- end }}

{{- define "sluice.match.pods" -}}
- apiGroups: [""]
  apiVersions: [v1]
  resources: [pods]
  operations: [CREATE]
  scope: Namespaced
{{- end }}

{{/* The keys that are honoured here, and those by which a pod asks for a gate. */}}
{{- define "sluice.honoured" -}}
{{- $keys := splitList " " (include "sluice.keys" .) }}
{{- if not .Values.annotations.configDependsOn }}
{{- $keys = without $keys "config.kubernetes.io/depends-on" }}
{{- end }}
{{- join " " $keys }}
{{- end }}

{{- define "sluice.match.lists" -}}
{{ include "sluice.match.list" (splitList " " (include "sluice.honoured" .)) }}
{{- end }}

{{/*
Does a mapping of annotations carry one of these keys, and not only a list of another product under the key of cli-utils? In the grammar
of that every entry has three fields or five.
*/}}
{{- define "sluice.match.asking" -}}
{{ .keys }}.exists(k, k in {{ .in }}
{{- if contains "config.kubernetes.io/depends-on" .keys }} && (k != 'config.kubernetes.io/depends-on'
|| {{ .in }}[k].split(',').all(e, e.trim() == '' || e.trim().split('/').size() in [3, 5]))
{{- end }})
{{- end }}

{{/* The same of an object, by the keys that are honoured here and those by which a pod asks for a gate. */}}
{{- define "sluice.match.pod-asks" -}}
has(object.metadata.annotations) && {{ include "sluice.match.asking" (dict "keys" (include "sluice.match.asks" .) "in" "object.metadata.annotations") }}
{{- end }}

{{- define "sluice.match.asks" -}}
{{ include "sluice.match.list" (prepend (splitList " " (include "sluice.honoured" .)) "sluice.dev/gated") }}
{{- end }}
