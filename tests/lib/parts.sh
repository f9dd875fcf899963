# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# The parts of tests/run that need no virtual server. Sourced by tests/run; each part_* function is one job of jobs.sh.

TOOLS=$PWD/build/tools/usr/bin # where install-build-deps unpacks prometheus and prometheus-alertmanager
export PATH=$PATH:$TOOLS

# Is the part among the ones to run?
wanted() { [[ " ${parts[*]} " == *" $1 "* ]]; }

# Test programs: the folders of tests/unit, and what stands in none.
program_names() { { find tests/unit -mindepth 1 -type d -printf '%f\n'; printf '%s\n' checks diagnosis faults; } | sort -u; }
# Their files, without "_test.cpp".
file_names() { find tests/unit -name '*_test.cpp' -printf '%f\n' | sed 's/_test\.cpp$//' | sort; }

list_names() {
  echo "parts: ${PARTS[*]}"
  echo "integration: $(integration_names | xargs)"
  echo "scenarios: $(scenario_names | xargs)"
  echo "test programs: $(program_names | xargs)"
  echo "files of tests/unit: $(file_names | xargs)"
  echo "cases: Suite.Name or a part of it, as in TEST(Suite, Name)"
}

# Adds what the pattern names to parts, scenarios, programs or cases; the first kind that matches counts.
select_pattern() {
  local pattern=$1 found file
  if [[ " ${PARTS[*]} " == *" $pattern "* ]]; then parts+=("$pattern"); return; fi
  if scenario_names | grep -x -- "$pattern" >/dev/null; then scenarios+=("$pattern"); return; fi
  if integration_names | grep -x -- "$pattern" >/dev/null; then integrations+=("$pattern"); return; fi
  mapfile -t found < <(program_names | grep -x -- "${pattern%_test}" || file_names | grep -F -- "${pattern%_test}")
  if ((${#found[@]})); then programs+=("${found[@]}"); return; fi
  while IFS= read -r file; do
    [[ $file == tests/faults/* ]] && found+=(faults) || found+=("$(basename "$file" _test.cpp)")
  done < <(grep -lE "^TEST(_[FP])?\\(" -r tests/unit tests/faults |
    xargs grep -lE "^TEST.*${pattern/./.*, }" 2>/dev/null)
  ((${#found[@]})) || return 1
  programs+=("${found[@]}")
  cases+=("$pattern")
}

configure() {
  local folder=$1 launcher=()
  shift
  command -v ccache >/dev/null && launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  command -v ld.lld >/dev/null && launcher+=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
  cmake -S . -B "$folder" -G Ninja "${launcher[@]}" "$@"
}

# One build by clang serves the sanitized tests and the fuzzers' smoke test. With shared libraries a test program is linked in
# no time. In the short run without UndefinedBehaviorSanitizer's look at each pointer: AddressSanitizer finds a null one, too.
configure_tests() {
  configure_sanitized build/tests -DFABRIC_FUZZ_COVERAGE=OFF -DFABRIC_SANITIZE_POINTERS="$([[ $all ]] && echo ON || echo OFF)"
}

configure_sanitized() {
  configure "$@" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON -DBUILD_SHARED_LIBS=ON -DCMAKE_CXX_FLAGS=-fPIC -DCMAKE_CXX_FLAGS_DEBUG="-O0 -gline-tables-only" \
    -DCMAKE_CXX_COMPILER=clang++ -DFABRIC_SANITIZE=ON -DFABRIC_FUZZ=ON
}

# Only with --all: faults of other strengths, more random cases (Harder), the table that sums up the cases of the catalogue, ten thousand NICs.
LONG_CASES='*Harder*:*Weaker*:CatalogueTable.Matrix:ManyDevices.TenThousand*'

# The whole test suite in a folder; each test case counts once. The options of AddressSanitizer are a fifth of the time; a
# program run by hand has the whole stack of each allocation.
run_ctest() {
  local folder=$1 status
  ASAN_OPTIONS=malloc_context_size=2:quarantine_size_mb=16 \
    GTEST_FILTER=$([[ $all ]] && echo '*' || echo "-$LONG_CASES") in_memory ctest --test-dir "$folder" --parallel "$(nproc)" --output-on-failure --timeout 1200
  status=$?
  count_cases "$folder/Testing/Temporary/LastTest.log" "$status"
  figures "$folder/Testing/Temporary/LastTest.log"
  return "$status"
}

part_tests() {
  configure_tests && ninja -C build/tests && run_ctest build/tests
}

part_gcc() {
  configure build/gcc -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O0 -D_GLIBCXX_ASSERTIONS" && ninja -C build/gcc &&
    run_ctest build/gcc
}

# Only with --all: a healthy week of the whole fleet, built as the package is; the sanitizers need fifty times as long.
part_week() {
  local log=build/fast/week.log status
  configure build/fast -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON && ninja -C build/fast faults_test || return 1
  FABRIC_WEEK_NODES=1000 build/fast/tests/faults_test --gtest_filter="Fleet.AHealthyWeek*" >"$log" 2>&1
  status=$?
  cat "$log"
  count_cases "$log" "$status"
  return "$status"
}

# The programs, files and cases that the command line named.
part_selected() {
  local filter='*' status=0 program targets
  local -A files=() # of each program; none: all
  configure_tests || return 1
  files_of_programs "${programs[@]}"
  targets=("${!files[@]}")
  ninja -C build/tests "${targets[@]/%/_test}" || return 1
  ((${#cases[@]})) && filter=$(printf '*%s*:' "${cases[@]}")
  for program in "${!files[@]}"; do
    # shellcheck disable=SC2086 # a list
    in_memory "build/tests/tests/${program}_test" --gtest_filter="$filter" ${files[$program]} >"build/tests/$program.log" 2>&1 || status=1
    cat "build/tests/$program.log"
    count_cases "build/tests/$program.log" 0
  done
  return "$status"
}

# Sets files[PROGRAM] to those of the names that are files, by what cmake wrote.
files_of_programs() {
  local name file program
  for name; do
    while read -r file program; do
      if [[ $name == "$program" ]]; then files[$program]=' '; fi
      if [[ $name == "$file" && ${files[$program]-} != ' ' ]]; then files[$program]+="$file "; fi
    done <build/tests/tests/programs
  done
}

# Trees of captured machines are small files by the ten thousand, which cost ten times as much on a disk.
in_memory() {
  local free
  free=$(df --output=avail --block-size=1M /dev/shm 2>/dev/null | tail -n 1)
  if [[ -z ${TMPDIR-} && -w /dev/shm ]] && ((free >= 1024)); then TMPDIR=/dev/shm "$@"; else "$@"; fi
}

# GoogleTest's own summaries. A skipped test is neither passed nor failed; a program that crashed has no summary.
count_cases() {
  local passed failed skipped
  read -r passed failed skipped < <(awk '
    /^\[  PASSED  \] [0-9]+ tests?\./ { passed += $4 }
    /^\[  FAILED  \] [0-9]+ tests?, listed below/ { failed += $4 }
    /^\[  SKIPPED \] [0-9]+ tests?, listed below/ { skipped += $4 }
    END { print passed + 0, failed + 0, skipped + 0 }' "$1")
  (($2 != 0 && failed == 0)) && failed=1
  count "$passed" "$failed"
  ((skipped == 0)) || echo "skipped: $skipped"
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

# Each fuzzer with its seeds for a few seconds. In the short run a smoke test: from the same start, without the libraries'
# instrumentation, which is a fifth of the compiling. By hand: FUZZ_SECONDS=600 tests/run --all fuzz.
part_fuzz() {
  local folder=build/tests fuzzer name corpus seeds status=0 seconds=${FUZZ_SECONDS:-$([[ $all ]] && echo 20 || echo 1)}
  if [[ $all ]]; then
    folder=build/fuzzers
    configure_sanitized "$folder"
  else
    configure_tests
  fi && ninja -C "$folder" tests/fuzz/all || return 1
  for fuzzer in "$folder"/tests/fuzz/*_fuzzer; do
    name=$(basename "$fuzzer" _fuzzer)
    corpus=build/fuzz/$name
    seeds=()
    [[ -d tests/fuzz/corpus/$name ]] && seeds=("tests/fuzz/corpus/$name")
    mkdir -p "$corpus"
    if "$fuzzer" -max_total_time="$seconds" -seed="$([[ $all ]] && echo 0 || echo 1)" -timeout=5 -rss_limit_mb=512 -malloc_limit_mb=128 -print_final_stats=1 \
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
  FABRIC_WERROR=ON packaging/build-deb build/deb || return 1
  printf 'ok package builds\n'
  check 'lintian is silent' lintian --allow-root --fail-on error,warning build/deb/fabric-agent*.deb
  check 'every binary is hardened' hardened
  # Paths are mapped (-ffile-prefix-map): the bytes do not depend on the folder of the build.
  check 'no binary has the path of its build' eval '! grep -rlF "$PWD" build/deb/root/usr/bin build/deb/root/usr/sbin'
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
  check 'clang-format' formatted || status=1
  mapfile -t pages < <(find agent -name '*.[1578]')
  for page in "${pages[@]}"; do check "man page $page" mandoc -Tlint -Wwarning "$page" || status=1; done
  check 'alerting rules' promtool check rules etc/prometheus/*.rules.yml || status=1
  check 'examples for Prometheus' prometheus_examples || status=1
  check 'routes and inhibition of alerts' amtool check-config etc/prometheus/alertmanager.yml || status=1
  check 'alerting rules answer as their tests say' promtool test rules tests/prometheus_rules.yml tests/prometheus_pages.yml || status=1
  mapfile -t scripts < <(shell_scripts)
  check "shellcheck of ${#scripts[@]} scripts" shellcheck --severity=warning "${scripts[@]}" || status=1
  return "$status"
}

prometheus_examples() {
  local file status=0
  for file in etc/prometheus/*.example.yml; do
    [[ $file == */targets.example.yml ]] || promtool check config --syntax-only "$file" || status=1
  done
  return "$status"
}

formatted() { find lib agent tests \( -name "*.cpp" -o -name "*.h" \) -exec clang-format --dry-run --Werror {} +; }

shell_scripts() {
  local file line
  while IFS= read -r file; do
    IFS= read -r line <"$file" 2>/dev/null
    [[ $line =~ ^#!.*[/\ ](ba)?sh || $line == '# shellcheck shell='* ]] && printf '%s\n' "$file"
  done < <(find .ci etc packaging tests -type f ! -name '*.[ch]pp')
}

integration_names() { find tests/integration -maxdepth 1 -type f -executable -printf '%f\n' | sort; }

# The named ones; else all of the part, or of the short run those that it does not leave out.
integration_queue() {
  local name
  if ((${#integrations[@]} == 0)); then
    mapfile -t integrations < <(integration_names)
    [[ $all ]] || [[ " ${parts[*]} " == ' integration ' ]] ||
      mapfile -t integrations < <(cd tests/integration && grep -L '^# only with --all' "${integrations[@]}")
  fi
  for name in "${integrations[@]}"; do job_queue "integration-$name" "tests/integration/$name"; done
}

part_fleet_run() {
  local status=0
  tests/fleet/run 60 --speed 8 || status=1
  tests/fleet/shards || status=1
  return "$status"
}

part_fleet() {
  local status=0
  tests/fleet/alerts || status=1
  tests/fleet/dashboards || status=1
  return "$status"
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
  build/deb/root/usr/bin/fabric-exporter --root "$1" --listen "127.0.0.1:$port" &
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
