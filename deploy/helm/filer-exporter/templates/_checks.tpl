{{- /* What the schema cannot say: values that do not go together. The first that is found ends the rendering. */ -}}
{{- define "filer-exporter.checks" -}}
{{- $values := .Values -}}
{{- if not $values.demo -}}
{{- if not (or $values.gfa.url $values.portal.url) -}}
{{- fail "gfa.url is not set and neither is portal.url; expected at least one of them, or demo: true" -}}
{{- end -}}
{{- range $name, $url := dict "gfa.url" $values.gfa.url "portal.url" $values.portal.url -}}
{{- $isOpen := and (hasPrefix "http:" $url) (not (regexMatch "^http://(localhost|127\\.[0-9.]+|\\[::1\\])(:|/|$)" $url)) -}}
{{- if and $isOpen (ne (toString $values.settings.ALLOW_INSECURE_UPSTREAM) "true") -}}
{{- fail (printf "%s is an http URL of another host; expected https, or settings.ALLOW_INSECURE_UPSTREAM: true" $name) -}}
{{- end -}}
{{- end -}}
{{- range (include "filer-exporter.credentials" . | fromJson).items -}}
{{- if and (not $values.secrets.existing) (not (get $values.secrets .value)) -}}
{{- fail (printf "secrets.%s is not set and neither is secrets.existing; expected one of them, for the exporter needs %s" .value .variable) -}}
{{- end -}}
{{- if and $values.secrets.existing (get $values.secrets .value) -}}
{{- fail (printf "secrets.%s is set and so is secrets.existing; expected one of them" .value) -}}
{{- end -}}
{{- end -}}
{{- $parts := mul (int $values.shards) (int $values.account.sharedBy) -}}
{{- if lt (int64 $values.account.requests) $parts -}}
{{- fail (printf "account.requests is below one request for each of %d shards; expected fewer shards, or a longer account.window" $parts) -}}
{{- end -}}
{{- if and $values.account.daily (lt (int64 $values.account.daily) $parts) -}}
{{- fail (printf "account.daily is below one request for each of %d shards; expected fewer shards" $parts) -}}
{{- end -}}
{{- end -}}
{{- if and $values.serviceMonitor.enabled $values.podMonitor.enabled -}}
{{- fail "serviceMonitor.enabled and podMonitor.enabled are both true; expected one of them, or every series comes twice" -}}
{{- end -}}
{{- if gt (int $values.shards) 1 -}}
{{- range $way, $isSet := dict "ingress.enabled is true" $values.ingress.enabled "httpRoute.enabled is true" $values.httpRoute.enabled (printf "service.type is %s" $values.service.type) (ne $values.service.type "ClusterIP") -}}
{{- if $isSet -}}
{{- fail (printf "%s but shards is %d, so that each request would reach another shard; expected shards: 1, or Services of your own in extraObjects" $way (int $values.shards)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and $values.web.tls (not $values.web.existingSecret) -}}
{{- fail "web.tls is true but web.existingSecret is not set; expected the Secret that holds the web configuration" -}}
{{- end -}}
{{- end -}}
