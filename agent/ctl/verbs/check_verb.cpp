// SPDX-License-Identifier: Apache-2.0

#include "ctl/output/report_text.h"
#include "ctl/verbs/findings.h"
#include "ctl/verbs/watch.h"
#include "judge/engine.h"
#include "judge/health_state.h"
#include "policy/config.h"

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
  return report_text(report, samples.now.hostname, options.verbose, output, brief) + unseen_text(samples.now, output) +
         (samples.before ? "" : "\nOne sample of the counters: rates were not checked.\n");
}

// The findings that were asked for, from the report of the running exporter. nullopt: none, and `why`.
std::optional<Report> published_report(const Options& options, std::string& why) {
  why = "one reading of the counters";
  if (!options.config.empty()) return std::nullopt;
  const auto root = Root::open(options.root);
  auto published = root ? load_report(*root) : Result<std::optional<PublishedReport>>(std::nullopt);
  if (!published) why = published.error().code == ESTALE ? published.error().what : published.error().text();
  else if (!*published) why = "fabric-exporter is not running";
  if (!published || !*published) return std::nullopt;
  Report report = std::move((*published)->report);
  if (!options.only.empty())
    std::erase_if(report.findings, [&](const Finding& finding) {
      return std::ranges::none_of(options.only, [&](const std::string& name) { return is_of_rule(finding, name); });
    });
  return unchecked(report, options.only).empty() ? std::optional(std::move(report)) : std::nullopt;
}

// Changes since --watch began, each as a line.
struct Changed {
  std::string now;                // of this round, for a pipe
  std::vector<std::string> last;  // on a terminal, the newest first, without the findings of the first round
};

void record_changes(Changed& changed, const Report* before, const Report& now, const Options& options, int64_t wall) {
  changed.now.clear();
  for (const ReportChange& change : changes_of(before != nullptr ? *before : Report(), now)) {
    changed.now += options.json ? change_json(change, wall) : change_text(change, wall);
    if (before != nullptr) changed.last.insert(changed.last.begin(), change_text(change, wall));
  }
  if (changed.last.size() > kChangesShown) changed.last.resize(kChangesShown);
}

// A port that disappears during --watch is missing until it is back; its counters are not compared.
void keep_gone(Node& before, const Samples& had) {
  if (!had.before) return;
  for (const Port& old : had.before->ports) {
    if (contains(before.ports, old.id(), &Port::id)) continue;
    Port gone = old;
    gone.counters = {};
    gone.fec.reset(), gone.link_status.reset();
    gone.gids.clear(), gone.reporters.clear();
    before.ports.push_back(std::move(gone));
  }
}

// On a terminal: the verdict, the last changes, the findings.
std::string page(const std::string& report, const Changed& changed, const std::string& when, size_t most) {
  const size_t blank = report.find("\n\n"), verdict = blank == std::string::npos ? report.size() : blank + 1;
  std::string text = report.substr(0, verdict) + when + "\n";
  if (!changed.last.empty()) text += "\nLast changes:\n";
  for (size_t i = 0; i < std::min(changed.last.size(), most); ++i) text += "  " + changed.last[i];
  return text + report.substr(verdict);
}

int watch_check(Machine& machine, std::chrono::milliseconds pace, const Options& options, Output& output) {
  Samples samples = take_samples(machine, options.interval);                   // before Watch handles Ctrl-C
  const bool replays = machine.kernel.tape && machine.kernel.tape->replays();  // a capture has two samples
  std::optional<Report> before;
  Changed changed;
  for (Watch watch(output, !options.json);;) {
    const int64_t wall = wall_now(machine.kernel);
    const Report now = find_faults(machine, samples, options, wall);
    record_changes(changed, before ? &*before : nullptr, now, options, wall);
    const auto draw = [&](const Output& to) {
      if (to.height == 0 || options.json) return changed.now;
      const std::string when = time_text(wall) + ", every " + span_text(pace);
      const std::string whole = page(report_of(now, samples, options, to), changed, when, kChangesShown);
      if (std::ranges::count(whole, '\n') <= static_cast<long>(to.height)) return whole;
      return page(report_of(now, samples, options, to, true), changed, when + "; with fixes: fabric-agentctl check",
                  std::max(1U, to.height / 6));
    };
    if (replays) output.text += printable(draw(output), output);
    if (replays || !watch.next(samples.now.taken + pace, draw)) return static_cast<int>(verdict_of(now, options));
    before = now;
    Node last = std::move(samples.now);
    keep_gone(last, samples);
    samples = samples_since(machine, std::move(last));
  }
}

// SECONDS of --watch.
Result<std::chrono::milliseconds> pace_of(const Options& options) {
  if (options.arguments.empty()) return kWatchPace;
  const auto given = parse_span(options.arguments.front());
  if (!options.watch || options.arguments.size() > 1)
    return error(0, "unexpected argument: " + options.arguments.back() + " (SECONDS requires --watch)");
  if (!given || *given < std::chrono::milliseconds(500) || *given > std::chrono::hours(1))
    return error(0, options.arguments.front() + ": out of range (500ms to 1h)");
  return *given;
}

}  // namespace

int run_check(const Options& options, Output& output) {
  std::vector<std::string_view> known;
  for (const Rule& rule : rules()) known.insert(known.end(), {rule.id, rule.group});
  for (const std::string& name : options.only)
    if (!contains(known, name))
      return fail(output, kUsage, "check: unknown check '" + name + "'" + suggestion(name, known, "explain"));
  const auto pace = pace_of(options);
  if (!pace) return fail(output, kUsage, "check: " + pace.error().text());
  const bool brief = options.brief && !options.json && !options.watch;
  std::string remark;
  if (auto published = brief ? published_report(options, remark) : std::nullopt) {
    output.text += brief_text(*published, verdict_of(*published, options));
    return static_cast<int>(verdict_of(*published, options));
  }
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, machine.error().text());
  if (options.watch) return watch_check(*machine, *pace, options, output);
  // A second reading would take longer than a scheduler's health check may.
  const bool once = brief && !options.has_interval && !(machine->kernel.tape && machine->kernel.tape->replays());
  Samples samples = take_samples(*machine, once ? std::chrono::milliseconds(0) : options.interval);
  const Report report = find_faults(*machine, samples, options, wall_now(machine->kernel));
  const Status verdict = verdict_of(report, options);
  if (brief) {
    output.text += brief_text(report, verdict, (samples.before ? "checked now: " : "rates not judged: ") + remark);
  } else {
    output.text += report_of(report, samples, options, output);
    if (!options.json) output.text += next_text(report, options.root == "/" ? "" : " --root " + options.root);
  }
  return static_cast<int>(verdict);
}

}  // namespace fabric::ctl
