// SPDX-License-Identifier: Apache-2.0
#include "node/systemd.h"

#include <algorithm>
#include <cmath>

#include "base/find.h"
#include "base/parse.h"

namespace fabric::unit_file {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

// Takes the digits at the front; nullopt: there are none or too many.
std::optional<uint64_t> take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, is_digit);
  const auto length = static_cast<size_t>(end - text.begin());
  const auto value = parse_number<uint64_t>(text.substr(0, length));
  text.remove_prefix(length);
  return value;
}

// "1G 512M", "1.5G": a sum of terms, each with a smaller unit than the one before it.
std::optional<uint64_t> parse_size(std::string_view text) {
  if (text == "infinity") return kNoLimit;
  text = trim(text);
  uint64_t sum = 0, previous_factor = UINT64_MAX;
  do {
    const auto whole = take_digits(text);
    if (!whole) return std::nullopt;
    double fraction = 0;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      const size_t before = text.size();
      const auto digits = take_digits(text);
      if (!digits) return std::nullopt;
      fraction = static_cast<double>(*digits) / std::pow(10.0, static_cast<double>(before - text.size()));
    }
    text = trim(text);
    uint64_t factor = 1;
    if (!text.empty() && !is_digit(text.front())) {
      const size_t power = std::string_view("BKMGTPE").find(text.front());
      if (power == std::string_view::npos) return std::nullopt;
      factor = uint64_t{1} << (10 * power);
      text = trim(text.substr(1));
    }
    if (factor >= previous_factor || *whole > UINT64_MAX / factor) return std::nullopt;
    previous_factor = factor;
    const uint64_t term = *whole * factor + static_cast<uint64_t>(fraction * static_cast<double>(factor));
    if (term >= kNoLimit - sum) return std::nullopt;
    sum += term;
  } while (!text.empty());
  return sum;
}

std::optional<uint64_t> parse_count(std::string_view text) {
  if (text == "infinity") return kNoLimit;
  const auto count = parse_number<uint64_t>(text);
  if (count == kNoLimit) return std::nullopt;
  return count;
}

std::optional<ResourceLimit> parse_limit(std::string_view text, std::optional<uint64_t> (*parse)(std::string_view)) {
  const size_t colon = text.find(':');
  const auto soft = parse(text.substr(0, colon));
  auto hard = soft;
  if (colon != std::string_view::npos) hard = parse(text.substr(colon + 1));
  if (!soft || !hard || *soft > *hard) return std::nullopt;
  return ResourceLimit{*soft, *hard};
}

}  // namespace

std::vector<Assignment> parse(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  // The lines without comments, and with continued lines joined.
  struct WholeLine {
    std::string text;
    unsigned number;
  };
  std::vector<WholeLine> lines;
  unsigned number = 0;
  bool goes_on = false;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view content = trim(line);
    if (content.starts_with('#') || content.starts_with(';')) continue;  // also amid a continued line
    if (!goes_on) lines.push_back({{}, number});
    lines.back().text += line;
    goes_on = (line.size() - (line.find_last_not_of('\\') + 1)) % 2 == 1;  // an odd number of backslashes
    if (goes_on) lines.back().text.back() = ' ';
  }

  std::vector<Assignment> found;
  std::string section;
  for (const auto& [whole, first] : lines) {
    const std::string_view line = trim(whole);
    if (line.starts_with('[')) {
      if (!line.ends_with(']')) break;
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const size_t equals = line.find('=');
    const std::string_view key = trim(line.substr(0, equals));
    if (section.empty() || equals == std::string_view::npos || key.empty()) continue;
    found.push_back({section, std::string(key), std::string(trim(line.substr(equals + 1))), first});
  }
  return found;
}

std::optional<ResourceLimit> parse_memory_limit(std::string_view text) { return parse_limit(text, parse_size); }

std::optional<ResourceLimit> parse_count_limit(std::string_view text) { return parse_limit(text, parse_count); }

}  // namespace fabric::unit_file

namespace fabric::systemd {
namespace {

constexpr const char* kLoadPath[] = {
    "etc/systemd/system.control",   "run/systemd/system.control",  "run/systemd/transient",
    "run/systemd/generator.early",  "etc/systemd/system",          "etc/systemd/system.attached",
    "run/systemd/system",           "run/systemd/system.attached", "run/systemd/generator",
    "usr/local/lib/systemd/system", "usr/lib/systemd/system",      "lib/systemd/system",
    "run/systemd/generator.late"};
constexpr const char* kConfigPath[] = {"etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd",
                                       "lib/systemd"};
constexpr size_t kMaxDropIns = 256;
constexpr std::string_view kSuffix = ".service";

// "slurmd@gpu01.service" -> "slurmd@.service"; empty for a unit that is not an instance.
std::string template_of(const std::string& name) {
  const size_t at = name.find('@');
  if (at == std::string::npos || !name.ends_with(kSuffix) || at + 1 + kSuffix.size() >= name.size()) return {};
  return name.substr(0, at + 1).append(kSuffix);
}

// Adds the files of a folder, by name; files of an earlier folder hide those of the same name.
void collect(const Root& root, const std::string& folder, std::map<std::string, std::string>& found) {
  for (const std::string& name : root.names_in(folder))
    if (name.ends_with(".conf") && found.size() < kMaxDropIns) found.emplace(name, folder + "/" + name);
}

void set_if_any(std::optional<LimitSetting>& member, std::optional<ResourceLimit> limit, FileLine where) {
  if (limit) member = LimitSetting{*limit, std::move(where)};
}

void read_limits(const Root& root, const std::string& file, const std::string& section, const std::string& prefix,
                 Limits& limits) {
  for (const unit_file::Assignment& each : unit_file::parse(root.text_of(file))) {
    if (each.section != section || !each.key.starts_with(prefix)) continue;
    const std::string_view what = std::string_view(each.key).substr(prefix.size());
    const FileLine where{"/" + file, each.line};
    if (what == "MEMLOCK") set_if_any(limits.memlock, unit_file::parse_memory_limit(each.value), where);
    if (what == "NOFILE") set_if_any(limits.nofile, unit_file::parse_count_limit(each.value), where);
    if (what == "CORE") set_if_any(limits.core, unit_file::parse_memory_limit(each.value), where);
  }
}

}  // namespace

UnitFiles::UnitFiles(const Root& root) : root_(root) {
  for (const char* path : kLoadPath)
    if (auto names = root.list(path)) folders_.push_back({path, {names->begin(), names->end()}});
}

const UnitFiles::Folder* UnitFiles::folder_with(const std::string& name) const {
  return find_where(folders_, [&](const Folder& each) { return each.names.count(name) != 0; });
}

std::vector<std::string> UnitFiles::drop_ins(const std::vector<std::string>& names) const {
  // The key is the file name, which gives the order of reading; the first file of a name hides others.
  std::map<std::string, std::string> found;
  for (const std::string& unit : names) {
    std::vector<std::string> own{unit + ".d"};
    if (const std::string pattern = template_of(unit); !pattern.empty()) own.push_back(pattern + ".d");
    // "a-b-c.service" also has "a-b-.service.d" and "a-.service.d".
    std::string prefix = unit.substr(0, unit.find('@'));
    if (prefix.ends_with(kSuffix)) prefix.resize(prefix.size() - kSuffix.size());
    while (true) {
      while (prefix.ends_with('-')) prefix.pop_back();
      const size_t dash = prefix.rfind('-');
      if (dash == std::string::npos) break;
      prefix.resize(dash + 1);
      own.push_back(prefix + std::string(kSuffix) + ".d");
    }
    for (const Folder& folder : folders_)
      for (const std::string& name : own)
        if (folder.names.contains(name)) collect(root_, folder.path + "/" + name, found);
  }
  for (const Folder& folder : folders_)
    if (folder.names.contains("service.d")) collect(root_, folder.path + "/service.d", found);
  std::vector<std::string> paths;
  for (auto& [name, path] : found) paths.push_back(std::move(path));
  return paths;
}

std::optional<Unit> UnitFiles::find(const std::string& name) const {
  std::string own = name;
  const Folder* folder = folder_with(own);
  if (folder == nullptr) {
    own = template_of(name);
    if (!own.empty()) folder = folder_with(own);
  }
  if (folder == nullptr) return std::nullopt;
  Unit unit;
  const std::string path = folder->path + "/" + own;
  unit.file = "/" + path;
  const auto text = root_.read_text(path);
  // Masked: the file is empty, a device, or, in a captured tree, missing.
  if (text) unit.masked = text->empty();
  else unit.masked = text.error().code == EINVAL || text.error().code == ENOENT;
  if (unit.masked) return unit;
  std::vector<std::string> names{name};
  // An alias has the drop-ins of the unit's own name as well.
  if (const auto real = root_.resolve(path); real && base_name(*real) != own) {
    unit.file = "/" + *real;
    names.push_back(base_name(*real));
  }
  unit.parts = drop_ins(names);
  unit.parts.insert(unit.parts.begin(), unit.file.substr(1));
  return unit;
}

Limits service_limits(const Root& root, const std::vector<std::string>& parts, Limits defaults) {
  for (const std::string& part : parts) read_limits(root, part, "Service", "Limit", defaults);
  return defaults;
}

Limits default_limits(const Root& root) {
  std::map<std::string, std::string> drop_ins;
  std::string main;
  for (const char* folder : kConfigPath) {
    const std::string file = std::string(folder) + "/system.conf";
    if (main.empty() && root.exists(file)) main = file;
    collect(root, file + ".d", drop_ins);
  }
  Limits limits;
  if (!main.empty()) read_limits(root, main, "Manager", "DefaultLimit", limits);
  for (const auto& [name, path] : drop_ins) read_limits(root, path, "Manager", "DefaultLimit", limits);
  return limits;
}

}  // namespace fabric::systemd
