// SPDX-License-Identifier: Apache-2.0
#include "ctl/output/table.h"

#include <libsmartcols/libsmartcols.h>
#include <locale.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "base/find.h"

namespace fabric::ctl {
namespace {

// The width on a terminal: code points, without color sequences.
size_t columns(std::string_view text) {
  size_t count = 0;
  bool color = false;
  for (const char byte : text) {
    if (byte == '\033') color = true;
    else if (color) color = byte != 'm';
    else if ((static_cast<unsigned char>(byte) & 0xc0) != 0x80) ++count;
  }
  return count;
}

constexpr std::string_view kNoBreak = "\xc2\xa0";  // NO-BREAK SPACE

// "Gb/s" after a number, with the punctuation that follows: a number and its unit stay on one line.
bool is_unit(std::string_view word) {
  constexpr std::string_view kUnits[]{"%",  "b/s", "kb/s", "Mb/s", "Gb/s", "Tb/s", "GB/s", "MB/s", "GT/s",
                                      "B",  "kB",  "MB",   "GB",   "TB",   "KiB",  "MiB",  "GiB",  "TiB",
                                      "ns", "us",  "ms",   "s",    "min",  "h",    "dBm",  "dB",   "mW",
                                      "W",  "mA",  "V",    "C",    "MHz",  "bytes"};
  return contains(kUnits, word.substr(0, word.find_last_not_of(".,;:)") + 1));
}

// The parts that stay whole, if the width allows it: the words, and of "mlx5_bond_0/1@ens1f0np0" the port and its
// member.
std::vector<std::string_view> whole_parts(std::string_view cell) {
  std::vector<std::string_view> out;
  for (std::string_view word : words(cell)) {
    for (size_t at; (at = word.find('@', 1)) != std::string_view::npos; word.remove_prefix(at))
      out.push_back(word.substr(0, at));
    out.push_back(word);
  }
  return out;
}

// The cell in lines of at most `width` columns.
std::string broken_cell(const std::string& cell, size_t width) {
  if (columns(cell) <= width) return cell;
  std::string out;
  const std::string lines = wrapped(cell, static_cast<unsigned>(width), 0);
  for (std::string_view line : split(lines, '\n'))
    while (!line.empty()) {
      size_t end = 0;
      for (size_t column = 0; end < line.size() && column < width; ++column)
        end += std::max<size_t>(1, utf8_length(line, end));
      if (end < line.size())  // before a member's "@"
        if (const size_t at = line.rfind('@', end); at != std::string_view::npos && at > 0) end = at;
      append_item(out, line.substr(0, end), "\n");
      line.remove_prefix(std::min(end, line.size()));
    }
  return out;
}

}  // namespace

void Table::add(std::vector<std::string> cells, bool alarm) {
  for (std::string& cell : cells) cell = printable(cell, Output());
  rows_.push_back({std::move(cells), alarm});
}

// Narrows the widest column that can be broken between whole_parts(), those of `whole_` last; if there is none, the
// widest column is broken within words.
std::vector<size_t> Table::widths(size_t available) const {
  std::vector<size_t> natural, least;
  for (size_t i = 0; i < columns_.size(); ++i) {
    natural.push_back(columns(columns_[i]));
    least.push_back(natural.back());
    for (const Row& row : rows_) {
      if (i >= row.cells.size()) continue;
      natural[i] = std::max(natural[i], columns(row.cells[i]));
      for (const std::string_view part : whole_parts(row.cells[i])) least[i] = std::max(least[i], columns(part));
    }
  }
  size_t total = natural.size() - 1;
  for (const size_t width : natural) total += width;
  for (; available > 0 && total > available; --total) {
    size_t widest = natural.size();
    for (const bool with_whole : {false, true})
      for (size_t i = 0; i < natural.size() && (!with_whole || widest == natural.size()); ++i)
        if (natural[i] > least[i] && with_whole == contains(whole_, i) &&
            (widest == natural.size() || natural[i] > natural[widest]))
          widest = i;
    if (widest == natural.size()) widest = static_cast<size_t>(std::ranges::max_element(natural) - natural.begin());
    if (natural[widest] <= 1) break;
    --natural[widest];
  }
  return natural;
}

std::string Table::text(const Output& output) const {
  ::setlocale(LC_CTYPE, "C.UTF-8");  // in another locale smartcols would print \xc3\xbc
  const std::unique_ptr<libscols_table, decltype(&scols_unref_table)> table(scols_new_table(), &scols_unref_table);
  if (!table) return {};
  const std::vector<size_t> limits = widths(output.width);
  scols_table_set_termforce(table.get(), SCOLS_TERMFORCE_NEVER);
  scols_table_enable_colors(table.get(), static_cast<int>(output.color));
  for (size_t i = 0; i < columns_.size(); ++i) {
    int flags = SCOLS_FL_WRAP;
    if (contains(right_, i)) flags |= SCOLS_FL_RIGHT;
    libscols_column* column = scols_table_new_column(table.get(), columns_[i].c_str(), 0, flags);
    scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, nullptr);
    scols_column_set_safechars(column, "\n");
  }
  for (const Row& row : rows_) {
    libscols_line* line = scols_table_new_line(table.get(), nullptr);
    if (line != nullptr && row.alarm) scols_line_set_color(line, "\033[1;31m");
    for (size_t i = 0; line != nullptr && i < row.cells.size() && i < columns_.size(); ++i)
      scols_line_set_data(line, i, broken_cell(row.cells[i], limits[i]).c_str());
  }
  char* printed = nullptr;
  if (scols_print_table_to_string(table.get(), &printed) != 0 || printed == nullptr) return {};
  std::string text;
  for (std::string_view line : split(printed, '\n')) {
    while (line.ends_with(' ')) line.remove_suffix(1);  // smartcols pads the last column with blanks
    if (!line.empty()) text.append(line).append("\n");
  }
  std::free(printed);
  replace_all(text, kNoBreak, " ");
  return text;
}

std::string colored(const Output& output, Status status, std::string_view text) {
  if (!output.color) return std::string(text);
  constexpr const char* kCodes[] = {"32", "33", "1;31", "35"};
  return std::string("\033[") + kCodes[static_cast<size_t>(status)] + "m" + std::string(text) + "\033[0m";
}

std::string wrapped(std::string_view text, unsigned width, unsigned indent) {
  const size_t end = std::min(text.find('\n'), text.size());
  size_t room = 0;  // 0: no limit
  if (width > indent) room = width - indent;
  std::vector<std::string_view> parts;
  for (std::string_view word : words(text.substr(0, end))) {
    // A list that is longer than a line is broken after commas: CPUs 0,2,4,6,...
    while (room > 0 && columns(word) > room && word.find(',') < room) {
      const size_t size = word.rfind(',', room - 1) + 1;
      parts.push_back(word.substr(0, size));
      word.remove_prefix(size);
    }
    if (word.empty()) continue;
    const bool is_number = !parts.empty() && is_digit(parts.back().back());
    if (is_number && is_unit(word) && word.data() == parts.back().data() + parts.back().size() + 1)
      parts.back() = {parts.back().data(), parts.back().size() + 1 + word.size()};
    else parts.push_back(word);
  }
  std::string out;
  size_t column = indent;
  for (const std::string_view part : parts) {
    if (width > 0 && column > indent && column + 1 + columns(part) > width) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += part;
    column += columns(part);
  }
  if (end == text.size()) return out;
  for (const std::string_view command : split(text.substr(end + 1), '\n'))
    out.append("\n").append(indent, ' ').append(command);
  return out;
}

std::string folded(std::string_view text, unsigned width, std::string_view mark) {
  std::string out;
  const bool ends = text.ends_with('\n');
  if (ends) text.remove_suffix(1);
  for (const std::string_view line : split(text, '\n')) {
    if (width == 0 || columns(line) <= width || !line.starts_with(mark)) {
      out.append(line);
    } else if (mark.empty()) {
      size_t prefix = 0;  // blanks, or the branches of a tree, which are not ASCII
      while (prefix < line.size() && (line[prefix] == ' ' || static_cast<unsigned char>(line[prefix]) >= 0x80))
        ++prefix;
      const auto indent = static_cast<unsigned>(columns(line.substr(0, prefix)) + 2);
      out.append(line.substr(0, prefix)).append(wrapped(line.substr(prefix), width, indent));
    } else {
      std::string marked = wrapped(line.substr(mark.size()), width, static_cast<unsigned>(mark.size()));
      for (size_t at = 0; (at = marked.find('\n', at)) != std::string::npos; ++at)
        marked.replace(at + 1, mark.size(), mark);
      out.append(mark).append(marked);
    }
    out += '\n';
  }
  if (!ends && !out.empty()) out.pop_back();
  return out;
}

std::string names_text(const std::vector<std::string>& names) {
  struct Numbered {
    std::string_view stem, suffix;  // "mlx5_", "/1" of mlx5_0/1
    std::optional<unsigned> number;
  };
  std::vector<Numbered> parts;
  for (const std::string_view name : names) {
    const size_t slash = std::min(name.find('/'), name.size());
    const std::string_view front = name.substr(0, slash);
    const size_t digits = front.find_last_not_of("0123456789") + 1;
    parts.push_back({front.substr(0, digits), name.substr(slash), parse_number<unsigned>(front.substr(digits))});
  }
  std::string out;
  for (size_t i = 0; i < names.size();) {
    const Numbered& first = parts[i];
    size_t end = i + 1;  // end of the consecutive names
    while (end < names.size() && first.number && parts[end].number == *first.number + (end - i) &&
           parts[end].stem == first.stem && parts[end].suffix == first.suffix)
      ++end;
    if (end - i < 3) {
      append_item(out, names[i]);
      ++i;
      continue;
    }
    std::string range =
        std::string(first.stem) + std::to_string(*first.number) + ".." + std::to_string(*first.number + (end - 1 - i));
    if (first.suffix != "/1") range += first.suffix;
    append_item(out, range);
    i = end;
  }
  return out;
}

std::string also_for(const std::vector<std::string>& names) {
  const auto has_comma = [](const std::string& name) { return name.find(", ") != std::string::npos; };
  return std::ranges::any_of(names, has_comma) ? joined(names, "; ") : names_text(names);
}

std::string or_dash(const std::string& text) {
  if (text.empty()) return "-";
  return text;
}

std::string unbroken(std::string text) {
  replace_all(text, " ", kNoBreak);
  return text;
}

}  // namespace fabric::ctl
