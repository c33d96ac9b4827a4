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
{{ include "filer-exporter.yaml" (dict "root" $ "value" .) }}
{{- end }}
{{- end -}}

{{- define "filer-exporter.webVolume" -}}
- name: web
  secret:
    secretName: {{ tpl .Values.web.existingSecret . }}
    defaultMode: 0440
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
{{- if .Values.web.existingSecret }}
{{ include "filer-exporter.webVolume" . }}
{{- end }}
{{- with .Values.caBundle.configMap }}
- name: ca
  configMap:
    name: {{ tpl . $ }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ include "filer-exporter.yaml" (dict "root" $ "value" .) }}
{{- end }}
{{- end -}}

{{- /*
A pod of the exporter or, if `isDoctor`, one that runs the doctor once with the settings, secrets and place of the exporter.
*/ -}}
{{- define "filer-exporter.pod" -}}
{{- $root := .root -}}
{{- $isDoctor := .isDoctor -}}
{{- $values := $root.Values -}}
metadata:
  labels:
    {{- include "filer-exporter.labels" (dict "root" $root "component" (ternary "doctor" "exporter" $isDoctor) "labels" $values.podLabels) | nindent 4 }}
  {{- with $values.podAnnotations }}
  annotations:
    {{- include "filer-exporter.yaml" (dict "root" $root "value" .) | nindent 4 }}
  {{- end }}
spec:
  {{- if $isDoctor }}
  restartPolicy: Never
  {{- end }}
  serviceAccountName: {{ include "filer-exporter.serviceAccountName" $root }}
  automountServiceAccountToken: false
  # Services called gfa or portal would set variables that look like the exporter's own.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $values.terminationGracePeriodSeconds }}
  securityContext:
    {{- toYaml $values.podSecurityContext | nindent 4 }}
  {{- with include "filer-exporter.pullSecrets" $root }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with $values.initContainers }}
  initContainers:
    {{- include "filer-exporter.yaml" (dict "root" $root "value" .) | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ ternary "doctor" "filer-exporter" $isDoctor }}
      image: {{ include "filer-exporter.image" $root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      {{- with concat (ternary (list "--demo") (list) $values.demo) (ternary (list "--doctor") (list) $isDoctor) $values.extraArgs }}
      args:
        {{- include "filer-exporter.yaml" (dict "root" $root "value" .) | nindent 8 }}
      {{- end }}
      env:
        {{- include "filer-exporter.environment" . | nindent 8 }}
      {{- with $values.extraEnvFrom }}
      envFrom:
        {{- include "filer-exporter.yaml" (dict "root" $root "value" .) | nindent 8 }}
      {{- end }}
      {{- if not $isDoctor }}
      ports:
        - name: metrics
          containerPort: {{ $values.service.port }}
      startupProbe:
        {{- include "filer-exporter.probe" (dict "root" $root "path" "/healthz" "times" $values.startupProbe) | nindent 8 }}
      livenessProbe:
        {{- include "filer-exporter.probe" (dict "root" $root "path" "/healthz" "times" $values.livenessProbe) | nindent 8 }}
      readinessProbe:
        {{- include "filer-exporter.probe" (dict "root" $root "path" "/readyz" "times" $values.readinessProbe) | nindent 8 }}
      {{- end }}
      resources:
        {{- toYaml $values.resources | nindent 8 }}
      securityContext:
        {{- toYaml $values.securityContext | nindent 8 }}
      {{- with include "filer-exporter.mounts" $root | trim }}
      volumeMounts:
        {{- . | nindent 8 }}
      {{- end }}
    {{- if not $isDoctor }}
    {{- with $values.extraContainers }}
    {{- include "filer-exporter.yaml" (dict "root" $root "value" .) | nindent 4 }}
    {{- end }}
    {{- end }}
  {{- $volumes := include "filer-exporter.volumes" $root | trim }}
  {{- $hasScratchState := and $isDoctor $values.state.enabled }}
  {{- if or $volumes $hasScratchState }}
  volumes:
    {{- with $volumes }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- if $hasScratchState }}
    # The volume of the exporter is the exporter's own.
    - name: state
      emptyDir: {}
    {{- end }}
  {{- end }}
  {{- if $values.hostNetwork }}
  hostNetwork: true
  {{- end }}
  {{- with default (ternary "ClusterFirstWithHostNet" "" $values.hostNetwork) $values.dnsPolicy }}
  dnsPolicy: {{ . }}
  {{- end }}
  {{- range $field := list "nodeSelector" "tolerations" "affinity" "dnsConfig" "hostAliases" "priorityClassName" "runtimeClassName" }}
  {{- with get $values $field }}
  {{ $field }}:
    {{- include "filer-exporter.yaml" (dict "root" $root "value" .) | nindent 4 }}
  {{- end }}
  {{- end }}
  {{- if $isDoctor }}
  {{- else if $values.topologySpreadConstraints }}
  topologySpreadConstraints:
    {{- include "filer-exporter.yaml" (dict "root" $root "value" $values.topologySpreadConstraints) | nindent 4 }}
  {{- else if gt (int $values.shards) 1 }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "filer-exporter.selectorLabels" $root | nindent 10 }}
  {{- end }}
{{- end -}}
