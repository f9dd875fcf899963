// SPDX-License-Identifier: Apache-2.0
#include "policy/reader.h"

#include <algorithm>
#include <unordered_set>

#include "base/find.h"
#include "base/parse.h"
#include "nic/capabilities.h"
#include "policy/keys.h"
#include "policy/match.h"
#include "policy/port_entry.h"
#include "setting/setting_table.h"

namespace fabric::config {
namespace {

template <class List, class Text>
void drop_repeated(List& list, Text&& text) {
  std::unordered_set<std::string> seen;
  std::erase_if(list, [&](const auto& each) { return !seen.insert(text(each)).second; });
}

// An error lists the words that are known in its place, unless there are more.
constexpr size_t kMostNamed = 40;

// toml++ describes the error; we add a hint for the most common mistakes. The first hint applies whose first text
// occurs in the error. toml++ takes a word without quotes for a number, a time or "false", depending on its first
// letters.
constexpr std::pair<std::string_view, std::string_view> kHints[] = {
    {"cannot redefine", "keep one of the two"},
    {"leading zeroes", "write the number without them"},
    {"is not representable", "write a smaller number"},
    {"string: ", "close the quotes in the same line"},
    {"parsing inline table", "write a table in braces in one line, without a comma at its end"},
    {"parsing array", "close the array by ]"},
    {"parsing table header", "write [TABLE], or [[port]]"},
    {"parsing key", "write KEY = VALUE"},
    {"Error while parsing", "put text into quotes"},
    {"", "write TOML in UTF-8, as in fabric-agent.toml(5)"},
};

struct KeyLine {
  std::string section, key, value;
};

// A line of TOML with a key and its value, in the section above it. Other lines have no key.
KeyLine key_line(std::string_view text, toml::source_index number) {
  KeyLine out;
  std::string_view line;
  for (const std::string_view each : split(text, '\n')) {
    line = trim(each);
    if (--number == 0) break;
    if (line.starts_with('[')) out.section = line.substr(0, line.find('#'));
  }
  std::erase_if(out.section, [](char letter) { return letter == '[' || letter == ']' || letter == ' '; });
  const size_t sign = line.find('=');
  if (sign == std::string_view::npos) return out;
  out.key = trim(line.substr(0, sign));
  out.value = trim(line.substr(sign + 1, line.find('#', sign) - sign - 1));
  return out;
}

// The advice for a value without quotes: its line with them, or with the value corrected. Empty if the line has no key
// of ours, and a value of more than one word.
std::string quoted_value(const KeyLine& line) {
  std::string value = line.value;
  for (const std::string_view curly : {"\u201c", "\u201d", "\u2018", "\u2019"})
    for (size_t at = value.find(curly); at != std::string::npos; at = value.find(curly)) value.erase(at, curly.size());
  if (value.empty() || value.find_first_of("\"'[]{}") != std::string::npos) return {};
  const auto key = find_correctable(line.section, line.key);
  toml::table table;
  if (!key || parse_toml("x = " + toml_string(value) + "\n", table)) return {};
  if (!key->check(*table.get("x"))) return "write " + key->key + " = " + toml_string(value);
  return correction(*key, *table.get("x"));
}

// Names and values appear on terminals, in the journal and in labels, so they may have only characters that are
// visible. Reports others.
bool is_visible(ConfigReader& reader, const toml::node& node, std::string_view key = {}) {
  const auto* text = node.as_string();
  bool all = clean_text(key) == key && (text == nullptr || clean_text(text->get()) == text->get());
  if (!all) reader.fail(node.source().begin, "a character that cannot be shown; delete it");
  if (const auto* list = node.as_array())
    for (const toml::node& each : *list) all = is_visible(reader, each) && all;
  if (const auto* table = node.as_table())
    for (auto&& [name, value] : *table) all = is_visible(reader, value, name) && all;
  return all;
}

// The sections that have a key of this name: "[exporter] or [cabling]". Empty: no section has one.
std::string sections_with(std::string_view name) {
  std::string out;
  for (const Key& key : keys()) {
    if (key.name != name) continue;
    if (key.section.empty()) out = "the top of the file, above the first line in brackets";
    else append_item(out, "[" + std::string(key.section) + "]", " or ");
  }
  if (contains(kPortKeys, name) || contains(kSettings, name, &Setting::key))
    append_item(out, "a [[port]] entry", " or ");
  if (contains(match_keys(), name, &MatchKey::name)) append_item(out, "match of a [[port]] entry", " or ");
  return out;
}

}  // namespace

unsigned ConfigFaults::add_file(std::string name) {
  files_.push_back(std::move(name));
  return static_cast<unsigned>(files_.size() - 1);
}

void ConfigFaults::fail(const FilePlace& at, const std::string& what) {
  constexpr size_t kMost = 4'000, kEnd = 500;  // bytes; our own texts are shorter
  // Whether a cut at this index would split a UTF-8 character.
  const auto is_inside = [&](size_t index) {
    return index > 0 && (static_cast<unsigned char>(what[index]) & 0xc0) == 0x80;
  };
  if (what.size() <= kMost) return errors_.push_back({at, errors_.size(), text(at) + ": " + what});
  size_t head = kMost - kEnd, tail = what.size() - kEnd;
  while (is_inside(head)) --head;
  while (is_inside(tail)) --tail;
  errors_.push_back({at, errors_.size(), text(at) + ": " + what.substr(0, head) + " ... " + what.substr(tail)});
}

std::string ConfigFaults::line(const FilePlace& at) const { return files_.at(at.file) + ":" + std::to_string(at.line); }

std::string ConfigFaults::text(const FilePlace& at) const { return line(at) + ":" + std::to_string(at.column); }

Result<LoadedConfig> ConfigFaults::finish(Policy policy) && {
  drop_repeated(warnings_, [](const ConfigWarning& each) { return each.where + each.what; });
  if (errors_.empty()) return LoadedConfig{std::move(policy), std::move(warnings_)};
  drop_repeated(errors_, [](const Fault& each) { return each.text; });
  const size_t more = errors_.size() - std::min(errors_.size(), kShown);
  errors_.resize(errors_.size() - more);
  // toml++ returns the keys of a table in alphabetical order, so the errors are not in the order of the file.
  std::ranges::sort(errors_, {}, [](const Fault& each) { return std::pair(each.at, each.number); });
  std::string text = joined(errors_, "\n", [](const Fault& each) { return each.text; });
  if (more != 0) text += "\nand " + std::to_string(more) + " more";
  return error(0, text);
}

void ConfigReader::fail(const TomlProblem& problem, std::string_view key, std::string_view advice) {
  fail(problem.at, std::string(key).append(": ").append(problem.what).append("; ").append(advice));
}

bool ConfigReader::accept(const MaybeProblem& problem, std::string_view name, const toml::node& written,
                          const Correctable& key) {
  if (!problem) return true;
  std::string advice;
  if (!faults_.many()) advice = correction(key, written);  // others are counted, not printed
  fail(*problem, name, advice);
  return false;
}

const toml::table* ConfigReader::table(const toml::node& node, std::string_view key, std::string_view advice) {
  if (!node.is_table()) fail(expected(node, "a table"), key, advice);
  return node.as_table();
}

void ConfigReader::fail_unknown(const toml::source_position& at, std::string_view what, std::string_view word,
                                std::span<const std::string_view> known) {
  const std::string_view head = word.substr(0, 40);  // a key may have a megabyte
  std::string text = "unknown " + std::string(what) + " " + toml_string(head);
  if (head.size() < word.size()) text += "...";
  if (faults_.many()) return fail(at, text);  // counted, not printed: needs no suggestion
  if (const std::string sections = sections_with(head); !sections.empty())
    return fail(at, text + " here: it belongs to " + sections);
  if (const std::string_view key = key_of_others(head); !key.empty() && what == "key")
    return fail(at, text.append(contains(known, key) ? ": it is " : " here: it is ")
                        .append(key)
                        .append(contains(known, key) ? "" : " of a [[port]] entry"));
  if (known.empty()) return fail(at, text);
  // Among equally near words, prefers one that begins with the given word.
  const auto nearest = std::ranges::min_element(
      known, {}, [&](std::string_view name) { return std::pair(edit_distance(head, name), !name.starts_with(head)); });
  if (edit_distance(head, *nearest) * 2 <= std::max(head.size(), nearest->size()))
    return fail(at, text.append("; did you mean \"").append(*nearest).append("\"?"));
  if (known.size() > kMostNamed) return fail(at, text + "; see fabric-agent.toml(5)");
  text += "; known here:";
  for (std::string_view name : known) text.append(" ").append(name);
  fail(at, text);
}

bool parse(ConfigReader& reader, std::string_view text, toml::table& out) {
  auto problem = parse_toml(text, out);
  if (!problem) return is_visible(reader, out);
  const auto hint = std::ranges::find_if(
      kHints, [&](const auto& each) { return problem->what.find(each.first) != std::string::npos; });
  std::string advice(hint->second);
  if (hint->first == "Error while parsing") {
    const KeyLine line = key_line(text, problem->at.line);
    if (line.key == "until" || line.key.ends_with(".until"))  // [rules.ID]: the one value that is a date of TOML
      advice = "write a date as YYYY-MM-DD, for example until = 2027-01-31";
    else if (const std::string quoted = quoted_value(line); !quoted.empty()) advice += ": " + quoted;
  }
  reader.fail(problem->at, problem->what + "; " + advice);
  return false;
}

bool parse_file(ConfigReader& reader, std::string_view text, toml::table& out) {
  if (!parse(reader, text, out)) return false;
  const toml::source_position start{1, 1};
  if (out.empty())
    reader.fail(
        start,
        "no key: the file is empty or truncated; restore its content; a link to /dev/null removes a file of conf.d");
  else if (!text.ends_with('\n'))
    reader.fail(start, "the last line does not end: the file may be truncated; end it with a newline");
  return true;
}

MaybeProblem read_span(const toml::node& node, std::chrono::milliseconds min, std::chrono::milliseconds max,
                       std::chrono::milliseconds& out) {
  std::optional<std::chrono::milliseconds> span;
  if (const auto* text = node.as_string()) span = parse_span(text->get());
  else if (const auto* seconds = node.as_integer()) span = parse_span(std::to_string(seconds->get()));
  if (!span || *span < min || *span > max)
    return expected(node, "a time span from " + span_text(min) + " to " + span_text(max));
  out = *span;
  return std::nullopt;
}

MaybeProblem read_name(const toml::node& node, std::string& out) {
  if (auto problem = read_text(node, out)) return problem;
  if (out.empty()) return fault_at(node, "the string is empty");
  return std::nullopt;
}

MaybeProblem read_texts(const toml::node& node, std::vector<std::string>& out) {
  if (!node.is_array() && !node.is_string()) return expected(node, "a string or an array of strings");
  out.clear();
  return each_of(node, [&](const toml::node& element) { return read_name(element, out.emplace_back()); });
}

namespace {

// Outside of a set in brackets, and not after a backslash.
std::string plain_of(const std::string& pattern) {
  std::string plain;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\') ++at;
    else if (pattern[at] == '[' && pattern.find(']', at + 2) != std::string::npos) at = pattern.find(']', at + 2);
    else plain += pattern[at];
  }
  return plain;
}

std::vector<std::string> texts_of(const std::string& text) {
  const Values list = lists(text, texts);
  if (list.size() != 1) return {};
  return list.front().get<std::vector<std::string>>();
}

// "mlx5_0-mlx5_3", "mlx5_0..3", "mlx5_0-3": the names of a range; empty: it is none. "rail0-1" may be a name that a
// site gave.
std::vector<std::string> names_of_range(const std::string& text) {
  constexpr unsigned kMost = 64;
  for (const std::string_view sign : {"..", "-"}) {
    const size_t middle = text.find(sign);
    if (middle == std::string::npos) continue;
    const std::string from = text.substr(0, middle), to = text.substr(middle + sign.size());
    const size_t digits = from.find_last_not_of("0123456789") + 1;  // 0 if it has digits alone
    const std::string head = from.substr(0, digits);
    const auto first = parse_number<unsigned>(from.substr(digits));
    const auto last = parse_number<unsigned>(to.starts_with(head) ? to.substr(head.size()) : to);
    const bool may_be_name = sign == "-" && !to.starts_with(head) && !begins_like(from, rdma_name_heads());
    if (head.empty() || may_be_name || !first || !last || *first >= *last || *last - *first >= kMost) continue;
    if (*last <= 9) return {head + "[" + std::to_string(*first) + "-" + std::to_string(*last) + "]"};
    std::vector<std::string> out;
    for (unsigned number = *first; number <= *last; ++number) out.push_back(head + std::to_string(number));
    return out;
  }
  return {};
}

}  // namespace

bool begins_like(std::string_view pattern, std::span<const std::string_view> heads) {
  return std::ranges::any_of(heads, [&](std::string_view head) {
    return pattern.starts_with(head) && pattern.size() > head.size() &&
           std::string_view("0123456789*?[").find(pattern[head.size()]) != std::string_view::npos;
  });
}

std::optional<PatternDoubt> pattern_doubt(std::string_view key, const std::string& pattern) {
  const std::string plain = plain_of(pattern), quoted = toml_string(pattern);
  const bool is_statistic = key == "ethtool";  // "[0]: rx_packets" of bnxt_en has a blank, and others have dots
  if (plain.find_first_of(is_statistic ? ",;" : ",; \t") != std::string::npos) {
    std::string list = pattern;
    if (list.starts_with('=') && !is_statistic) list.erase(0, 1);  // of NCCL_IB_HCA: these names exactly
    return PatternDoubt{quoted + " is one pattern, and no name has a comma or a blank", texts_of(list)};
  }
  if (is_statistic) return std::nullopt;
  if (plain.starts_with('=')) return PatternDoubt{"no name begins with \"=\", as in NCCL_IB_HCA", {pattern.substr(1)}};
  // "^mlx5_0" excludes in NCCL_IB_HCA, and is "mlx5_0" as a regular expression.
  const bool is_expression = plain.ends_with('$') || plain.find(".*") != std::string::npos;
  if (plain.starts_with('!') || (plain.starts_with('^') && !is_expression))
    return PatternDoubt{quoted + " excludes nothing: a pattern names what matches"};
  // "ens1.*" also is the pattern of VLANs.
  const size_t dots = plain.find(".*");
  const bool is_vlan = key == "netdev" && dots != std::string::npos && dots > 0 && is_digit(plain[dots - 1]);
  const bool has_class = pattern.find("\\d") != std::string::npos || pattern.find("\\w") != std::string::npos;
  const bool is_regex = plain.starts_with('^') || plain.find_first_of("|+$(") != std::string::npos || has_class ||
                        (dots != std::string::npos && !is_vlan);
  if (is_regex) {
    std::string glob = pattern;
    if (glob.starts_with('^')) glob.erase(0, 1);
    if (glob.ends_with('$')) glob.pop_back();
    for (const auto& [regex, same] : {std::pair("\\d", "[0-9]"), std::pair("]+", "]*"), std::pair(".*", "*")})
      for (size_t at = glob.find(regex); at != std::string::npos; at = glob.find(regex))
        glob.replace(at, std::string_view(regex).size(), same);
    std::ranges::replace(glob, '|', ',');
    PatternDoubt out{quoted + " is a regular expression, and patterns are as in glob(7)"};
    if (glob.find_first_of("()^$+\\") == std::string::npos) out.instead = texts_of(glob);
    return out;
  }
  if (plain.find("..") != std::string::npos || key == "rdma" || key == "exclude")
    if (std::vector<std::string> names = names_of_range(pattern); !names.empty())
      return PatternDoubt{quoted + " is one name, not a range", std::move(names)};
  return std::nullopt;
}

void warn_of_patterns(ConfigReader& reader, const toml::node& node, std::string_view section, std::string_view key,
                      const std::vector<std::string>& patterns, const FindDoubt& find) {
  std::vector<std::string> doubts;
  Json value = Json::array();
  bool is_certain = true;
  for (const std::string& pattern : patterns) {
    const auto doubt = find(pattern);
    if (doubt) doubts.push_back(doubt->what);
    if (doubt && doubt->instead.empty()) is_certain = false;
    for (const std::string& each : doubt ? doubt->instead : std::vector{pattern}) {
      if (doubt && (!is_glob(each) || find(each))) is_certain = false;
      if (!contains(value, Json(each))) value.push_back(each);
    }
  }
  if (value.size() == 1) value = Json(value.front());
  for (const std::string& doubt : doubts) {
    std::string text = std::string(section) + "." + std::string(key) + ": " + doubt;
    if (is_certain) text += "; write " + std::string(key) + " = " + json_toml(value);
    reader.warn(node.source().begin, text);
  }
}

bool is_glob(std::string_view pattern) {
  for (size_t at = 0; at < pattern.size(); ++at) {
    const char letter = pattern[at];
    if (letter == '{' || letter == '}') return false;
    if (letter == '\\') ++at;
    if (letter != '[') continue;
    const std::string_view set = pattern.substr(at + 1);
    const bool negated = set.starts_with('!') || set.starts_with('^');
    at = pattern.find(']', at + (negated ? 3 : 2));  // a ']' at the start of a set is a member of it
    if (at == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace fabric::config
