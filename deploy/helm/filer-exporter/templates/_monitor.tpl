{{- /* The metadata of an object of the Prometheus operator; `monitor` holds its values. */ -}}
{{- define "filer-exporter.monitorMetadata" -}}
{{- include "filer-exporter.metadata" (dict "root" .root "namespace" .monitor.namespace "labels" .monitor.labels) -}}
{{- end -}}

{{- /* What ServiceMonitor and PodMonitor have in common, but for the endpoint. */ -}}
{{- define "filer-exporter.monitorSpec" -}}
selector:
  matchLabels:
    {{- include "filer-exporter.selectorLabels" .root | nindent 4 }}
{{- with .monitor.namespace }}
namespaceSelector:
  matchNames: [{{ include "filer-exporter.namespace" $.root }}]
{{- end }}
{{- with .monitor.jobLabel }}
jobLabel: {{ . }}
{{- end }}
{{- range $field := list "targetLabels" "podTargetLabels" }}
{{- with get $.monitor $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- with .monitor.sampleLimit }}
sampleLimit: {{ int64 . }}
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
  {{- if .monitor.honorLabels }}
  honorLabels: true
  {{- end }}
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
