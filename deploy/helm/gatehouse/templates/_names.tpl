{{- define "gatehouse.fullname" -}}
{{- default .Release.Name .Values.fullnameOverride | trunc 45 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels by which objects find the pods of the server. They must never change, because selectors cannot be updated. */}}
{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: gatehouse
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end -}}

{{/* The labels of every object. Takes { root, component }. */}}
{{- define "gatehouse.labels" -}}
app.kubernetes.io/name: gatehouse
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* Metadata of an object of the server. Takes { root, suffix, component, labels, annotations }; all but root may be missing. */}}
{{- define "gatehouse.metadata" -}}
name: {{ include "gatehouse.fullname" .root }}{{ .suffix }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "gatehouse.labels" (dict "root" .root "component" (default "server" .component)) | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "gatehouse.image" -}}
{{- $repository := required "image.repository is missing: name the image that you built from deploy/Dockerfile." .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{/* Whether a database is configured: "true" or nothing. */}}
{{- define "gatehouse.hasDatabase" -}}
{{- if or .Values.database.existingSecret (and .Values.secretsInValues.enabled .Values.secretsInValues.databaseUrl) }}true{{ end -}}
{{- end -}}

{{- define "gatehouse.hasRedis" -}}
{{- if or .Values.redis.existingSecret (and .Values.secretsInValues.enabled .Values.secretsInValues.redisUrl) }}true{{ end -}}
{{- end -}}

{{/* Whether the pods come from a StatefulSet: with embedded storage, or with a volume for each pod. */}}
{{- define "gatehouse.isStateful" -}}
{{- if or (not (include "gatehouse.hasDatabase" .)) .Values.persistence.spool }}true{{ end -}}
{{- end -}}

{{- define "gatehouse.serviceAccountName" -}}
{{- default (ternary (include "gatehouse.fullname" .) "default" .Values.serviceAccount.create) .Values.serviceAccount.name -}}
{{- end -}}
