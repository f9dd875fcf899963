// SPDX-License-Identifier: Apache-2.0
#include "judge/remedy.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "base/parse.h"
#include "judge/port_context.h"

namespace fabric {
namespace {

using Phrases = std::span<const std::string_view>;

// Work with hands, at a link or inside the machine.
constexpr std::string_view kAtLink[]{"reseat",
                                     "clean",
                                     "plug in",
                                     "swap",
                                     "replace the cable",
                                     "replace a cable",
                                     "replace cable",
                                     "replace the fiber",
                                     "replace that module",
                                     "or replace the",
                                     "replace it",
                                     "another switch port",
                                     "another port"};
constexpr std::string_view kAtMachine[]{
    "reseat",       "riser", "replace the nic",        "replace the part", "power the node off", "firmware setup",
    "another slot", "slot",  "the power of the device"};
// Ends every job of the node.
constexpr std::string_view kEndsJobs[]{"riser",
                                       "replace the nic",
                                       "replace the part",
                                       "power the node off",
                                       "power off",
                                       "and reboot",
                                       ", reboot",
                                       "or reboot",
                                       "then reboot",
                                       "reboot the node",
                                       "reboot, or",
                                       "reload the driver",
                                       "load the driver again",
                                       "devlink dev reload",
                                       "mlxfwreset",
                                       "unbind",
                                       "rmmod",
                                       "modprobe -r",
                                       "firmware setup",
                                       "another slot"};
constexpr std::string_view kServices[]{"systemctl", "journalctl -u", "systemd-run"};
// The fix says itself when.
constexpr std::string_view kSaysWhen[]{"drain", "no job runs", "no job uses"};

bool is_word_part(char letter) { return is_digit(letter) || (letter >= 'a' && letter <= 'z') || letter == '_'; }

// Whether the text has one of the phrases, as whole words, in any case.
bool has_any(std::string_view text, Phrases phrases) {
  const std::string all = lower(text);
  return std::ranges::any_of(phrases, [&](std::string_view phrase) {
    for (size_t at = all.find(phrase); at != std::string::npos; at = all.find(phrase, at + 1)) {
      const size_t end = at + phrase.size();
      if ((at == 0 || !is_word_part(all[at]) || !is_word_part(all[at - 1])) &&
          (end == all.size() || !is_word_part(all[end])))
        return true;
    }
    return false;
  });
}

// Parts of a text, each with the separator that ends it: sentences, and the steps of a sentence between ";". Text in
// parentheses is not split.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> out;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && depth > 0) --depth;
    const bool is_end = i + 1 < text.size() && text[i + 1] == ' ' && (text[i] == '.' || text[i] == ';');
    if (depth > 0 || (!is_end && text[i] != '\n')) continue;
    const size_t end = text[i] == '\n' ? i + 1 : i + 2;
    out.emplace_back(text.substr(start, end - start));
    start = end;
    i = end - 1;
  }
  if (start < text.size()) out.emplace_back(text.substr(start));
  return out;
}

// The text without the remarks in parentheses that have one of the phrases.
std::string without_remarks(std::string text, Phrases phrases) {
  for (size_t at = text.find(" ("); at != std::string::npos; at = text.find(" (", at)) {
    const size_t end = text.find(')', at);
    if (end == std::string::npos) break;
    if (has_any(std::string_view(text).substr(at, end - at), phrases)) text.erase(at, end + 1 - at);
    else at = end;
  }
  return text;
}

// The text without the parts that have one of the phrases. A part that a sentence began and the next one ended is left
// whole: "A; then B" without A is B.
std::string without(const std::string& whole, Phrases phrases) {
  const std::string text = without_remarks(whole, phrases);
  std::string out;
  for (const std::string& part : parts_of(text))
    if (!has_any(part, phrases)) out += part;
  while (out.ends_with(' ') || out.ends_with(';') || out.ends_with('\n')) out.pop_back();
  for (const std::string_view start : {"then ", "Then ", "else ", "Else "})
    if (out.starts_with(start)) out.erase(0, start.size());
  return out;
}

// Leaves out the parts with one of the phrases, in the remedy and in the steps. Whether there were any.
bool leave_out(Finding& finding, Phrases phrases) {
  bool found = has_any(finding.remedy, phrases);
  if (found) finding.remedy = without(finding.remedy, phrases);
  for (std::string& step : finding.next) {
    if (!has_any(step, phrases)) continue;
    found = true;
    step = without(step, phrases);
  }
  std::erase(finding.next, "");
  return found;
}

void add_step(Finding& finding, const std::string& step) {
  if (finding.culprit) finding.next.push_back(step);
  if (finding.remedy.empty()) finding.remedy = step;
  else if (finding.remedy.find('\n') == std::string::npos) finding.remedy = joined_steps({finding.remedy, step});
  else finding.remedy.insert(0, step + " ");  // its last lines are commands
}

// "Drain the node first." before the first sentence with one of the phrases.
void drain_before(Finding& finding, Phrases phrases) {
  const std::string step = "Drain the node first.";
  const auto disrupts = [&](const std::string& text) { return has_any(text, phrases); };
  const auto first = std::ranges::find_if(finding.next, disrupts);
  if (first != finding.next.end()) {
    finding.next.insert(first, step);
    finding.remedy = joined_steps(finding.next);
    return;
  }
  size_t at = 0, sentence = 0;
  for (const std::string& part : parts_of(finding.remedy)) {
    if (disrupts(part)) {
      finding.remedy.insert(sentence, step + " ");
      return;
    }
    at += part.size();
    if (!part.ends_with("; ")) sentence = at;
  }
}

}  // namespace

std::string joined_steps(const std::vector<std::string>& steps) {
  std::string out;
  for (const std::string& step : steps) {
    if (!out.empty()) out += out.ends_with('.') || out.ends_with(':') ? " " : "; ";
    out += step;
  }
  return out;
}

void adapt_remedy(Finding& finding, const View& view) {
  if (finding.status == Status::ok) return;
  if (view.is_captured && leave_out(finding, kServices) && finding.remedy.empty())
    add_step(finding, "This is a captured tree: start the service on the captured machine, and capture it again.");
  const std::string& hypervisor = view.now.topology.hypervisor;
  if (!hypervisor.empty()) {
    const bool at_link = leave_out(finding, kAtLink), at_machine = leave_out(finding, kAtMachine);
    if (at_link || at_machine)
      add_step(finding, "This is a virtual machine (" + hypervisor +
                            "): report it to the operator of the host, who has the hardware.");
  }
  if (has_any(finding.remedy, kSaysWhen)) return;
  const Port* port = find_where(view.now.ports, [&](const Port& each) { return each.id() == finding.subject; });
  if (port != nullptr && is_down(*port)) return drain_before(finding, kEndsJobs);
  std::vector<std::string_view> all(std::begin(kAtLink), std::end(kAtLink));
  all.insert(all.end(), std::begin(kEndsJobs), std::end(kEndsJobs));
  drain_before(finding, all);
}

}  // namespace fabric
