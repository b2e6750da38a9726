{{/* Contradictions between values, which a schema cannot see. */}}
{{- define "gatehouse.checks" -}}
{{- $database := include "gatehouse.hasDatabase" . -}}
{{- $inValues := .Values.secretsInValues -}}
{{- if and $inValues.enabled (or .Values.secret.existingSecret .Values.database.existingSecret .Values.redis.existingSecret) -}}
{{- fail "secretsInValues.enabled and an existingSecret of secret, database or redis are both set: choose one." -}}
{{- end -}}
{{- if and (not $inValues.enabled) (or $inValues.secret $inValues.databaseUrl $inValues.redisUrl $inValues.environment) -}}
{{- fail "secretsInValues has secrets but is not enabled: set secretsInValues.enabled, or better use an existingSecret." -}}
{{- end -}}
{{- if and $database (not (or .Values.secret.existingSecret $inValues.secret)) -}}
{{- fail "secret.existingSecret is missing: with a database every pod needs the same server secret." -}}
{{- end -}}
{{- if and (not $database) (include "gatehouse.hasRedis" .) -}}
{{- fail "redis is set without a database: embedded storage runs one pod, which counts limits in memory." -}}
{{- end -}}
{{- $hasWorkers := not (has (toString .Values.workers) (list "auto" "1")) -}}
{{- if and $hasWorkers (not (and $database (include "gatehouse.hasRedis" .))) -}}
{{- fail "workers is more than 1 without database.existingSecret and redis.existingSecret: several processes need both." -}}
{{- end -}}
{{- if and (not $database) .Values.autoscaling.enabled -}}
{{- fail "autoscaling.enabled needs database.existingSecret: embedded storage belongs to one pod." -}}
{{- end -}}
{{- if and $database .Values.persistence.existingClaim -}}
{{- fail "persistence.existingClaim is for embedded storage: with a database, pods cannot share one claim." -}}
{{- end -}}
{{- $ports := list 8080 (int .Values.metrics.port) (int .Values.admin.port) -}}
{{- if ne (len (uniq $ports)) 3 -}}
{{- fail "metrics.port and admin.port must differ from each other and from 8080, the port of the API." -}}
{{- end -}}
{{- if and .Values.ingress.enabled .Values.httpRoute.enabled -}}
{{- fail "ingress.enabled and httpRoute.enabled are both set: choose one." -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs is empty: name at least one gateway." -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled .Values.tls.existingSecret -}}
{{- fail "httpRoute forwards plain HTTP: terminate TLS at the gateway and leave tls.existingSecret empty." -}}
{{- end -}}
{{- end -}}
