// SPDX-License-Identifier: Apache-2.0
#include "judge/remedy.h"

#include <algorithm>
#include <string_view>

#include "base/find.h"
#include "judge/platform_view.h"
#include "node/node.h"

namespace fabric {
namespace {

// The fix without its steps of such work. Rows are written so that the rest is a text (fix.h).
Fix without(Fix fix, Work work) {
  std::erase_if(fix.steps, [&](const Step& step) { return has_any(step.work, work); });
  if (fix.empty()) return {};
  std::string& last = fix.steps.back().text;
  while (last.ends_with(' ') || last.ends_with(';') || last.ends_with('\n')) last.pop_back();
  return fix;
}

bool has_any(const Fix& fix, Work work) {
  return std::ranges::any_of(fix.steps, [&](const Step& step) { return has_any(step.work, work); });
}

// Removes the steps of such work. True if there were any.
bool leave_out(Finding& finding, Work work) {
  bool found = false;
  for (Fix& line : finding.fix) {
    if (!has_any(line, work)) continue;
    found = true;
    line = without(std::move(line), work);
  }
  std::erase_if(finding.fix, &Fix::empty);
  return found;
}

// Adds a sentence after the others.
void add_last(Fix& fix, const std::string& text) {
  const std::string before = fix.text();
  if (before.find('\n') != std::string::npos) fix.steps.insert(fix.steps.begin(), text + " ");  // it ends in commands
  else fix += joined_steps({before, text}).substr(before.size());
}

// Adds a sentence to the fix; to that of a cause as a line of its own.
void add_last(Finding& finding, const std::string& text) {
  if (finding.culprit || finding.fix.empty()) finding.fix.emplace_back(text);
  else add_last(finding.fix.back(), text);
}

constexpr Work kHands = Work::at_link | Work::at_machine;

std::string to_the_host(const std::string& hypervisor) {
  return "This is a virtual machine (" + hypervisor + "): report it to the operator of the host, who has the hardware.";
}

constexpr const char* kToTheCloud =
    "A cloud has NICs of this kind, and its operator the hardware: report it to the operator.";

// Inserts a sentence before the sentence of which the step is a part.
void add_before(Fix& fix, size_t step, const Step& sentence) {
  for (; step > 0; --step) {
    const std::string& text = fix.steps[step - 1].text;
    size_t end = text.rfind(". ");
    if (end != std::string::npos) end += 2;
    if (const size_t line = text.rfind('\n'); line != std::string::npos && (end == std::string::npos || end < line + 1))
      end = line + 1;
    if (end == std::string::npos) continue;
    if (end == text.size()) break;
    Step rest(fix.steps[step - 1].work, text.substr(end));
    fix.steps[step - 1].text.resize(end);
    fix.steps.insert(fix.steps.begin() + static_cast<ptrdiff_t>(step), std::move(rest));
    break;
  }
  fix.steps.insert(fix.steps.begin() + static_cast<ptrdiff_t>(step), sentence);
}

constexpr const char* kDrain = "Drain the node first.";
constexpr const char* kWarning = "The next step ends the jobs of a node that is not drained.";

// The step that would end a job, or says when to do so; nullopt: none.
std::optional<size_t> first_that_ends_jobs(const Fix& fix, Work ends_jobs) {
  const auto found = std::ranges::find_if(
      fix.steps, [&](const Step& step) { return has_any(step.work, ends_jobs | Work::when_idle); });
  if (found == fix.steps.end()) return std::nullopt;
  return static_cast<size_t>(found - fix.steps.begin());
}

// Inserts kDrain before the first step that would end a job, unless it or an earlier step says when; in the fix of a
// cause as a line of its own.
void drain_first(Finding& finding, Work ends_jobs) {
  for (size_t line = 0; line < finding.fix.size(); ++line) {
    Fix& fix = finding.fix[line];
    const auto step = first_that_ends_jobs(fix, ends_jobs);
    if (!step) continue;
    if (!finding.culprit) fix = drained_first(std::move(fix), ends_jobs);
    else if (!has_any(fix.steps[*step].work, Work::when_idle))
      finding.fix.insert(finding.fix.begin() + static_cast<ptrdiff_t>(line), Fix(Work::when_idle, kDrain));
    return;
  }
}

// Adds the sentence before the first step that would end a job, unless it or an earlier step says when.
Fix said_first(Fix fix, Work ends_jobs, const char* sentence) {
  const auto step = first_that_ends_jobs(fix, ends_jobs);
  if (step && !has_any(fix.steps[*step].work, Work::when_idle))
    add_before(fix, *step, Step(Work::when_idle, std::string(sentence) + " "));
  return fix;
}

// "Then swap it.", "A cable": not a command, and not NCCL_IB_TC=106.
bool begins_sentence(std::string_view text) {
  const auto is_capital = [&](size_t at) { return at < text.size() && text[at] >= 'A' && text[at] <= 'Z'; };
  return is_capital(0) && !is_capital(1);
}

}  // namespace

std::string joined_steps(const std::vector<std::string>& steps) {
  std::string out;
  for (const std::string& step : steps) {
    std::string_view separator = begins_sentence(step) ? ". " : "; ";
    if (out.empty()) separator = "";
    else if (out.ends_with('.') || out.ends_with(':')) separator = " ";
    out.append(separator).append(step);
  }
  return out;
}

Fix drained_first(Fix fix, Work ends_jobs) { return said_first(std::move(fix), ends_jobs, kDrain); }

Fix warned_first(Fix fix) { return said_first(std::move(fix), Work::ends_jobs, kWarning); }

Fix fix_of_guest(Fix fix, const std::string& hypervisor) {
  if (!has_any(fix, kHands)) return fix;
  Fix out = without(std::move(fix), kHands);
  add_last(out, to_the_host(hypervisor));
  return out;
}

void write_remedy(Finding& finding) {
  std::vector<std::string> lines;
  for (const Fix& line : finding.fix)
    if (!line.empty()) lines.push_back(line.text());
  finding.remedy = joined_steps(lines);
  finding.next.clear();
  if (finding.culprit) finding.next = std::move(lines);
}

void adapt_remedy(Finding& finding, const View& view) {
  if (finding.status == Status::ok) {
    if (!finding.culprit) write_remedy(finding);  // else diagnose() did
    return;
  }
  if (view.is_captured && leave_out(finding, Work::service) && finding.fix.empty())
    add_last(finding,
             "This is a captured tree: start or restart the service on the captured machine, and capture it again.");
  if (view.is_captured && leave_out(finding, Work::as_root)) add_last(finding, "Capture the machine again, as root.");
  const Topology& topology = view.now.topology;
  if (topology.is_guest() && leave_out(finding, kHands)) add_last(finding, to_the_host(topology.hypervisor));
  else if (is_in_cloud(view.now) && leave_out(finding, kHands)) add_last(finding, kToTheCloud);
  const Port* port = find_port(view.now.ports, finding.subject);
  if (port != nullptr && is_audit_only(*port) && leave_out(finding, Work::at_link))
    add_last(finding, "A DPU owns this port: examine its cable and its module on the Arm cores there.");
  const bool is_idle = port != nullptr && is_down(*port);  // no job uses its link
  drain_first(finding, is_idle ? Work::ends_jobs : Work::ends_jobs | Work::at_link);
  write_remedy(finding);
}

}  // namespace fabric
