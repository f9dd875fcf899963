// SPDX-License-Identifier: Apache-2.0
// fabric-agentctl in this process.
#pragma once

#include "ctl/verbs.h"
#include "support/test.h"

namespace fabric::test {

struct Ran {
  int code;
  std::string text, errors;
};

inline Ran ran(std::vector<std::string> words) {
  ctl::Output output;
  const int code = ctl::run(words, output);
  return {code, output.text, output.errors};
}

}  // namespace fabric::test
