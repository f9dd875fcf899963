// SPDX-License-Identifier: Apache-2.0
#include "base/parse.h"
#include "exporter/http/page.h"
#include "judge/finding.h"
#include "metrics/families.h"

namespace fabric::exporter {
namespace {

constexpr size_t kMostGroups = 100, kMostNames = 16, kMostPorts = 128, kMostLines = 40;
constexpr std::chrono::seconds kStale{30};  // every device is read every ten seconds

// Pieces of HTML: `text` is escaped, `content` is markup.
std::string element(std::string_view name, std::string_view attributes, std::string_view content) {
  std::string out = "<";
  out.append(name).append(attributes.empty() ? "" : " ").append(attributes).append(">").append(content);
  return out.append("</").append(name).append(">");
}

std::string css(std::string_view name) { return "class=\"" + std::string(name) + "\""; }

std::string paragraph(const std::string& text) { return element("p", "", escape_xml(text)) + "\n"; }

std::string section(std::string_view title, const std::string& content) {
  return element("section", "", element("h2", "", title) + "\n" + content) + "\n";
}

// A term and its text in a <dl>; nothing without text.
std::string term(std::string_view name, const std::string& text, std::string_view attributes = "") {
  return text.empty() ? "" : element("dt", attributes, name) + element("dd", attributes, escape_xml(text)) + "\n";
}

std::string items(const std::vector<std::string>& lines, std::string_view attributes = "") {
  std::string out;
  for (size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) out += element("li", "", escape_xml(lines[i])) + "\n";
  if (lines.size() > kMostLines) out += element("li", "", std::to_string(lines.size() - kMostLines) + " more");
  return element("ul", attributes, out);
}

// The status as a word, because not everybody sees colors; then the text and its subjects.
std::string heading(Status status, const std::string& text, const std::string& subjects) {
  return element("h3", "",
                 element("span", css("status"), to_text(status)) + " " + escape_xml(text) + " " + escape_xml(subjects));
}

std::string card(Status status, const std::string& content, const std::string& attributes = "") {
  return element("li", attributes + "class=\"card " + std::string(to_text(status)) + "\"", content) + "\n";
}

std::string names(const std::vector<std::string>& all, size_t most) {
  std::string out;
  for (size_t i = 0; i < std::min(all.size(), most); ++i) out += (i == 0 ? "" : ", ") + all[i];
  return out + (all.size() > most ? " and " + std::to_string(all.size() - most) + " more" : "");
}

std::string utc(int64_t seconds) {
  const std::string text = time_text(seconds);
  return text.substr(0, 10) + " " + text.substr(11, 8) + " UTC";
}

class Landing {
 public:
  Landing(const Snapshot& snapshot, const PageFindings& findings, const PageContext& context, Clock::time_point now)
      : snapshot_(snapshot), findings_(findings), context_(context), now_(now) {
    for (const CollectorRun& run : snapshot_.runs)
      if (run.collector == "reader" && !run.success && !run.device.empty()) silent_[run.device] = "does not answer";
    for (const DeviceAge& age : snapshot_.ages)
      if (now_ - age.taken > kStale) silent_[age.device] = "has not answered for " + seconds_since(age.taken);
    const Status found = worst(findings.report);
    verdict_ = !checked_ || (found == Status::ok && !silent_.empty()) ? Status::unknown : found;
    std::stable_partition(groups_.begin(), groups_.end(),
                          [](const auto& group) { return !group.finding->acknowledged; });
    for (size_t i = 0; i < groups_.size(); ++i)
      for (const std::string& subject : groups_[i].subjects)
        if (!groups_[i].finding->acknowledged && place_.try_emplace(subject, i).second)
          status_[subject] = groups_[i].finding->status;
  }

  [[nodiscard]] std::string page() const {
    const std::string name = node_.hostname.empty() ? "this node" : node_.hostname;
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += element("title", "", word() + ": " + escape_xml(name)) + "\n" + element("style", "", kLandingStyle) +
           "\n</head>\n<body>\n";
    const std::string verdict = element("h1", "", escape_xml(name)) + "\n" + element("p", css("verdict"), word()) +
                                "\n" + paragraph(counts()) + readings();
    out += element("header", css(to_text(verdict_)), element("div", "", verdict)) + "\n<main>\n";
    out += element("div", "", problems() + diagnoses() + ports() + unknown()) + "\n";
    return out + element("div", "", picture() + facts() + links()) + "\n</main>\n</body>\n</html>\n";
  }

 private:
  [[nodiscard]] std::string word() const { return upper(to_text(verdict_)); }

  [[nodiscard]] std::string counts() const {
    if (!checked_) return "Nothing has been checked yet: the first reading is under way.";
    return std::to_string(findings_.report.findings.size()) + " checks: " + counts_text(findings_.report, true);
  }

  // Which devices do not answer, and how old the other readings are.
  [[nodiscard]] std::string readings() const {
    std::string out;
    for (const auto& [device, silence] : silent_) out += paragraph(device + " " + silence + ".");
    std::optional<Clock::time_point> newest;
    for (const DeviceAge& age : snapshot_.ages) newest = std::max(newest.value_or(age.taken), age.taken);
    return out + paragraph((context_.wall > 0 ? utc(context_.wall) + ", " : "") +
                           (newest ? "readings " + seconds_since(*newest) + " old" : "no RDMA device read") + ".");
  }
  [[nodiscard]] std::string seconds_since(Clock::time_point taken) const {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now_ - taken).count()) + " s";
  }

  [[nodiscard]] std::string problems() const {
    if (!checked_) return section("What to do", paragraph("Reload this page in a few seconds."));
    std::string open, known;
    size_t acknowledged = 0;
    for (size_t i = 0; i < std::min(groups_.size(), kMostGroups); ++i) {
      if (groups_[i].finding->culprit) continue;  // diagnoses()
      acknowledged += groups_[i].finding->acknowledged ? 1 : 0;
      (groups_[i].finding->acknowledged ? known : open) += problem(groups_[i], i);
    }
    open += no_answer();
    if (open.empty() && known.empty()) return section("What to do", paragraph("Nothing: no check found a problem."));
    std::string out = open.empty() ? paragraph("Nothing new: every finding is acknowledged.") : element("ol", "", open);
    if (groups_.size() > kMostGroups)
      out += paragraph(std::to_string(groups_.size() - kMostGroups) + " more: fabric-agentctl check");
    if (acknowledged > 0)
      out += element("details", "",
                     element("summary", "", std::to_string(acknowledged) + " acknowledged") + element("ol", "", known));
    return section("What to do", out);
  }

  [[nodiscard]] std::string no_answer() const {
    std::vector<std::string> devices;
    for (const auto& [device, silence] : silent_) devices.push_back(device);
    if (devices.empty()) return {};
    return card(
        Status::unknown,
        heading(Status::unknown, "no answer from", names(devices, kMostNames)) +
            paragraph("The device or its firmware hangs. Its readings below are old.") +
            element("dl", "",
                    term("Fix", "Read the kernel's log: journalctl -k. Then: devlink health show", css("fix"))));
  }

  [[nodiscard]] static std::string problem(const FindingGroup& group, size_t number) {
    const Finding& finding = *group.finding;
    std::string what = names(group.ids, 5);
    if (finding.culprit) what = "cause: " + std::string(to_text(*finding.culprit));
    std::string out = heading(finding.status, what, names(group.subjects, kMostNames));
    if (!finding.meaning.empty()) out += paragraph(finding.meaning);
    if (finding.culprit) {
      out += items(finding.next, css("next"));
      out += element("details", "", element("summary", "", "Evidence") + items(finding.evidence));
      return card(finding.status, out, "id=\"f" + std::to_string(number) + "\" ");
    }
    out += element("dl", "",
                   term("Found", finding.observed == "-" ? "" : finding.observed) + term("Expected", finding.expected) +
                       term("Since", finding.since) + term("Known", finding.acknowledgement) +
                       term("Fix", finding.remedy, css("fix")));
    return card(finding.status, out, "id=\"f" + std::to_string(number) + "\" ");
  }

  [[nodiscard]] std::string diagnoses() const {
    if (findings_.signals.empty())
      return section("Diagnosis", paragraph("Not known yet: it compares readings of a minute. Reload in a minute."));
    std::string out;
    for (size_t i = 0; i < std::min(groups_.size(), kMostGroups); ++i)
      if (groups_[i].finding->culprit) out += problem(groups_[i], i);
    return section("Diagnosis",
                   out.empty() ? paragraph("No symptom in the traffic of the last minutes.") : element("ol", "", out));
  }

  [[nodiscard]] std::string ports() const {
    std::string rows;
    size_t shown = 0, hidden = 0;
    for (const Port& port : node_.ports) {
      if (is_virtual(port) || shown == kMostPorts) ++hidden;
      else rows += row(port), ++shown;
    }
    if (shown == 0 && hidden == 0)
      return section("Ports", paragraph(checked_ ? "This node has no RDMA port." : "Not known yet."));
    std::string table = "<table>\n<thead><tr>";
    for (const char* title : {"Port", "State", "Connected to", "Checks"})
      table += element("th", "scope=\"col\"", title);
    table += "</tr></thead>\n" + element("tbody", "", "\n" + rows) + "</table>\n";
    if (hidden > 0)
      table += paragraph(std::to_string(hidden) + " more, virtual functions last: fabric-agentctl status");
    return section("Ports", table);
  }

  [[nodiscard]] std::string row(const Port& port) const {
    const auto small = [](const std::string& text) { return element("small", "", escape_xml(text)); };
    std::string state = port.state ? std::string(port_state_text(*port.state)) : "not known";
    if (port.state && !is_active(port) && port.phys_state) state.append(", ").append(phys_state_text(*port.phys_state));
    const auto peer = peer_of(node_, context_.policy, port);
    const std::string rate = !is_active(port) ? "" : port.rate ? rate_text(*port.rate) : "rate not known";
    std::string cells = element("th", "scope=\"row\"", escape_xml(port.id()) + small(port.netdev)) +
                        element("td", "", escape_xml(state) + small(rate)) +
                        element("td", "", peer ? escape_xml(peer->device) + small(peer->port) : "not known") +
                        element("td", "", checks_of(port));
    return element("tr", "", cells) + "\n";
  }

  // A link to the worst finding of the port, its device or its netdev.
  [[nodiscard]] std::string checks_of(const Port& port) const {
    std::optional<size_t> first;
    for (const std::string& subject : {port.id(), port.rdma, port.netdev})
      if (const auto found = place_.find(subject); found != place_.end())
        first = std::min(first.value_or(found->second), found->second);
    if (!checked_) return "not known";
    if (!first && silent_.count(port.rdma) != 0) return "no answer";
    if (!first) return element("span", "class=\"tone ok\"", "ok");
    const std::string status(to_text(groups_[*first].finding->status));
    return element("a", "href=\"#f" + std::to_string(*first) + "\" class=\"tone " + status + "\"", status);
  }

  // Absent is not zero.
  [[nodiscard]] std::string unknown() const {
    std::vector<std::string> lines = unseen_lines(node_);
    for (const CollectorRun& run : snapshot_.runs)
      if (!run.success) {
        std::string line = (run.device.empty() ? "" : run.device + ": ") + run.collector;
        if (!run.error.empty()) line += ": " + run.error;
        if (!contains(lines, line)) lines.push_back(std::move(line));
      }
    std::string out = paragraph(
        "Without privileges, the exporter cannot check the limits memlock and nofile. As root: "
        "fabric-agentctl check");
    if (!lines.empty())
      out = element("details", "",
                    element("summary", "", "Readings that failed: " + std::to_string(lines.size())) + items(lines)) +
            out;
    return section("Not known", out);
  }

  [[nodiscard]] std::string picture() const {
    const std::string_view legend =
        "Lines: the best pairing. Green: PIX, PXB (same switch). Dashed: PHB, NODE. Dashed red: SYS (other socket).";
    if (!node_.topology.gpus.empty() || !node_.topology.nics.empty())
      return section("Topology",
                     element("figure", "", topology_picture(node_, status_) + element("figcaption", "", legend)));
    const auto* read = find_where(snapshot_.runs, [](const CollectorRun& run) { return run.collector == "topology"; });
    return section("Topology", paragraph(read == nullptr ? "Not known yet."
                                         : read->success ? "This node has neither GPUs nor NICs."
                                                         : "Not known: " + read->error));
  }

  [[nodiscard]] std::string facts() const {
    std::string agent = node_.agent_unread.empty() ? "no state: it has never run" : "not known: " + node_.agent_unread;
    if (node_.agent) {
      agent = (node_.agent->running ? "running, mode " : "not running, mode ") + node_.agent->mode;
      if (!node_.agent->held.empty()) agent += "; not enforcing: " + node_.agent->held;
      if (!node_.agent->config_error.empty()) agent += "; " + node_.agent->config_error;
    }
    const std::string policy = !context_.config_valid ? "invalid; the previous one is in use"
                               : context_.policy == nullptr || !context_.no_policy.empty() ? context_.no_policy
                                                                                           : "valid";
    return section("Node",
                   element("dl", "", term("Agent", agent) + term("Policy", policy) + term("Exporter", FABRIC_VERSION)));
  }

  // Relative: a proxy may serve the node below a folder.
  [[nodiscard]] static std::string links() {
    return section("More",
                   "<ul>\n<li><a href=\"metrics\">/metrics</a> for Prometheus</li>\n"
                   "<li><a href=\"-/ready\">/-/ready</a>, <a href=\"-/healthy\">/-/healthy</a></li>\n"
                   "<li><code>fabric-agentctl explain CHECK</code>, <code>man fabric-exporter</code></li>\n</ul>\n");
  }

  const Snapshot& snapshot_;
  const PageFindings& findings_;
  const PageContext& context_;
  const Clock::time_point now_;
  const Node& node_ = snapshot_.node;
  const bool checked_ = !findings_.report.findings.empty();
  Status verdict_ = Status::unknown;
  std::vector<FindingGroup> groups_ = group_findings(findings_.report);
  std::map<std::string, size_t> place_;  // subject -> its worst group
  std::map<std::string, Status> status_;
  std::map<std::string, std::string> silent_;  // device -> "has not answered for 92 s"
};

}  // namespace

std::string render_landing(const Snapshot& snapshot, const PageFindings& findings, const PageContext& context,
                           Clock::time_point now) {
  return Landing(snapshot, findings, context, now).page();
}

}  // namespace fabric::exporter
