{{- define "filer-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- /* 52 characters: a pod of a StatefulSet adds an ordinal, its revision label ten more, and 63 is the end. */ -}}
{{- define "filer-exporter.fullname" -}}
{{- $name := include "filer-exporter.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "filer-exporter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "filer-exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "filer-exporter.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "filer-exporter.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "filer-exporter.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- default (include "filer-exporter.fullname" .) .Values.serviceAccount.name -}}
{{- else -}}
{{- default "default" .Values.serviceAccount.name -}}
{{- end -}}
{{- end -}}

{{- define "filer-exporter.secretName" -}}
{{- default (include "filer-exporter.fullname" .) .Values.secrets.existing -}}
{{- end -}}

{{- define "filer-exporter.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default $.Chart.AppVersion .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* "true" when each pod needs a name or a volume that it keeps. */ -}}
{{- define "filer-exporter.isStateful" -}}
{{- if or (gt (int .Values.shards) 1) .Values.state.enabled -}}true{{- end -}}
{{- end -}}
