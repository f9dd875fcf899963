// SPDX-License-Identifier: Apache-2.0
// Files of sysfs with a number or a state in each, held open between readings.
#pragma once

#include "base/fd.h"
#include "counters/source.h"
#include "kernel/capture/root.h"
#include "model/node.h"

namespace fabric {

struct CounterFile {
  CounterName name;
  std::string path;
  Fd fd;
  Backoff backoff{};
  bool rarely_changes = false;  // once it reads `usual`
  bool idle = false;            // not read: it has the usual text
  std::string_view usual = "0";
};

// Calls `with` for each file that can be read now, with its text or, of an idle one, with the usual one.
void read_files(const Root& root, std::vector<CounterFile>& files, Backoff::Clock::time_point now, Attempt& attempt,
                const std::function<void(CounterFile& file, std::string_view text)>& with);
// Adds their values to `counters`.
void read_counters(const Root& root, std::vector<CounterFile>& files, Backoff::Clock::time_point now, Attempt& attempt,
                   std::vector<Counter>& counters);

// nullopt for text such as "N/A (no PMA)". Pure.
std::optional<uint64_t> parse_counter_file(std::string_view text);

}  // namespace fabric
