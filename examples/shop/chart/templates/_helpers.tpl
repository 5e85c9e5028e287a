{{- define "shop.labels" -}}
app.kubernetes.io/name: shop
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* The files of migrations/ up to the wanted schema, as a ConfigMap's data. */ -}}
{{- define "shop.migrations" -}}
{{- range $path, $_ := .Files.Glob "migrations/*.sql" }}
{{- if le (base $path | regexFind "[1-9][0-9]*" | int) (int $.Values.schema) }}
{{ base $path }}: |
  {{- $.Files.Get $path | nindent 2 }}
{{- end }}
{{- end }}
{{- end }}

{{- /* The name of the migration Job says what it does: other SQL or another image is another Job, anything else leaves the finished one alone.
       A revision in the name would run it on every upgrade, and stays 1 for ever where a chart is rendered without Helm's history (Argo CD). */ -}}
{{- define "shop.migration" -}}
migrate-{{ .Values.schema }}-{{ printf "%s %s" (include "shop.migrations" .) .Values.image | sha256sum | trunc 6 }}
{{- end }}

{{- define "shop.database" -}}
- {name: PGHOST, value: postgres}
- {name: PGUSER, value: shop}
- {name: PGDATABASE, value: postgres}
- {name: PGCONNECT_TIMEOUT, value: "3"}
- {name: PGPASSWORD, valueFrom: {secretKeyRef: {name: postgres, key: password}}}
{{- end }}

{{- /* What every pod shares: no rights in the cluster, and the restricted Pod Security level. */ -}}
{{- define "shop.pod" -}}
automountServiceAccountToken: false
securityContext: {runAsNonRoot: true, runAsUser: 999, runAsGroup: 999, fsGroup: 999, seccompProfile: {type: RuntimeDefault}}
terminationGracePeriodSeconds: 5
{{- end }}

{{- define "shop.container" -}}
image: {{ .Values.image }}
imagePullPolicy: IfNotPresent
securityContext: {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
{{- end }}
