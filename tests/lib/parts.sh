# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The parts of tests/run that need no virtual server. Sourced by tests/run; each function is one job of jobs.sh.

TOOLS=$PWD/build/tools/usr/bin # where install-build-deps unpacks prometheus
export PATH=$PATH:$TOOLS

configure() {
  local folder=$1 launcher=()
  shift
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  command -v ld.lld >/dev/null && launcher+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
  cmake -S . -B "$folder" -G Ninja "${launcher[@]}" "$@"
}

# Builds a folder and runs its tests; counts each test case once. A skipped test is neither passed nor failed.
build_and_test() {
  local folder=$1 log
  shift
  configure "$folder" "$@" && ninja -C "$folder" || return 1
  log=$folder/ctest.log
  in_memory ctest --test-dir "$folder" --parallel "$(nproc)" --output-on-failure --timeout 120 | tee "$log"
  local status=${PIPESTATUS[0]}
  count_ctest "$log"
  return "$status"
}

# Trees of captured machines are small files by the ten thousand, which cost ten times as much on a disk.
in_memory() {
  local free
  free=$(df --output=avail --block-size=1M /dev/shm 2>/dev/null | tail -n 1)
  if [[ -z ${TMPDIR-} && -w /dev/shm ]] && ((free >= 1024)); then TMPDIR=/dev/shm "$@"; else "$@"; fi
}

count_ctest() {
  local failed total skipped
  read -r failed total < <(sed -nE 's/^[0-9]+% tests passed, ([0-9]+) tests? failed out of ([0-9]+)$/\1 \2/p' "$1")
  skipped=$(grep -cE '\*\*\*Skipped ' "$1")
  count $((${total:-0} - ${failed:-0} - skipped)) "${failed:-1}"
  ((skipped == 0)) || echo "skipped: $skipped"
}

# By g++ with the standard library's own assertions. Not optimised, for compiling is most of the time here: the package is, and
# the virtual server runs that one.
part_unit() {
  build_and_test build/unit -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -D_GLIBCXX_ASSERTIONS" || return
  figures build/unit/Testing/Temporary/LastTest.log
}

# What the tests printed as figures; of the captured machines, a test each, the sum.
figures() {
  awk '/^(topology|counter) score/ { print "figure: " $0 }
    /^figure: .* 1 captured machines: / { machines++; alarms += $7; findings += $10; questions += $13; next }
    /^figure: / { print }
    END {
      if (machines)
        printf "figure: fault catalogue: %d captured machines: %d false alarms, %d true findings, %d questions that the capture does not answer\n",
          machines, alarms, findings, questions
    }' "$1"
}

# One build by clang serves both the sanitized tests and the fuzzers.
part_sanitize() {
  build_and_test build/sanitize -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -gline-tables-only" -DCMAKE_CXX_COMPILER=clang++ \
    -DFABRIC_SANITIZE=ON -DFABRIC_FUZZ=ON
}

# Each fuzzer with its seeds for a few seconds: a smoke test, longer runs are for a person (FUZZ_SECONDS=600).
part_fuzz() {
  local fuzzer name corpus seeds status=0
  for fuzzer in build/sanitize/tests/fuzz/*_fuzzer; do
    name=$(basename "$fuzzer" _fuzzer)
    corpus=build/fuzz/$name
    seeds=()
    [[ -d tests/fuzz/corpus/$name ]] && seeds=("tests/fuzz/corpus/$name")
    mkdir -p "$corpus"
    if "$fuzzer" -max_total_time="${FUZZ_SECONDS:-10}" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1 \
      -artifact_prefix="$corpus/" "$corpus" "${seeds[@]}" >"$corpus.log" 2>&1; then
      printf 'ok fuzz %s: %s\n' "$name" "$(grep -m1 number_of_executed_units "$corpus.log")"
    else
      status=1
      printf 'FAIL fuzz %s\n' "$name"
      tail -n 60 "$corpus.log"
    fi
  done
  return "$status"
}

part_package() {
  packaging/build-deb build/deb || return 1
  printf 'ok package builds\n'
  check 'lintian is silent' lintian --allow-root --fail-on error,warning build/deb/fabric-agent*.deb
  check 'every binary is hardened' hardened
}

# Position independent, immediate binding, stack protector: by readelf, whatever the flags promised.
hardened() {
  local binary status=0
  rm -rf build/deb/root && dpkg-deb --extract build/deb/fabric-agent_*.deb build/deb/root || return 1
  for binary in build/deb/root/usr/{bin,sbin}/*; do
    [[ $(readelf --file-header "$binary") == *'DYN (Position-Independent'* ]] || { echo "$binary: no PIE"; status=1; }
    [[ $(readelf --dynamic "$binary") =~ BIND_NOW|FLAGS_1.*NOW ]] || { echo "$binary: no BIND_NOW"; status=1; }
    [[ $(readelf --dyn-syms --wide "$binary") == *__stack_chk_fail* ]] || { echo "$binary: no stack protector"; status=1; }
  done
  return "$status"
}

part_lint() {
  local page pages scripts status=0
  mapfile -t pages < <(find agent -name '*.[1578]')
  for page in "${pages[@]}"; do check "man page $page" mandoc -Tlint -Wwarning "$page" || status=1; done
  check 'alerting rules' promtool check rules etc/prometheus/fabric-agent.rules.yml || status=1
  check 'alerting rules answer as their tests say' promtool test rules tests/prometheus_rules.yml || status=1
  mapfile -t scripts < <(shell_scripts)
  check "shellcheck of ${#scripts[@]} scripts" shellcheck --severity=warning "${scripts[@]}" || status=1
  return "$status"
}

shell_scripts() {
  local file line
  while IFS= read -r file; do
    IFS= read -r line <"$file" 2>/dev/null
    [[ $line =~ ^#!.*[/\ ](ba)?sh || $line == '# shellcheck shell='* ]] && printf '%s\n' "$file"
  done < <(find .ci packaging tests -type f ! -name '*.[ch]pp')
}

# The exporter on this machine's own /sys and on every captured machine that is at hand (FABRIC_CORPUS).
part_metrics() {
  local root status=0
  while IFS= read -r root; do
    check "promtool check metrics: $root" metrics_of "$root" || status=1
  done < <(echo /; captured_roots)
  return "$status"
}

# Unpacks the captured /sys trees and prints the root folder of each.
captured_roots() {
  local corpus=${FABRIC_CORPUS:-../shared/corpus} archive folder
  for archive in "$corpus"/{ib-sysfs,sysfs-derived,hwloc-fsroot}/*.tar.*; do
    [[ -e $archive ]] || continue
    folder=build/captured/$(basename "${archive%.tar.*}")
    mkdir -p "$folder"
    tar --extract --file "$archive" --directory "$folder"
    find "$folder" -maxdepth 3 -type d -name sys -printf '%h\n' -prune
  done
}

metrics_of() {
  local port page=build/metrics.txt pid status
  port=$(free_port)
  build/unit/agent/fabric-exporter --root "$1" --listen "127.0.0.1:$port" &
  pid=$!
  curl --silent --show-error --fail --retry 20 --retry-connrefused --retry-delay 1 --max-time 20 \
    "http://127.0.0.1:$port/metrics" >"$page" && [[ -s $page ]] && promtool check metrics <"$page"
  status=$?
  kill "$pid"
  wait "$pid"
  return "$status"
}

# A TCP port nobody listens on, of the range the kernel does not hand out by itself.
free_port() {
  local port
  for ((port = 20479; port < 20579; port++)); do
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  return 1
}

# check DESCRIPTION COMMAND...: runs it and says "ok" or "FAIL".
check() {
  local what=$1
  shift
  if "$@"; then printf 'ok %s\n' "$what"; else
    printf 'FAIL %s\n' "$what"
    return 1
  fi
}
