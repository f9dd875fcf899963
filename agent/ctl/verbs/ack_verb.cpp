// SPDX-License-Identifier: Apache-2.0
// ack: acknowledges a finding. It is still shown, but does not count until it has cleared or the time is over.
#include <pwd.h>

#include <cstdlib>

#include "base/json.h"
#include "ctl/output/table.h"
#include "ctl/verbs/write_verbs.h"
#include "judge/engine.h"
#include "judge/health_state.h"

namespace fabric::ctl {
namespace {

constexpr std::chrono::hours kUsually{24};
constexpr const char* kAll = "all subjects";
constexpr const char* kLock = "var/lib/fabric-agent/acks.lock";  // against two writers

// The user, also behind sudo.
std::string user_name() {
  if (const char* user = std::getenv("SUDO_USER"); user != nullptr && *user != '\0') return user;
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr ? std::to_string(::getuid()) : entry->pw_name;
}

void list(const std::vector<Ack>& acks, const Root& root, int64_t wall, const Options& options, Output& output) {
  const auto memory = load_health(root);
  const auto held = standing(acks, memory && *memory ? (*memory)->acks : std::vector<AckSeen>{}, wall);
  Json all = Json::array();
  Table table({"CHECK", "SUBJECT", "UNTIL", "BY", "COMMENT"});
  for (const Ack& ack : held) {
    all.push_back({{"id", ack.id},
                   {"subject", ack.subject},
                   {"at", time_text(ack.at)},
                   {"until", time_text(ack.until)},
                   {"by", ack.by},
                   {"comment", ack.comment}});
    table.add({ack.id, ack.subject.empty() ? kAll : ack.subject, time_text(ack.until), ack.by, ack.comment});
  }
  if (options.json) output.text += json_text(all);
  else output.text += held.empty() ? "No acknowledged findings.\n" : table.text(output);
}

// Of reading or writing the file.
int no_file(const Error& error, Output& output) {
  const char* advice = error.code == EBADMSG ? "; it can be deleted" : ::geteuid() == 0 ? "" : "; requires root";
  return fail(output, kFailure, "ack: " + error.text() + advice);
}

// Adds or removes the acknowledgement. Returns the sentence for the operator.
Result<std::string> change(std::vector<Ack>& acks, const Options& options, int64_t wall) {
  const auto& words = options.arguments;
  const std::string subject = words.size() > 1 ? words[1] : std::string();
  const std::string name = words[0] + " " + (subject.empty() ? kAll : subject);
  const auto known = std::erase_if(acks, [&](const Ack& ack) {
    return ack.id == words[0] && (ack.subject == subject || (options.remove && words.size() == 1));
  });
  std::erase_if(acks, [&](const Ack& ack) { return ack.until <= wall; });
  if (options.remove && known == 0) return error(0, name + " is not acknowledged; see --list");
  if (options.remove) return name + ": acknowledgement removed\n";
  const int64_t until =
      wall + std::chrono::duration_cast<std::chrono::seconds>(options.lasting.value_or(kUsually)).count();
  acks.push_back({words[0], subject, wall, until, clean_text(user_name()), clean_text(options.comment)});
  return name + ": acknowledged until " + time_text(until) + " or until it has cleared\n";
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
  const bool writes = !options.list;
  if (auto host = must_be_host(options); writes && !host) return fail(output, kFailure, "ack: " + host.error().text());
  auto lock = writes ? state::take_lock(options.root, kLockPatience, kLock) : Result<Fd>(Fd());
  if (!lock) return no_file(lock.error(), output);
  auto acks = load_acks(kernel->root);
  if (!acks) return no_file(acks.error(), output);
  const int64_t wall = wall_now(*kernel);
  if (writes) {
    auto done = change(*acks, options, wall);
    if (!done) return fail(output, kFailure, "ack: " + done.error().text());
    if (auto saved = save_acks(options.root, *acks); !saved) return no_file(saved.error(), output);
    if (!options.json) output.text += *done;
  }
  if (options.list || options.json) list(*acks, kernel->root, wall, options, output);
  return kDone;
}

}  // namespace fabric::ctl
