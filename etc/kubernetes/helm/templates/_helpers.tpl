{{- /* SPDX-License-Identifier: Apache-2.0 */}}

{{- define "fabric-agent.image" -}}
{{- if not (kindIs "string" (.Values.image.tag | default "")) }}{{ fail (printf "image.tag: %v is a number: quote it in the file of values, or use --set-string" .Values.image.tag) }}{{ end -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- /* Image and pull policy of a container. */}}
{{- define "fabric-agent.from" -}}
image: {{ include "fabric-agent.image" . | quote }}
{{- with .Values.image.pullPolicy }}
imagePullPolicy: {{ . }}
{{- end }}
{{- end }}

{{- /* Context of a container that has no privilege. */}}
{{- define "fabric-agent.unprivileged" -}}
runAsNonRoot: true
runAsUser: 65534
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- /* What both pods have: on which nodes, whose network. `wave`: In, NotIn or empty, for the label of the canary. */}}
{{- define "fabric-agent.pod" -}}
{{- $values := .root.Values -}}
serviceAccountName: fabric-agent
automountServiceAccountToken: false
{{- with $values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with $values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if or $values.nodeLabels .wave }}
affinity:
  nodeAffinity:
    requiredDuringSchedulingIgnoredDuringExecution:
      nodeSelectorTerms: # one of them holds
        {{- $wave := .wave }}
        {{- range $values.nodeLabels | default (list "") }}
        - matchExpressions:
            {{- if . }}
            - {key: {{ . | quote }}, operator: In, values: ["true"]}
            {{- end }}
            {{- if $wave }}
            - {key: {{ $values.canary.label | quote }}, operator: {{ $wave }}, values: [{{ $values.canary.value | quote }}]}
            {{- end }}
        {{- end }}
{{- end }}
{{- with $values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
hostNetwork: true # the netdevs and RDMA devices of the node, and its exporter
dnsPolicy: ClusterFirstWithHostNet
securityContext:
  seccompProfile:
    type: RuntimeDefault
  seLinuxOptions:
    type: spc_t # container_t can neither write to /sys nor use host folders in /run, /etc and /var/lib
{{- end }}
