{{/*
The rule of webhook/src/inject/renewal.rs as a policy: a gate that comes with its pod, as from a backup, gets the present parts. Additions of
other webhooks stay.
*/}}
{{- define "sluice.policy.renewal.variables" -}}
{{- $image := include "sluice.image" (list . .Values.gate.image "gate") }}
{{- $tail := last (splitList "/" $image) }}
- name: gate
  expression: object.spec.initContainers[variables.at]
- name: today
  expression: >-
    {{ "{" }}{{ range $i, $it := include "sluice.policy.env" . | fromJsonArray }}{{ if $i }}, {{ end }}'{{ index $it 0 }}': string({{ index $it 1 }}){{ end }}{{ "}" }}
- name: env
  expression: "has(variables.gate.env) ? variables.gate.env : []"
{{- $names := list }}
{{- range include "sluice.policy.env" . | fromJsonArray }}{{ $names = append $names (index . 0) }}{{ end }}
- name: env_other
  expression: >-
    {{ include "sluice.match.list" $names }}.filter(n,
    variables.env.exists(e, e.name == n && !(has(e.value) && e.value == variables.today[n])))
- name: env_missing
  expression: "{{ include "sluice.match.list" $names }}.filter(n, variables.env.all(e, e.name != n))"
# Variables that gates no longer have, and duplicates.
- name: env_gone
  expression: >-
    variables.env.transformList(i, e, e.name.startsWith('SLUICE_')
    && (!(e.name in variables.today) || variables.env.map(d, d.name).indexOf(e.name) < i), i)
- name: mounts
  expression: "has(variables.gate.volumeMounts) ? variables.gate.volumeMounts : []"
- name: mounts_right
  expression: >-
    [variables.mounts.exists(m, m.name == 'sluice-token' && m.mountPath == '/var/run/secrets/kubernetes.io/serviceaccount'
    && has(m.readOnly) && m.readOnly),
    variables.mounts.exists(m, m.name == 'sluice-state' && m.mountPath == '/run/sluice')]
- name: volumes
  expression: "has(object.spec.volumes) ? object.spec.volumes : []"
- name: volumes_right
  expression: >-
    [variables.volumes.exists(v, v.name == 'sluice-token' && has(v.projected) && has(v.projected.sources)
    && v.projected.sources.size() == {{ ternary 2 1 .Values.certificates.clusterTrustBundle }}
    && has(v.projected.sources[0].serviceAccountToken)
    && has(v.projected.sources[0].serviceAccountToken.audience) && v.projected.sources[0].serviceAccountToken.audience == 'sluice'
    && has(v.projected.sources[0].serviceAccountToken.expirationSeconds)
    && v.projected.sources[0].serviceAccountToken.expirationSeconds == 600
    && v.projected.sources[0].serviceAccountToken.path == 'token'
    {{- with include "sluice.clusterTrustBundle" . }}
    && has(v.projected.sources[1].clusterTrustBundle)
    && has(v.projected.sources[1].clusterTrustBundle.name) && v.projected.sources[1].clusterTrustBundle.name == {{ squote . }}
    && v.projected.sources[1].clusterTrustBundle.path == 'sluice-ca.pem'
    && has(v.projected.sources[1].clusterTrustBundle.optional) && v.projected.sources[1].clusterTrustBundle.optional
    {{- end }}),
    variables.volumes.exists(v, v.name == 'sluice-state' && has(v.emptyDir) && has(v.emptyDir.sizeLimit)
    && quantity(v.emptyDir.sizeLimit).compareTo(quantity('1Mi')) == 0)]
- name: of_another_time
  expression: >-
    (variables.env_other + variables.env_missing).size() + variables.env_gone.size() > 0
    || !variables.mounts_right.all(r, r) || !variables.volumes_right.all(r, r)
# Another webhook may have changed the image's registry or added its digest. Such an image stays, unless other parts of the gate are old.
- name: image_tail
  expression: "has(variables.gate.image) ? variables.gate.image.substring(variables.gate.image.lastIndexOf('/') + 1) : ''"
- name: image_other
  expression: >-
    (!has(variables.gate.image) || variables.gate.image != {{ squote $image }})
    && (variables.of_another_time || !(variables.image_tail == {{ squote $tail }}
    {{- if not (contains "@" $tail) }}
    || (variables.image_tail.contains('@') && variables.image_tail.split('@')[0].split(':')[0] == {{ regexReplaceAll "[:@].*$" $tail "" | squote }})
    {{- end }}))
{{- end }}

{{- define "sluice.policy.renewal" -}}
{{- $root := . }}
{{- $at := "'/spec/initContainers/' + string(variables.at)" -}}
!variables.gated || !variables.known ? []
: variables.env_other.map(n, JSONPatch{op: 'replace',
path: {{ $at }} + '/env/' + string(variables.env.map(e, e.name).indexOf(n)),
value: Object.spec.initContainers.env{name: n, value: variables.today[n]}})
+ variables.env_gone.map(i, JSONPatch{op: 'remove',
path: {{ $at }} + '/env/' + string(i - variables.env_gone.filter(j, j < i).size())})
+ (has(variables.gate.env) ? [] : [JSONPatch{op: 'add', path: {{ $at }} + '/env', value: []}])
+ variables.env_missing.map(n, JSONPatch{op: 'add', path: {{ $at }} + '/env/-',
value: Object.spec.initContainers.env{name: n, value: variables.today[n]}})
+ (has(variables.gate.volumeMounts) ? [] : [JSONPatch{op: 'add', path: {{ $at }} + '/volumeMounts', value: []}])
{{- range $i, $name := list "sluice-token" "sluice-state" }}
{{- $mount := include (printf "sluice.policy.mount.%s" $name) $root }}
+ (variables.mounts_right[{{ $i }}] ? []
: variables.mounts.exists(m, m.name == '{{ $name }}')
? [JSONPatch{op: 'replace', path: {{ $at }} + '/volumeMounts/' + string(variables.mounts.map(m, m.name).indexOf('{{ $name }}')), value: {{ $mount }}}]
: [JSONPatch{op: 'add', path: {{ $at }} + '/volumeMounts/-', value: {{ $mount }}}])
{{- end }}
+ (has(object.spec.volumes) ? [] : [JSONPatch{op: 'add', path: '/spec/volumes', value: []}])
{{- range $i, $name := list "sluice-token" "sluice-state" }}
{{- $volume := include (printf "sluice.policy.volume.%s" $name) $root }}
{{- $kind := first (splitList ":" $volume) }}
+ (variables.volumes_right[{{ $i }}] ? []
: variables.volumes.exists(v, v.name == '{{ $name }}')
? [JSONPatch{op: 'add', path: '/spec/volumes/' + string(variables.volumes.map(v, v.name).indexOf('{{ $name }}')) + '/{{ $kind }}', value: {{ $volume | trimPrefix (printf "%s: " $kind) }}}]
: [JSONPatch{op: 'add', path: '/spec/volumes/-', value: Object.spec.volumes{name: '{{ $name }}', {{ $volume }}}}])
{{- end }}
+ (!variables.image_other ? [] : [
JSONPatch{op: 'add', path: {{ $at }} + '/image', value: {{ include "sluice.image" (list . .Values.gate.image "gate") | squote }}},
JSONPatch{op: 'add', path: {{ $at }} + '/imagePullPolicy', value: {{ .Values.gate.image.pullPolicy | squote }}}]
{{- with .Values.gate.image.pullSecrets }}
+ {{ include "sluice.policy.pull-secrets" . }}
{{- end }})
{{- end }}
