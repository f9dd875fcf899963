// SPDX-License-Identifier: Apache-2.0
#include "ctl/output/table.h"

#include <libsmartcols/libsmartcols.h>
#include <locale.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/parse.h"

namespace fabric::ctl {
namespace {

using Handle = std::unique_ptr<libscols_table, decltype(&scols_unref_table)>;

// Tables are UTF-8, as all our text is, whatever the locale: what that does not have smartcols would show as \xc3\xbc.
class InUtf8 {
 public:
  InUtf8() : before_(::uselocale(utf8())) {}
  ~InUtf8() { ::uselocale(before_); }
  InUtf8(const InUtf8&) = delete;
  InUtf8& operator=(const InUtf8&) = delete;

 private:
  static locale_t utf8() {
    static const locale_t only = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return only;  // null, where the C library has none, leaves the locale as it is
  }
  locale_t before_;
};

// Without trailing blanks, which smartcols pads the last column with.
std::string without_padding(std::string_view printed) {
  std::string text;
  for (std::string_view line : split(printed, '\n')) {
    while (line.ends_with(' ')) line.remove_suffix(1);
    if (!line.empty()) text.append(line).append("\n");
  }
  return text;
}

}  // namespace

std::string Table::text(const Output& output) const {
  const InUtf8 utf8;
  Handle table(scols_new_table(), &scols_unref_table);
  if (!table) return {};
  scols_table_set_termforce(table.get(), output.width > 0 ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
  if (output.width > 0) scols_table_set_termwidth(table.get(), output.width);
  for (size_t i = 0; i < columns_.size(); ++i)
    scols_table_new_column(table.get(), columns_[i].c_str(), 0, i >= 2 ? SCOLS_FL_WRAP : 0);
  for (const auto& row : rows_) {
    libscols_line* line = scols_table_new_line(table.get(), nullptr);
    for (size_t i = 0; line != nullptr && i < row.size() && i < columns_.size(); ++i)
      scols_line_set_data(line, i, row[i].c_str());
  }
  char* printed = nullptr;
  if (scols_print_table_to_string(table.get(), &printed) != 0 || printed == nullptr) return {};
  std::string text = without_padding(printed);
  std::free(printed);
  return text;
}

std::string coloured(const Output& output, Status status, std::string_view text) {
  if (!output.colour) return std::string(text);
  const char* code = status == Status::ok         ? "32"
                     : status == Status::warning  ? "33"
                     : status == Status::critical ? "1;31"
                                                  : "35";
  return std::string("\033[") + code + "m" + std::string(text) + "\033[0m";
}

std::string wrapped(std::string_view text, unsigned width, unsigned indent) {
  const size_t end = std::min(text.find('\n'), text.size());
  std::string out;
  size_t column = indent;
  for (std::string_view word : words(text.substr(0, end))) {
    const bool full = width > 0 && column > indent && column + 1 + word.size() > width;
    if (full) {
      out.append("\n").append(indent, ' ');
      column = indent;
    } else if (!out.empty()) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
  }
  if (end == text.size()) return out;
  for (std::string_view command : split(text.substr(end + 1), '\n'))
    out.append("\n").append(indent, ' ').append(command);
  return out;
}

}  // namespace fabric::ctl
