// SPDX-License-Identifier: Apache-2.0
// Captures of real machines, which live beside the project and not in it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "support/json_reader.h"

namespace fabric::test {

// $FABRIC_CORPUS, else ../shared/corpus beside the source tree; absent when there is none. Tests skip then.
std::optional<std::string> corpus_directory();

// What the corpus' oracle says of its machines of that kind ("hwloc-xml", "sysfs-snapshot"), by name.
std::map<std::string, JsonValue> oracle_of(const std::string& corpus, std::string_view kind);

// A tar archive (any compression that tar knows), unpacked into a temporary folder that goes away with the object.
class Unpacked {
 public:
  explicit Unpacked(const std::string& archive);  // throws std::runtime_error
  ~Unpacked();
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;

  // The folder that holds sys/: the archive's top or the only folder in it.
  [[nodiscard]] std::string root() const;

 private:
  std::string path_;
};

}  // namespace fabric::test
