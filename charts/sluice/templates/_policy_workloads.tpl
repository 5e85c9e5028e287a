{{/*
The workload half of admission as a policy: the rule of webhook/src/inject/workload.rs in CEL, for a pod template at a path.

CEL cannot remove a key from a mapping. So the parts of the new and the stored template are compared one by one, without the marker.
*/}}
{{- define "sluice.policy.workload" -}}
{{- $new := printf "object.%s" .path }}
{{- $old := printf "oldObject.%s" .path }}
{{- $annotations := printf "/%s/metadata/annotations" (.path | replace "." "/") }}
{{- $metadata := printf "/%s/metadata" (.path | replace "." "/") }}
matchConditions:
  {{- include "sluice.match.workload" .path | nindent 2 }}
variables:
  - name: stored
    expression: "request.operation == 'UPDATE' && has({{ $old }})"
  {{- range $name, $template := dict "notes" $new "old_notes" $old }}
  - name: {{ $name }}
    expression: >-
      {{ if eq $name "old_notes" }}variables.stored && {{ end }}has({{ $template }}.metadata) && has({{ $template }}.metadata.annotations)
      ? {{ $template }}.metadata.annotations : {}
  {{- end }}
  - name: asked
    expression: >-
      {{- $lists := include "sluice.match.lists" .root }}
      {{ include "sluice.match.asking" (dict "keys" $lists "in" "variables.notes") | replace "\n" " " }}
      || (has(object.metadata.annotations)
      && {{ include "sluice.match.asking" (dict "keys" $lists "in" "object.metadata.annotations") | replace "\n" " " }})
  - name: same
    expression: >-
      variables.stored
      && (has({{ $new }}.spec) ? has({{ $old }}.spec) && {{ $new }}.spec == {{ $old }}.spec : !has({{ $old }}.spec))
      && (has({{ $new }}.metadata) && has({{ $new }}.metadata.labels) ? {{ $new }}.metadata.labels : {})
      == (has({{ $old }}.metadata) && has({{ $old }}.metadata.labels) ? {{ $old }}.metadata.labels : {})
      && variables.notes.all(k, k == 'sluice.dev/gated' || (k in variables.old_notes && variables.notes[k] == variables.old_notes[k]))
      && variables.old_notes.all(k, k == 'sluice.dev/gated' || k in variables.notes)
  # The marker must not cause a rollout, and a Job's template cannot change.
  - name: kept
    expression: "variables.stored && (variables.same || (request.kind.group == 'batch' && request.kind.kind == 'Job'))"
  - name: wanted
    expression: >-
      variables.kept
      ? ('sluice.dev/gated' in variables.old_notes ? [variables.old_notes['sluice.dev/gated']] : [])
      : (variables.asked ? ['true'] : [])
  - name: present
    expression: "'sluice.dev/gated' in variables.notes ? [variables.notes['sluice.dev/gated']] : []"
  {{- if and .root.Values.holds.enabled (eq .path "spec.template") }}
  # A Job that is suspended already stays as it is: its user resumes it, or an earlier call has noted it.
  - name: suspends
    expression: >-
      request.operation == 'CREATE' && request.kind.group == 'batch' && request.kind.kind == 'Job' && variables.asked
      && has(object.metadata.annotations) && 'sluice.dev/hold' in object.metadata.annotations
      && object.metadata.annotations['sluice.dev/hold'] == 'suspend'
      && !(has(object.spec.suspend) && object.spec.suspend)
      && !(has(object.spec.template.spec.os) && object.spec.template.spec.os.name == 'windows')
      && !(has(object.spec.template.spec.nodeSelector) && ['kubernetes.io/os', 'beta.kubernetes.io/os'].exists(k,
      k in object.spec.template.spec.nodeSelector && object.spec.template.spec.nodeSelector[k] == 'windows'))
  {{- end }}
mutations:
  {{- if and .root.Values.holds.enabled (eq .path "spec.template") }}
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        !variables.suspends ? []
        : [JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('sluice.dev/suspended'), value: 'true'},
        JSONPatch{op: 'add', path: '/spec/suspend', value: true}]
  {{- end }}
  - patchType: JSONPatch
    jsonPatch:
      expression: >-
        variables.wanted == variables.present ? []
        : variables.wanted.size() == 0
        ? [JSONPatch{op: 'remove', path: '{{ $annotations }}/' + jsonpatch.escapeKey('sluice.dev/gated')}]
        : (has({{ $new }}.metadata) ? [] : [JSONPatch{op: 'add', path: '{{ $metadata }}', value: {}}])
        + (has({{ $new }}.metadata) && has({{ $new }}.metadata.annotations) ? []
        : [JSONPatch{op: 'add', path: '{{ $annotations }}', value: {}}])
        + [JSONPatch{op: 'add', path: '{{ $annotations }}/' + jsonpatch.escapeKey('sluice.dev/gated'), value: variables.wanted[0]}]
{{- end }}
