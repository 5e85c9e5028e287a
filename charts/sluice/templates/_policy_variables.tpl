{{/*
The variables that a pod's list names, $(NAME), as a policy: what rules/src/variables.rs finds. Each definition is copied as it stands.
Where the list names containers, these come first for all of its variables; a value that is made of others brings those along, two deep.
*/}}
{{- define "sluice.policy.variables" -}}
- name: list
  expression: >-
    has(object.metadata.annotations) && 'sluice.dev/depends-on' in object.metadata.annotations
    ? object.metadata.annotations['sluice.dev/depends-on'] : ''
- name: list_names
  expression: "variables.list.findAll('[$][(][A-Za-z_][A-Za-z0-9_]*[)]').map(v, v.substring(2, v.size() - 1))"
- name: list_containers
  expression: >-
    variables.list.findAll('container[^a-zA-Z0-9]*:[^a-zA-Z0-9,}]*[a-z0-9]([-a-z0-9]*[a-z0-9])?').map(c, c.find('[-a-z0-9]+$'))
# Where each environment stands once the gate has been put in.
- name: env_paths
  expression: >-
    variables.list_names.size() == 0 ? [] : object.spec.containers.transformList(i, c, '/spec/containers/' + string(i))
    + variables.init.transformList(i, n, n != 'sluice-gate', '/spec/initContainers/' + string(i < variables.at ? i : i + 1))
- name: env_owners
  expression: >-
    variables.list_names.size() == 0 ? [] : variables.app + variables.init.filter(n, n != 'sluice-gate')
- name: envs
  expression: >-
    variables.list_names.size() == 0 ? [] : object.spec.containers.map(c, has(c.env) ? c.env : [])
    + (has(object.spec.initContainers)
    ? object.spec.initContainers.filter(c, c.name != 'sluice-gate').map(c, has(c.env) ? c.env : []) : [])
- name: env_names
  expression: "variables.envs.map(e, e.map(v, v.name))"
# Each as the number of its container and its own, CONTAINER/VARIABLE.
- name: env_named
  expression: >-
    variables.list_names.map(n, [
    variables.env_names.transformList(i, e, n in e && variables.env_owners[i] in variables.list_containers, i),
    variables.env_names.transformList(i, e, n in e, i)].filter(l, l.size() > 0).map(l, l[0]).filter(i, true)
    .map(i, string(i) + '/' + string(variables.env_names[i].lastIndexOf(n)))).filter(l, l.size() > 0).map(l, l[0])
- name: env_parts
  expression: >-
    variables.env_named.map(k, k.split('/').map(n, int(n))).map(k,
    (has(variables.envs[k[0]][k[1]].value) ? variables.envs[k[0]][k[1]].value : '').findAll('[$][(][A-Za-z_][A-Za-z0-9_]*[)]')
    .map(v, v.substring(2, v.size() - 1)).map(n, variables.env_names[k[0]].lastIndexOf(n)).filter(j, j >= 0 && j < k[1])
    .map(j, string(k[0]) + '/' + string(j)).join(',')).join(',').split(',').filter(k, k != '')
- name: env_parts_of_parts
  expression: >-
    variables.env_parts.map(k, k.split('/').map(n, int(n))).map(k,
    (has(variables.envs[k[0]][k[1]].value) ? variables.envs[k[0]][k[1]].value : '').findAll('[$][(][A-Za-z_][A-Za-z0-9_]*[)]')
    .map(v, v.substring(2, v.size() - 1)).map(n, variables.env_names[k[0]].lastIndexOf(n)).filter(j, j >= 0 && j < k[1])
    .map(j, string(k[0]) + '/' + string(j)).join(',')).join(',').split(',').filter(k, k != '')
- name: env_copied
  expression: >-
    variables.envs.transformList(i, e, e.transformList(j, v, string(i) + '/' + string(j)).join(',')).join(',').split(',')
    .filter(k, k in variables.env_named || k in variables.env_parts || k in variables.env_parts_of_parts)
{{- end }}

{{/* The copies, as a list of patches, after the gate has been put in. */}}
{{- define "sluice.policy.variables.copies" -}}
variables.env_copied.map(k, k.split('/')).map(k, JSONPatch{op: 'copy',
from: variables.env_paths[int(k[0])] + '/env/' + k[1],
path: '/spec/initContainers/' + string(variables.at) + '/env/-'})
{{- end }}
