#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# only with --all
# What fabric-rollout(7) does on a node, by its commands: a policy on trial, confirmed and enforced, has no new finding; one that a
# driver refuses has, and is gone after the way back; an unconfirmed trial ends by itself.
. /mnt/host/scenarios/lib/agent.sh
verify=/usr/share/fabric-agent/rollout/fabric-verify
trial=/etc/fabric-agent/conf.d/99-trial.toml
check "the package installs" install_agent
mkdir -p /etc/fabric-agent/conf.d
config audit
check "audit: reload" reload_agent
sleep 12 # the first findings of the exporter
check "the findings before are kept" $verify save /run/before
install -d -o nobody /run/others
for name in kept kept.new; do runuser -u nobody -- ln -s /etc/machine-id /run/others/$name; done
machine_id=$(</etc/machine-id)
check "none are kept in the folder of another user" sh -c "! $verify save /run/others/kept"
check "none are kept in a folder that others can write" \
  sh -c "mkdir -m 777 /run/shared && ! $verify save /run/shared/kept && ! test -e /run/shared/kept"
check "no folder is made there" sh -c "! $verify save /run/others/new/kept && ! test -e /run/others/new"
runuser -u nobody -- ln -s /run /run/others/link
check "nor through a link there" sh -c "! $verify save /run/others/link/kept && ! test -e /run/kept"
eq "root follows no link there" "$(</etc/machine-id) $(readlink /run/others/kept)" "$machine_id /etc/machine-id"
before=$(readback 0)
pfc_is_on() { [[ $(dcb_get 0 .pfc.pfc_en) = 8 ]]; }
no_new_finding() { $verify compare "$@" /run/before 60 5 || { fabric-agentctl check --interval 0; return 1; }; }

config enforce
printf 'mode = "audit"\n' >$trial
check "trial: reload" reload_agent
check "trial: applied" fabric-agentctl apply --disruptive now --confirm 30
check "trial: the kernel has it" pfc_is_on
as_before() { [[ $(readback 0) = "$before" ]]; }
check "trial: it ends by itself" wait_until 90 as_before

check "trial: applied again" fabric-agentctl apply --disruptive now --confirm 300
check "trial: no new finding" no_new_finding --trial
check "trial: confirmed" fabric-agentctl confirm
ln -sf /dev/null $trial
check "enforce: reload" reload_agent
check "enforce: no new finding" no_new_finding
rm $trial
check "enforce: reload without the link of the trial" reload_agent
check "enforce: the kernel has it" pfc_is_on
metrics_have() { curl -sf localhost:10479/metrics | grep -qE "$1"; }
hash=$(fabric-agentctl config check --json | jq -r .policy)
check "enforce: the metrics have the policy's hash" wait_until 30 metrics_have "^fabric_policy_hash\\{hash=\"$hash\"\\} 1$"
check "enforce: and its mode" metrics_have '^fabric_policy_info\{mode="enforce",version="[0-9.]+"\} 1$'

fabsim 0 fail "setpfc 5 -1"
sed -i 's/^pfc = \[3\]/pfc = [3, 5]/' $CONFIG
check "refused: reload" reload_agent
$verify compare /run/before 20 >/tmp/new
eq "refused: exit status 2" $? 2
check "refused: the finding is named" grep -q "^new: pfc $(port 0): " /tmp/new
check "refused: the metrics count it with its error" wait_until 30 metrics_have '^fabric_settings_not_applied\{outcome="refused",reason="EIO"\} '

rules=/etc/fabric-agent/conf.d/60-rules.toml
printf '[rules.pfc]\nenabled = false\nreason = "new switches"\nuntil = 2099-12-31\n' >$rules
check "suppressed: reload" reload_agent
is_suppressed() {
  fabric-agentctl check --interval 0 --only pfc --json |
    jq -e '.verdict == "ok" and any(.checks[]; .suppressed == "until 2099-12-31: new switches")'
}
check "suppressed: listed with its reason, and not counted" wait_until 15 is_suppressed
pfc_is_not_new() { [[ $($verify compare /run/before 0) != *"new: pfc "* ]]; }
check "suppressed: no new finding any more" pfc_is_not_new
check "suppressed: the metrics have it" wait_until 30 metrics_have '^fabric_check_suppressed\{check="pfc",'
sed -i 's/2099/2020/' $rules
check "ended: reload" reload_agent
has_ended() { fabric-agentctl check --interval 0 --only pfc,suppressions --json | jq -e 'any(.checks[]; .id == "suppressions" and .status == "warning") and .verdict == "critical"'; }
check "ended: a warning, and the finding counts again" wait_until 15 has_ended
ln -sf /dev/null $rules
fabsim 0 fail clear
config enforce
check "back: reload" reload_agent
check "back: no new finding" no_new_finding
rm $rules

site=/etc/fabric-agent/conf.d/50-site.toml
is_warning() { fabric-agentctl check --interval 0 --only agent --json | jq -e '.verdict == "warning"'; }
printf 'mode = "enforce"\n' >$site
config audit
check "removed: reload with the drop-in" reload_agent
check "removed: it is in use" wait_until 15 grep -q '^# And .*50-site' /var/lib/fabric-agent/config.toml
check "removed: it enforces" pfc_is_on
rm $site
check "removed: reload fails" sh -c '! systemctl reload fabric-agent.service'
check "removed: a warning, not critical" wait_until 15 is_warning
check "removed: status says what to do" sh -c 'fabric-agentctl status --json | grep -qF "50-site.toml: gone, which changes the policy; restore it, or, if it is to go (see fabric-rollout(7)), leave a link to /dev/null in its place for one reload: ln -s /dev/null /etc/fabric-agent/conf.d/50-site.toml && systemctl reload fabric-agent"'
check "removed: both restart" systemctl restart fabric-agent.service fabric-exporter.service
check "removed: still a warning" wait_until 15 is_warning
check "removed: the last valid policy is in force" pfc_is_on
check "removed: the metrics have it" wait_until 30 metrics_have "^fabric_policy_hash\\{hash=\"$hash\"\\} 1$"
check "removed: and say so" metrics_have '^fabric_agent_config_valid 0$'
: >$site
check "truncated: reload fails" sh -c '! systemctl reload fabric-agent.service'
check "truncated: a warning, not critical" wait_until 15 is_warning
check "truncated: the last valid policy is in force" pfc_is_on
rm $site
printf 'mode = "enforce"\n' >/etc/fabric-agent/conf.d/60-renamed.toml
check "renamed: reload" reload_agent
check "renamed: it is in use" wait_until 15 grep -q '^# And .*60-renamed' /var/lib/fabric-agent/config.toml
rm -r /etc/fabric-agent/conf.d
check "folder removed: reload fails" sh -c '! systemctl reload fabric-agent.service'
fabric-agentctl status --json | jq -r .config_error >/tmp/error
check "folder removed: status has a command" grep -q ': mkdir /etc/fabric-agent/conf.d && ln -s /dev/null ' /tmp/error
mv $CONFIG $CONFIG.away
check "all removed: reload fails" sh -c '! systemctl reload fabric-agent.service'
check "all removed: a warning, not critical" wait_until 15 is_warning
check "all removed: the last valid policy is in force" pfc_is_on
mv $CONFIG.away $CONFIG
check "accepted: the command of the message" sh -c "$(sed 's/.* for one reload: //' /tmp/error)"
audits() { fabric-agentctl status --json | jq -e '.agent.mode == "audit"'; }
check "accepted: it audits" wait_until 15 audits
rm /etc/fabric-agent/conf.d/60-renamed.toml
config enforce
check "accepted: enforce again, without the link" reload_agent
check "accepted: no new finding" no_new_finding

printf 'mode = "enfroce"\n' >$site
check "invalid: reload fails" sh -c '! systemctl reload fabric-agent.service'
$verify compare /run/before 5 >/tmp/new
eq "invalid: exit status 2" $? 2
check "invalid: the finding is named" grep -q '^new: agent ' /tmp/new
check "invalid: the last valid policy is in force" pfc_is_on
check "invalid: a warning, not critical" is_warning
check "invalid: both restart" systemctl restart fabric-agent.service fabric-exporter.service
check "invalid: the last valid policy is still in force" pfc_is_on
check "invalid: still a warning" is_warning
check "invalid: the metrics have the last valid policy" wait_until 30 metrics_have "^fabric_policy_hash\\{hash=\"$hash\"\\} 1$"
finish
