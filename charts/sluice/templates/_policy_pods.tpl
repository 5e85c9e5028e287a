{{/* Whether the init container c is a gate, of this version or another. */}}
{{- define "sluice.policy.gate" -}}
c.name == 'sluice-gate' && has(c.env) && c.env.exists(e, e.name == 'SLUICE_ADDRESSES')
&& has(c.volumeMounts) && c.volumeMounts.exists(m, m.name == 'sluice-token')
{{- end }}

{{/* The conditions under which a pod gets a gate. The policy leaves pods alone that the webhook refuses: pods on Windows, and pods with a
     container or a volume under one of our names. */}}
{{- define "sluice.policy.asks" -}}
{{ include "sluice.match.pod" . }}
- name: asks
  expression: >-
    ({{ include "sluice.match.pod-asks" . | replace "\n" " " }})
    || (has(object.spec.initContainers) && object.spec.initContainers.exists(c, {{ include "sluice.policy.gate" . | replace "\n" " " }}))
{{ include "sluice.match.not-windows" . }}
- name: names-free
  expression: >-
    (has(object.spec.initContainers) && object.spec.initContainers.exists(c, {{ include "sluice.policy.gate" . | replace "\n" " " }}))
    || (object.spec.containers.all(c, c.name != 'sluice-gate')
    && (!has(object.spec.initContainers) || object.spec.initContainers.all(c, c.name != 'sluice-gate'))
    && (!has(object.spec.volumes) || object.spec.volumes.all(v, !(v.name in ['sluice-token', 'sluice-state'])
    && !(v.name in {{ include "sluice.policy.prefetch.names" . }}))))
{{- end }}

{{/*
The pod half of admission as a policy, in CEL, with the results of webhook/src/inject. A test in a cluster compares both on every fixture
of pods.
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
  # A pod is held once, and never when it names its node, because it is past the scheduler then.
  - name: hold
    expression: >-
      (!has(object.spec.nodeName) || object.spec.nodeName == '')
      && !('sluice.dev/held' in variables.says && variables.says['sluice.dev/held'] == 'true')
      && ('sluice.dev/hold' in variables.says
      ? variables.says['sluice.dev/hold'] == 'true'
      : {{ if .Values.holds.default }}true{{ else }}has(namespaceObject.metadata.labels)
      && 'sluice.dev/hold' in namespaceObject.metadata.labels && namespaceObject.metadata.labels['sluice.dev/hold'] == 'enabled'{{ end }})
  {{- end }}
  # The policy changes no pod before the controller has written the parameters.
  - name: known
    expression: >-
      has(params.data) && ['addresses', 'serverName', 'caBundle'].all(k, k in params.data && params.data[k] != '')
  - name: ready
    expression: variables.gated || variables.known
  - name: wanted
    expression: >-
      has(object.metadata.annotations) && 'sluice.dev/gate-position' in object.metadata.annotations
      ? object.metadata.annotations['sluice.dev/gate-position'] : ''
  # The gate's index: by the annotation, else after the last native-sidecar proxy, else first.
  - name: at
    expression: >-
      variables.gated ? variables.init.indexOf('sluice-gate')
      : variables.wanted == 'first' ? 0
      : variables.wanted == 'last' ? variables.init.size()
      : variables.wanted.startsWith('after=') && variables.wanted.substring(6) in variables.init
      ? variables.init.lastIndexOf(variables.wanted.substring(6)) + 1
      : ['istio-proxy', 'linkerd-proxy'].map(p, p in variables.native ? variables.init.lastIndexOf(p) + 1 : 0).max()
  # The annotation that lets the gate's port past a mesh, where the mesh redirects traffic before its proxy runs. A missing redirector has
  # index -1: a CNI plugin has redirected before.
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
  # The gate runs as the pod's user, unless the pod names none, or 0.
  - name: named_user
    expression: >-
      has(object.spec.securityContext) && has(object.spec.securityContext.runAsUser) && object.spec.securityContext.runAsUser != 0
  {{- include "sluice.policy.resources" . | trim | nindent 2 }}
  {{- include "sluice.policy.renewal.variables" . | trim | nindent 2 }}
  {{- include "sluice.policy.variables" . | trim | nindent 2 }}
  {{- include "sluice.policy.prefetch.variables" . | trim | nindent 2 }}
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
        {{- range $name := list "sluice-token" "sluice-state" }}
        + [JSONPatch{op: 'add', path: '/spec/volumes/-', value: Object.spec.volumes{name: '{{ $name }}',
        {{ include (printf "sluice.policy.volume.%s" $name) $ | replace "\n" " " }}}}]
        {{- end }}
        {{- with .Values.gate.image.pullSecrets }}
        + {{ include "sluice.policy.pull-secrets" . | replace "\n" " " }}
        {{- end }}
        + (has(object.spec.initContainers) ? [] : [JSONPatch{op: 'add', path: '/spec/initContainers', value: []}])
        + [JSONPatch{op: 'add', path: '/spec/initContainers/' + string(variables.at), value: Object.spec.initContainers{
        name: 'sluice-gate',
        image: {{ include "sluice.image" (list . .Values.gate.image "gate") | squote }},
        imagePullPolicy: {{ .Values.gate.image.pullPolicy | squote }},
        env: [
        {{- range $i, $it := include "sluice.policy.env" . | fromJsonArray }}{{ if $i }},{{ end }}
        Object.spec.initContainers.env{name: '{{ index $it 0 }}', value: {{ index $it 1 }}}
        {{- end }}],
        volumeMounts: [
        {{ include "sluice.policy.mount.sluice-token" . }},
        {{ include "sluice.policy.mount.sluice-state" . }}],
        securityContext: {{ with include "sluice.gateUser" . }}!variables.named_user
        ? Object.spec.initContainers.securityContext{runAsUser: {{ . }}, {{ include "sluice.policy.context" $ | replace "\n" " " }}}
        : {{ end }}Object.spec.initContainers.securityContext{ {{- include "sluice.policy.context" . | replace "\n" " " }}},
        resources: {{ include "sluice.policy.gate-resources" . | replace "\n" " " }},
        terminationMessagePolicy: 'File'}}]
        + {{ include "sluice.policy.variables.copies" . | replace "\n" " " }}
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        {{- include "sluice.policy.renewal" . | nindent 8 }}
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        {{- include "sluice.policy.prefetch" . | nindent 8 }}
{{- end }}
