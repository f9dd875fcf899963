// SPDX-License-Identifier: Apache-2.0
// Before toml++ parses: a letter beyond ASCII outside of strings and comments, which TOML 1.0 allows nowhere, is mostly
// a typographic quote, and deserves a message that says so.
#include <algorithm>

#include "base/parse.h"
#include "setting/toml_value.h"

namespace fabric {
namespace {

// What toml++ makes of a key's parts is read, compared and destroyed by recursion: thousands of parts exhaust the
// stack. Ours have three.
constexpr size_t kMostDots = 16;

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  // The first character that TOML does not allow at its place.
  MaybeProblem scan() {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;  // byte order mark
    while (at_ < text_.size()) {
      char c = text_[at_];
      if (c == '\0') return problem("a NUL byte: not a text file");
      if (dots_ > kMostDots) return problem("a key of too many parts");
      if (static_cast<unsigned char>(c) >= 0x80 && state_ == State::plain)
        return problem("a character beyond ASCII outside of a string; quotes are \" or ', as on the keyboard");
      step(c);
    }
    return std::nullopt;
  }

 private:
  enum class State { plain, comment, quoted };

  void step(char c) {
    if (state_ == State::plain) count_dots(c);
    if (c == '\n') {
      ++line_;
      line_start_ = at_ + 1;
      if (state_ == State::comment || quote_.size() == 1) leave();
    } else if (state_ == State::quoted && c == '\\' && quote_[0] == '"') {
      ++at_;  // the escaped character cannot end the string
      if (at_ < text_.size() && (text_[at_] == '\n' || text_[at_] == '\0')) return;
    } else if (state_ == State::quoted && text_.substr(at_).starts_with(quote_)) {
      at_ += quote_.size();
      // Up to two quotes may stand before the three that end a multi-line string.
      while (quote_.size() == 3 && at_ < text_.size() && text_[at_] == quote_[0]) ++at_;
      return leave();
    } else if (state_ == State::plain && c == '#') {
      state_ = State::comment;
    } else if (state_ == State::plain && (c == '"' || c == '\'')) {
      return enter(c);
    }
    ++at_;
  }

  void count_dots(char c) {
    if (c == '.') ++dots_;
    if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots_ = 0;
  }

  void enter(char c) {
    state_ = State::quoted;
    bool triple = text_.substr(at_, 3) == std::string(3, c);
    quote_ = text_.substr(at_, triple ? 3 : 1);
    at_ += quote_.size();
  }

  void leave() {
    state_ = State::plain;
    quote_ = {};
  }

  [[nodiscard]] TomlProblem problem(const char* what) const {
    auto index = [](size_t number) { return static_cast<toml::source_index>(number); };
    size_t column = 1;  // in characters, as toml++ counts
    for (char c : text_.substr(line_start_, at_ - line_start_))
      column += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
    return {{index(line_), index(column)}, what};
  }

  std::string_view text_;
  std::string_view quote_;  // of the string we are in
  State state_ = State::plain;
  size_t at_ = 0, line_ = 1, line_start_ = 0;
  size_t dots_ = 0;  // of the key, or number, that is being read
};

// A file cut at the end of a line is valid TOML as a rule, and means less. Lines that an operator appends may follow.
MaybeProblem take_last_line(std::string_view text, toml::table& table) {
  const toml::node* wanted = table.get(kLastLine);
  if (wanted == nullptr) return std::nullopt;
  std::string line;
  if (auto problem = read_text(*wanted, line)) return problem;
  const auto lines = split(text, '\n');
  const auto is_it = [&](std::string_view each) { return each == line || each == line + "\r"; };
  if (!line.starts_with('#') || std::ranges::none_of(lines, is_it))
    return TomlProblem{wanted->source().begin,
                       "no line " + toml_string(clean_text(line)) + ": the end of the file is missing"};
  table.erase(kLastLine);
  return std::nullopt;
}

}  // namespace

MaybeProblem parse_toml(std::string_view text, toml::table& out) {
  if (auto problem = Scanner(text).scan()) return problem;
  toml::parse_result parsed = toml::parse(text);
  if (!parsed) return TomlProblem{parsed.error().source().begin, clean_text(parsed.error().description())};
  out = std::move(parsed).table();
  return take_last_line(text, out);
}

Error corrupt(const std::string& name, const toml::source_position& at, const std::string& what) {
  return error(EBADMSG, name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) + ": " + what);
}

Result<toml::table> parse_state(std::string_view text, const std::string& name) {
  toml::table table;
  if (auto problem = parse_toml(text, table)) return corrupt(name, problem->at, problem->what);
  // A file without any key has lost its beginning; one of ours has kLastLine at least.
  if (table.empty() && text.find(kLastLine) == std::string_view::npos)
    return corrupt(name, {1, 1}, "no key: the file is empty or truncated");
  return table;
}

}  // namespace fabric
