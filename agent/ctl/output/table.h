// SPDX-License-Identifier: Apache-2.0
// Text that fits the terminal: tables as lsblk(8) prints them, wrapped paragraphs, colors.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/parse.h"
#include "base/status.h"
#include "ctl/output/terminal.h"

namespace fabric::ctl {

class Table {
 public:
  // `right`: these columns are aligned to the right. `whole`: their cells are not broken while another column has room.
  // A cell is broken at blanks, but not at those of unbroken().
  explicit Table(std::vector<std::string> columns, std::vector<size_t> right = {}, std::vector<size_t> whole = {})
      : columns_(std::move(columns)), right_(std::move(right)), whole_(std::move(whole)) {}
  // `alarm`: the row is red if the output has color.
  void add(std::vector<std::string> cells, bool alarm = false);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // The table with a header line, no wider than the output: long cells continue on the next line, broken at blanks if
  // possible.
  [[nodiscard]] std::string text(const Output& output) const;

 private:
  struct Row {
    std::vector<std::string> cells;
    bool alarm;
  };
  [[nodiscard]] std::vector<size_t> widths(size_t available) const;
  std::vector<std::string> columns_;
  std::vector<size_t> right_, whole_;
  std::vector<Row> rows_;
};

// The text in the color of the status, if the output has color.
std::string colored(const Output& output, Status status, std::string_view text);

// `text` in lines of at most `width` columns, broken at blanks; every line after the first begins with `indent` blanks.
// Width 0: one line. Lines after the first newline are commands to be copied: they are indented and not broken.
std::string wrapped(std::string_view text, unsigned width, unsigned indent);

// Wraps each line wider than `width`; the continuation is indented two columns more than the line. `mark` ("# "): wraps
// only the lines that start with it, and starts the continuation with it.
std::string folded(std::string_view text, unsigned width, std::string_view mark = {});

// "mlx5_0..7, mlx5_9/1": three or more consecutive names become a range; the port number 1 is left out in a range.
std::string names_text(const std::vector<std::string>& names);
// FindingGroup::likewise: names_text(), or "GPU1 in group 2, NIC in group 3; GPU2 ..." if a text has commas itself.
std::string also_for(const std::vector<std::string>& names);

std::string or_dash(const std::string& text);

// "55 min ago" in a cell of a Table, on one line.
std::string unbroken(std::string text);

}  // namespace fabric::ctl
