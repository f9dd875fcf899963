// SPDX-License-Identifier: Apache-2.0
#include "support/sim_files.h"

#include <algorithm>
#include <cerrno>

#include "base/parse.h"

namespace fabric::test {
namespace {

Result<void> verdict(int code, const std::string& file) {
  if (code == 0) return {};
  return error(code, file);
}

std::string log_line(BehindFiles::Act act, const std::string& file, std::string_view text) {
  if (act == BehindFiles::Act::make_directory) return "mkdir " + file;
  if (act == BehindFiles::Act::remove_directory) return "rmdir " + file;
  return file + " = " + std::string(trim(text));
}

}  // namespace

SimFiles& SimFiles::add(Act act, std::string glob, Handler handler) {
  rules_.push_back({act, std::move(glob), std::move(handler)});
  return *this;
}

SimFiles& SimFiles::on_write(std::string glob, Handler handler) {
  return add(Act::write, std::move(glob), std::move(handler));
}

SimFiles& SimFiles::on_make_directory(std::string glob, Handler handler) {
  return add(Act::make_directory, std::move(glob), std::move(handler));
}

SimFiles& SimFiles::on_remove_directory(std::string glob, Handler handler) {
  return add(Act::remove_directory, std::move(glob), std::move(handler));
}

std::optional<Result<void>> SimFiles::act(Act act, const std::string& file, std::string_view text) {
  if (act != Act::read) return verdict(change(act, file, text), file);
  reads.push_back(file);
  const auto closed = std::find_if(unreadable_.rbegin(), unreadable_.rend(),
                                   [&](const Unreadable& each) { return glob_match(each.glob, file); });
  return verdict(closed == unreadable_.rend() ? 0 : closed->code, file);
}

SimFiles::Fault* SimFiles::striking(const std::string& file) {
  const auto found = std::find_if(faults_.rbegin(), faults_.rend(), [&](const Fault& fault) {
    return fault.times != 0 && (fault.nth == 0 || fault.nth == changes()) && glob_match(fault.glob, file);
  });
  if (found == faults_.rend()) return nullptr;
  if (found->times > 0) --found->times;
  return &*found;
}

int SimFiles::change(Act act, const std::string& file, std::string_view text) {
  before(changes() + 1, file);
  log.push_back(log_line(act, file, text));
  if (const Fault* fault = striking(file)) {
    if (fault->action == Fault::vanish) vanished();
    if (fault->action == Fault::refuse) return fault->code;
    return fault->action == Fault::vanish ? ENODEV : 0;
  }
  const bool there = tree.root().exists(file);
  if (act == Act::make_directory ? there : !there) return there ? EEXIST : ENOENT;
  const auto rule = std::find_if(rules_.rbegin(), rules_.rend(),
                                 [&](const Rule& each) { return each.act == act && glob_match(each.glob, file); });
  if (rule != rules_.rend()) return rule->handler(*this, file, text);
  return act == Act::write ? EACCES : EPERM;
}

std::optional<uint32_t> kernel_number(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  if (text != trim(text)) return std::nullopt;
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_number<uint32_t>(text, 16);
  return parse_number<uint32_t>(text, text.size() > 1 && text.front() == '0' ? 8 : 10);
}

SimFiles::Handler store_number(uint32_t min, uint32_t max) {
  return [=](SimFiles& files, const std::string& file, std::string_view text) {
    const auto value = kernel_number(text);
    if (!value || *value < min || *value > max) return EINVAL;
    files.tree.file(file, std::to_string(*value) + "\n");
    return 0;
  };
}

SimFiles::Handler ignore_text() {
  return [](SimFiles&, const std::string&, std::string_view) { return 0; };
}

SimFiles::Handler refuse_text(int code) {
  return [code](SimFiles&, const std::string&, std::string_view) { return code; };
}

}  // namespace fabric::test
