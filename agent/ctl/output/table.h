// SPDX-License-Identifier: Apache-2.0
// A table as lsblk prints it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ctl/verbs.h"
#include "model/report.h"

namespace fabric::ctl {

class Table {
 public:
  explicit Table(std::vector<std::string> columns) : columns_(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // With a header line. On a terminal (output.width) long cells of the last columns are wrapped.
  [[nodiscard]] std::string text(const Output& output) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// The text in the colour of the status, where the output has colours.
std::string coloured(const Output& output, Status status, std::string_view text);

// `text` in lines of at most `width` columns, broken at blanks; each but the first begins with `indent` blanks.
// Width 0: one line. What stands behind a newline are commands to be copied: lines of their own, never broken.
std::string wrapped(std::string_view text, unsigned width, unsigned indent);

}  // namespace fabric::ctl
