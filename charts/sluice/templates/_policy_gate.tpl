{{/*
The parts of a gate for a policy, in CEL, equal to those of webhook/src/inject/container.rs and resources.rs. The parameters come from
the ConfigMap that the controller fills.
*/}}

{{/* The environment as JSON: names and expressions. */}}
{{- define "sluice.policy.env" -}}
{{- $token := "/var/run/secrets/kubernetes.io/serviceaccount" }}
{{- $env := list
  (list "SLUICE_ADDRESSES" "params.data['addresses']")
  (list "SLUICE_SERVER_NAME" "params.data['serverName']")
  (list "SLUICE_CA_BUNDLE" "params.data['caBundle']")
  (list "SLUICE_TOKEN_FILE" (printf "'%s/token'" $token))
  (list "SLUICE_STATE_DIR" "'/run/sluice'") }}
{{- if .Values.certificates.clusterTrustBundle }}
{{- $env = append $env (list "SLUICE_CA_FILE" (printf "'%s/sluice-ca.pem'" $token)) }}
{{- end }}
{{- $env | toJson }}
{{- end }}

{{/* The mounts, by name. */}}
{{- define "sluice.policy.mount.sluice-token" -}}
Object.spec.initContainers.volumeMounts{name: 'sluice-token', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true}
{{- end }}
{{- define "sluice.policy.mount.sluice-state" -}}
Object.spec.initContainers.volumeMounts{name: 'sluice-state', mountPath: '/run/sluice'}
{{- end }}

{{/* The volumes, by name: the type and the fields of each. */}}
{{- define "sluice.policy.volume.sluice-token" -}}
projected: Object.spec.volumes.projected{sources: [Object.spec.volumes.projected.sources{
serviceAccountToken: Object.spec.volumes.projected.sources.serviceAccountToken{
audience: 'sluice', expirationSeconds: 600, path: 'token'}}
{{- with include "sluice.clusterTrustBundle" . }}, Object.spec.volumes.projected.sources{
clusterTrustBundle: Object.spec.volumes.projected.sources.clusterTrustBundle{
name: {{ squote . }}, path: 'sluice-ca.pem', optional: true}}
{{- end }}]}
{{- end }}
{{- define "sluice.policy.volume.sluice-state" -}}
emptyDir: Object.spec.volumes.emptyDir{sizeLimit: '1Mi'}
{{- end }}

{{/* The security context without the user. */}}
{{- define "sluice.policy.context" -}}
runAsNonRoot: true, allowPrivilegeEscalation: false, readOnlyRootFilesystem: true,
capabilities: Object.spec.initContainers.securityContext.capabilities{drop: ['ALL']},
seccompProfile: Object.spec.initContainers.securityContext.seccompProfile{type: 'RuntimeDefault'}
{{- end }}

{{/* A list of patches that add the pull secrets which the pod does not name. */}}
{{- define "sluice.policy.pull-secrets" -}}
(has(object.spec.imagePullSecrets) ? [] : [JSONPatch{op: 'add', path: '/spec/imagePullSecrets', value: []}])
+ {{ include "sluice.match.list" (include "sluice.pullSecrets" . | fromJsonArray) }}.filter(n,
!has(object.spec.imagePullSecrets) || object.spec.imagePullSecrets.all(s, !has(s.name) || s.name != n))
.map(n, JSONPatch{op: 'add', path: '/spec/imagePullSecrets/-', value: Object.spec.imagePullSecrets{name: n}})
{{- end }}

{{/* Variables with the amounts that the gate's resources rest on. */}}
{{- define "sluice.policy.resources" -}}
{{- if .Values.gate.resources }}
# The pod's own resources, and those of its containers, decide the QoS class, which the gate must keep.
- name: pod_level
  expression: >-
    has(object.spec.resources) && (
    (has(object.spec.resources.requests) && object.spec.resources.requests.exists(r, r in ['cpu', 'memory'] || r.startsWith('hugepages-')))
    || (has(object.spec.resources.limits) && object.spec.resources.limits.exists(r, r in ['cpu', 'memory'] || r.startsWith('hugepages-'))))
- name: all
  expression: "object.spec.containers + (has(object.spec.initContainers) ? object.spec.initContainers : [])"
- name: nothing
  expression: >-
    variables.all.all(c, !has(c.resources)
    || ((!has(c.resources.requests) || c.resources.requests.all(r, !(r in ['cpu', 'memory']) || quantity(c.resources.requests[r]).compareTo(quantity('0')) == 0))
    && (!has(c.resources.limits) || c.resources.limits.all(r, !(r in ['cpu', 'memory']) || quantity(c.resources.limits[r]).compareTo(quantity('0')) == 0))))
- name: guaranteed
  expression: >-
    variables.all.all(c, has(c.resources) && has(c.resources.limits) && has(c.resources.requests)
    && ['cpu', 'memory'].all(r, r in c.resources.limits && r in c.resources.requests
    && quantity(c.resources.limits[r]).isGreaterThan(quantity('0'))
    && quantity(c.resources.limits[r]).compareTo(quantity(c.resources.requests[r])) == 0))
{{- else }}
# The requests and then the limits of each container. A missing amount counts as zero.
- name: amounts
  expression: >-
    object.spec.containers.map(c, [
    {{- range $i, $half := list "requests" "limits" }}
    {{- range $j, $key := list "cpu" "memory" "ephemeral-storage" }}
    {{- if or $i $j }},{{ end }}
    has(c.resources) && has(c.resources.{{ $half }}) && '{{ $key }}' in c.resources.{{ $half }}
    ? quantity(c.resources.{{ $half }}['{{ $key }}']) : quantity('0')
    {{- end }}
    {{- end }}])
# The smallest container. A weighted sum compares two containers: each amount weighs more than all later amounts together.
- name: smallest
  expression: >-
    object.spec.containers[variables.amounts.map(a, variables.amounts.all(b,
    {{- range $i, $weight := list 32 16 8 4 2 1 }}{{ if $i }} +{{ end }}
    {{ $weight }} * b[{{ $i }}].compareTo(a[{{ $i }}])
    {{- end }} >= 0)).indexOf(true)]
{{- end }}
{{- end }}

{{/* The gate's own resources. */}}
{{- define "sluice.policy.gate-resources" -}}
{{- with include "sluice.gateResources" . | trim | default "{}" | fromJson -}}
variables.pod_level || variables.nothing ? Object.spec.initContainers.resources{}
: Object.spec.initContainers.resources{
limits: {'cpu': {{ .limits.cpu | squote }}, 'memory': {{ .limits.memory | squote }}},
requests: variables.guaranteed
? {'cpu': {{ .limits.cpu | squote }}, 'memory': {{ .limits.memory | squote }}}
: {'cpu': {{ .requests.cpu | squote }}, 'memory': {{ .requests.memory | squote }}}}
{{- else -}}
!has(variables.smallest.resources) ? Object.spec.initContainers.resources{} : Object.spec.initContainers.resources{
{{- range $i, $half := list "requests" "limits" }}{{ if $i }},{{ end }}
{{ $half }}: has(variables.smallest.resources.{{ $half }}) ? variables.smallest.resources.{{ $half }}.transformMap(k, v,
k in ['cpu', 'memory', 'ephemeral-storage'], v) : {}
{{- end }}}
{{- end }}
{{- end }}
