# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# Shared by the scripts of tests/parts and tests/run. Sourced; the current folder is the repository's.

# configure FOLDER OPTION...: by cmake, with the fast linker. ccache is not used: with precompiled headers a miss costs a second
# run of the preprocessor, and ninja knows what is built. CMAKE_CXX_COMPILER_LAUNCHER=ccache in the environment adds it.
configure() {
  local folder=$1 linker=()
  shift
  command -v ld.lld >/dev/null && linker=(-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld)
  cmake -S . -B "$folder" -G Ninja "${linker[@]}" "$@"
}

# Clang with sanitizers, tests and fuzzers. With shared libraries a test program is linked in no time.
configure_sanitized() {
  configure "$@" -DCMAKE_BUILD_TYPE=Debug -DBUILD_SHARED_LIBS=ON -DCMAKE_CXX_FLAGS=-fPIC -DCMAKE_CXX_FLAGS_DEBUG="-O0 -gline-tables-only" \
    -DCMAKE_CXX_COMPILER=clang++ -DFABRIC_SANITIZE=ON -DFABRIC_FUZZ=ON
}

# The build of the short run: without UndefinedBehaviorSanitizer's look at each pointer (AddressSanitizer finds a null one, too),
# and with fuzzers that are a smoke test. With FABRIC_ALL the pointers are looked at.
configure_tests() {
  configure_sanitized build/tests -DFABRIC_SUITE=ON -DFABRIC_FUZZ_COVERAGE=OFF -DFABRIC_SANITIZE_POINTERS="${FABRIC_ALL:-OFF}"
}

# check DESCRIPTION COMMAND...: runs it and says "ok" or "FAIL".
check() {
  local what=$1
  shift
  if "$@"; then printf 'ok %s\n' "$what"; else
    printf 'FAIL %s\n' "$what"
    failures=$((${failures:-0} + 1))
    return 1
  fi
}
