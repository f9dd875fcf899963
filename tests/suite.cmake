# SPDX-License-Identifier: Apache-2.0
# The ctest tests that tests/run runs in addition to the unit tests. Their names are KIND/NAME.
#   fixtures  `programs` (build), `package` (package/build), `image` and `share` (of the virtual server): ctest runs those that a test needs
#   labels    `all`: only with tests/run --all, or if named; `package`: also with its kind (tests/run vm); `by-hand`: only if named. Tests
#             that need the package or the virtual server have the label `package`: compiling both builds takes twice the short run's time;
#             `short`: not with --all, which has a longer test of the same
#   COST      longer tests begin first
# A test reports its checks in lines "ok NAME" and "FAIL NAME"; exit status 77 means skipped.

# suite_test(NAME COMMAND WORD... [SETUP FIXTURE] [NEEDS FIXTURE...] [LABELS LABEL...] [COST N] [LOCK NAME] [ENVIRONMENT V=X...])
function(suite_test name)
  cmake_parse_arguments(_arg "" "SETUP;COST;LOCK" "COMMAND;NEEDS;LABELS;ENVIRONMENT" ${ARGN})
  if(_arg_SETUP MATCHES "package|share|image" OR _arg_NEEDS MATCHES "package|share")
    list(APPEND _arg_LABELS package)
  endif()
  add_test(NAME ${name} COMMAND ${_arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 5400 COST "${_arg_COST}" LABELS "${_arg_LABELS}"
    FIXTURES_SETUP "${_arg_SETUP}" FIXTURES_REQUIRED "${_arg_NEEDS}" RESOURCE_LOCK "${_arg_LOCK}" ENVIRONMENT "${_arg_ENVIRONMENT}")
endfunction()

# Sets VARIABLE to "all" or "by-hand" if a line of the file requests that.
function(labels_of file variable)
  file(STRINGS ${file} _lines REGEX "^# (only with --all|by hand:)")
  set(_labels "")
  if(_lines MATCHES "# only with --all")
    set(_labels all)
  elseif(_lines MATCHES "# by hand:")
    set(_labels by-hand)
  endif()
  set(${variable} "${_labels}" PARENT_SCOPE)
endfunction()

# ---- The fixtures. A compilation uses all cores, so only one runs at a time; the image mostly waits for the network.
suite_test(image COMMAND tests/vm/build SETUP image COST 1000)
suite_test(build COMMAND ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} SETUP programs COST 900 LOCK compiler)
suite_test(package/build COMMAND packaging/build-deb build/deb SETUP package COST 950 LOCK compiler ENVIRONMENT FABRIC_WERROR=ON)
suite_test(share COMMAND tests/parts/share SETUP share NEEDS package)

# ---- The package, and the pages and scripts that are not compiled.
suite_test(package/checks COMMAND tests/parts/package-checks NEEDS package)

file(GLOB_RECURSE _sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/lib/*.cpp ${PROJECT_SOURCE_DIR}/lib/*.h
  ${PROJECT_SOURCE_DIR}/agent/*.cpp ${PROJECT_SOURCE_DIR}/agent/*.h ${CMAKE_CURRENT_LIST_DIR}/*.cpp ${CMAKE_CURRENT_LIST_DIR}/*.h)
suite_test(lint/format COMMAND clang-format --dry-run --Werror ${_sources})
file(GLOB_RECURSE _pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/agent/*.[1578])
suite_test(lint/man COMMAND mandoc -Tlint -Wwarning ${_pages})
suite_test(lint/site COMMAND tests/parts/site)
file(GLOB_RECURSE _files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/.ci/* ${PROJECT_SOURCE_DIR}/etc/* ${PROJECT_SOURCE_DIR}/packaging/*
  ${CMAKE_CURRENT_LIST_DIR}/*)
list(FILTER _files EXCLUDE REGEX "\\.(cpp|h|json|svg|png|txt|tgz|html)$|/fuzz/corpus/")
foreach(_file ${_files})
  file(STRINGS ${_file} _line LIMIT_COUNT 1)
  if(_line MATCHES "^#!.*[/ ](ba)?sh( |$)|^# shellcheck shell=")
    list(APPEND _scripts ${_file})
  endif()
endforeach()
suite_test(lint/scripts COMMAND shellcheck --severity=warning ${_scripts})

set(_tools ${PROJECT_SOURCE_DIR}/build/tools/usr/bin)  # where install-build-deps unpacks prometheus and prometheus-alertmanager
set(_etc ${PROJECT_SOURCE_DIR}/etc/prometheus)
file(GLOB _rules CONFIGURE_DEPENDS ${_etc}/*.rules.yml)
suite_test(lint/rules COMMAND ${_tools}/promtool check rules ${_rules})
suite_test(lint/records COMMAND tests/parts/records)
# With larger steps of its garbage collector promtool takes two thirds of the time.
file(GLOB _answers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_LIST_DIR} ${CMAKE_CURRENT_LIST_DIR}/prometheus_*.yml)
foreach(_file ${_answers})
  string(REGEX REPLACE "prometheus_(.*).yml" "\\1" _name ${_file})
  suite_test(lint/answers-${_name} ENVIRONMENT GOGC=800 COMMAND ${_tools}/promtool test rules tests/${_file})
endforeach()
suite_test(lint/scrapes COMMAND tests/parts/scrapes ${_tools}/promtool LABELS short COST 60)
suite_test(lint/scrapes-all COMMAND tests/parts/scrapes ${_tools}/promtool --all LABELS all COST 400)
suite_test(lint/silences COMMAND tests/parts/silences ${_tools} COST 40)
suite_test(lint/routes COMMAND ${_tools}/amtool check-config ${_etc}/alertmanager.yml)
file(GLOB _examples CONFIGURE_DEPENDS RELATIVE ${_etc} ${_etc}/*.example.yml)
list(REMOVE_ITEM _examples targets.example.yml)
foreach(_example ${_examples})
  string(REPLACE ".example.yml" "" _name ${_example})
  suite_test(lint/example-${_name} COMMAND ${_tools}/promtool check config --syntax-only ${_etc}/${_example})
endforeach()

suite_test(lint/summary COMMAND tests/parts/summary-checks)
suite_test(lint/examples COMMAND tests/parts/examples ${_tools}/promtool)
suite_test(lint/figures COMMAND tests/parts/figures)

# ---- promtool on the page for this machine, for the captured machines of the project, and with --all for every available one.
set(_corpus ${PROJECT_SOURCE_DIR}/../shared/corpus)
if(DEFINED ENV{FABRIC_CORPUS})
  set(_corpus $ENV{FABRIC_CORPUS})
endif()
file(GLOB _machines CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/corpus/*.tgz ${_corpus}/ib-sysfs/*.tar.* ${_corpus}/sysfs-derived/*.tar.*
  ${_corpus}/hwloc-fsroot/*.tar.*)
set(_port 20480)  # below the range from which the kernel assigns ports
foreach(_machine / ${_machines})
  string(REGEX REPLACE "^.*/|\\.(tgz|tar\\..*)$" "" _name ${_machine})
  set(_labels all)
  if(_machine STREQUAL /)
    set(_name this-machine)
    set(_labels "")
  elseif(_machine MATCHES "^${CMAKE_CURRENT_LIST_DIR}/")
    set(_labels "")
  endif()
  suite_test(page/${_name} COMMAND tests/parts/page ${PROJECT_BINARY_DIR}/agent/fabric-exporter ${_machine} ${_port} NEEDS programs
    LABELS "${_labels}")
  math(EXPR _port "${_port} + 1")
endforeach()

# ---- Reports and log lines of other people, with the right answers.
suite_test(field COMMAND tests/field/run ${PROJECT_BINARY_DIR}/agent/fabric-agentctl NEEDS programs COST 100)

# ---- Fuzzers and other builds.
if(FABRIC_FUZZ)
  file(GLOB _fuzzers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_LIST_DIR}/fuzz ${CMAKE_CURRENT_LIST_DIR}/fuzz/*_fuzzer.cpp)
  foreach(_fuzzer ${_fuzzers})
    string(REPLACE "_fuzzer.cpp" "" _name ${_fuzzer})
    suite_test(fuzz/${_name} COMMAND tests/parts/fuzz ${_name} ${CMAKE_CURRENT_BINARY_DIR}/fuzz/${_name}_fuzzer NEEDS programs)
  endforeach()
  suite_test(fuzz/run COMMAND tests/parts/fuzz-run LABELS all)
endif()
suite_test(gcc COMMAND tests/parts/gcc LABELS all COST 800 LOCK compiler)

# The healthy week, and the long cases of the unit tests, in an optimized build: with the sanitizers they take many times as long.
file(STRINGS ${CMAKE_CURRENT_LIST_DIR}/long_cases _long_cases)
set(_fast ${PROJECT_SOURCE_DIR}/build/fast)
set(_programs "")
file(GLOB _folders RELATIVE ${CMAKE_CURRENT_LIST_DIR} CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/unit/* ${CMAKE_CURRENT_LIST_DIR}/faults)
foreach(_folder ${_folders})
  file(GLOB _files CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/${_folder}/*_test.cpp)
  foreach(_file ${_files})
    file(STRINGS ${_file} _long REGEX "Harder|Weaker|CatalogueTable, Matrix|ManyDevices, TenThousand" LIMIT_COUNT 1)
    if(_long)
      get_filename_component(_name ${_folder} NAME)
      list(APPEND _programs ${_name}_test)
    endif()
  endforeach()
endforeach()
list(REMOVE_DUPLICATES _programs)
suite_test(fast COMMAND tests/parts/fast ${_programs} SETUP fast LABELS all COST 800 LOCK compiler)
# By env: ctest complains of a program that it does not find yet.
suite_test(week COMMAND ${CMAKE_COMMAND} -E env FABRIC_WEEK_NODES=1000 ${_fast}/tests/faults_test --gtest_filter=Fleet.AHealthyWeek*
  NEEDS fast LABELS all COST 800)
foreach(_program ${_programs})
  string(REPLACE "_test" "" _name ${_program})
  suite_test(harder/${_name} COMMAND ${CMAKE_COMMAND} -E env "GTEST_FILTER=${_long_cases}" ${_fast}/tests/${_program} NEEDS fast LABELS all
    COST 300)
endforeach()

# ---- Tests with other programs: the files that operators load, and fleets.
file(GLOB _tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/integration/*)
list(FILTER _tests EXCLUDE REGEX "\\.(sh|py|go)$")
foreach(_test ${_tests})
  get_filename_component(_name ${_test} NAME)
  labels_of(${_test} _labels)
  suite_test(integration/${_name} COMMAND ${_test} NEEDS package programs LABELS "${_labels}" COST 100)
endforeach()
# Two cores, of which one has another test, do not evaluate the rules at twelve times the speed.
suite_test(fleet/alerts COMMAND tests/fleet/alerts --every 18 --speed 6 NEEDS programs LABELS short COST 100)
suite_test(fleet/pairs COMMAND tests/fleet/alerts --speed 6 NEEDS programs COST 100 LABELS all)
set_tests_properties(fleet/pairs PROPERTIES RUN_SERIAL ON)
suite_test(fleet/dashboards COMMAND tests/fleet/dashboards NEEDS programs COST 100)
suite_test(fleet/compat COMMAND tests/parts/compat ${PROJECT_BINARY_DIR}/agent/fabric-exporter ${_machines} NEEDS programs COST 100 LABELS all)
suite_test(fleet/run COMMAND tests/fleet/run 60 --speed 4 NEEDS programs LABELS all COST 400)
suite_test(fleet/shards COMMAND tests/fleet/shards --speed 4 NEEDS programs LABELS all COST 100)

# ---- The virtual GPU server. NAME.sh is a script for the guest. Each has one boot, with the built package and the tests in its share.
# A line "# run: OPTIONS" sets the options of tests/vm/run. Several such lines cause several boots; "# run with --all: OPTIONS" causes
# one only with --all. An executable NAME without a suffix runs on this machine and calls tests/vm/run itself. Scenarios start after
# `programs`: beside two compilers on two cores a scenario takes three times as long, and would exceed its time limit.
set(_share ${PROJECT_SOURCE_DIR}/build/vm/share)
function(vm_test name script options labels)
  separate_arguments(_words UNIX_COMMAND "${options}")
  file(SIZE ${script} _cost)  # longer scripts take longer
  suite_test(vm/${name} COMMAND tests/vm/run --share ${_share} ${_words} ${script} NEEDS share image programs LABELS "${labels}" COST ${_cost})
endfunction()
file(GLOB _scenarios CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/vm/scenarios/*)
foreach(_scenario ${_scenarios})
  if(IS_DIRECTORY ${_scenario})
    continue()
  endif()
  get_filename_component(_name ${_scenario} NAME)
  labels_of(${_scenario} _labels)
  if(NOT _name MATCHES "\\.sh$")
    suite_test(vm/${_name} COMMAND ${_scenario} NEEDS share image programs LABELS "${_labels}" COST 1000 ENVIRONMENT SHARE=${_share})
    continue()
  endif()
  string(REPLACE ".sh" "" _name ${_name})
  file(STRINGS ${_scenario} _runs REGEX "^# run(:| with --all:)")
  if(NOT _runs)
    set(_runs "# run:")
  endif()
  set(_boot 0)
  foreach(_run ${_runs})
    string(REGEX REPLACE "^# run[^:]*: *" "" _options "${_run}")
    set(_boot_labels "${_labels}")
    if(_run MATCHES "with --all")
      set(_boot_labels all)
    endif()
    math(EXPR _boot "${_boot} + 1")
    if(_boot EQUAL 1)
      vm_test(${_name} ${_scenario} "${_options}" "${_boot_labels}")
    else()
      vm_test(${_name}/boot-${_boot} ${_scenario} "${_options}" "${_boot_labels}")
    endif()
  endforeach()
endforeach()
vm_test(selftest ${CMAKE_CURRENT_LIST_DIR}/vm/selftest.sh "" all)
