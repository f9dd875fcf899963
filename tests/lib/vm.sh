# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Queues the scenarios of tests/vm/scenarios, and with --all the virtual server's own test. Sourced by tests/run.
#
# NAME.sh is a script for the guest: one boot each, with the built package and the tests in its share. A header line
# "# run: OPTIONS" gives tests/vm/run options; several such lines are several boots. "# run with --all: OPTIONS" and
# "# only with --all" keep a boot, or the whole scenario, out of the short run; "# by hand: WHY" keeps it out of --all too. An executable NAME without suffix runs on this machine and calls tests/vm/run
# itself. Both print lines "ok NAME" and "FAIL NAME".

SHARE=$PWD/build/vm/share # what the guest sees as its share

scenario_names() {
  find tests/vm/scenarios -maxdepth 1 -type f -printf '%f\n' | sed 's/\.sh$//' | sort
  echo selftest
}

# Does the run include the scenario? Names on the command line include any.
vm_includes() {
  local file=$1
  shift
  if (($#)); then [[ " $* " == *" $(basename "$file" .sh) "* ]] && return || return 1; fi
  grep -q '^# by hand:' "$file" && return 1
  [[ $all ]] || ! grep -q '^# only with --all' "$file"
}

vm_queue() {
  local file files name options run words header=''
  [[ $all || $# -gt 0 ]] && header='( with --all)?'
  vm_share
  if [[ ($all && $# -eq 0) || " $* " == *" selftest "* ]]; then job_queue vm-selftest tests/vm/run tests/vm/selftest.sh; fi
  # Long scripts run long: they begin first.
  mapfile -t files < <(find tests/vm/scenarios -maxdepth 1 -type f -printf '%s %p\n' | sort -rn | cut -d' ' -f2)
  for file in "${files[@]}"; do
    name=$(basename "$file" .sh)
    vm_includes "$file" "$@" || continue
    if [[ $file == *.sh ]]; then
      mapfile -t options < <(sed -nE "s/^# run$header: *//p" "$file")
      ((${#options[@]})) || options=('')
      for run in "${!options[@]}"; do
        eval "words=(${options[run]})" # the header line is a list of words, as in a shell
        job_queue "vm-$name${run/#0/}" tests/vm/run --share "$SHARE" "${words[@]}" "$file"
      done
    elif [[ -x $file && -f $file ]]; then
      job_queue "vm-$name" env SHARE="$SHARE" "$file"
    fi
  done
}

vm_share() {
  rm -rf "$SHARE"
  mkdir -p "$SHARE"
  cp build/deb/fabric-agent_*.deb "$SHARE"
  cp -r tests/vm/scenarios README.md "$SHARE"
}
