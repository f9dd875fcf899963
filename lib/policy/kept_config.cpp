// SPDX-License-Identifier: Apache-2.0
#include "policy/kept_config.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/find.h"
#include "policy/config.h"
#include "policy/last_good.h"
#include "policy/toml_value.h"

namespace fabric {
namespace {

// The names of keys, and of the tables above them, at whatever place they stand.
struct KnownNames {
  std::set<std::string, std::less<>> keys, tables;
};
const KnownNames& known_names() {
  static const KnownNames all = [] {
    KnownNames names;
    for (const std::string& key : config_keys()) {
      const auto parts = split(key, '.');
      for (const std::string_view table : std::span(parts).first(parts.size() - 1)) names.tables.emplace(table);
      names.keys.emplace(parts.back());
    }
    return names;
  }();
  return all;
}

// The first string, comment, word or other letter of TOML, which may have errors: a string whose quote is missing ends
// with its line or, if it may have several, with the text.
std::string_view first_token(std::string_view rest) {
  if (rest.front() == '#') return rest.substr(0, rest.find('\n'));
  for (const std::string_view quote : {"\"\"\"", "'''", "\"", "'"}) {
    if (!rest.starts_with(quote)) continue;
    const bool is_line = quote.size() == 1;
    for (size_t at = quote.size(); at < rest.size(); ++at) {
      if (is_line && rest[at] == '\n') return rest.substr(0, at);
      if (rest.substr(at).starts_with(quote)) {
        size_t end = at + quote.size();
        while (!is_line && end < at + 5 && end < rest.size() && rest[end] == quote[0]) ++end;  // quotes in front
        return rest.substr(0, end);
      }
      if (rest[at] == '\\' && quote[0] == '"' && !rest.substr(at + 1).starts_with('\n')) ++at;
    }
    return rest;
  }
  return rest.substr(0, std::max<size_t>(rest.find_first_of(" \t\r\n#=.,[]{}\"'"), 1));
}

bool is_string(std::string_view token) { return token.front() == '"' || token.front() == '\''; }

// An "x" for each letter, in as many columns.
std::string crossed_out(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '\n') out += letter;
    else if ((static_cast<unsigned char>(letter) & 0xc0) != 0x80) out += 'x';
  }
  return out;
}

// Hides the texts of unknown keys, the names in quotes there, and the reasons of rules, in which people write names. In
// the line at `last`, which has an error (npos: there is none), also words, and each hidden letter becomes
// an "x"; in such a file no text of several lines is kept, because the quote at its end may be missing.
class Hiding {
 public:
  explicit Hiding(size_t last) : last_(last) {}

  std::string in(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const std::string_view token = first_token(text.substr(at));
      is_last_ = at >= last_;
      out += shown(token);
      at += token.size();
    }
    return out;
  }

 private:
  // The keys below [rules] whose texts are words, times and dates; that of `reason` is a person's.
  static constexpr std::string_view kOfRules[]{"severity", "warning", "critical",   "window",      "confirm",
                                               "clear",    "until",   "boot_grace", "reload_grace"};
  // The names on the path: tables only; those below [rules], which are shown; with a key; with an unknown name before
  // any key.
  enum class Path : uint8_t { tables, rules, known, unknown };
  struct OpenTable {
    char close;
    Path path;
  };

  void begin_key() {
    is_key_ = true;
    key_known_ = false;
    path_ = levels_.empty() ? table_ : levels_.back().path;
  }
  void close(char sign) {
    if (!levels_.empty() && levels_.back().close == sign) levels_.pop_back();
  }

  std::string shown(std::string_view token) {
    const std::string same(token);
    switch (token.front()) {
      case ' ':
      case '\t':
      case '\r':
      case '.': return same;
      case '\n':
        if (levels_.empty()) begin_key();
        return same;
      case '[':
        if (is_key_ && levels_.empty()) path_ = table_ = Path::tables;  // the header of a table
        else levels_.push_back({']', path_});
        return same;
      case '{':
        levels_.push_back({'}', path_});
        begin_key();
        return same;
      case ']':
        if (is_key_ && levels_.empty()) table_ = path_;
        close(']');
        return same;
      case '}':
        close('}');
        is_key_ = false;
        return same;
      case ',':
        if (!levels_.empty()) path_ = levels_.back().path;
        is_key_ = !levels_.empty() && levels_.back().close == '}';
        return same;
      case '=':
        if (!is_key_) {  // the end of a list is missing
          levels_.clear();
          path_ = table_ = Path::unknown;
        }
        is_key_ = false;
        return same;
      default: return is_key_ ? name(token) : value(token);
    }
  }

  std::string name(std::string_view token) {
    std::string_view text = token;
    if (is_string(token)) text = token.size() > 1 ? token.substr(1, token.size() - 2) : "";
    const bool is_open = path_ == Path::rules || path_ == Path::known;
    const bool is_table = path_ == Path::tables && (text == "rules" || known_names().tables.contains(text));
    key_known_ = (path_ == Path::rules && contains(kOfRules, text)) ||
                 (path_ == Path::tables && known_names().keys.contains(text));
    const bool is_shown = key_known_ || is_table || (!is_last_ && (is_open || !is_string(token)));
    if (text == "rules" && is_table) path_ = Path::rules;
    else if (key_known_) path_ = Path::known;
    else if (!is_open && !is_table) path_ = Path::unknown;
    if (is_shown) {
      names_.emplace(text, token);
      return std::string(token);
    }
    if (const auto other = names_.find(text); other != names_.end()) return other->second;
    if (is_last_) return crossed_out(token);
    return names_.emplace(text, "\"hidden" + std::to_string(names_.size()) + "\"").first->second;
  }

  std::string value(std::string_view token) {
    const bool known = std::exchange(path_, Path::unknown) == Path::known;  // a second value in the line is not its
    const auto lines = static_cast<size_t>(std::ranges::count(token, '\n'));
    const bool is_broken = last_ != std::string::npos;
    // The line may belong to a list above it, and its key may be wrong as well.
    const bool is_loose = is_last_ && (!key_known_ || (!is_string(token) && !levels_.empty()));
    if (known && !is_loose && (lines == 0 || !is_broken)) return std::string(token);
    if (!is_string(token)) {
      if (!is_last_ || token.find_first_not_of("0123456789") == std::string_view::npos) return std::string(token);
      return crossed_out(token);
    }
    const size_t quote = token.starts_with(std::string(3, token[0])) ? 3 : 1;
    const bool is_whole = token.size() >= 2 * quote && token.ends_with(token.substr(0, quote));
    const size_t size = token.size() - quote - (is_whole ? quote : 0);
    const std::string begin(token.substr(0, quote)), end = is_whole ? begin : "";
    if (is_last_) return begin + crossed_out(token.substr(quote, size)) + end;
    return begin + "hidden" + std::string(lines, '\n') + end;
  }

  size_t last_;
  bool is_last_ = false;
  bool is_key_ = true;
  Path path_ = Path::tables;   // of the next token
  Path table_ = Path::tables;  // of the header
  bool key_known_ = false;     // the last name
  std::vector<OpenTable> levels_;
  std::map<std::string, std::string, std::less<>> names_;  // and how they are shown
};

// The index of the place in the text; columns count characters.
size_t index_of(std::string_view text, const toml::source_position& place) {
  size_t at = 0;
  for (size_t line = 1; line < place.line && at < text.size(); ++line) {
    const size_t end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  const auto is_inside = [&] { return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; };
  for (size_t column = 1; column < place.column && at < text.size(); ++column) {
    ++at;
    while (is_inside()) ++at;
  }
  return at;
}

}  // namespace

std::string without_comments(std::string_view text) {
  const bool is_copy = is_last_good(text);
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const std::string_view token = first_token(text.substr(at));
    if (token.front() != '#' || (is_copy && at == out.size() && is_mark_of_last_good(token))) out += token;
    at += token.size();
  }
  return out;
}

std::optional<std::string> kept_config(const std::string& text) {
  const std::string plain = without_comments(text);
  toml::table table;
  const auto problem = parse_toml(plain, table);
  if (!problem) return Hiding(std::string::npos).in(plain);
  // The text after the line of the first error is not read.
  const size_t begin = index_of(plain, {problem->at.line, 1}), end = index_of(plain, {problem->at.line + 1, 1});
  std::string out = Hiding(begin).in(plain.substr(0, end));
  out.append(static_cast<size_t>(std::ranges::count(plain.substr(end), '\n')), '\n');
  if (!parse_toml(out, table)) return std::nullopt;
  return out;
}

}  // namespace fabric
