// SPDX-License-Identifier: Apache-2.0
// Runs fabric-agentctl in this process.
#pragma once

#include "ctl/verbs.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::test {

struct Ran {
  int code;
  std::string text, errors;
  [[nodiscard]] std::string all() const { return text + errors; }
};

inline Ran ran(std::vector<std::string> words) {
  ctl::Output output;
  const int code = ctl::run(words, output);
  return {code, output.text, output.errors};
}

// Runs it on a captured machine.
inline Ran ran_on(const Tree& tree, std::vector<std::string> words) {
  words.insert(words.end(), {"--root", tree.path()});
  return ran(std::move(words));
}

}  // namespace fabric::test
