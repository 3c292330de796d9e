{{- define "millwright.labels" -}}
app.kubernetes.io/name: millwright
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{- define "millwright.selector" -}}
app.kubernetes.io/name: millwright
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Name of a role's objects: release and role. */}}
{{- define "millwright.name" -}}
{{- printf "%s-%s" (trunc 52 .release) .role -}}
{{- end }}
