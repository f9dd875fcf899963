// SPDX-License-Identifier: Apache-2.0
#include "judge/report.h"

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "base/parse.h"
#include "node/node.h"
#include "setting/change.h"

namespace fabric {

bool is_unverified(const Finding& finding) { return finding.outcome == Outcome::unverified; }

bool is_audited(const Finding& finding) {
  return finding.status == Status::ok && finding.outcome && finding.outcome != Outcome::in_sync &&
         !is_unverified(finding);
}

bool is_silenced(const Finding& finding) { return finding.acknowledged || finding.suppressed; }

std::string_view status_words(const Finding& finding) {
  if (finding.unjudged) return "not judged";
  if (is_audited(finding)) return "audit";
  return to_text(finding.status);
}

bool limits_verdict(const Finding& finding) { return finding.unjudged && !is_silenced(finding); }

bool is_listed(const Finding& finding) {
  return finding.status != Status::ok || finding.unjudged || is_audited(finding);
}

Status worst(const Report& report) {
  Status found = Status::ok;
  for (const Finding& finding : report.findings)
    if (!is_silenced(finding) && rank(finding.status) < rank(found)) found = finding.status;
  return found;
}

static Json certainty_json(const Finding& finding) {
  if (!finding.certainty) return nullptr;
  return to_text(*finding.certainty);
}

Json to_json(const Report& report) {
  Json checks = Json::array(), not_judged = Json::array();
  for (const Finding& finding : report.findings) {
    Json entry = Json::object({{"id", finding.id},
                               {"subject", finding.subject},
                               {"status", to_text(finding.status)},
                               {"observed", finding.observed},
                               {"expected", finding.expected},
                               {"meaning", finding.meaning},
                               {"remedy", finding.remedy}});
    if (limits_verdict(finding))
      not_judged.push_back(
          Json::object({{"id", finding.id}, {"subject", finding.subject}, {"observed", finding.observed}}));
    if (finding.unjudged) entry["judged"] = false;
    if (finding.outcome) entry["outcome"] = to_text(*finding.outcome);
    if (!finding.since.empty()) entry["since"] = finding.since;
    if (finding.acknowledged) entry["acknowledged"] = finding.acknowledgement;
    if (finding.suppressed) entry["suppressed"] = finding.suppression;
    if (finding.culprit) {
      entry["culprit"] = to_text(*finding.culprit);
      entry["certainty"] = certainty_json(finding);
      entry["evidence"] = finding.evidence;
      entry["next"] = finding.next;
    }
    checks.push_back(std::move(entry));
  }
  return Json::object(
      {{"verdict", to_text(worst(report))}, {"checks", std::move(checks)}, {"not_judged", std::move(not_judged)}});
}

namespace {

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!contains(list, text)) list.push_back(text);
}

// The masked text with the words of runbooks in place of {netdev, PCI address, port, RDMA device}.
std::string with_placeholders(const std::string& text) {
  constexpr std::string_view kWords[]{"NETDEV", "ADDRESS", "RDMADEV/PORT", "RDMADEV"};
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    size_t word = std::size(kWords);
    if (text[i] == '\x01' && i + 1 < text.size()) word = static_cast<size_t>(text[i + 1] - '\x02');
    if (word >= std::size(kWords)) {  // a text from outside may have such a byte
      out += text[i];
      continue;
    }
    out += kWords[word];
    ++i;
  }
  return out;
}

bool is_name_part(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
}

}  // namespace

// eth1 is not in eth10, and not in the list eth1;eth2, which is the same for both.
std::string masked(std::string text, const std::vector<std::string>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string& name = names[i];
    if (name.empty()) continue;
    const std::string mark{'\x01', static_cast<char>('\x02' + i)};
    for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at)) {
      const size_t end = at + name.size();
      const bool is_in_list = text[end] == ';' && std::isgraph(static_cast<unsigned char>(text[end + 1])) != 0;
      const bool is_whole = (at == 0 || (!is_name_part(text[at - 1]) && text[at - 1] != ';')) &&
                            (end == text.size() || (!is_name_part(text[end]) && !is_in_list));
      if (is_whole) text.replace(at, name.size(), mark);
      at += is_whole ? mark.size() : name.size();
    }
  }
  return text;
}

namespace {

// Nothing was observed, so that the checks that could not be made for one reason are one finding, whatever each
// expects.
bool has_no_reading(const Finding& finding) { return finding.status == Status::unknown && !is_observed(finding); }

// The finding in words, without what was observed.
std::string texts_of(const Finding& finding) {
  std::string out = has_no_reading(finding) ? "" : finding.expected;
  for (const std::string* text : {&finding.meaning, &finding.remedy}) out.append(1, '\n').append(*text);
  out += '\n';
  for (const std::string& step : finding.next) out.append(step).append(1, '\n');
  return out;
}

std::string observed_of(const Finding& finding) {
  if (finding.since.empty()) return finding.observed;
  return finding.observed + ", since " + finding.since;
}

// A finding as one fault of its subject. Masked texts lack the names of the subject, and what else the finding is
// about.
struct MaskedFinding {
  const Finding* finding;
  std::string texts, masked_texts, masked_observed;

  explicit MaskedFinding(const Finding& which) : finding(&which), texts(texts_of(which)) {
    const auto mask = [&](const std::string& text) {
      // `about` first: it may contain the names.
      return masked(masked(text, {"", "", "", "", which.about}), which.names);
    };
    masked_texts = mask(texts);
    masked_observed = mask(observed_of(which));
  }
  // The same fault with the same fix; what was observed may differ.
  [[nodiscard]] bool is_like(const MaskedFinding& other) const {
    const Finding &a = *finding, &b = *other.finding;
    return (texts == other.texts || masked_texts == other.masked_texts) && a.status == b.status &&
           a.acknowledgement == b.acknowledgement && a.suppression == b.suppression && a.outcome == b.outcome &&
           a.unjudged == b.unjudged && a.culprit == b.culprit && a.certainty == b.certainty;
  }
  [[nodiscard]] bool observes_like(const MaskedFinding& other) const {
    return observed_of(*finding) == observed_of(*other.finding) || masked_observed == other.masked_observed;
  }
};

// The words that only the texts of this fault contain: what the finding is about, and the netdev or address of its
// subject in commands. Empty: none.
std::string own_words(const MaskedFinding& fault, const std::string& masked_texts) {
  constexpr size_t kInCommands = 2;
  std::string out = fault.finding->about, others;
  for (size_t i = 0; i < std::min(kInCommands, fault.finding->names.size()); ++i) {
    if (masked_texts.find(std::string{'\x01', static_cast<char>('\x02' + i)}) == std::string::npos) continue;
    if (out.empty()) out = fault.finding->names[i];
    else append_item(others, fault.finding->names[i]);
  }
  if (!others.empty()) out += " (" + others + ")";
  return out;
}

// The findings of one check that are one fault.
FindingGroup group_of(const std::vector<MaskedFinding>& faults) {
  const MaskedFinding& first = faults.front();
  FindingGroup group{first.finding, {first.finding->id}, {}, first.finding->expected};
  const bool one_observation =
      std::ranges::all_of(faults, [&](const MaskedFinding& each) { return each.observes_like(first); });
  for (const MaskedFinding& each : faults) {
    add_once(group.subjects, each.finding->subject);
    if (has_no_reading(*each.finding) && each.finding->expected != group.expected) group.expected.clear();
    if (!one_observation) {
      const std::string& what = each.finding->about.empty() ? each.finding->subject : each.finding->about;
      add_once(group.observed, what + ": " + observed_of(*each.finding));
    }
    std::string own = each.texts, firsts = first.texts, masked_texts = each.masked_texts;
    if (one_observation) {
      own += observed_of(*each.finding);
      firsts += observed_of(*first.finding);
      masked_texts += each.masked_observed;
    }
    if (own == firsts) continue;
    if (const std::string words = own_words(each, masked_texts); !words.empty()) add_once(group.likewise, words);
  }
  return group;
}

}  // namespace

// Merges the subjects of one check, then the checks with the same subjects.
std::vector<FindingGroup> group_findings(const Report& report) {
  std::vector<std::vector<MaskedFinding>> checks;
  for (const Finding& finding : report.findings) {
    if (!is_listed(finding)) continue;
    MaskedFinding fault(finding);
    const auto same = std::ranges::find_if(checks, [&](const std::vector<MaskedFinding>& check) {
      return check.front().finding->id == finding.id && check.front().is_like(fault);
    });
    if (same == checks.end()) checks.push_back({std::move(fault)});
    else same->push_back(std::move(fault));
  }
  std::vector<FindingGroup> groups;
  std::vector<const MaskedFinding*> firsts;  // of the groups
  for (const std::vector<MaskedFinding>& check : checks) {
    FindingGroup group = group_of(check);
    size_t same = 0;
    while (same < groups.size() &&
           !(groups[same].subjects == group.subjects && groups[same].observed == group.observed &&
             firsts[same]->is_like(check.front()) && firsts[same]->observes_like(check.front())))
      ++same;
    if (same < groups.size()) {
      add_once(groups[same].ids, group.ids.front());
      if (has_no_reading(*group.finding) && group.expected != groups[same].expected) groups[same].expected.clear();
      continue;
    }
    groups.push_back(std::move(group));
    firsts.push_back(&check.front());
  }
  std::ranges::stable_sort(groups, {}, [](const FindingGroup& group) { return is_silenced(*group.finding); });
  return groups;
}

size_t count_findings(const Report& report, Status status) {
  return static_cast<size_t>(std::ranges::count_if(
      report.findings, [&](const Finding& finding) { return finding.status == status && !is_silenced(finding); }));
}

std::string counts_text(const Report& report, bool with_ok) {
  std::string text;
  const auto add = [&](size_t count, std::string_view word) {
    if (count > 0) append_item(text, std::to_string(count) + " " + std::string(word));
  };
  for (const Status status : {Status::critical, Status::warning, Status::unknown})
    add(count_findings(report, status), to_text(status));
  size_t ok = 0, unverified = 0, audited = 0, unjudged = 0;
  for (const Finding& finding : report.findings) {
    if (finding.status != Status::ok || is_silenced(finding)) continue;
    if (is_unverified(finding)) ++unverified;
    else if (is_audited(finding)) ++audited;
    else if (finding.unjudged) ++unjudged;
    else ++ok;
  }
  if (with_ok) add(ok, to_text(Status::ok));
  add(unverified, to_text(Outcome::unverified));
  add(audited, "not enforced (audit mode)");
  add(unjudged, "not judged");
  add(static_cast<size_t>(std::ranges::count(report.findings, true, &Finding::acknowledged)), "acknowledged");
  add(static_cast<size_t>(std::ranges::count(report.findings, true, &Finding::suppressed)), "suppressed");
  return text;
}

// The parts of the machine that could not be read; Port::unread has those of a port.
static std::vector<std::string> unseen_of_machine(const Node& node) {
  std::vector<std::string> out;
  if (!node.topology_unread.empty()) out.push_back("GPUs and NICs: " + node.topology_unread);
  if (!node.rdma_unread.empty()) out.push_back("RDMA devices: " + node.rdma_unread);
  out.insert(out.end(), node.unseen.begin(), node.unseen.end());
  if (!node.agent_unread.empty()) out.push_back("the agent's state: " + node.agent_unread);
  return out;
}

std::vector<std::string> unseen_lines(const Node& node) {
  std::vector<std::string> lines = unseen_of_machine(node);
  for (const Port& port : node.ports)
    for (const UnreadPart& unread : port.unread) add_once(lines, port.id() + ": " + unread.why);
  return lines;
}

std::vector<UnseenLine> merged_unseen(const Node& node) {
  std::vector<UnseenLine> lines;
  std::vector<std::string> texts;  // of the lines: the reason without the names of its port or device
  const auto add = [&](const std::string& reason, const std::string& subject, const std::vector<std::string>& names) {
    const std::string text = masked(reason, names);
    const auto same = static_cast<size_t>(std::ranges::find(texts, text) - texts.begin());
    if (same == texts.size()) {
      texts.push_back(text);
      lines.push_back({reason, {}});
    }
    UnseenLine& line = lines[same];
    if (subject.empty()) return;
    add_once(line.subjects, subject);
    if (line.subjects.size() > 1) line.reason = with_placeholders(text);
  };
  for (const std::string& reason : unseen_of_machine(node)) {
    std::string device;  // the RDMA device that it names; empty: none
    for (const Nic& nic : node.topology.nics)
      for (const std::string& rdma : nic.rdma)
        if (masked(reason, {rdma}) != reason) device = rdma;
    add(reason, device, {"", "", "", device});
  }
  for (UnseenLine& line : lines)
    if (line.subjects.size() == 1) line.subjects.clear();  // the reason names it
  for (const Port& port : node.ports)
    for (const UnreadPart& unread : port.unread)
      add(unread.why, port.id(), {port.netdev, port.pci, port.id(), port.rdma});
  return lines;
}

Json causes_json(const Report& report) {
  Json out = Json::array();
  for (const Finding& each : report.findings) {
    if (!each.culprit) continue;
    Json& entry = out.emplace_back(Json::object({{"port", each.subject},
                                                 {"rule", each.id},
                                                 {"culprit", to_text(*each.culprit)},
                                                 {"status", to_text(each.status)},
                                                 {"certainty", certainty_json(each)},
                                                 {"conclusion", each.meaning},
                                                 {"evidence", each.evidence},
                                                 {"next", each.next}}));
    if (each.acknowledged) entry["acknowledged"] = each.acknowledgement;
    if (each.suppressed) entry["suppressed"] = each.suppression;
  }
  return out;
}

}  // namespace fabric
