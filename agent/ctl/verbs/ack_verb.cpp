// SPDX-License-Identifier: Apache-2.0
// ack: acknowledges a finding. It is still shown, but does not count until it has cleared or the time is over.
#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "base/json.h"
#include "base/parse.h"
#include "checks/check.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/writer.h"
#include "ctl/world.h"
#include "health/health.h"
#include "kernel/kernel.h"
#include "model/report.h"
#include "model/view.h"
#include "store/health_state.h"
#include "store/state.h"

namespace fabric::ctl {
namespace {

constexpr std::chrono::hours kUsually{24};
constexpr std::chrono::seconds kAckPatience{5};
constexpr const char* kLock = "var/lib/fabric-agent/acks.lock";  // against two writers

int failure(int code, const std::string& what, Output& output) { return fail(output, code, "ack: " + what); }

// The user, also behind sudo.
std::string user_name() {
  if (const char* user = std::getenv("SUDO_USER"); user != nullptr && *user != '\0') return user;
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr ? std::to_string(::getuid()) : entry->pw_name;
}

std::string subject_text(const std::string& subject) { return subject.empty() ? "all subjects" : subject; }

int list(const std::vector<Ack>& acks, const Root& root, int64_t wall, const Options& options, Output& output) {
  const auto memory = load_health(root);
  const auto held = standing(acks, memory && *memory ? (*memory)->acks : std::vector<AckSeen>{}, wall);
  if (options.json) {
    Json all = Json::array();
    for (const Ack& ack : held) {
      Json one = Json::object({{"id", ack.id},
                               {"subject", ack.subject},
                               {"at", time_text(ack.at)},
                               {"until", time_text(ack.until)},
                               {"by", ack.by},
                               {"comment", ack.comment}});
      all.push_back(std::move(one));
    }
    output.text += json_text(all);
    return kDone;
  }
  Table table({"CHECK", "SUBJECT", "UNTIL", "BY", "COMMENT"});
  for (const Ack& ack : held) table.add({ack.id, subject_text(ack.subject), time_text(ack.until), ack.by, ack.comment});
  output.text += held.empty() ? "No acknowledged findings.\n" : table.text(output);
  return kDone;
}

const char* needs_root() { return ::geteuid() == 0 ? "" : "; requires root"; }

int save(const std::vector<Ack>& acks, const std::string& done, const Root& root, int64_t wall, const Options& options,
         Output& output) {
  auto saved = save_acks(options.root, acks);
  if (!saved) return failure(kFailure, saved.error().text() + needs_root(), output);
  if (options.json) return list(acks, root, wall, options, output);
  output.text += done + "\n";
  return kDone;
}

}  // namespace

int run_ack(const Options& options, Output& output) {
  const auto& words = options.arguments;
  if (words.size() > 2) return failure(kUsage, "too many arguments: " + words[2], output);
  if (words.empty() && !options.list)
    return failure(kUsage, "requires a finding: fabric-agentctl ack CHECK [SUBJECT], or --list", output);
  if (!words.empty() && find_check(words[0]) == nullptr)
    return failure(kUsage, "unknown check '" + words[0] + "'; see fabric-agentctl explain", output);
  auto kernel = options.open(options.root);
  if (!kernel) return failure(kFailure, kernel.error().text(), output);
  const bool writes = !options.list;
  if (auto host = must_be_host(options); writes && !host) return failure(kFailure, host.error().text(), output);
  auto lock = writes ? state::take_lock(options.root, kAckPatience, kLock) : Result<Fd>(Fd());
  if (!lock) return failure(kFailure, lock.error().text() + needs_root(), output);
  auto acks = load_acks(kernel->root);
  if (!acks)
    return failure(kFailure,
                   acks.error().text() + (acks.error().code == EBADMSG ? "; it can be deleted" : needs_root()), output);
  const int64_t wall = wall_now(*kernel);
  if (options.list) return list(*acks, kernel->root, wall, options, output);
  const std::string subject = words.size() > 1 ? words[1] : std::string();
  const auto known = std::erase_if(*acks, [&](const Ack& ack) {
    return ack.id == words[0] && (ack.subject == subject || (options.remove && words.size() == 1));
  });
  std::erase_if(*acks, [&](const Ack& ack) { return ack.until <= wall; });
  if (options.remove && known == 0)
    return failure(kFailure, words[0] + " " + subject_text(subject) + " is not acknowledged; see --list", output);
  if (options.remove)
    return save(*acks, words[0] + " " + subject_text(subject) + ": acknowledgement removed", kernel->root, wall,
                options, output);
  const int64_t until =
      wall + std::chrono::duration_cast<std::chrono::seconds>(options.lasting.value_or(kUsually)).count();
  acks->push_back({words[0], subject, wall, until, clean_text(user_name()), clean_text(options.comment)});
  return save(
      *acks,
      words[0] + " " + subject_text(subject) + ": acknowledged until " + time_text(until) + " or until it has cleared",
      kernel->root, wall, options, output);
}

}  // namespace fabric::ctl
