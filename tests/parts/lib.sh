# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by tests/run and the scripts of tests/parts, which source it. The current folder is the top of the repository.

LONG_CASES=$(<tests/long_cases)

# configure FOLDER OPTION...: runs cmake, and uses lld if it is installed. ccache is off, because with precompiled headers each cache
# miss runs the preprocessor twice, and ninja avoids repeated builds. CMAKE_CXX_COMPILER_LAUNCHER=ccache in the environment turns it on.
configure() {
  local folder=$1 linker=()
  shift
  command -v ld.lld >/dev/null && linker=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
  cmake -S . -B "$folder" -G Ninja "${linker[@]}" "$@"
}

# Configures clang with sanitizers, tests and fuzzers. Shared libraries make linking the test programs fast.
configure_sanitized() {
  configure "$@" -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=ON -DCMAKE_CXX_FLAGS=-fPIC -DCMAKE_CXX_FLAGS_DEBUG="-O0 -gline-tables-only" \
    -DCMAKE_CXX_COMPILER=clang++ -DFABRIC_SANITIZE=ON -DFABRIC_FUZZ=ON
}

# Configures the build of the short run: UndefinedBehaviorSanitizer does not check each pointer (AddressSanitizer also finds null
# pointers), and the fuzzers are only a smoke test. With FABRIC_ALL each pointer is checked.
configure_tests() {
  configure_sanitized build/tests -DFABRIC_SUITE=ON -DFABRIC_FUZZ_COVERAGE=OFF -DFABRIC_SANITIZE_POINTERS="${FABRIC_ALL:-OFF}"
}

# check DESCRIPTION COMMAND...: runs the command and prints "ok" or "FAIL".
check() {
  local what=$1
  shift
  if "$@"; then printf 'ok %s\n' "$what"; else
    printf 'FAIL %s\n' "$what"
    failures=$((${failures:-0} + 1))
    return 1
  fi
}
