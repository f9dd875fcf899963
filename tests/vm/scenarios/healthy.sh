#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run: --timeout 1500
# by hand: ten minutes; audit-enforce has one
# Healthy load is silent.
. /mnt/host/scenarios/lib/agent.sh
. /mnt/host/scenarios/lib/healthy.sh
check "the package installs" install_agent
healthy_load 10
[[ $FABSIM_FAILED -gt 0 ]] && journalctl -u fabric-exporter --no-pager | tail -20
finish
