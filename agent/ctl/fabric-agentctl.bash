# SPDX-License-Identifier: Apache-2.0
# Completion of fabric-agentctl in bash. The candidates are the output of the program, so that no list is repeated here.
_fabric_agentctl() {
  local word=${COMP_WORDS[COMP_CWORD]} candidates
  if [[ ${COMP_WORDS[COMP_CWORD - 1]} =~ ^(--log|-L)$ ]]; then
    return  # files
  elif ((COMP_CWORD == 1)); then
    candidates=$(fabric-agentctl help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\).*/\1/p')
  elif [[ $word == -* ]]; then
    candidates=$(fabric-agentctl help "${COMP_WORDS[1]}" 2>/dev/null | grep -o -- '--[a-z-]*')
  elif [[ ${COMP_WORDS[1]} == ack || ${COMP_WORDS[COMP_CWORD - 1]} =~ ^(--only|-o)$ ]]; then  # checks, not the rules of diagnose
    candidates=$(fabric-agentctl explain 2>/dev/null | sed -n '2,${/^[^ ]* *diagnosis /d;s/ .*//p}')
  elif [[ ${COMP_WORDS[1]} == explain ]]; then
    candidates=$(fabric-agentctl explain 2>/dev/null | sed -n '2,$s/ .*//p')
  elif [[ ${COMP_WORDS[1]} == config ]]; then
    candidates='check show'
  elif [[ ${COMP_WORDS[1]} == inventory ]]; then
    candidates='accept'
  fi
  mapfile -t COMPREPLY < <(compgen -W "$candidates" -- "$word")
}
complete -o default -F _fabric_agentctl fabric-agentctl
