#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run: --timeout 1500
# by hand: ten minutes
# As healthy, for ten minutes.
MINUTES=10
. /mnt/host/scenarios/healthy.sh
