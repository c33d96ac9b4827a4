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

{{- define "filer-exporter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- /* A value as YAML, in which `{{ … }}` is a template. */ -}}
{{- define "filer-exporter.yaml" -}}
{{- tpl (toYaml .value) .root -}}
{{- end -}}

{{- /* The labels of every pod of the chart. */ -}}
{{- define "filer-exporter.podSelector" -}}
app.kubernetes.io/name: {{ include "filer-exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* The labels of the exporter's pods, which those of the doctor and of the test do not have. */ -}}
{{- define "filer-exporter.selectorLabels" -}}
{{ include "filer-exporter.podSelector" . }}
app.kubernetes.io/component: exporter
{{- end -}}

{{- /* The labels of an object; `component` is that of a pod, of the exporter if there is none. */ -}}
{{- define "filer-exporter.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "filer-exporter.podSelector" .root }}
app.kubernetes.io/component: {{ default "exporter" .component }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
{{- with .root.Values.commonLabels }}
{{ include "filer-exporter.yaml" (dict "root" $.root "value" .) }}
{{- end }}
{{- with .labels }}
{{ include "filer-exporter.yaml" (dict "root" $.root "value" .) }}
{{- end }}
{{- end -}}

{{- /* The metadata of an object: `name`, `namespace`, `component`, `labels` and `annotations` where they are not the usual ones. */ -}}
{{- define "filer-exporter.metadata" -}}
name: {{ default (include "filer-exporter.fullname" .root) .name }}
namespace: {{ default (include "filer-exporter.namespace" .root) .namespace }}
labels:
  {{- include "filer-exporter.labels" . | nindent 2 }}
{{- with .annotations }}
annotations:
  {{- include "filer-exporter.yaml" (dict "root" $.root "value" .) | nindent 2 }}
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
{{- tpl (default (include "filer-exporter.fullname" .) .Values.secrets.existing) . -}}
{{- end -}}

{{- define "filer-exporter.image" -}}
{{- $image := .Values.image -}}
{{- with default $image.registry .Values.global.imageRegistry -}}{{ . }}/{{- end -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ default .Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{- define "filer-exporter.pullSecrets" -}}
{{- with concat .Values.global.imagePullSecrets .Values.imagePullSecrets -}}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end -}}
{{- end -}}

{{- /* "true" when each pod needs a name or a volume that it keeps. */ -}}
{{- define "filer-exporter.isStateful" -}}
{{- if or (gt (int .Values.shards) 1) .Values.state.enabled -}}true{{- end -}}
{{- end -}}
