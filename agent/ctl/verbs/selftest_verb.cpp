// SPDX-License-Identifier: Apache-2.0
// selftest PORT: writes each setting of the policy once on an idle port, and restores it.
#include <sys/utsname.h>
#include <syslog.h>

#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "ctl/output/table.h"
#include "ctl/verbs/confirm_verb.h"
#include "ctl/verbs/write_verbs.h"
#include "enforce/selftest.h"

namespace fabric::ctl {
namespace {

Json report_json(const Port& port, const qos::SelfTest& test) {
  utsname system{};
  (void)::uname(&system);
  Json steps = Json::array();
  for (const qos::SelfTestStep& step : test.steps) {
    Json code;
    if (step.code != 0) code = errno_name(step.code);
    steps.push_back({{"setting", key_text(step.setting)},
                     {"outcome", to_text(step.outcome)},
                     {"errno", std::move(code)},
                     {"from", step.from},
                     {"to", step.to},
                     {"read_back", step.read_back},
                     {"second_way", step.second},
                     {"disruptive", step.disruptive},
                     {"milliseconds", step.took.count()},
                     {"carrier_downs", step.carrier_downs},
                     {"link_back", step.link_back},
                     {"detail", step.detail}});
  }
  Json left = Json::array();
  for (const Change& change : test.restored)
    if (!qos::is_restored(change))
      left.push_back({{"setting", change.key()}, {"outcome", to_text(change.outcome)}, {"detail", change.detail}});
  return {{"version", FABRIC_VERSION},    {"kernel", system.release},
          {"driver", port.kernel_driver}, {"driver_version", port.driver_version},
          {"firmware", port.firmware},    {"board", port.board_id},
          {"pci_id", port.pci_id},        {"steps", std::move(steps)},
          {"stopped", test.stopped},      {"restored", test.is_restored()},
          {"left", std::move(left)}};
}

// A write that is marked as harmless and took the link down. The report exists to find these.
bool is_surprise(const qos::SelfTestStep& step) { return step.carrier_downs > 0 && !step.disruptive; }

bool is_good(const qos::SelfTestStep& step) {
  return (is_done(step.outcome) || step.outcome == Outcome::unsupported) && step.link_back && !is_surprise(step);
}

std::string table_text(const qos::SelfTest& test, const Output& output) {
  Table table({"SETTING", "VALUE", "RESULT", "MS", "LINK DOWN", "READ BACK", "SECOND WAY", "DETAIL"}, {3, 4});
  for (const qos::SelfTestStep& step : test.steps) {
    std::string detail = step.detail;
    if (is_surprise(step)) append_item(detail, "this write was expected to be harmless", "; ");
    if (!step.link_back) append_item(detail, "the link did not come back", "; ");
    std::string result(to_text(step.outcome));
    if (step.code != 0) result += " (" + errno_name(step.code) + ")";
    table.add({std::string(key_text(step.setting)), step.to, result, std::to_string(step.took.count()),
               std::to_string(step.carrier_downs), or_dash(step.read_back), or_dash(step.second), or_dash(detail)},
              !is_good(step));
  }
  return table.text(output);
}

// Writes a new file to the directory and returns its name. Does not overwrite an older report.
Result<std::string> save_report(const Fd& directory, const Port& port, const std::string& text) {
  std::string name = "fabric-selftest-" + port.netdev + ".json";
  for (int i = 2;; ++i) {
    const auto created = create_file(directory.get(), name, text, 0644);
    if (created) return name;
    if (created.error().code != EEXIST || i == 100) return created.error();
    name = "fabric-selftest-" + port.netdev + "-" + std::to_string(i) + ".json";
  }
}

// Runs in the guard if the self-test of the port was killed, or if its end waits for an idle port; returns the pause
// before the next call.
std::chrono::seconds end_test(Options options, const Port& port, confirm::RetryPause& pause, qos::Drift& failures) {
  constexpr std::chrono::seconds kRetry{1}, kIdle{5}, kAbsent{60};
  options.config.clear();  // the file may be gone, and the guard has another directory; the record has the settings
  const auto lock = state::take_lock(options.root, kLockPatience);
  auto machine = open_machine(options);
  if (!lock || !machine) return kRetry;
  Node node = scan_for_writing(*machine);
  if (!contains(node.ports, port.id(), &Port::id) && machine->policy &&
      !machine->policy->exclude.empty()) {  // the test had another policy
    machine->policy->exclude.clear();
    node = scan_for_writing(*machine);
  }
  Output unread;  // the starter has ended
  Pacing pacing(*machine, node, options.root, unread);
  const qos::SelfTestRetries retries{failures, std::chrono::steady_clock::now()};
  const auto ended = qos::end_self_test(machine->kernel, node.ports, options.root, qos::ask_kernel(machine->kernel),
                                        pacing.turns, front_end_of(*machine), &retries);
  if (!ended) return kRetry;
  settle_links(machine->kernel, node, *ended, pacing.unsettled, unread);
  if (ended->empty()) return kAbsent;
  const std::chrono::seconds next = pause.after(*ended);
  // The job of a port may run for days, and each try scans the machine.
  if (std::ranges::none_of(*ended, was_written)) return std::max(next, kIdle);
  std::string left;
  for (const Change& change : *ended)
    if (!qos::is_restored(change)) append_item(left, change.port + " " + change.key(), ", ");
  std::string what = "a self-test was interrupted; the settings from before it are restored";
  if (!left.empty()) what += " when the port is idle and the driver accepts them. Left: " + left;
  ::openlog("fabric-agentctl", LOG_PID, LOG_DAEMON);
  ::syslog(LOG_WARNING, "%s", what.c_str());
  return next;
}

}  // namespace

int run_selftest(const Options& options, Output& output) {
  if (options.arguments.size() != 1) return fail(output, kUsage, "selftest: name one port");
  auto machine = open_configured_machine(options);
  if (machine && is_enforced(*machine))
    return fail(output, kFailure,
                "selftest: fabric-agentd enforces the policy; stop it first (systemctl stop fabric-agent)");
  auto writer = open_writer(options, std::move(machine));
  if (!writer) return failure(writer.error(), output);
  const Port* found =
      find_where(writer->node.ports, [&](const Port& each) { return names_port(options.arguments.front(), each); });
  if (found == nullptr) return fail(output, kFailure, "selftest: unknown port " + options.arguments.front());
  const Port& port = *found;
  Kernel& kernel = writer->machine.kernel;
  if (const auto allowed = Trial::refuse(options); !allowed) return failure(allowed.error(), output);
  std::error_code unknown;
  const auto directory = open_own_directory(std::filesystem::current_path(unknown).string());
  if (!directory)
    return fail(output, kFailure,
                "selftest: the report cannot be written to the current directory: " + directory.error().text());
  Pacing pacing(writer->machine, writer->node, options.root, output);
  const auto ended = qos::end_self_test(kernel, writer->node.ports, options.root, qos::ask_kernel(kernel), pacing.turns,
                                        front_end_of(writer->machine));
  if (!ended) return failure(ended.error(), output);
  settle_links(kernel, writer->node, *ended, pacing.unsettled, output);
  for (const Change& change : *ended)
    if (!qos::is_restored(change))
      output.errors +=
          change.port + " " + change.key() + " is not as before an interrupted self-test: " + change.detail + "\n";
  const PortPolicy* entry = policy_for(*writer->machine.policy, port);
  if (entry == nullptr) return fail(output, kFailure, "selftest: no policy matches " + port.id());
  if (std::string why = qos::why_no_self_test(kernel, port, options.force); !why.empty())
    return fail(output, kFailure, "selftest: refused: " + why);
  if (!options.yes) {
    std::string keys;
    for (const Setting& setting : kSettings)
      if (has_value(setting, entry->want)) append_item(keys, setting.key);
    return fail(output, kFailure,
                "selftest writes these settings of " + port.id() + " (" + port.netdev +
                    ") once and then restores them: " + keys +
                    ". The link goes down several times. To run it: sudo fabric-agentctl selftest " + port.netdev +
                    " --yes");
  }
  auto guard = qos::start_self_test_guard(
      options.root, port,
      [] { leave_session("selftest", "Restores the settings if fabric-agentctl selftest is killed"); },
      [options, port, pause = confirm::RetryPause(), failures = qos::Drift(ConflictRule{}, Policy{}.reread)]() mutable {
        return end_test(options, port, pause, failures);
      });
  if (!guard) return failure(guard.error(), output);
  auto test = qos::self_test(kernel, port, entry->want,
                             {.directory = options.root,
                              .in_use = qos::ask_kernel(kernel),
                              .turns = pacing.turns,
                              .route_allowed = options.force});
  if (!test) return failure(test.error(), output);
  if (test->settled && qos::has_carrier(kernel, port)) pacing.unsettled.remove(port);
  const Json report = report_json(port, *test);
  if (options.json) output.text += json_text(report);
  else output.text += table_text(*test, output);
  auto saved = save_report(*directory, port, json_text(report));
  if (!saved) fail(output, kFailure, saved.error().text());
  else if (!options.json) output.text += "Report: " + *saved + "\n";
  if (!test->stopped.empty()) fail(output, kChanges, "selftest: stopped: " + test->stopped);
  if (!test->settled) fail(output, kChanges, test->settled.error().text());
  for (const Change& change : test->restored)
    if (change.outcome == Outcome::refused || change.outcome == Outcome::ignored)
      fail(output, kChanges, change.key() + " is not as before the test: " + change.detail);
  if (!test->is_restored())
    return fail(output, kChanges,
                "some settings are not as before the test; they are restored when the port is idle, by this command's "
                "guard or by fabric-agentd. To try it now: fabric-agentctl restore --port " +
                    port.netdev);
  if (!saved || !test->settled || !test->stopped.empty() || !std::ranges::all_of(test->steps, is_good)) return kChanges;
  return kDone;
}

}  // namespace fabric::ctl
