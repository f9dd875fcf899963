// SPDX-License-Identifier: Apache-2.0
// The command line. One option = one row; parsing, --help and the man page's test follow from the table.
#pragma once

#include <array>

#include "base/ip.h"
#include "kernel/kernel.h"
#include "policy/policy.h"

namespace fabric::ctl {

// Exit codes beside those of the monitoring plugins (0 ok, 1 warning, 2 critical, 3 unknown).
inline constexpr int kDone = 0;     // nothing to do, or all done
inline constexpr int kChanges = 2;  // plan: something to write; apply, restore: something is not in sync
inline constexpr int kFailure = 3;  // no answer
inline constexpr int kUsage = 64;   // EX_USAGE of sysexits.h

// Minimum of --interval. The kernel caches hw_counters for 10 ms by default (lifespan, drivers/infiniband/core/sysfs.c
// of Linux 6.12): two samples within that time are equal.
inline constexpr std::chrono::milliseconds kMinInterval{100};

struct Options {
  std::string verb;                    // empty: none given
  std::vector<std::string> arguments;  // after the verb
  bool json = false, verbose = false, force = false, dry_run = false, help = false, version = false, no_pager = false;
  bool strict = false, brief = false;  // check
  std::string root = "/";
  std::string host = "/";  // the only root that is written; tests set another
  std::string config;      // empty: the installed file below root
  std::string format = "text";
  std::string hwloc_xml;
  std::vector<std::string> only, ports;
  std::vector<Ip> peers;  // diagnose
  std::chrono::milliseconds interval{1000};
  bool has_interval = false;  // --interval is on the command line
  bool watch = false;
  std::optional<std::chrono::milliseconds> lasting;  // ack --for
  std::string comment;
  bool list = false, remove = false;
  bool yes = false;  // selftest
  std::string log;   // explain: a file, or "-"
  std::optional<Disruptive> disruptive;
  std::optional<std::chrono::seconds> confirm;  // apply: time to confirm

  bool with_addresses = false;  // capture: keep the host name, MAC addresses, GUIDs, UUIDs and serial numbers

  // Opens the machine below `root`; capture and the tests replace this function.
  std::function<Result<Kernel>(const std::string& root)> open = open_kernel;

  [[nodiscard]] std::string config_file() const;
};

// The help of an option that has an effect of its own with some verbs.
struct HelpOfVerbs {
  std::string_view verbs;  // " plan apply ", as OptionRow::verbs
  std::string_view help;
};

struct OptionRow {
  std::string_view name;      // "interval", without dashes
  char letter;                // 0: none
  std::string_view argument;  // "TIME"; empty: takes none
  std::string_view verbs;     // " check plan ", with a space before and after each; empty: all
  std::string_view help;      // with the verbs that `others` does not name
  bool (*set)(Options& options, const std::string& value);  // false: invalid value
  std::string_view invalid = "invalid value";               // the error text for an invalid value
  std::array<HelpOfVerbs, 3> others{};
};
std::span<const OptionRow> option_rows();
bool takes(std::string_view verb, const OptionRow& row);
// The help of the option on the page of the verb.
std::string_view help_of(std::string_view verb, const OptionRow& row);

// Parses options before or after the verb with getopt_long(3): --name=value, --name value, an unambiguous prefix of a
// name, -x value, -xvalue, several letters in one word (-jv). "--" ends the options. For an unknown word the Error
// names the nearest known one.
Result<Options> parse_options(std::span<const std::string> words);

// "; did you mean --NAME?" with the word of `known` that is nearest to `word` by edit distance; if none is near,
// "; see fabric-agentctl SEE".
std::string suggestion(std::string_view word, const std::vector<std::string_view>& known, const std::string& see,
                       const std::string& dashes = {});

}  // namespace fabric::ctl
