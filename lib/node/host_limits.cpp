// SPDX-License-Identifier: Apache-2.0
#include "node/host_limits.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"

namespace fabric::host {
namespace {

constexpr size_t kMaxUserLimits = 1024, kMaxSlurmFiles = 32;
constexpr const char* kSlurmFiles[] = {"etc/slurm/slurm.conf", "run/slurm/conf/slurm.conf", "etc/slurm-llnl/slurm.conf",
                                       "usr/local/etc/slurm.conf", "opt/slurm/etc/slurm.conf"};

std::string_view without_comment(std::string_view line) { return line.substr(0, line.find('#')); }

std::optional<uint64_t> parse_limit(std::string_view text) {
  return text == "unlimited" ? std::optional<uint64_t>(kNoLimit) : parse_number<uint64_t>(text);
}

// "Max locked memory         8388608              unlimited            bytes"
std::optional<ResourceLimit> parse_row(std::string_view line, std::string_view name) {
  if (!line.starts_with(name)) return std::nullopt;
  const auto columns = words(line.substr(name.size()));
  if (columns.size() < 2) return std::nullopt;
  const auto soft = parse_limit(columns[0]), hard = parse_limit(columns[1]);
  if (!soft || !hard) return std::nullopt;
  return ResourceLimit{*soft, *hard};
}

// pam_limits takes KiB; "-1" and these words mean no limit.
std::optional<uint64_t> parse_kib(std::string_view text) {
  if (text == "-1" || text == "unlimited" || text == "infinity") return kNoLimit;
  const auto value = parse_number<uint64_t>(text);
  if (!value) return std::nullopt;
  return *value > kNoLimit / 1024 ? kNoLimit : *value * 1024;
}

UserLimit* entry_of(std::vector<UserLimit>& limits, std::string_view domain) {
  if (auto* found = find_where(limits, [&](const UserLimit& each) { return each.domain == domain; })) return found;
  return limits.size() == kMaxUserLimits ? nullptr : &limits.emplace_back(UserLimit{.domain = std::string(domain)});
}

bool lists_memlock(std::string_view list) {
  return std::ranges::any_of(split(list, ','), [](std::string_view each) {
    const std::string name = lower(trim(each));
    return name == "all" || name == "memlock" || name == "rlimit_memlock";
  });
}

// slurm.conf and what it includes, inline; each file once, so that a loop ends.
class SlurmReader {
 public:
  SlurmReader(const ReadFile& read, std::string folder, SlurmLimits& limits)
      : read_(read), folder_(std::move(folder)), limits_(limits) {}

  void parse(std::string_view text, const std::string& file) {
    if (files_.size() == kMaxSlurmFiles || !files_.insert(file).second) return;
    unsigned number = 0;
    for (const std::string_view line : split(text, '\n')) {
      const auto parts = words(without_comment(line));
      ++number;
      if (parts.size() >= 2 && lower(parts[0]) == "include") include(path_of(parts[1]));
      else
        for (const std::string_view word : parts) take(word, {file, number});
    }
  }

 private:
  void include(const std::string& file) {
    if (const auto text = read_ ? read_(file) : error(ENOENT, file)) parse(*text, file);
  }

  void take(std::string_view word, const FileLine& where) {
    const size_t equals = word.find('=');
    if (equals == std::string_view::npos) return;
    const std::string key = lower(word.substr(0, equals));
    const std::string_view value = word.substr(equals + 1);
    if (key == "clustername") cluster_ = value;
    if (key == "propagateresourcelimits") limits_ = {lists_memlock(value), where};
    if (key == "propagateresourcelimitsexcept") limits_ = {!lists_memlock(value), where};
  }

  // %c: the cluster's name. Without a leading slash, beside slurm.conf.
  std::string path_of(std::string_view name) const {
    std::string path = name.starts_with('/') ? std::string(name) : folder_ + std::string(name);
    if (const size_t at = path.find("%c"); at != std::string::npos) path.replace(at, 2, cluster_);
    return path;
  }

  const ReadFile& read_;
  std::string folder_, cluster_;
  SlurmLimits& limits_;
  std::set<std::string> files_;
};

}  // namespace

ProcessLimits parse_process_limits(std::string_view text) {
  ProcessLimits limits;
  for (const std::string_view line : split(text, '\n')) {
    if (const auto row = parse_row(line, "Max locked memory ")) limits.memlock = row;
    if (const auto row = parse_row(line, "Max open files ")) limits.nofile = row;
    if (const auto row = parse_row(line, "Max core file size ")) limits.core = row;
  }
  return limits;
}

void parse_user_limits(std::string_view text, const std::string& file, std::vector<UserLimit>& limits) {
  unsigned number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const auto columns = words(without_comment(line));
    if (columns.size() < 4 || lower(columns[2]) != "memlock" || columns[0] == "root") continue;
    const std::string type = lower(columns[1]);
    const auto bytes = parse_kib(lower(columns[3]));
    if (!bytes || (type != "-" && type != "soft" && type != "hard")) continue;
    UserLimit* entry = entry_of(limits, columns[0]);
    if (entry == nullptr) return;
    const LimitSetting setting{{*bytes, *bytes}, {file, number}};
    if (type != "hard") entry->soft = setting;
    if (type != "soft") entry->hard = setting;
  }
}

std::vector<UserLimit> read_user_limits(const Root& root) {
  std::vector<UserLimit> limits;
  const std::string folder = "etc/security/";
  parse_user_limits(root.text_of(folder + "limits.conf"), "/" + folder + "limits.conf", limits);
  auto names = root.names_in(folder + "limits.d");
  std::ranges::sort(names);
  for (const std::string& name : names)
    if (const std::string file = folder + "limits.d/" + name; name.ends_with(".conf"))
      parse_user_limits(root.text_of(file), "/" + file, limits);
  return limits;
}

SlurmLimits parse_slurm_limits(std::string_view text, const std::string& file, const ReadFile& read) {
  SlurmLimits limits{true, {file, 0}};
  SlurmReader(read, file.substr(0, file.rfind('/') + 1), limits).parse(text, file);
  return limits;
}

std::optional<SlurmLimits> read_slurm_limits(const Root& root) {
  for (const char* name : kSlurmFiles) {
    const std::string file = std::string("/") + name;
    if (const auto text = root.read_text(name))
      return parse_slurm_limits(*text, file, [&](const std::string& other) { return root.read_text(other.substr(1)); });
  }
  return std::nullopt;
}

}  // namespace fabric::host
