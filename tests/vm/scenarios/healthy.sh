#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run: --timeout 1500
# only with --all
# Healthy load is silent.
. /mnt/host/scenarios/lib/agent.sh
. /mnt/host/scenarios/lib/healthy.sh
check "the package installs" install_agent
healthy_load 3
[[ $FABSIM_FAILED -gt 0 ]] && journalctl -u fabric-exporter --no-pager | tail -20
finish
