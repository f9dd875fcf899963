// SPDX-License-Identifier: Apache-2.0
// check: the findings of this machine, once or with --watch.
#include "ctl/output/report_text.h"
#include "ctl/verbs.h"
#include "ctl/verbs/findings.h"
#include "ctl/verbs/watch.h"
#include "enforce/confirm.h"
#include "judge/health_state.h"
#include "judge/rule.h"
#include "node/state.h"
#include "policy/span.h"

namespace fabric::ctl {
namespace {

constexpr std::chrono::milliseconds kWatchPace{5'000};
constexpr size_t kChangesShown = 10;

std::string report_of(const Report& report, const Samples& samples, const Options& options, const Output& output,
                      bool brief = false) {
  if (options.json) {
    Json out = to_json(report);
    out["unread"] = unseen_lines(samples.now);
    return json_text(out);
  }
  std::string text =
      report_text(report, samples.now.hostname, options.verbose, output, brief) + unseen_text(samples.now, output);
  if (!brief) text += place_of_fixes(report, samples.now, options, output);
  if (!samples.before) text += "\nOne reading of the counters: rates were not checked.\n";
  return text;
}

// The requested findings from the report of the running exporter. nullopt: there are none, and `why` has the reason.
std::optional<Report> published_report(const Options& options, std::string& why) {
  why = "one reading of the counters";
  if (!options.config.empty()) return std::nullopt;
  const auto root = Root::open(options.root);
  if (!root) {
    why = "fabric-exporter is not running";
    return std::nullopt;
  }
  // The exporter does not see what add_unfinished() reports.
  const auto agent = state::load_agent_state(*root);
  const bool has_agent = agent && *agent && (*agent)->running;
  if (!has_agent && root->exists(state::kSelfTestFile)) why = "a self-test has not ended";
  else if (!has_agent && root->exists(confirm::kFile)) why = "an apply was not confirmed yet";
  else why.clear();
  if (!why.empty()) return std::nullopt;
  auto published = load_report(*root);
  if (!published) {
    why = published.error().text();
    if (published.error().code == ESTALE) why = published.error().what;
    return std::nullopt;
  }
  if (!*published) {
    why = "fabric-exporter is not running";
    return std::nullopt;
  }
  Report report = std::move((*published)->report);
  if (!options.only.empty())
    std::erase_if(report.findings, [&](const Finding& finding) {
      return std::ranges::none_of(options.only, [&](const std::string& name) { return is_of_rule(finding, name); });
    });
  if (!unchecked(report, options.only).empty()) return std::nullopt;
  return report;
}

// Adds to `before` the ports that have disappeared during --watch: such a port is reported as missing until it is back.
// Its counters are not compared.
void keep_missing_ports(Node& before, const Samples& earlier) {
  if (!earlier.before) return;
  for (const Port& old : earlier.before->ports) {
    if (contains(before.ports, old.id(), &Port::id)) continue;
    Port gone = old;
    gone.counters = {};
    gone.fec.reset();
    gone.link_status.reset();
    gone.gids.clear();
    gone.reporters.clear();
    before.ports.push_back(std::move(gone));
  }
}

// The screen on a terminal: the verdict, at most `most` of the last changes, the findings. `report` begins with
// `headline`.
std::string page(const std::string& report, const std::string& headline, const std::vector<std::string>& changes,
                 const std::string& when, size_t most) {
  std::string text = headline + when + "\n";
  if (!changes.empty()) text += "\nLast changes:\n";
  for (size_t i = 0; i < std::min(changes.size(), most); ++i) text += "  " + changes[i];
  return text + report.substr(headline.size());
}

int watch_check(Machine& machine, std::chrono::milliseconds pace, const Options& options, Output& output) {
  Samples samples = take_samples(machine, options.interval);  // before the Watch, so that Ctrl-C ends the program
  const bool replays = machine.kernel.root.replays();         // a capture has only two samples
  Report before;
  bool is_first_round = true;
  std::vector<std::string> last_changes;  // for a terminal, newest first, without the findings of the first round
  for (Watch watch(output, !options.json);;) {
    const int64_t wall = wall_now(machine.kernel);
    const Report now = find_faults(machine, samples, options, wall);
    std::string changes_now;  // for a pipe
    for (const ReportChange& change : changes_of(before, now)) {
      if (options.json) changes_now += change_json(change, wall);
      else changes_now += change_text(change, wall);
      if (!is_first_round) last_changes.insert(last_changes.begin(), change_text(change, wall));
    }
    if (last_changes.size() > kChangesShown) last_changes.resize(kChangesShown);
    const auto draw = [&](const Output& to) {
      if (to.height == 0 || options.json) return changes_now;
      const std::string when = time_text(wall) + ", every " + span_text(pace);
      const std::string headline = headline_text(now, samples.now.hostname, to);
      const std::string whole = page(report_of(now, samples, options, to), headline, last_changes, when, kChangesShown);
      if (std::ranges::count(whole, '\n') <= static_cast<long>(to.height)) return whole;
      return page(report_of(now, samples, options, to, true), headline, last_changes,
                  when + "; with fixes: fabric-agentctl check", std::max(1U, to.height / 6));
    };
    if (replays) output.text += printable(draw(output), output);
    if (replays || !watch.next(samples.now.taken + pace, draw)) return static_cast<int>(verdict_of(now, options));
    before = now;
    is_first_round = false;
    Node last = std::move(samples.now);
    keep_missing_ports(last, samples);
    samples = samples_since(machine, std::move(last));
  }
}

}  // namespace

int run_check(const Options& options, Output& output) {
  std::vector<std::string_view> known;
  for (const Rule& rule : rules()) known.insert(known.end(), {rule.id, rule.group});
  for (const std::string& name : options.only)
    if (!contains(known, name))
      return fail(output, kUsage, "check: unknown check '" + name + "'" + suggestion(name, known, "explain"));
  std::chrono::milliseconds pace = kWatchPace;
  if (!options.arguments.empty()) {
    if (!options.watch || options.arguments.size() > 1)
      return fail(output, kUsage,
                  "check: unexpected argument: " + options.arguments.back() + " (SECONDS requires --watch)");
    const auto seconds = parse_span(options.arguments.front());
    if (!seconds || *seconds < std::chrono::milliseconds(500) || *seconds > std::chrono::hours(1))
      return fail(output, kUsage, "check: " + options.arguments.front() + ": out of range (500ms to 1h)");
    pace = *seconds;
  }
  const bool brief = options.brief && !options.json && !options.watch;
  std::string why_not_published;
  if (brief)
    if (const auto published = published_report(options, why_not_published)) {
      output.text += brief_text(*published, verdict_of(*published, options));
      return static_cast<int>(verdict_of(*published, options));
    }
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, machine.error().text());
  if (options.watch) return watch_check(*machine, pace, options, output);
  std::chrono::milliseconds interval = options.interval;
  const bool replays = machine->kernel.root.replays();
  // A scheduler's health check has no time for a second reading.
  if (brief && !options.has_interval && !replays) interval = std::chrono::milliseconds(0);
  Samples samples = take_samples(*machine, interval);
  const Report report = find_faults(*machine, samples, options, wall_now(machine->kernel));
  const Status verdict = verdict_of(report, options);
  if (brief) {
    std::string remark = "rates not judged: ";
    if (samples.before) remark = "checked now: ";
    output.text += brief_text(report, verdict, remark + why_not_published);
  } else {
    output.text += report_of(report, samples, options, output);
    std::string same;
    if (options.root != "/") same += " --root " + options.root;
    if (!options.config.empty()) same += " --config " + options.config;
    if (!options.json)
      output.text += next_text(report, samples.now, !machine->no_policy && machine->kernel.route, same);
  }
  return static_cast<int>(verdict);
}

}  // namespace fabric::ctl
