{{- /* A value of `settings` as the text of a variable: numbers without the exponent that Helm would give them. */ -}}
{{- define "filer-exporter.text" -}}
{{- if not (kindIs "float64" .) -}}{{ . }}{{- else if eq (floor .) . -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{- define "filer-exporter.environment" -}}
{{- /* The account's limits, of which every shard takes its part by itself. */ -}}
{{- $parts := int .Values.account.sharedBy -}}
- name: LISTEN_ADDRESS
  value: {{ printf ":%d" (int .Values.service.port) | quote }}
{{- if not .Values.demo }}
{{- with .Values.gfa.url }}
- name: GFA_URL
  value: {{ . | quote }}
- name: GFA_CLIENT_KEY
  value: {{ default (include "filer-exporter.fullname" $) $.Values.gfa.clientKey | quote }}
{{- end }}
{{- with .Values.portal.url }}
- name: PORTAL_URL
  value: {{ . | quote }}
- name: PORTAL_RATE_LIMIT
  value: {{ printf "%d/%s" (div (int64 $.Values.account.requests) $parts) $.Values.account.window | quote }}
- name: PORTAL_DAILY_LIMIT
  value: {{ div (int64 $.Values.account.daily) $parts | toString | quote }}
{{- end }}
{{- range (include "filer-exporter.credentials" . | fromJson).items }}
- name: {{ .variable }}
  value: {{ printf "/run/secrets/filer-exporter/%s" .key | quote }}
{{- end }}
{{- end }}
{{- if gt (int .Values.shards) 1 }}
- name: SHARD
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: TOTAL_SHARDS
  value: {{ int .Values.shards | toString | quote }}
{{- end }}
{{- if .Values.state.enabled }}
- name: STATE_FILE
  value: /var/lib/filer-exporter/state
{{- end }}
{{- if .Values.web.existingSecret }}
- name: WEB_CONFIG_FILE
  value: {{ printf "/etc/filer-exporter/web/%s" .Values.web.key | quote }}
{{- end }}
{{- if .Values.caBundle.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: {{ printf "/etc/filer-exporter/ca/%s" .Values.caBundle.key | quote }}
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ include "filer-exporter.text" $value | quote }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end -}}
