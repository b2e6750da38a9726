{{- define "gatehouse.dataFolder" -}}/data{{- end -}}

{{/* gatehouse.yaml: the values of `config`, and what follows from other values. */}}
{{- define "gatehouse.configuration" -}}
{{- $server := dict "drain_delay_ms" (mul .Values.drainSeconds 1000) -}}
{{- if .Values.tls.existingSecret -}}
{{- $_ := set $server "tls" (dict "metrics" false) -}}
{{- end -}}
{{- toYaml (mergeOverwrite (deepCopy .Values.config) (dict "server" $server)) -}}
{{- end -}}

{{/* The value of GATEHOUSE_WORKERS. Empty: the server starts one process. */}}
{{- define "gatehouse.workers" -}}
{{- $limits := default dict .Values.resources.limits -}}
{{- if ne (toString .Values.workers) "auto" -}}
{{- .Values.workers -}}
{{- else if and (include "gatehouse.hasDatabase" .) (include "gatehouse.hasRedis" .) $limits.cpu -}}
auto
{{- end -}}
{{- end -}}

{{/* The Secret of `secretsInValues`. */}}
{{- define "gatehouse.secretsInValues" -}}
{{- with .Values.secretsInValues -}}
{{- $texts := dict -}}
{{- if .secret }}{{ $_ := set $texts "secret" .secret }}{{ end -}}
{{- if .databaseUrl }}{{ $_ := set $texts "database-url" .databaseUrl }}{{ end -}}
{{- if .redisUrl }}{{ $_ := set $texts "redis-url" .redisUrl }}{{ end -}}
{{- toYaml (merge $texts .environment) -}}
{{- end -}}
{{- end -}}

{{/* Files of the volume `server-secrets`, as a list of { name, key, path }. Takes { root, suffix }. */}}
{{- define "gatehouse.secretItems" -}}
{{- $values := .root.Values -}}
{{- $own := printf "%s%s" (include "gatehouse.fullname" .root) .suffix -}}
{{- $items := list -}}
{{- if $values.secretsInValues.enabled -}}
{{- range $key, $text := pick $values.secretsInValues "secret" "databaseUrl" "redisUrl" -}}
{{- if $text }}{{ $items = append $items (dict "name" $own "key" (kebabcase $key) "path" (kebabcase $key)) }}{{ end -}}
{{- end -}}
{{- else -}}
{{- with $values.secret -}}
{{- if .existingSecret }}{{ $items = append $items (dict "name" .existingSecret "key" .key "path" "secret") }}{{ end -}}
{{- if .previousKey }}{{ $items = append $items (dict "name" .existingSecret "key" .previousKey "path" "secret-previous") }}{{ end -}}
{{- if .nextKey }}{{ $items = append $items (dict "name" .existingSecret "key" .nextKey "path" "secret-next") }}{{ end -}}
{{- end -}}
{{- with $values.database -}}
{{- if .existingSecret }}{{ $items = append $items (dict "name" .existingSecret "key" .key "path" "database-url") }}{{ end -}}
{{- end -}}
{{- with $values.redis -}}
{{- if .existingSecret }}{{ $items = append $items (dict "name" .existingSecret "key" .key "path" "redis-url") }}{{ end -}}
{{- end -}}
{{- end -}}
{{- toYaml $items -}}
{{- end -}}

{{/* Variables that the server and the migration share. Takes { root, suffix }. */}}
{{- define "gatehouse.environment" -}}
- { name: GATEHOUSE_CONFIG, value: /etc/gatehouse/config/gatehouse.yaml }
- { name: GATEHOUSE_DATA_DIR, value: {{ include "gatehouse.dataFolder" . }} }
{{- if .root.Values.tls.existingSecret }}
- { name: GATEHOUSE_TLS_CERT_FILE, value: /etc/gatehouse/tls/tls.crt }
- { name: GATEHOUSE_TLS_KEY_FILE, value: /etc/gatehouse/tls/tls.key }
{{- end }}
{{- $variables := dict "secret" "GATEHOUSE_SECRET_FILE" "secret-previous" "GATEHOUSE_SECRET_PREVIOUS_FILE" "secret-next" "GATEHOUSE_SECRET_NEXT_FILE" "database-url" "DATABASE_URL_FILE" "redis-url" "REDIS_URL_FILE" }}
{{- range include "gatehouse.secretItems" . | fromYamlArray }}
- { name: {{ get $variables .path }}, value: /etc/gatehouse/server-secrets/{{ .path }} }
{{- end }}
{{- range $name, $value := .root.Values.environment.variables }}
- { name: {{ $name }}, value: {{ toString $value | quote }} }
{{- end }}
{{- $own := printf "%s%s" (include "gatehouse.fullname" .root) .suffix }}
{{- range $name, $_ := .root.Values.secretsInValues.environment }}
- { name: {{ $name }}, valueFrom: { secretKeyRef: { name: {{ $own }}, key: {{ $name }} } } }
{{- end }}
{{- end -}}

{{/* Secrets whose keys are variables. */}}
{{- define "gatehouse.environmentFrom" -}}
{{- with .Values.environment.existingSecrets -}}
envFrom:
  {{- range . }}
  - secretRef: { name: {{ . }} }
  {{- end }}
{{- end }}
{{- end -}}

{{/* Volumes that the server and the migration share. Takes { root, suffix }. */}}
{{- define "gatehouse.volumes" -}}
- name: config
  configMap: { name: {{ include "gatehouse.fullname" .root }}{{ .suffix }} }
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
{{- with include "gatehouse.secretItems" . | fromYamlArray }}
- name: server-secrets
  projected:
    defaultMode: 0440
    sources:
      {{- range . }}
      - secret: { name: {{ .name }}, items: [{ key: {{ .key }}, path: {{ .path }} }] }
      {{- end }}
{{- end }}
{{- range $at, $name := .root.Values.secretFiles }}
- name: secret-files-{{ $at }}
  secret: { secretName: {{ $name }}, defaultMode: 0440 }
{{- end }}
{{- end -}}

{{- define "gatehouse.volumeMounts" -}}
- { name: config, mountPath: /etc/gatehouse/config, readOnly: true }
- { name: data, mountPath: {{ include "gatehouse.dataFolder" . }} }
- { name: tmp, mountPath: /tmp }
{{- if include "gatehouse.secretItems" . | fromYamlArray }}
- { name: server-secrets, mountPath: /etc/gatehouse/server-secrets, readOnly: true }
{{- end }}
{{- range $at, $name := .root.Values.secretFiles }}
- { name: secret-files-{{ $at }}, mountPath: /etc/gatehouse/secrets/{{ $name }}, readOnly: true }
{{- end }}
{{- end -}}

{{/*
The Pod Security Standard `restricted`, and a read-only root file system. Service links are off, because a Service called gatehouse
would set the variable GATEHOUSE_PORT to its own address.
*/}}
{{- define "gatehouse.podSecurity" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{- define "gatehouse.containerSecurity" -}}
image: {{ include "gatehouse.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}
