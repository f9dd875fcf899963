// SPDX-License-Identifier: Apache-2.0
// Captures of real machines, which live beside the project and not in it.
#pragma once

#include <memory>
#include <optional>
#include <string>

namespace fabric::test {

// $FABRIC_CORPUS, else ../shared/corpus beside the source tree; absent when there is none. Tests skip then.
std::optional<std::string> corpus_directory();

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
