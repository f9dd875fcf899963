// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/envelope.h"

#include <utility>

#include "base/json.h"
#include "base/parse.h"
#include "judge/lines/time.h"

namespace fabric::lines {
namespace {

// Removes the color sequences of a terminal (ECMA-48, CSI and OSC), which hide the beginning of a word. Also as
// journals and pagers print the escape character: "^[", "#033" (rsyslog), "\033"; and sequences that lost it in a copy:
// "[0m".
std::string without_colors(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t escape = 0;  // bytes of the escape character
    for (const std::string_view form : {"\x1b", "^[", "#033", "\\033", "\\x1b", "\\u001b"})
      if (text.substr(at).starts_with(form)) escape = form.size();
    const std::string_view rest = text.substr(at + escape);
    if (escape != 0 && rest.starts_with("]")) {  // OSC: until BEL or ST
      const size_t end = rest.find_first_of("\a\x1b");
      at = end == std::string_view::npos ? text.size() : at + escape + end + 1;
      if (at < text.size() && text[at] == '\\') ++at;
      continue;
    }
    if (rest.starts_with("[")) {
      const size_t end = rest.find_first_not_of("0123456789;:?", 1);
      const bool is_bare = escape == 0;
      const bool is_sgr = end != std::string_view::npos && rest[end] == 'm' && end > 1 && end < 12 &&
                          (end + 1 == rest.size() || rest[end + 1] != ']');
      if (is_bare && is_sgr) {
        at += end + 1;
        continue;
      }
      if (!is_bare) {
        at = end == std::string_view::npos ? text.size() : at + escape + end + 1;
        continue;
      }
    }
    if (escape == 1) {
      ++at;
      continue;
    }
    out += text[at++];
  }
  return out;
}

bool is_time(std::string_view text) {
  return text.size() >= 20 && text[4] == '-' && text[7] == '-' && text[10] == 'T' && text[13] == ':';
}

// "2026-06-12T09:02:55.120331Z stderr F text"; P: a part of a line.
std::optional<Unwrapped> read_cri(std::string_view line) {
  const size_t blank = line.find(' ');
  if (blank == std::string_view::npos || !is_time(line.substr(0, blank))) return std::nullopt;
  std::string_view rest = line.substr(blank + 1);
  if (!rest.starts_with("stdout ") && !rest.starts_with("stderr ")) return std::nullopt;
  rest.remove_prefix(7);
  if (rest.size() < 2 || (rest[0] != 'F' && rest[0] != 'P') || (rest[1] != ' ' && rest[1] != ':')) return std::nullopt;
  const bool is_part = rest[0] == 'P';
  return Unwrapped{std::string(rest.substr(2)), time_of(line.substr(0, blank), 0, 0), is_part};
}

// A text, or a list of bytes.
std::optional<std::string> text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  if (!found->is_array()) return std::nullopt;
  std::string out;
  for (const Json& byte : *found) {
    if (!byte.is_number_unsigned() || byte.get<uint64_t>() > 255) return std::nullopt;
    out += static_cast<char>(byte.get<uint64_t>());
  }
  return out;
}

constexpr unsigned kWarning = 4;  // of syslog

// The level that journald, loggers in JSON, and clouds give. The journald driver of container engines gives each line
// of stderr the level 3, which says nothing.
LineLevel level_of(const Json& object) {
  if (object.contains("CONTAINER_ID") || object.contains("CONTAINER_NAME")) return LineLevel::none;
  if (const auto priority = text_member(object, "PRIORITY"))
    if (const auto number = parse_number<unsigned>(*priority)) {
      if (*number <= kWarning) return LineLevel::problem;
      return text_member(object, "_TRANSPORT") == "kernel" ? LineLevel::information : LineLevel::none;
    }
  for (const char* key : {"level", "severity"})
    if (const auto text = text_member(object, key)) {
      const std::string small = lower(*text);
      for (const std::string_view word : {"warn", "err", "crit", "fatal", "alert", "emerg"})
        if (small.starts_with(word)) return LineLevel::problem;
    }
  return LineLevel::none;
}

std::optional<Unwrapped> read_json(std::string_view line) {
  line = trim(line);
  if (!line.starts_with('{') || !line.ends_with('}')) return std::nullopt;
  const Json object = Json::parse(line, nullptr, false);
  if (!object.is_object()) return std::nullopt;
  Unwrapped out;
  std::optional<std::string> text;
  for (const char* key : {"log", "MESSAGE", "message", "msg"})
    if (!text) text = text_member(object, key);
  if (!text) return std::nullopt;
  out.text = std::move(*text);
  // Which part of a program prints it.
  if (const auto logger = text_member(object, "logger"); logger && !logger->empty() && logger->size() < 64)
    out.text = *logger + ": " + out.text;
  out.level = level_of(object);
  // docker splits long lines; only the last part has the newline.
  if (object.contains("log") && object.contains("stream")) out.is_part = !out.text.ends_with('\n');
  while (out.text.ends_with('\n') || out.text.ends_with('\r')) out.text.pop_back();
  if (const auto stamp = text_member(object, "__REALTIME_TIMESTAMP"))
    if (const auto microseconds = parse_number<int64_t>(*stamp)) out.time = *microseconds / 1'000'000;
  for (const char* key : {"time", "@timestamp", "timestamp", "ts"})
    if (const auto stamp = text_member(object, key); stamp && !out.time) out.time = time_of(*stamp, 0, 0);
  return out;
}

// "<3>1 2026-06-12T09:02:55Z node-a kernel - - - text" (RFC 5424) without priority and version; "<3>text" of printk;
// "kern  :err   : [   12.3] text" of dmesg -x.
std::string_view without_priority(std::string_view line, LineLevel& level) {
  constexpr std::string_view kDmesg = "kern  :";
  if (line.starts_with(kDmesg)) {
    const size_t end = line.find(" : [");
    if (end == std::string_view::npos || end > kDmesg.size() + 6) return line;
    const std::string_view name = trim(line.substr(kDmesg.size(), end - kDmesg.size()));
    const bool is_lower = name == "notice" || name == "info" || name == "debug";
    level = is_lower ? LineLevel::information : LineLevel::problem;
    return line.substr(end + 3);
  }
  if (!line.starts_with('<')) return line;
  const size_t end = line.find('>');
  if (end == std::string_view::npos || end > 4) return line;
  const auto priority = parse_number<unsigned>(line.substr(1, end - 1));
  if (!priority) return line;
  constexpr unsigned kLevels = 8;  // the rest of the number is the facility; 0 is the kernel
  if (*priority % kLevels <= kWarning) level = LineLevel::problem;
  else if (*priority < kLevels) level = LineLevel::information;
  line.remove_prefix(end + 1);
  if (line.starts_with("1 ")) line.remove_prefix(2);
  return line;
}

}  // namespace

Unwrapped unwrap(std::string_view line) {
  line = line.substr(0, kMaxRaw);
  while (line.ends_with('\r') || line.ends_with('\n')) line.remove_suffix(1);
  Unwrapped out;
  if (auto cri = read_cri(line)) out = std::move(*cri);
  else out.text = std::string(line);
  if (auto json = read_json(out.text)) {
    if (!json->time) json->time = out.time;
    json->is_part = json->is_part || out.is_part;
    out = std::move(*json);
  }
  out.text = without_colors(without_priority(out.text, out.level));
  return out;
}

std::string not_text(std::string_view beginning) {
  struct Format {
    std::string_view magic, name, command;
  };
  using namespace std::string_view_literals;
  constexpr Format kFormats[] = {
      {"\x1f\x8b"sv, "compressed (gzip)"sv, "zcat FILE"sv},
      {"\x28\xb5\x2f\xfd"sv, "compressed (zstd)"sv, "zstdcat FILE"sv},
      {"\xfd\x37zXZ"sv, "compressed (xz)"sv, "xzcat FILE"sv},
      {"BZh"sv, "compressed (bzip2)"sv, "bzcat FILE"sv},
      {"PK\x03\x04"sv, "an archive (zip)"sv, "unzip -p FILE"sv},
      {"LPKSHHRH"sv, "a journal of systemd"sv, "journalctl --file FILE"sv},
      {"\xff\xfe"sv, "UTF-16"sv, "iconv -f UTF-16 -t UTF-8 FILE"sv},
      {"\xfe\xff"sv, "UTF-16"sv, "iconv -f UTF-16 -t UTF-8 FILE"sv},
  };
  for (const Format& format : kFormats)
    if (beginning.starts_with(format.magic))
      return std::string(format.name) + ": " + std::string(format.command) + " | fabric-agentctl explain -";
  // UTF-16 without a byte order mark: every other byte of ASCII is zero.
  size_t zeros[2] = {};
  const std::string_view sample = beginning.substr(0, 512);
  for (size_t i = 0; i < sample.size(); ++i) zeros[i % 2] += sample[i] == '\0';
  if (sample.size() >= 8 && (zeros[0] * 4 > sample.size() || zeros[1] * 4 > sample.size()) &&
      (zeros[0] == 0 || zeros[1] == 0)) {
    const std::string order = zeros[0] > 0 ? "UTF-16BE" : "UTF-16LE";
    return "UTF-16: iconv -f " + order + " -t UTF-8 FILE | fabric-agentctl explain -";
  }
  return {};
}

}  // namespace fabric::lines
