{{- /* The metadata of a monitor; `monitor` holds its values. */ -}}
{{- define "filer-exporter.monitorMetadata" -}}
name: {{ include "filer-exporter.fullname" .root }}
labels:
  {{- include "filer-exporter.labels" .root | nindent 2 }}
  {{- with .monitor.labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- /* One endpoint of a monitor. */ -}}
{{- define "filer-exporter.monitorEndpoint" -}}
- port: metrics
  path: {{ default "/metrics" (get .root.Values.settings "METRICS_PATH") }}
  {{- if .root.Values.web.tls }}
  scheme: https
  {{- end }}
  interval: {{ .monitor.interval }}
  scrapeTimeout: {{ .monitor.scrapeTimeout }}
  {{- with .monitor.relabelings }}
  relabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .monitor.metricRelabelings }}
  metricRelabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .monitor.endpoint }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{- /* A number without an exponent, as people write it: Helm reads every number of its values as a float. */ -}}
{{- define "filer-exporter.number" -}}
{{- if eq (floor .) (float64 .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}
