// SPDX-License-Identifier: Apache-2.0
#include "node/systemd.h"

#include <algorithm>
#include <cmath>

#include "base/find.h"
#include "base/parse.h"

namespace fabric::unit_file {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Line {
  std::string text;
  unsigned number;
};

// Without comments, and continued ones joined.
std::vector<Line> lines_of(std::string_view text) {
  std::vector<Line> out;
  unsigned number = 0;
  bool goes_on = false;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::string_view content = trim(line);
    if (content.starts_with('#') || content.starts_with(';')) continue;  // also amid a continued line
    if (!goes_on) out.push_back({{}, number});
    out.back().text += line;
    goes_on = (line.size() - (line.find_last_not_of('\\') + 1)) % 2 == 1;  // an odd number of backslashes
    if (goes_on) out.back().text.back() = ' ';
  }
  return out;
}

constexpr auto kIsDigit = [](char c) { return c >= '0' && c <= '9'; };

// Takes the digits at the front; nothing where there are none or too many.
std::optional<uint64_t> take_digits(std::string_view& text) {
  const auto end = std::ranges::find_if_not(text, kIsDigit);
  const auto length = static_cast<size_t>(end - text.begin());
  const auto value = parse_number<uint64_t>(text.substr(0, length));
  text.remove_prefix(length);
  return value;
}

// One term of a size: "1.5G". Its unit must be smaller than `limit`, the one before it.
std::optional<uint64_t> take_term(std::string_view& text, uint64_t& limit) {
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
  if (!text.empty() && !kIsDigit(text.front())) {
    const size_t power = std::string_view("BKMGTPE").find(text.front());
    if (power == std::string_view::npos) return std::nullopt;
    factor = uint64_t{1} << (10 * power);
    text = trim(text.substr(1));
  }
  if (factor >= limit || *whole > UINT64_MAX / factor) return std::nullopt;
  limit = factor;
  return *whole * factor + static_cast<uint64_t>(fraction * static_cast<double>(factor));
}

std::optional<uint64_t> parse_size(std::string_view text) {
  if (text == "infinity") return kNoLimit;
  text = trim(text);
  uint64_t sum = 0, limit = UINT64_MAX;
  do {
    const auto term = take_term(text, limit);
    if (!term || *term >= kNoLimit - sum) return std::nullopt;
    sum += *term;
  } while (!text.empty());
  return sum;
}

std::optional<uint64_t> parse_count(std::string_view text) {
  if (text == "infinity") return kNoLimit;
  const auto count = parse_number<uint64_t>(text);
  return count == kNoLimit ? std::nullopt : count;
}

template <class Parse>
std::optional<ResourceLimit> parse_limit(std::string_view text, Parse parse_one) {
  const size_t colon = text.find(':');
  const auto soft = parse_one(text.substr(0, colon));
  const auto hard = colon == std::string_view::npos ? soft : parse_one(text.substr(colon + 1));
  if (!soft || !hard || *soft > *hard) return std::nullopt;
  return ResourceLimit{*soft, *hard};
}

}  // namespace

std::vector<Assignment> parse(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  std::vector<Assignment> found;
  std::string section;
  for (const auto& [whole, number] : lines_of(text)) {
    const std::string_view line = trim(whole);
    if (line.starts_with('[')) {
      if (!line.ends_with(']')) break;
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const size_t equals = line.find('=');
    const std::string_view key = trim(line.substr(0, equals));
    if (section.empty() || equals == std::string_view::npos || key.empty()) continue;
    found.push_back({section, std::string(key), std::string(trim(line.substr(equals + 1))), number});
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

// A unit's drop-in folders, without the one of its type: "a-b.service.d", "a-.service.d".
std::vector<std::string> folders_of(const std::string& name) {
  std::vector<std::string> out{name + ".d"};
  const std::string pattern = template_of(name);
  if (!pattern.empty()) out.push_back(pattern + ".d");
  std::string prefix = name.substr(0, name.find('@'));
  if (prefix.ends_with(kSuffix)) prefix.resize(prefix.size() - kSuffix.size());
  while (true) {
    while (prefix.ends_with('-')) prefix.pop_back();
    const size_t dash = prefix.rfind('-');
    if (dash == std::string::npos) return out;
    prefix.resize(dash + 1);
    out.push_back(prefix + std::string(kSuffix) + ".d");
  }
}

// Name -> path of the files in a folder that hide no more important ones.
void collect(const Root& root, const std::string& folder, std::map<std::string, std::string>& found) {
  for (const std::string& name : root.names_in(folder))
    if (name.ends_with(".conf") && found.size() < kMaxDropIns) found.emplace(name, folder + "/" + name);
}

void keep(std::optional<LimitSetting>& member, std::optional<ResourceLimit> limit, FileLine where) {
  if (limit) member = LimitSetting{*limit, std::move(where)};
}

void read_limits(const Root& root, const std::string& file, const std::string& section, const std::string& prefix,
                 Limits& limits) {
  for (const unit_file::Assignment& each : unit_file::parse(root.text_of(file))) {
    if (each.section != section || !each.key.starts_with(prefix)) continue;
    const std::string_view what = std::string_view(each.key).substr(prefix.size());
    const FileLine where{"/" + file, each.line};
    if (what == "MEMLOCK") keep(limits.memlock, unit_file::parse_memory_limit(each.value), where);
    if (what == "NOFILE") keep(limits.nofile, unit_file::parse_count_limit(each.value), where);
    if (what == "CORE") keep(limits.core, unit_file::parse_memory_limit(each.value), where);
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
  std::map<std::string, std::string> found;  // the first of a file name hides the others; they are read by file name
  const auto look_into = [&](const std::string& name, const Folder& folder) {
    if (folder.names.count(name) != 0) collect(root_, folder.path + "/" + name, found);
  };
  for (const std::string& unit : names)
    for (const Folder& folder : folders_)
      for (const std::string& name : folders_of(unit)) look_into(name, folder);
  for (const Folder& folder : folders_) look_into("service.d", folder);
  std::vector<std::string> paths;
  for (auto& [name, path] : found) paths.push_back(std::move(path));
  return paths;
}

std::optional<Unit> UnitFiles::find(const std::string& name) const {
  std::string own = name;
  const Folder* folder = folder_with(own);
  if (folder == nullptr) {
    own = template_of(name);
    folder = own.empty() ? nullptr : folder_with(own);
  }
  if (folder == nullptr) return std::nullopt;
  Unit unit;
  const std::string path = folder->path + "/" + own;
  unit.file = "/" + path;
  const auto text = root_.read_text(path);
  // A device, or, in a captured tree, one that is not there.
  unit.masked = text ? text->empty() : text.error().code == EINVAL || text.error().code == ENOENT;
  if (unit.masked) return unit;
  std::vector<std::string> names{name};
  if (const auto real = root_.resolve(path);
      real && base_name(*real) != own) {  // an alias: the unit's own drop-ins count, too
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
