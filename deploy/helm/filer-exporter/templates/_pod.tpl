{{- /* A probe of a path that needs no password, or else of the port alone. */ -}}
{{- define "filer-exporter.probe" -}}
{{- if not (contains .path (default .path .root.Values.settings.WEB_OPEN_PATHS)) -}}
tcpSocket:
  port: metrics
{{- else -}}
httpGet:
  path: {{ .path }}
  port: metrics
  {{- if .root.Values.web.tls }}
  scheme: HTTPS
  {{- end }}
{{- end }}
{{- with .times }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "filer-exporter.mounts" -}}
{{- if (include "filer-exporter.credentials" . | fromJson).items }}
- name: secrets
  mountPath: /run/secrets/filer-exporter
  readOnly: true
{{- end }}
{{- if .Values.state.enabled }}
- name: state
  mountPath: /var/lib/filer-exporter
{{- end }}
{{- if .Values.web.existingSecret }}
- name: web
  mountPath: /etc/filer-exporter/web
  readOnly: true
{{- end }}
{{- if .Values.caBundle.configMap }}
- name: ca
  mountPath: /etc/filer-exporter/ca
  readOnly: true
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "filer-exporter.volumes" -}}
{{- with (include "filer-exporter.credentials" . | fromJson).items }}
- name: secrets
  secret:
    secretName: {{ include "filer-exporter.secretName" $ }}
    defaultMode: 0440
    items:
      {{- range . }}
      - key: {{ .key }}
        path: {{ .key }}
      {{- end }}
{{- end }}
{{- with .Values.web.existingSecret }}
- name: web
  secret:
    secretName: {{ . }}
    defaultMode: 0440
{{- end }}
{{- with .Values.caBundle.configMap }}
- name: ca
  configMap:
    name: {{ . }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "filer-exporter.pod" -}}
metadata:
  labels:
    {{- include "filer-exporter.labels" . | nindent 4 }}
    {{- with .Values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with .Values.podAnnotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  serviceAccountName: {{ include "filer-exporter.serviceAccountName" . }}
  automountServiceAccountToken: false
  # Services called gfa or portal would set variables that look like the exporter's own.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
  securityContext:
    {{- toYaml .Values.podSecurityContext | nindent 4 }}
  {{- with .Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.initContainers }}
  initContainers:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: filer-exporter
      image: {{ include "filer-exporter.image" . }}
      imagePullPolicy: {{ .Values.image.pullPolicy }}
      {{- if .Values.demo }}
      args: [--demo]
      {{- end }}
      ports:
        - name: metrics
          containerPort: {{ .Values.service.port }}
      env:
        {{- include "filer-exporter.environment" . | nindent 8 }}
      {{- with .Values.extraEnvFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      startupProbe:
        {{- include "filer-exporter.probe" (dict "root" . "path" "/healthz" "times" .Values.startupProbe) | nindent 8 }}
      livenessProbe:
        {{- include "filer-exporter.probe" (dict "root" . "path" "/healthz" "times" .Values.livenessProbe) | nindent 8 }}
      readinessProbe:
        {{- include "filer-exporter.probe" (dict "root" . "path" "/readyz" "times" .Values.readinessProbe) | nindent 8 }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      securityContext:
        {{- toYaml .Values.securityContext | nindent 8 }}
      {{- with include "filer-exporter.mounts" . | trim }}
      volumeMounts:
        {{- . | nindent 8 }}
      {{- end }}
    {{- with .Values.extraContainers }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with include "filer-exporter.volumes" . | trim }}
  volumes:
    {{- . | nindent 4 }}
  {{- end }}
  {{- range $field := list "nodeSelector" "tolerations" "affinity" "dnsConfig" "hostAliases" "priorityClassName" "runtimeClassName" }}
  {{- with get $.Values $field }}
  {{ $field }}:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- if .Values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- toYaml .Values.topologySpreadConstraints | nindent 4 }}
  {{- else if gt (int .Values.shards) 1 }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "filer-exporter.selectorLabels" . | nindent 10 }}
  {{- end }}
{{- end -}}
