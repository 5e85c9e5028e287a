{{/*
The image volumes of a gated pod as a policy: the rule of webhook/src/inject/prefetch.rs and rules/src/gate/prefetch.rs in CEL. It comes after
the gate has been put in, so the containers behind the gate are those of a higher index.
*/}}

{{/* The names of the image volumes, as a CEL list; rules/src/gate/prefetch.rs has them too. */}}
{{- define "sluice.policy.prefetch.names" -}}
{{- $names := list }}
{{- range untilStep 0 16 1 }}{{ $names = append $names (printf "sluice-prefetch-%d" .) }}{{ end }}
{{- include "sluice.match.list" $names }}
{{- end }}

{{/* Whether the start of container c may pull an image. */}}
{{- define "sluice.policy.prefetch.pulled" -}}
has(c.image) && c.image.size() <= 512 && c.image.matches('^[A-Za-z0-9][-A-Za-z0-9._:/@+]*$')
&& !(has(c.imagePullPolicy) && c.imagePullPolicy == 'Never')
{{- end }}

{{- define "sluice.policy.prefetch.variables" -}}
- name: prefetch
  expression: >-
    has(object.metadata.annotations) && 'sluice.dev/prefetch' in object.metadata.annotations
    && object.metadata.annotations['sluice.dev/prefetch'] in ['true', 'false']
    ? object.metadata.annotations['sluice.dev/prefetch'] == 'true' : {{ .Values.prefetch.default }}
- name: images_early
  expression: >-
    (has(object.spec.initContainers)
    ? object.spec.initContainers.transformList(i, c, i <= variables.at && has(c.image), c.image) : [])
    + [{{ include "sluice.image" (list . .Values.gate.image "gate") | squote }}]
- name: images_late
  expression: >-
    (has(object.spec.initContainers)
    ? object.spec.initContainers.transformList(i, c, i > variables.at
    && {{ include "sluice.policy.prefetch.pulled" . | replace "\n" " " }}, c.image) : [])
    + object.spec.containers.filter(c, {{ include "sluice.policy.prefetch.pulled" . | replace "\n" " " }}).map(c, c.image)
- name: images
  expression: >-
    variables.images_late.transformList(i, m, variables.images_late.indexOf(m) == i && !(m in variables.images_early), m)
    .transformList(i, m, i < 16, m)
{{- end }}

{{- define "sluice.policy.prefetch" -}}
!variables.gated || !variables.known || !variables.prefetch || variables.images.size() == 0 ? []
: (has(object.spec.volumes) ? [] : [JSONPatch{op: 'add', path: '/spec/volumes', value: []}])
+ variables.images.transformList(i, m, variables.volumes.exists(v, v.name == 'sluice-prefetch-' + string(i)
&& has(v.image) && !(has(v.image.reference) && v.image.reference == m)),
JSONPatch{op: 'add', path: '/spec/volumes/'
+ string(variables.volumes.map(v, v.name).indexOf('sluice-prefetch-' + string(i))) + '/image/reference', value: m})
+ variables.images.transformList(i, m, variables.volumes.all(v, v.name != 'sluice-prefetch-' + string(i)),
JSONPatch{op: 'add', path: '/spec/volumes/-', value: Object.spec.volumes{name: 'sluice-prefetch-' + string(i),
image: Object.spec.volumes.image{reference: m, pullPolicy: 'IfNotPresent'}}})
{{- end }}
