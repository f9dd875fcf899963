// SPDX-License-Identifier: Apache-2.0
// ack: acknowledges a finding. The finding is still shown, but does not count until it has cleared or the time is over.
#include <pwd.h>

#include <cstdlib>

#include "base/json.h"
#include "ctl/output/table.h"
#include "ctl/verbs/write_verbs.h"
#include "judge/health_state.h"
#include "judge/rule.h"

namespace fabric::ctl {
namespace {

constexpr std::chrono::hours kUsually{24};
constexpr const char* kAll = "all subjects";
constexpr const char* kLock = "var/lib/fabric-agent/acks.lock";  // against two writers

void print_list(const std::vector<Ack>& acks, const Root& root, int64_t wall, const Options& options, Output& output) {
  std::vector<AckSeen> seen;
  if (const auto memory = load_health(root); memory && *memory) seen = (*memory)->acks;
  Json all = Json::array();
  Table table({"CHECK", "SUBJECT", "UNTIL", "BY", "COMMENT"});
  for (const Ack& ack : active_acks(acks, seen, wall)) {
    all.push_back({{"id", ack.id},
                   {"subject", ack.subject},
                   {"at", time_text(ack.at)},
                   {"until", time_text(ack.until)},
                   {"by", ack.by},
                   {"comment", ack.comment}});
    std::string subject = ack.subject;
    if (subject.empty()) subject = kAll;
    table.add({ack.id, subject, time_text(ack.until), ack.by, ack.comment});
  }
  if (options.json) output.text += json_text(all);
  else if (table.empty()) output.text += "No acknowledged findings.\n";
  else output.text += table.text(output);
}

// Reports a failure to read or write the file of acknowledgements, or to lock it.
int file_failure(const Error& error, Output& output) {
  std::string text = "ack: " + error.text();
  if (error.code == EBADMSG) text += "; it can be deleted";
  else if (::geteuid() != 0) text += "; requires root";
  return fail(output, kFailure, text);
}

}  // namespace

int run_ack(const Options& options, Output& output) {
  const auto& words = options.arguments;
  if (words.size() > 2) return fail(output, kUsage, "ack: too many arguments: " + words[2]);
  if (words.empty() && !options.list)
    return fail(output, kUsage, "ack: requires a finding: fabric-agentctl ack CHECK [SUBJECT], or --list");
  if (!words.empty() && find_rule(words[0]) == nullptr)
    return fail(output, kUsage, "ack: unknown check '" + words[0] + "'; see fabric-agentctl explain");
  auto kernel = options.open(options.root);
  if (!kernel) return fail(output, kFailure, "ack: " + kernel.error().text());
  Fd lock;
  if (!options.list) {
    if (auto host = must_be_host(options); !host) return fail(output, kFailure, "ack: " + host.error().text());
    auto taken = state::take_lock(options.root, kLockPatience, kLock);
    if (!taken) return file_failure(taken.error(), output);
    lock = std::move(taken).value();
  }
  auto acks = load_acks(kernel->root);
  if (!acks) return file_failure(acks.error(), output);
  const int64_t wall = wall_now(*kernel);
  if (!options.list) {
    std::string subject, name = words[0] + " " + kAll;
    if (words.size() > 1) subject = words[1];
    if (!subject.empty()) name = words[0] + " " + subject;
    const auto known = std::erase_if(*acks, [&](const Ack& ack) {
      return ack.id == words[0] && (ack.subject == subject || (options.remove && words.size() == 1));
    });
    std::erase_if(*acks, [&](const Ack& ack) { return ack.until <= wall; });
    std::string done = name + ": acknowledgement removed\n";
    if (options.remove) {
      if (known == 0) return fail(output, kFailure, "ack: " + name + " is not acknowledged; see --list");
    } else {
      const int64_t until =
          wall + std::chrono::duration_cast<std::chrono::seconds>(options.lasting.value_or(kUsually)).count();
      std::string user = std::to_string(::getuid());
      const passwd* entry = ::getpwuid(::getuid());
      if (entry != nullptr) user = entry->pw_name;
      if (const char* caller = std::getenv("SUDO_USER"); caller != nullptr && *caller != '\0') user = caller;
      acks->push_back({words[0], subject, wall, until, clean_text(user), clean_text(options.comment)});
      done = name + ": acknowledged until " + time_text(until) + " or until it has cleared\n";
    }
    if (auto saved = save_acks(options.root, *acks); !saved) return file_failure(saved.error(), output);
    if (!options.json) output.text += done;
  }
  if (options.list || options.json) print_list(*acks, kernel->root, wall, options, output);
  return kDone;
}

}  // namespace fabric::ctl
