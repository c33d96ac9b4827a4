{{- /*
The credentials that the enabled services need, as {"items": [{value, key, variable}]}: which value of `secrets` it is,
under which key of the Secret it is, and which variable of the exporter names its file.
*/ -}}
{{- define "filer-exporter.credentials" -}}
{{- $keys := .Values.secrets.keys -}}
{{- $items := list -}}
{{- if not .Values.demo -}}
{{- if .Values.gfa.url -}}
{{- $items = append $items (dict "value" "gfaToken" "key" $keys.gfaToken "variable" "GFA_TOKEN_FILE") -}}
{{- end -}}
{{- if and .Values.portal.url (eq .Values.portal.credentials "user_key") -}}
{{- $items = append $items (dict "value" "portalUserKey" "key" $keys.portalUserKey "variable" "PORTAL_USER_KEY_FILE") -}}
{{- else if .Values.portal.url -}}
{{- $items = append $items (dict "value" "portalServiceKey" "key" $keys.portalServiceKey "variable" "PORTAL_SERVICE_KEY_FILE") -}}
{{- $items = append $items (dict "value" "portalServiceSecret" "key" $keys.portalServiceSecret "variable" "PORTAL_SERVICE_SECRET_FILE") -}}
{{- end -}}
{{- end -}}
{{- dict "items" $items | toJson -}}
{{- end -}}
