# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shows the progress of long commands. quickstart sources it.

LOGS=$PWD/build/log/quickstart
mkdir -p "$LOGS"

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }
die() {
  printf 'quickstart: %s\n' "$*" >&2
  exit 1
}

# step LABEL COMMAND...: runs the command with its output in a log. Shows the last line of the log on a terminal, or prints it every
# 20 s otherwise. If the command fails, prints the end of the log and exits.
step() {
  local label=$1 log pid started=$SECONDS
  log=$LOGS/${label//[^a-z0-9]/-}.log
  shift
  say "$label ..."
  shown_at=$SECONDS
  set -m # a separate process group, so that Ctrl-C ends all its processes
  "$@" >"$log" 2>&1 </dev/null &
  pid=$!
  set +m
  # shellcheck disable=SC2064 # expands now: the trap needs the pid of this step
  trap "kill -- -$pid 2>/dev/null" EXIT
  while kill -0 "$pid" 2>/dev/null; do
    sleep 0.5
    progress "$log"
  done
  trap - EXIT
  [[ ! -t 1 ]] || printf '\r\e[K'
  if ! wait "$pid"; then
    tail -n 30 "$log"
    die "$label failed; the whole log: $log"
  fi
  say "$label: done in $((SECONDS - started)) s"
}

progress() {
  local last
  last=$(tail -n 1 "$1" | tr -cd '[:print:]')
  if [[ -t 1 ]]; then
    printf '\r\e[K%s' "$(printf '[%4d s]   %s' "$SECONDS" "$last" | cut -c "1-$(($(tput cols 2>/dev/null || echo 80) - 1))")"
  elif ((SECONDS - shown_at >= 20)); then
    shown_at=$SECONDS
    printf '[%4d s]   %.100s\n' "$SECONDS" "$last"
  fi
}
