{{- /* A value of `settings` as the text of a variable: numbers without the exponent that Helm would give them. */ -}}
{{- define "filer-exporter.text" -}}
{{- if not (kindIs "float64" .) -}}{{ . }}{{- else if eq (floor .) . -}}{{ int64 . }}{{- else -}}{{ . }}{{- end -}}
{{- end -}}

{{- /* The variables of a pod, which takes the dictionary of "filer-exporter.pod". */ -}}
{{- define "filer-exporter.environment" -}}
{{- $root := .root -}}
{{- $values := $root.Values -}}
{{- /* The account's limits, of which every shard takes its part by itself. */ -}}
{{- $parts := int $values.account.sharedBy -}}
- name: LISTEN_ADDRESS
  value: {{ printf ":%d" (int $values.service.port) | quote }}
{{- if not $values.demo }}
{{- with $values.gfa.url }}
- name: GFA_URL
  value: {{ . | quote }}
- name: GFA_CLIENT_KEY
  value: {{ default (include "filer-exporter.fullname" $root) $values.gfa.clientKey | quote }}
{{- end }}
{{- with $values.portal.url }}
- name: PORTAL_URL
  value: {{ . | quote }}
- name: PORTAL_RATE_LIMIT
  value: {{ printf "%d/%s" (div (int64 $values.account.requests) $parts) $values.account.window | quote }}
- name: PORTAL_DAILY_LIMIT
  value: {{ div (int64 $values.account.daily) $parts | toString | quote }}
{{- end }}
{{- range (include "filer-exporter.credentials" $root | fromJson).items }}
- name: {{ .variable }}
  value: {{ printf "/run/secrets/filer-exporter/%s" .key | quote }}
{{- end }}
{{- end }}
{{- if gt (int $values.shards) 1 }}
- name: SHARD
  {{- if .isDoctor }}
  # The shard that also polls what belongs to the account.
  value: '0'
  {{- else }}
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
  {{- end }}
- name: TOTAL_SHARDS
  value: {{ int $values.shards | toString | quote }}
{{- end }}
{{- if $values.state.enabled }}
- name: STATE_FILE
  value: /var/lib/filer-exporter/state
{{- end }}
{{- if $values.web.existingSecret }}
- name: WEB_CONFIG_FILE
  value: {{ printf "/etc/filer-exporter/web/%s" $values.web.key | quote }}
{{- end }}
{{- if $values.caBundle.configMap }}
- name: NODE_EXTRA_CA_CERTS
  value: {{ printf "/etc/filer-exporter/ca/%s" $values.caBundle.key | quote }}
{{- end }}
{{- range $name, $value := $values.settings }}
- name: {{ $name }}
  value: {{ tpl (include "filer-exporter.text" $value) $root | quote }}
{{- end }}
{{- with $values.extraEnv }}
{{ include "filer-exporter.yaml" (dict "root" $root "value" .) }}
{{- end }}
{{- end -}}
