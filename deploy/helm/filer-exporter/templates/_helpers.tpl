{{- define "filer-exporter.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "filer-exporter.fullname" -}}
{{- $name := include "filer-exporter.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "filer-exporter.selectorLabels" -}}
app.kubernetes.io/name: {{ include "filer-exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- /* The metadata of an object: `name`, `labels` and `annotations` where it has others than the usual ones. */ -}}
{{- define "filer-exporter.metadata" -}}
name: {{ default (include "filer-exporter.fullname" .root) .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
  {{- include "filer-exporter.selectorLabels" .root | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  {{- with .root.Values.commonLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "filer-exporter.serviceAccountName" -}}
{{- $account := default dict .Values.serviceAccount -}}
{{- $isOurs := ne (toString $account.create) "false" -}}
{{- default (ternary (include "filer-exporter.fullname" .) "default" $isOurs) $account.name -}}
{{- end -}}

{{- define "filer-exporter.port" -}}
{{- int (default 9989 (default dict .Values.service).port) -}}
{{- end -}}

{{- /* The credentials that the configured services need: the value of `secrets`, the key in the Secret, the variable. */ -}}
{{- define "filer-exporter.credentials" -}}
{{- $portal := default dict .Values.portal -}}
{{- $keys := default dict (default dict .Values.secrets).keys -}}
{{- $items := list -}}
{{- if not .Values.demo -}}
{{- if (default dict .Values.gfa).url -}}
{{- $items = append $items (dict "value" "gfaToken" "key" (default "gfa-token" $keys.gfaToken) "variable" "GFA_TOKEN_FILE") -}}
{{- end -}}
{{- if and $portal.url (eq (toString $portal.credentials) "user_key") -}}
{{- $items = append $items (dict "value" "portalUserKey" "key" (default "portal-user-key" $keys.portalUserKey) "variable" "PORTAL_USER_KEY_FILE") -}}
{{- else if $portal.url -}}
{{- $items = append $items (dict "value" "portalServiceKey" "key" (default "portal-service-key" $keys.portalServiceKey) "variable" "PORTAL_SERVICE_KEY_FILE") -}}
{{- $items = append $items (dict "value" "portalServiceSecret" "key" (default "portal-service-secret" $keys.portalServiceSecret) "variable" "PORTAL_SERVICE_SECRET_FILE") -}}
{{- end -}}
{{- end -}}
{{- dict "items" $items | toJson -}}
{{- end -}}

{{- /* What the schema cannot say: values that do not go together. */ -}}
{{- define "filer-exporter.checks" -}}
{{- $secrets := default dict .Values.secrets -}}
{{- if not (or .Values.demo (default dict .Values.gfa).url (default dict .Values.portal).url) -}}
{{- fail "gfa.url is not set and neither is portal.url; expected at least one of them, or demo: true" -}}
{{- end -}}
{{- range (include "filer-exporter.credentials" . | fromJson).items -}}
{{- if eq (empty $secrets.existing) (empty (get $secrets .value)) -}}
{{- fail (printf "expected either secrets.existing or secrets.%s, for the exporter needs %s" .value .variable) -}}
{{- end -}}
{{- end -}}
{{- $web := default dict .Values.web -}}
{{- if and (or $web.tls $web.clientCertificates) (not $web.existingSecret) -}}
{{- fail "web.tls or web.clientCertificates is set but web.existingSecret is not; expected the Secret that holds the web configuration" -}}
{{- end -}}
{{- end -}}

{{- /* A probe of a page that needs no password. The kubelet has no client certificate, so where one is required the probe opens a connection. */ -}}
{{- define "filer-exporter.probe" -}}
{{- $web := default dict .root.Values.web -}}
{{- if $web.clientCertificates -}}
tcpSocket:
  port: metrics
{{- else -}}
httpGet:
  path: {{ .path }}
  port: metrics
  {{- if $web.tls }}
  scheme: HTTPS
  {{- end }}
{{- end }}
{{- end -}}

{{- define "filer-exporter.podSecurityContext" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "filer-exporter.securityContext" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "filer-exporter.resources" -}}
requests:
  cpu: 50m
  memory: 128Mi
limits:
  memory: 512Mi
{{- end -}}

{{- /* A value of `settings` as text: Helm reads every number as a float, and would write 33554432 as 3.3554432e+07. */ -}}
{{- define "filer-exporter.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) }}{{ int64 . }}{{ else }}{{ . }}{{ end -}}
{{- end -}}
