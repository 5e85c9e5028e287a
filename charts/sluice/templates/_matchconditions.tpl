{{/*
The conditions under which the API server calls the webhook. A stopped webhook holds up only objects that match, so no chart value may
change them.

With failurePolicy Fail an expression with an error rejects the request, so each path is guarded before it is read. The guards are
conditions of their own, because one false condition outweighs any number of errors. CEL has no user functions here, so these helpers
spell out the keys and the paths.
*/}}

{{/* The keys by which an object asks for a gate. All templates take them from here. */}}
{{- define "sluice.keys" -}}
sluice.dev/depends-on config.kubernetes.io/depends-on sluice.dev/weight sluice.dev/parallelism
{{- end }}

{{- define "sluice.match.keys" -}}
{{ include "sluice.match.list" (splitList " " (include "sluice.keys" .)) }}
{{- end }}

{{/* A CEL list of texts. */}}
{{- define "sluice.match.list" -}}
['{{ join "', '" . }}']
{{- end }}

{{/* Whether the object itself carries one of the keys. */}}
{{- define "sluice.match.annotated" -}}
has(object.metadata.annotations) && {{ include "sluice.match.keys" . }}.exists(k, k in object.metadata.annotations)
{{- end }}

{{/* Whether this path of object or oldObject exists. */}}
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
Whether the pod template at a path carries one of these keys. A custom kind may hold any value there, so the types are checked too.
*/}}
{{- define "sluice.match.inside" -}}
{{- $metadata := printf "%s.metadata" .path }}
{{- $annotations := printf "%s.annotations" $metadata }}
{{- include "sluice.match.there" $metadata }} && type({{ $metadata }}) == map && has({{ $annotations }}) && type({{ $annotations }}) == map && {{ include "sluice.match.list" .keys }}.exists(k, k in {{ $annotations }})
{{- end }}

{{/* The value of annotation k on object or oldObject; empty where it is missing. */}}
{{- define "sluice.match.text" -}}
(has({{ . }}.metadata.annotations) && k in {{ . }}.metadata.annotations ? {{ . }}.metadata.annotations[k] : '')
{{- end }}

{{/*
The conditions for one workload; the argument is the path of its pod template.

On CREATE the keys of the object and of its template decide. On UPDATE the webhook is called only where the template changes, or where
a list changes and has to be checked. Writes by which controllers keep a cluster running (revision annotations, finalizers) do not
match. A stored object may lack a template: a Rollout may name a Deployment instead.
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
The conditions for a pod, which matches only when it is created. A mirror pod shows a pod that the kubelet runs already. A pod with the
gate and without the label is a copy, as kubectl debug makes one: the status service would never find its gate.
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

{{/*
The conditions for an object whose creation is held. The kinds by which a cluster runs are never held, whatever they carry: a node, its
lease and its certificate, an event, an answer to a question of rights. Controllers copy annotations onto the objects that they make.
*/}}
{{- define "sluice.match.creation" -}}
- name: asked
  expression: >-
    has(object.metadata) && has(object.metadata.annotations) && 'sluice.dev/hold' in object.metadata.annotations
    && object.metadata.annotations['sluice.dev/hold'] == 'create'
- name: no-dry-run
  expression: "!has(request.dryRun) || !request.dryRun"
- name: not-controller-owned
  expression: "!has(object.metadata.ownerReferences) || !object.metadata.ownerReferences.exists(r, has(r.controller) && r.controller)"
- name: not-of-the-control-plane
  expression: >-
    !(request.resource.group in ['admissionregistration.k8s.io', 'authentication.k8s.io', 'authorization.k8s.io', 'certificates.k8s.io',
    'coordination.k8s.io', 'discovery.k8s.io', 'events.k8s.io', 'flowcontrol.apiserver.k8s.io', 'internal.apiserver.k8s.io'])
    && !(request.resource.group == '' && request.resource.resource in ['bindings', 'endpoints', 'events', 'nodes'])
{{- end }}

{{/* The rules for workloads with their pod template at spec.template, for CronJobs, and for pods. */}}
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

{{/* The keys that count in this installation. */}}
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
Whether a mapping of annotations carries one of these keys. A list of another product under the key of cli-utils does not count: in the
grammar of cli-utils every entry has three fields or five.
*/}}
{{- define "sluice.match.asking" -}}
{{ .keys }}.exists(k, k in {{ .in }}
{{- if contains "config.kubernetes.io/depends-on" .keys }} && (k != 'config.kubernetes.io/depends-on'
|| {{ .in }}[k].split(',').all(e, e.trim() == '' || e.trim().split('/').size() in [3, 5]))
{{- end }})
{{- end }}

{{/* Whether an object carries a key that counts here, or the marker. */}}
{{- define "sluice.match.pod-asks" -}}
has(object.metadata.annotations) && {{ include "sluice.match.asking" (dict "keys" (include "sluice.match.asks" .) "in" "object.metadata.annotations") }}
{{- end }}

{{- define "sluice.match.asks" -}}
{{ include "sluice.match.list" (prepend (splitList " " (include "sluice.honoured" .)) "sluice.dev/gated") }}
{{- end }}
