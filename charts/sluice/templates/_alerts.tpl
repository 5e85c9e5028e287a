{{/* A list of all alerts. `prometheusRule.disabled` leaves some out, and `alertLabels` adds labels to each. */}}
{{- define "sluice.alerts" -}}
- alert: SluiceGateWaitsLong
  expr: max by (namespace) (sluice_longest_wait_seconds) > {{ .Values.prometheusRule.longWaitSeconds }}
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: warning}
  annotations:
    summary: {{ `"A pod in {{ $labels.namespace }} has waited for {{ $value | humanizeDuration }}"` }}
    description: {{ `"See what it waits for, and why: kubectl sluice status --namespace {{ $labels.namespace }}"` }}
- alert: SluiceDown
  expr: absent(sluice_build_info)
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: critical}
  annotations:
    summary: No replica of sluice is scraped
    description: "Either the scrape is broken (networkPolicy.scrapers), or no replica runs, and then pods that carry an annotation of sluice are refused; they start without a gate where admission.failurePolicy is Ignore. Look at the replicas: kubectl sluice check"
- alert: SluiceWatchStale
  expr: max(sluice_watches{state="Stale"}) > 0
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: warning}
  annotations:
    summary: A replica hears nothing of the API server about some kinds
    description: Gates that depend on them wait until it does. Look at the log of the controller, and at the API server.
- alert: SluiceKindForbidden
  expr: max(sluice_watches{state="KindForbidden"}) > 0
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: warning}
  annotations:
    summary: A dependency is of a kind that sluice may not watch
    description: "Gates that depend on this kind wait until sluice may. kubectl sluice status -A names the kind and the waiting pods; the chart's values rbac.presets, rbac.kinds and rbac.secrets allow it, and so does a ClusterRole with the label sluice.dev/aggregate-to-watch."
- alert: SluiceCertificateExpires
  expr: min(sluice_cert_expiry_timestamp_seconds) - time() < 12 * 3600
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: critical}
  annotations:
    summary: {{ `"A certificate of sluice ends in {{ $value | humanizeDuration }}, and was not renewed"` }}
    description: "It is renewed days before. Look at the log of the controller, and at its rights: kubectl sluice check"
- alert: SluiceCABundleOutOfSync
  expr: min(sluice_cabundle_in_sync) == 0
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: critical}
  annotations:
    summary: The API server does not trust the certificate of a replica
    description: "Its webhook configuration lacks the CA. To see the program that overwrites it: kubectl sluice check"
- alert: SluiceWrittenDownAlmostFull
  expr: max by (of, shard) (sluice_written_down_bytes) > 0.9 * scalar(max(sluice_written_down_bytes_limit))
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: warning}
  annotations:
    summary: {{ `"ConfigMap number {{ $labels.shard }} of {{ $labels.of }} is almost full"` }}
    description: When it is full, memory forgets its oldest entries, and no more slots are given. Delete unneeded Jobs and namespaces.
- alert: SluicePodsStranded
  expr: max(sluice_stranded_pods) > 0
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: warning}
  annotations:
    summary: {{ `"{{ $value }} pods wait and trust no certificate of sluice any more"` }}
    description: "They can never be let through: delete them, and their controller makes them anew. kubectl sluice check names them."
- alert: SluiceHealthRulesBroken
  expr: max(sluice_health_rule_errors) > 0
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: warning}
  annotations:
    summary: A health rule of the administrator is broken
    description: "Objects that this rule would judge are not ready. To see the error: kubectl sluice check"
- alert: SluiceTurnsClientsAway
  expr: >-
    sum by (port) (rate(sluice_turned_away_total{reason=~"full|crowded"}[5m])
    or label_replace(rate(sluice_answers_total{result="no_place"}[5m]), "port", "status", "", "")) > 0
  for: {{ .Values.prometheusRule.for }}
  labels: {severity: warning}
  annotations:
    summary: {{ `"sluice turns clients of its {{ $labels.port }} port away"` }}
    description: There are more than a replica has room for. Add replicas, or raise the limit of their memory.
{{- end }}
