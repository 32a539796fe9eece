{{/* What every object is labelled with. Helm itself adds who manages it. */}}
{{- define "jobflow.labels" -}}
app.kubernetes.io/name: jobflow-controller
app.kubernetes.io/instance: {{ .Values.name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: jobflow
{{- end }}

{{/* What the pods are found by. */}}
{{- define "jobflow.selector" -}}
app.kubernetes.io/name: jobflow-controller
app.kubernetes.io/instance: {{ .Values.name }}
{{- end }}

{{- define "jobflow.image" -}}
{{- $tag := .Values.image.tag | default .Chart.AppVersion -}}
{{- .Values.image.repository }}:{{ $tag }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "jobflow.switch" -}}
{{ if . }}on{{ else }}off{{ end }}
{{- end }}

{{/* The controller's rights in each namespace whose flows are run; deploy/rights.txt is the same list. */}}
{{- define "jobflow.rights" -}}
- apiGroups: [flow.volcano.sh]
  resources: [jobflows]
  verbs: [get, list, watch, patch, delete]
- apiGroups: [flow.volcano.sh]
  resources: [jobflows/status]
  verbs: [update]
# Owner references that block deletion, where OwnerReferencesPermissionEnforcement is on.
- apiGroups: [flow.volcano.sh]
  resources: [jobflows/finalizers]
  verbs: [update]
- apiGroups: [flow.volcano.sh]
  resources: [jobtemplates]
  verbs: [get, list, watch, create]
- apiGroups: [flow.volcano.sh]
  resources: [jobtemplates/status]
  verbs: [patch]
- apiGroups: [batch.volcano.sh]
  resources: [jobs]
  verbs: [get, list, watch, create, delete]
- apiGroups: [bus.volcano.sh]
  resources: [commands]
  verbs: [create]
{{- if .Values.controller.pods }}
- apiGroups: [""]
  resources: [pods]
  verbs: [list, watch]
{{- end }}
- apiGroups: [events.k8s.io]
  resources: [events]
  verbs: [create]
{{- end }}

{{/* Where policies about flows hold. */}}
{{- define "jobflow.bound" -}}
{{- with .Values.namespaces }}
matchResources:
  namespaceSelector:
    matchExpressions:
      - key: kubernetes.io/metadata.name
        operator: In
        values: {{ toJson . }}
{{- end }}
{{- end }}
