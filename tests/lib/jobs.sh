# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Runs the parts of tests/run, a few at a time, and sums up what they say. Sourced by tests/run.
#
# A job is a command or function whose output goes to LOGS/NAME.log. It counts its checks with `count PASSED FAILED`
# or by printing lines "ok NAME" and "FAIL NAME"; one that fails without counting a failure is one failure. What it prints
# after "figure: " is shown beside the count.

SLOTS=${SLOTS:-$(nproc)}
((SLOTS > 4)) && SLOTS=4 # each virtual server wants a core and a GB

jobs_begin() {
  LOGS=$PWD/$1
  mkdir -p "$LOGS"
  rm -f "$LOGS"/*
  order=()
  declare -gA pid_of=() state_of=()
  trap 'jobs_stop' EXIT
  trap 'exit 130' INT TERM
}

# Ends what still runs, children included: each job is a process group of its own.
jobs_stop() {
  local name
  for name in "${!pid_of[@]}"; do
    [[ ${state_of[$name]} == running ]] && kill -TERM -- "-${pid_of[$name]}" 2>/dev/null
  done
}

say() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }

count() { printf 'count %d %d\n' "$1" "$2"; }

# Starts NAME in the background.
job_beside() {
  local name=$1
  shift
  order+=("$name")
  say "$name ..."
  set -m
  job_run "$name" "$@" >"$LOGS/$name.log" 2>&1 </dev/null &
  pid_of[$name]=$!
  set +m
  state_of[$name]=running
}

job_run() {
  local name=$1 started=$SECONDS status
  shift
  trap - EXIT INT TERM
  "$@"
  status=$?
  printf '%d %d\n' "$status" $((SECONDS - started)) >"$LOGS/$name.status"
}

# Starts NAME and waits for it; its exit status is that of the job.
job_now() {
  job_beside "$@"
  job_wait "$1"
}

job_wait() {
  local name=$1
  [[ ${state_of[$name]-} == running ]] || return 0
  wait "${pid_of[$name]}" 2>/dev/null
  job_report "$name"
}

# Starts NAME as soon as fewer than SLOTS jobs run.
job_queue() {
  while (($(jobs_running) >= SLOTS)); do job_reap; done
  job_beside "$@"
}

jobs_drain() { while (($(jobs_running))); do job_reap; done; }

jobs_running() {
  local name running=0
  for name in "${order[@]}"; do [[ ${state_of[$name]} == running ]] && ((running++)); done
  echo "$running"
}

# Waits until one job ends and reports all that have ended.
job_reap() {
  local name
  wait -n 2>/dev/null
  for name in "${order[@]}"; do
    [[ ${state_of[$name]} == running ]] && ! kill -0 "${pid_of[$name]}" 2>/dev/null && job_report "$name"
  done
}

# Reads the counts out of the log, prints one line, and on failure what a person needs first.
job_report() {
  local name=$1 log=$LOGS/$1.log status=1 seconds=0 passed failed
  [[ -e $LOGS/$name.status ]] && read -r status seconds <"$LOGS/$name.status"
  read -r passed failed < <(awk '
    /^count [0-9]+ [0-9]+$/ { passed += $2; failed += $3 }
    /^ok / { passed++ }
    /^(FAIL|not ok) / { failed++ }
    END { print passed + 0, failed + 0 }' "$log")
  ((status != 0 && failed == 0)) && failed=1
  state_of[$name]="$passed $failed $seconds"
  say "$name: $passed passed, $failed failed ($seconds s)"
  sed -n 's/^figure: /         /p' "$log"
  if ((failed)); then
    grep -E '^(FAIL|not ok) |\(Failed\)$' "$log" | head -n 20
    printf -- '--- end of %s\n' "$log"
    tail -n 40 "$log"
    printf -- '---\n'
  fi
  return "$status"
}

# The table and the last line; ends the program.
jobs_end() {
  local name passed failed seconds all_passed=0 all_failed=0
  printf '\n%-28s %8s %8s %8s\n' part passed failed seconds
  for name in "${order[@]}"; do
    read -r passed failed seconds <<<"${state_of[$name]}"
    printf '%-28s %8d %8d %8d\n' "$name" "$passed" "$failed" "$seconds"
    ((all_passed += passed, all_failed += failed))
  done
  printf '%-28s %8d %8d %8d\n\n' total "$all_passed" "$all_failed" "$SECONDS"
  printf '%d passed, %d failed\n' "$all_passed" "$all_failed"
  exit $((all_failed > 0))
}
