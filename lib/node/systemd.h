// SPDX-License-Identifier: Apache-2.0
// systemd's unit files: their syntax and resource limits (systemd.syntax(7), systemd.exec(5); src/shared/conf-parser.c,
// src/basic/rlimit-util.c and parse_size() of src/basic/parse-util.c of systemd 252), and unit files and drop-ins as
// the system manager finds them (systemd.unit(5), "Unit File Load Path"; src/basic/unit-file.c and
// src/shared/dropin.c). The system manager is not queried, because a captured tree has none.
#pragma once

#include <string_view>

#include "kernel/capture/root.h"
#include "node/host.h"

namespace fabric::unit_file {

struct Assignment {
  std::string section, key, value;
  unsigned line = 0;  // the first one of a continued assignment
};

// The assignments in file order. Leaves out everything that systemd ignores: comments, assignments outside of a
// section, lines without "=", and everything after a malformed section header, where systemd stops reading.
std::vector<Assignment> parse(std::string_view text);

// "infinity", "8M", "1G 512M", "1.5G", "64K:infinity" (soft:hard), in bytes; nullopt: systemd ignores the line because
// of an empty value, a soft limit above the hard one, a specifier.
std::optional<ResourceLimit> parse_memory_limit(std::string_view text);
// A plain number: "1024:524288". nullopt as in parse_memory_limit().
std::optional<ResourceLimit> parse_count_limit(std::string_view text);

}  // namespace fabric::unit_file

namespace fabric::systemd {

struct Unit {
  std::string file;                // "/usr/lib/systemd/system/slurmd.service"
  bool masked = false;             // a link to /dev/null, or an empty file
  std::vector<std::string> parts;  // the unit file and its drop-ins in the order in which they are read
};

class UnitFiles {
 public:
  // Lists the load path once; `root` must outlive the object.
  explicit UnitFiles(const Root& root);
  // Finds a unit by its name; an instance such as "slurmd@gpu01.service" also by its template. nullopt: no folder has
  // it.
  [[nodiscard]] std::optional<Unit> find(const std::string& name) const;

 private:
  struct Folder {
    std::string path;
    std::set<std::string> names;
  };
  [[nodiscard]] const Folder* folder_with(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> drop_ins(const std::vector<std::string>& names) const;

  const Root& root_;
  std::vector<Folder> folders_;  // most important first
};

// The limits that a chain of files sets; the last setting wins.
struct Limits {
  std::optional<LimitSetting> memlock{}, nofile{}, core{};
};
// [Service] LimitMEMLOCK=, LimitNOFILE= and LimitCORE= in the parts of a unit, else the `defaults`.
Limits service_limits(const Root& root, const std::vector<std::string>& parts, Limits defaults = {});
// [Manager] DefaultLimitMEMLOCK=, DefaultLimitNOFILE= and DefaultLimitCORE= in system.conf and its drop-ins.
Limits default_limits(const Root& root);

}  // namespace fabric::systemd
