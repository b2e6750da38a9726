{{/* The pods of the server, for the StatefulSet and the Deployment. */}}
{{- define "gatehouse.pod" -}}
{{- $hasDatabase := include "gatehouse.hasDatabase" . -}}
{{- $scope := dict "root" . "suffix" "" -}}
{{- $scheme := ternary "HTTPS" "HTTP" (not (empty .Values.tls.existingSecret)) -}}
metadata:
  labels:
    {{- include "gatehouse.labels" (dict "root" . "component" "server") | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    checksum/configuration: {{ include "gatehouse.configuration" . | sha256sum }}
    {{- if .Values.secretsInValues.enabled }}
    checksum/secrets: {{ include "gatehouse.secretsInValues" . | sha256sum }}
    {{- end }}
    {{- with .Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "gatehouse.serviceAccountName" . }}
  {{- include "gatehouse.podSecurity" . | nindent 2 }}
  # The server drains, then gives running answers 30 seconds, then writes what is left.
  terminationGracePeriodSeconds: {{ add .Values.drainSeconds 45 }}
  containers:
    - name: gatehouse
      {{- include "gatehouse.containerSecurity" . | nindent 6 }}
      args: [serve]
      env:
        - { name: GATEHOUSE_HOST, value: {{ .Values.listenAddress | quote }} }
        - { name: GATEHOUSE_PORT, value: "8080" }
        - { name: GATEHOUSE_METRICS_PORT, value: {{ .Values.metrics.port | quote }} }
        {{- if .Values.admin.port }}
        - { name: GATEHOUSE_ADMIN_PORT, value: {{ .Values.admin.port | quote }} }
        {{- end }}
        {{- with include "gatehouse.workers" . }}
        - { name: GATEHOUSE_WORKERS, value: {{ . | quote }} }
        {{- end }}
        {{- if not .Values.firstKeysInLog }}
        - { name: GATEHOUSE_KEYS_FILE, value: {{ include "gatehouse.dataFolder" . }}/first-keys.json }
        {{- end }}
        {{- include "gatehouse.environment" $scope | nindent 8 }}
      {{- with include "gatehouse.environmentFrom" . }}
      {{- . | nindent 6 }}
      {{- end }}
      ports:
        - { name: http, containerPort: 8080 }
        - { name: metrics, containerPort: {{ .Values.metrics.port }} }
        {{- if .Values.admin.port }}
        - { name: admin, containerPort: {{ .Values.admin.port }} }
        {{- end }}
      # Embedded storage migrates before it listens, so a start may take minutes.
      startupProbe:
        httpGet: { path: /health/live, port: http, scheme: {{ $scheme }} }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 150
      livenessProbe:
        httpGet: { path: /health/live, port: http, scheme: {{ $scheme }} }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      readinessProbe:
        httpGet: { path: /health/ready, port: http, scheme: {{ $scheme }} }
        periodSeconds: 2
        timeoutSeconds: 2
        failureThreshold: 2
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        {{- include "gatehouse.volumeMounts" $scope | nindent 8 }}
        {{- if .Values.tls.existingSecret }}
        - { name: tls, mountPath: /etc/gatehouse/tls, readOnly: true }
        {{- end }}
        {{- with .Values.extraVolumeMounts }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
  volumes:
    {{- include "gatehouse.volumes" $scope | nindent 4 }}
    {{- if not (include "gatehouse.isStateful" .) }}
    - name: data
      emptyDir: { sizeLimit: {{ .Values.persistence.size }} }
    {{- else if .Values.persistence.existingClaim }}
    - name: data
      persistentVolumeClaim: { claimName: {{ .Values.persistence.existingClaim }} }
    {{- end }}
    {{- with .Values.tls.existingSecret }}
    - name: tls
      secret: { secretName: {{ . }}, defaultMode: 0440 }
    {{- end }}
    {{- with .Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- if .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
  {{- else if $hasDatabase }}
  topologySpreadConstraints:
    {{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
    - topologyKey: {{ . }}
      maxSkew: 1
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "gatehouse.selector" $ | nindent 10 }}
    {{- end }}
  {{- end }}
  {{- range $key, $value := pick .Values "nodeSelector" "tolerations" "affinity" "priorityClassName" }}
  {{- if $value }}
  {{- toYaml (dict $key $value) | nindent 2 }}
  {{- end }}
  {{- end }}
{{- end -}}
