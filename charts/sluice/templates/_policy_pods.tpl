{{/* Whether the init container c is a gate, of this version or another. */}}
{{- define "sluice.policy.gate" -}}
c.name == 'sluice-gate' && has(c.env) && c.env.exists(e, e.name == 'SLUICE_ADDRESSES')
&& has(c.volumeMounts) && c.volumeMounts.exists(m, m.name == 'sluice-token')
{{- end }}

{{/* Which pods get a gate. Left alone is what the webhook refuses: Windows, and a container or a volume that has a name of ours. */}}
{{- define "sluice.policy.asks" -}}
{{ include "sluice.match.pod" . }}
- name: asks
  expression: >-
    (has(object.metadata.annotations) && {{ include "sluice.match.asks" . }}.exists(k, k in object.metadata.annotations))
    || (has(object.spec.initContainers) && object.spec.initContainers.exists(c, {{ include "sluice.policy.gate" . | replace "\n" " " }}))
{{ include "sluice.match.not-windows" . }}
- name: names-free
  expression: >-
    (has(object.spec.initContainers) && object.spec.initContainers.exists(c, {{ include "sluice.policy.gate" . | replace "\n" " " }}))
    || (object.spec.containers.all(c, c.name != 'sluice-gate')
    && (!has(object.spec.initContainers) || object.spec.initContainers.all(c, c.name != 'sluice-gate'))
    && (!has(object.spec.volumes) || object.spec.volumes.all(v, !(v.name in ['sluice-token', 'sluice-state']))))
{{- end }}

{{/*
The pod half as a policy: what webhook/src/inject makes of the same pod, in CEL. A test in a cluster compares both on every
fixture of pods.
*/}}
{{- define "sluice.policy.pods" -}}
matchConditions:
  {{- include "sluice.policy.asks" . | nindent 2 }}
variables:
  - name: init
    expression: "has(object.spec.initContainers) ? object.spec.initContainers.map(c, c.name) : []"
  - name: native
    expression: >-
      has(object.spec.initContainers)
      ? object.spec.initContainers.filter(c, has(c.restartPolicy) && c.restartPolicy == 'Always').map(c, c.name) : []
  - name: app
    expression: object.spec.containers.map(c, c.name)
  - name: gated
    expression: "'sluice-gate' in variables.init"
  {{- if .Values.holds.enabled }}
  - name: says
    expression: "has(object.metadata.annotations) ? object.metadata.annotations : {}"
  # Once, and no pod that names its node, which is past the scheduler.
  - name: hold
    expression: >-
      (!has(object.spec.nodeName) || object.spec.nodeName == '')
      && !('sluice.dev/held' in variables.says && variables.says['sluice.dev/held'] == 'true')
      && ('sluice.dev/hold' in variables.says
      ? variables.says['sluice.dev/hold'] == 'true'
      : {{ if .Values.holds.default }}true{{ else }}has(namespaceObject.metadata.labels)
      && 'sluice.dev/hold' in namespaceObject.metadata.labels && namespaceObject.metadata.labels['sluice.dev/hold'] == 'enabled'{{ end }})
  {{- end }}
  # Nothing is done to a pod while the controller has not written its part.
  - name: ready
    expression: >-
      variables.gated || (has(params.data)
      && ['addresses', 'serverName', 'caBundle'].all(k, k in params.data && params.data[k] != ''))
  - name: wanted
    expression: >-
      has(object.metadata.annotations) && 'sluice.dev/gate-position' in object.metadata.annotations
      ? object.metadata.annotations['sluice.dev/gate-position'] : ''
  # Where the gate is, or goes: where the annotation says, else after the last native-sidecar proxy, else first.
  - name: at
    expression: >-
      variables.gated ? variables.init.indexOf('sluice-gate')
      : variables.wanted == 'first' ? 0
      : variables.wanted == 'last' ? variables.init.size()
      : variables.wanted.startsWith('after=') && variables.wanted.substring(6) in variables.init
      ? variables.init.lastIndexOf(variables.wanted.substring(6)) + 1
      : ['istio-proxy', 'linkerd-proxy'].map(p, p in variables.native ? variables.init.lastIndexOf(p) + 1 : 0).max()
  # The annotation by which a mesh lets the gate's port pass, where it redirects (no redirector: -1, the CNI plugin has done
  # so before) while its proxy does not run yet.
  - name: mesh
    expression: >-
      {{- range $mesh := list (list "istio-proxy" "istio-init" "traffic.sidecar.istio.io/excludeOutboundPorts") (list "linkerd-proxy" "linkerd-init" "config.linkerd.io/skip-outbound-ports") }}
      {{- $proxy := index $mesh 0 | squote }}
      ({{ $proxy }} in variables.app || {{ $proxy }} in variables.native)
      && variables.init.indexOf({{ index $mesh 1 | squote }}) < variables.at
      && !({{ $proxy }} in variables.native && variables.init.indexOf({{ $proxy }}) < variables.at)
      ? {{ index $mesh 2 | squote }} :
      {{- end }} ''
  - name: ports
    expression: >-
      (has(object.metadata.annotations) && variables.mesh in object.metadata.annotations
      ? object.metadata.annotations[variables.mesh] : '').split(',').map(p, p.trim()).filter(p, p != '')
  # Amounts of the pod as a whole, then of its containers: both decide the class, which the gate must keep.
  - name: pod_level
    expression: >-
      has(object.spec.resources) && (
      (has(object.spec.resources.requests) && object.spec.resources.requests.exists(r, r in ['cpu', 'memory']))
      || (has(object.spec.resources.limits) && object.spec.resources.limits.exists(r, r in ['cpu', 'memory'])))
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
mutations:
  {{- if .Values.holds.enabled }}
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        !variables.ready || !variables.hold ? []
        : (has(object.metadata.annotations) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}])
        + [JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('sluice.dev/held'), value: 'true'}]
        + (has(object.spec.schedulingGates) ? [] : [JSONPatch{op: 'add', path: '/spec/schedulingGates', value: []}])
        + (has(object.spec.schedulingGates) && object.spec.schedulingGates.exists(g, g.name == 'sluice.dev/hold') ? []
        : [JSONPatch{op: 'add', path: '/spec/schedulingGates/-', value: Object.spec.schedulingGates{name: 'sluice.dev/hold'}}])
  {{- end }}
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        !variables.ready ? [] : (variables.mesh == '' || '9764' in variables.ports ? []
        : (has(object.metadata.annotations) ? [] : [JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}])
        + [JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey(variables.mesh),
        value: (variables.ports + ['9764']).join(',')}])
        + (has(object.metadata.labels) ? [] : [JSONPatch{op: 'add', path: '/metadata/labels', value: {}}])
        + [JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('sluice.dev/gated'), value: 'true'}]
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        variables.gated || !variables.ready ? []
        : (has(object.spec.volumes) ? [] : [JSONPatch{op: 'add', path: '/spec/volumes', value: []}])
        + [JSONPatch{op: 'add', path: '/spec/volumes/-', value: Object.spec.volumes{
        name: 'sluice-token', projected: Object.spec.volumes.projected{sources: [Object.spec.volumes.projected.sources{
        serviceAccountToken: Object.spec.volumes.projected.sources.serviceAccountToken{
        audience: 'sluice', expirationSeconds: 600, path: 'token'}}
        {{- with include "sluice.clusterTrustBundle" . }}, Object.spec.volumes.projected.sources{
        clusterTrustBundle: Object.spec.volumes.projected.sources.clusterTrustBundle{
        name: {{ squote . }}, path: 'sluice-ca.pem', optional: true}}
        {{- end }}]}}},
        JSONPatch{op: 'add', path: '/spec/volumes/-', value: Object.spec.volumes{
        name: 'sluice-state', emptyDir: Object.spec.volumes.emptyDir{sizeLimit: '1Mi'}}}]
        {{- with .Values.gate.image.pullSecrets }}
        + (has(object.spec.imagePullSecrets) ? [] : [JSONPatch{op: 'add', path: '/spec/imagePullSecrets', value: []}])
        + {{ range $index, $name := include "sluice.pullSecrets" . | fromJsonArray }}{{ if $index }}, {{ else }}[{{ end }}{{ $name | squote }}{{ end }}].filter(n,
        !has(object.spec.imagePullSecrets) || object.spec.imagePullSecrets.all(s, !has(s.name) || s.name != n))
        .map(n, JSONPatch{op: 'add', path: '/spec/imagePullSecrets/-', value: Object.spec.imagePullSecrets{name: n}})
        {{- end }}
        + (has(object.spec.initContainers) ? [] : [JSONPatch{op: 'add', path: '/spec/initContainers', value: []}])
        + [JSONPatch{op: 'add', path: '/spec/initContainers/' + string(variables.at), value: Object.spec.initContainers{
        name: 'sluice-gate',
        image: {{ include "sluice.image" (list . .Values.gate.image "gate") | squote }},
        imagePullPolicy: {{ .Values.gate.image.pullPolicy | squote }},
        env: [
        Object.spec.initContainers.env{name: 'SLUICE_ADDRESSES', value: params.data['addresses']},
        Object.spec.initContainers.env{name: 'SLUICE_SERVER_NAME', value: params.data['serverName']},
        Object.spec.initContainers.env{name: 'SLUICE_CA_BUNDLE', value: params.data['caBundle']},
        Object.spec.initContainers.env{name: 'SLUICE_TOKEN_FILE', value: '/var/run/secrets/kubernetes.io/serviceaccount/token'},
        Object.spec.initContainers.env{name: 'SLUICE_STATE_DIR', value: '/run/sluice'}
        {{- if .Values.certificates.clusterTrustBundle }},
        Object.spec.initContainers.env{name: 'SLUICE_CA_FILE', value: '/var/run/secrets/kubernetes.io/serviceaccount/sluice-ca.pem'}
        {{- end }}],
        volumeMounts: [
        Object.spec.initContainers.volumeMounts{name: 'sluice-token', mountPath: '/var/run/secrets/kubernetes.io/serviceaccount', readOnly: true},
        Object.spec.initContainers.volumeMounts{name: 'sluice-state', mountPath: '/run/sluice'}],
        securityContext: Object.spec.initContainers.securityContext{
        runAsNonRoot: true,{{ with .Values.gate.runAsUser }} runAsUser: {{ int64 . }},{{ end }}
        allowPrivilegeEscalation: false, readOnlyRootFilesystem: true,
        capabilities: Object.spec.initContainers.securityContext.capabilities{drop: ['ALL']},
        seccompProfile: Object.spec.initContainers.securityContext.seccompProfile{type: 'RuntimeDefault'}},
        {{- with .Values.gate.resources }}
        resources: variables.pod_level || variables.nothing ? Object.spec.initContainers.resources{}
        : Object.spec.initContainers.resources{
        limits: {'cpu': {{ .limits.cpu | squote }}, 'memory': {{ .limits.memory | squote }}},
        requests: variables.guaranteed
        ? {'cpu': {{ .limits.cpu | squote }}, 'memory': {{ .limits.memory | squote }}}
        : {'cpu': {{ .requests.cpu | squote }}, 'memory': {{ .requests.memory | squote }}}},
        {{- end }}
        terminationMessagePolicy: 'File'}}]
{{- end }}
