// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/landing.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include <array>

#include "base/parse.h"
#include "exporter/http/landing_picture.h"
#include "judge/cabling.h"
#include "judge/finding.h"
#include "judge/rule.h"

namespace fabric::exporter {

// Every color of text has a contrast of 4.5 or more with its background, in light and dark (tests/integration/landing).
constexpr std::string_view kLandingStyle = R"css(
:root{color-scheme:light dark;--bg:#fff;--fg:#1a1d21;--dim:#555c66;--line:#cfd4db;--card:#f5f6f8;--link:#0b57d0;
--critical:#b3261e;--warning:#8a5300;--unknown:#4a5568;--ok:#1e6b34;--gpu:#e3f1dd;--nic:#dfeafb;--bad:#fde4e2;--odd:#fdf0d5}
.critical{--tone:var(--critical)}.warning{--tone:var(--warning)}.unknown{--tone:var(--unknown)}.ok{--tone:var(--ok)}
header{--critical:#b3261e;--warning:#8a5300;--unknown:#4a5568;--ok:#1e6b34}
@media(prefers-color-scheme:dark){:root{--bg:#14171a;--fg:#e8eaed;--dim:#a9b0ba;--line:#3a414a;--card:#1d2125;
--link:#8ab4f8;--critical:#ff8a80;--warning:#ffc266;--unknown:#b6c0cc;--ok:#7fd69a;--gpu:#22351f;--nic:#1d2f4a;
--bad:#4a1f1c;--odd:#40300c}header{--critical:#8c1d18;--warning:#6b4100;--unknown:#3c4654;--ok:#175428}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--fg);font:16px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}
header{background:var(--tone);color:#fff}
header>div,main{max-width:1240px;margin:auto;padding:12px 10px}
h1{font-size:1.1rem;font-weight:600;margin:0}
.verdict{font-size:2rem;font-weight:700;line-height:1.2;margin:0}
header p{margin:4px 0 0}
h2{font-size:1.15rem;margin:20px 0 8px}
section:first-child>h2{margin-top:4px}
h3{font-size:1rem;margin:0}
h3 .status{color:var(--tone);text-transform:uppercase}
small,figcaption,.dim{color:var(--dim);font-size:.85rem}
a{color:var(--link)}
code{font:.9em ui-monospace,monospace}
ol,ul{margin:0;padding:0;list-style:none}
.card{border-left:5px solid var(--tone);background:var(--card);padding:8px 12px;margin-bottom:10px}
.card p{margin:4px 0}
.card:target{outline:2px solid var(--tone)}
dl{display:grid;grid-template-columns:5.5em minmax(0,1fr);gap:2px 8px;margin:4px 0}
dt{color:var(--dim)}dd{margin:0}
.next{font-weight:600}details ul,.next{padding-left:1.2em;list-style:disc}
dt.fix,dd.fix{color:var(--fg);font-weight:600}
table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:5px 8px 5px 0;border-bottom:1px solid var(--line)}
thead th{overflow-wrap:normal;color:var(--dim);font-size:.85rem}
tbody th{font-weight:600}
td small,th small{display:block;font-weight:400}
tbody th{min-width:6rem}td:last-child{white-space:nowrap}
.tone{color:var(--tone);font-weight:600}
figure{margin:0}
svg{display:block;max-width:100%;height:auto;font:11px system-ui,sans-serif}
svg text{fill:var(--fg)}svg .dim{fill:var(--dim);font-size:11px}svg .name{font-size:12px;font-weight:600}
.box{fill:none;stroke:var(--line)}.gpu{fill:var(--gpu);stroke:var(--line)}.nic{fill:var(--nic);stroke:var(--line)}
rect.critical,rect.warning{fill:var(--bad);stroke:var(--tone);stroke-width:2}rect.warning{fill:var(--odd)}
path{fill:none;stroke:var(--tone);stroke-width:2}path.warning,path.critical{stroke-dasharray:5 3}
svg text.path{fill:var(--tone)}
summary{cursor:pointer}
@media(min-width:1000px){main{display:grid;grid-template-columns:minmax(0,1fr) 340px;gap:32px}}
)css";

namespace {

// Base64 of SHA-256, as in Content-Security-Policy.
std::string style_hash() {
  std::array<unsigned char, 32> hash{};
  gnutls_datum_t raw{hash.data(), hash.size()}, encoded{};
  if (::gnutls_hash_fast(GNUTLS_DIG_SHA256, kLandingStyle.data(), kLandingStyle.size(), hash.data()) < 0 ||
      ::gnutls_base64_encode2(&raw, &encoded) < 0)
    return {};
  std::string out(reinterpret_cast<char*>(encoded.data), encoded.size);
  ::gnutls_free(encoded.data);
  return out;
}

constexpr size_t kMaxGroups = 100, kMaxNames = 16, kMaxPorts = 128, kMaxLines = 40;
constexpr std::chrono::seconds kStale{30};  // every device is read every ten seconds

// Parts of HTML. Their argument `text` is escaped, `content` is markup.
std::string element(std::string_view name, std::string_view attributes, std::string_view content) {
  std::string out = "<";
  out.append(name);
  if (!attributes.empty()) out.append(" ").append(attributes);
  return out.append(">").append(content).append("</").append(name).append(">");
}

std::string css(std::string_view name) { return "class=\"" + std::string(name) + "\""; }

std::string small(const std::string& text) { return element("small", "", escape_xml(text)); }

std::string paragraph(const std::string& text) { return element("p", "", escape_xml(text)) + "\n"; }

std::string section(std::string_view title, const std::string& content) {
  return element("section", "", element("h2", "", title) + "\n" + content) + "\n";
}

// A term and its text in a <dl>; empty without text.
std::string term(std::string_view name, const std::string& text, std::string_view attributes = "") {
  if (text.empty()) return {};
  return element("dt", attributes, name) + element("dd", attributes, escape_xml(text)) + "\n";
}

std::string items(const std::vector<std::string>& lines, std::string_view attributes = "") {
  std::string out;
  for (size_t i = 0; i < std::min(lines.size(), kMaxLines); ++i) out += element("li", "", escape_xml(lines[i])) + "\n";
  if (lines.size() > kMaxLines) out += element("li", "", std::to_string(lines.size() - kMaxLines) + " more");
  return element("ul", attributes, out);
}

// The status as a word, because not everyone can distinguish the colors, then the text and its subjects.
std::string heading(std::string_view status, const std::string& text, const std::string& subjects) {
  return element("h3", "",
                 element("span", css("status"), status) + " " + escape_xml(text) + " " + escape_xml(subjects));
}

std::string card(Status status, const std::string& content, const std::string& attributes = "") {
  return element("li", attributes + "class=\"card " + std::string(to_text(status)) + "\"", content) + "\n";
}

// A list that is folded at first; empty without entries.
std::string details(const std::string& title, const std::string& list) {
  if (list.empty()) return {};
  return element("details", "", element("summary", "", title) + element("ol", "", list));
}

std::string names(const std::vector<std::string>& all, size_t most) {
  std::string out;
  for (size_t i = 0; i < std::min(all.size(), most); ++i) append_item(out, all[i]);
  if (all.size() > most) out += " and " + std::to_string(all.size() - most) + " more";
  return out;
}

class Landing {
 public:
  Landing(const Snapshot& snapshot, const PageFindings& findings, const PageContext& context, Clock::time_point now)
      : snapshot_(snapshot), findings_(findings), context_(context), now_(now) {
    for (const CollectorRun& run : snapshot_.runs)
      if (run.is_of_hanging_device()) unresponsive_[run.device] = "does not answer";
    for (const DeviceAge& age : snapshot_.ages)
      if (now_ - age.taken > kStale) unresponsive_[age.device] = "has not answered for " + seconds_since(age.taken);
    if (checked_) verdict_ = worst(findings.report);
    std::stable_partition(groups_.begin(), groups_.end(), is_open);
    for (size_t i = 0; i < groups_.size(); ++i)
      for (const std::string& subject : groups_[i].subjects)
        if (is_open(groups_[i]) && place_.try_emplace(subject, i).second) status_[subject] = groups_[i].finding->status;
  }

  [[nodiscard]] std::string page() const {
    const std::string verdict = upper(to_text(verdict_));
    std::string name = node_.hostname;
    if (name.empty()) name = "this node";
    std::string out =
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    out += element("title", "", verdict + ": " + escape_xml(name)) + "\n" + element("style", "", kLandingStyle) +
           "\n</head>\n<body>\n";

    std::string header = element("h1", "", escape_xml(name)) + "\n" + element("p", css("verdict"), verdict) + "\n";
    if (checked_)
      header += paragraph(std::to_string(findings_.report.findings.size()) +
                          " checks: " + counts_text(findings_.report, true));
    else header += paragraph("Nothing has been checked yet: the first reading is under way.");
    for (const auto& [device, fault] : unresponsive_) header += paragraph(device + " " + fault + ".");
    std::optional<Clock::time_point> newest;
    for (const DeviceAge& age : snapshot_.ages) newest = std::max(newest.value_or(age.taken), age.taken);
    std::string readings = "no RDMA device read";
    if (newest) readings = "readings " + seconds_since(*newest) + " old";
    if (context_.wall > 0) {
      const std::string time = time_text(context_.wall);
      readings = time.substr(0, 10) + " " + time.substr(11, 8) + " UTC, " + readings;
    }
    header += paragraph(readings + ".");
    out += element("header", css(to_text(verdict_)), element("div", "", header)) + "\n<main>\n";

    // The links are relative: a proxy may serve the node below a folder.
    const std::string links =
        section("More",
                "<ul>\n<li><a href=\"metrics\">/metrics</a> for Prometheus</li>\n"
                "<li><a href=\"-/ready\">/-/ready</a>, <a href=\"-/healthy\">/-/healthy</a></li>\n"
                "<li><code>fabric-agentctl explain CHECK</code>, <code>man fabric-exporter</code></li>\n</ul>\n");
    out += element("div", "", problems() + diagnoses() + ports() + not_known()) + "\n";
    return out + element("div", "", picture() + facts() + links) + "\n</main>\n</body>\n</html>\n";
  }

 private:
  // Whether it counts for the verdict.
  static bool is_open(const FindingGroup& group) {
    return group.finding->status != Status::ok && !is_silenced(*group.finding);
  }

  static bool is_cause(const FindingGroup& group) {
    const Rule* rule = find_rule(group.ids.front());
    return rule != nullptr && rule->is_cause();
  }

  [[nodiscard]] std::string seconds_since(Clock::time_point taken) const {
    return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(now_ - taken).count()) + " s";
  }

  [[nodiscard]] std::string problems() const {
    if (!checked_) return section("What to do", paragraph("Reload this page in a few seconds."));
    std::string open, known, suppressed, audited, unjudged;
    size_t acknowledged = 0, suppressions = 0, differing = 0, limits = 0;
    for (size_t i = 0; i < std::min(groups_.size(), kMaxGroups); ++i) {
      if (is_cause(groups_[i])) continue;  // in diagnoses()
      if (is_audited(*groups_[i].finding)) {
        differing += groups_[i].ids.size() * groups_[i].subjects.size();
        audited += problem(groups_[i], i);
      } else if (limits_verdict(*groups_[i].finding)) {
        limits += groups_[i].ids.size() * groups_[i].subjects.size();
        unjudged += problem(groups_[i], i);
      } else if (groups_[i].finding->acknowledged) {
        ++acknowledged;
        known += problem(groups_[i], i);
      } else if (groups_[i].finding->suppressed) {
        ++suppressions;
        suppressed += problem(groups_[i], i);
      } else {
        open += problem(groups_[i], i);
      }
    }
    std::string out;
    if (open.empty() && known.empty() && suppressed.empty()) out = paragraph("Nothing: no check found a problem.");
    else if (open.empty()) out = paragraph("Nothing new: every finding is acknowledged or suppressed.");
    else out = element("ol", "", open);
    if (groups_.size() > kMaxGroups)
      out += paragraph(std::to_string(groups_.size() - kMaxGroups) + " more: fabric-agentctl check");
    out += details(std::to_string(acknowledged) + " acknowledged", known) +
           details(std::to_string(suppressions) + " suppressed", suppressed) +
           details(counted(differing, "setting") + " not enforced (audit mode)", audited) +
           details(std::to_string(limits) + " not judged", unjudged);
    return section("What to do", out);
  }

  [[nodiscard]] static std::string problem(const FindingGroup& group, size_t number) {
    const Finding& finding = *group.finding;
    std::string what = names(group.ids, 5);
    if (is_cause(group)) what.clear();
    if (finding.culprit) append_item(what, "cause: " + std::string(to_text(*finding.culprit)));
    std::string out = heading(status_words(finding), what, names(group.subjects, kMaxNames));
    if (!finding.meaning.empty()) out += paragraph(finding.meaning);
    if (finding.culprit) {
      if (!group.observed.empty()) out += items(group.observed);
      out += items(finding.next, css("next"));
      if (!group.likewise.empty()) out += paragraph("Also for: " + joined(group.likewise));
      out += element("details", "", element("summary", "", "Evidence") + items(finding.evidence));
      return card(finding.status, out, "id=\"f" + std::to_string(number) + "\" ");
    }
    std::string terms;
    if (!group.observed.empty()) {
      terms += element("dt", "", "Found") + element("dd", "", items(group.observed)) + "\n";
    } else {
      if (is_observed(finding)) terms += term("Found", finding.observed);
      terms += term("Since", finding.since);
    }
    terms += term("Expected", group.expected) + term("Known", finding.acknowledgement) +
             term("Reason", finding.suppression) + term("Fix", finding.remedy, css("fix")) +
             term("Also for", joined(group.likewise));
    out += element("dl", "", terms);
    return card(finding.status, out, "id=\"f" + std::to_string(number) + "\" ");
  }

  [[nodiscard]] std::string diagnoses() const {
    if (findings_.signals.empty())
      return section("Diagnosis", paragraph("Not known yet: it compares readings of a minute. Reload in a minute."));
    std::string out;
    for (size_t i = 0; i < std::min(groups_.size(), kMaxGroups); ++i)
      if (is_cause(groups_[i])) out += problem(groups_[i], i);
    if (out.empty()) return section("Diagnosis", paragraph("No symptom in the traffic of the last minutes."));
    return section("Diagnosis", element("ol", "", out));
  }

  [[nodiscard]] std::string ports() const {
    std::string rows;
    size_t shown = 0, hidden = 0;
    for (const Port& port : node_.ports) {
      if ((is_virtual(port) && !is_own_device(port)) || shown == kMaxPorts) {
        ++hidden;
        continue;
      }
      ++shown;
      // LinkUp adds nothing to ACTIVE.
      const std::string state = is_up(port) ? std::string(port_state_text(*port.state)) : link_state_text(port);
      std::string rate, peer = "not known";
      if (is_up(port)) rate = port.rate ? rate_text(*port.rate) : "rate not known";
      if (const auto known = peer_of(node_, context_.policy, port))
        peer = escape_xml(known->device) + small(known->port);
      const std::string cells = element("th", "scope=\"row\"", escape_xml(port.id()) + small(port.netdev)) +
                                element("td", "", escape_xml(state) + small(rate)) + element("td", "", peer) +
                                element("td", "", checks_of(port));
      rows += element("tr", "", cells) + "\n";
    }
    if (shown == 0 && hidden == 0 && !checked_) return section("Ports", paragraph("Not known yet."));
    if (shown == 0 && hidden == 0) return section("Ports", paragraph("This node has no RDMA port."));
    std::string table = "<table>\n<thead><tr>";
    for (const char* title : {"Port", "State", "Connected to", "Checks"})
      table += element("th", "scope=\"col\"", title);
    table += "</tr></thead>\n" + element("tbody", "", "\n" + rows) + "</table>\n";
    if (hidden > 0)
      table += paragraph(std::to_string(hidden) + " more, virtual functions last: fabric-agentctl status");
    return section("Ports", table);
  }

  // A link to the worst finding of the port, its device or its netdev.
  [[nodiscard]] std::string checks_of(const Port& port) const {
    std::optional<size_t> first;
    for (const std::string& subject : {port.id(), port.rdma, port.netdev})
      if (const auto found = place_.find(subject); found != place_.end())
        first = std::min(first.value_or(found->second), found->second);
    if (!checked_) return "not known";
    if (!first && unresponsive_.count(port.rdma) != 0) return "no answer";
    if (!first) return element("span", "class=\"tone ok\"", "ok");
    const std::string status(to_text(groups_[*first].finding->status));
    return element("a", "href=\"#f" + std::to_string(*first) + "\" class=\"tone " + status + "\"", status);
  }

  // The readings that failed, since an absent value is not zero.
  [[nodiscard]] std::string not_known() const {
    std::vector<std::string> lines;
    for (const auto& [reason, subjects] : merged_unseen(node_))
      lines.push_back(subjects.empty() ? reason : joined(subjects) + ": " + reason);
    for (const CollectorRun& run : snapshot_.runs) {
      if (run.success) continue;
      std::string line = run.collector;
      if (!run.device.empty()) line = run.device + ": " + run.collector;
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
    const auto* read =
        find_where(snapshot_.runs, [](const CollectorRun& run) { return run.collector == kTopologyCollector; });
    if (read == nullptr) return section("Topology", paragraph("Not known yet."));
    if (!read->success) return section("Topology", paragraph("Not known: " + read->error));
    return section("Topology", paragraph("This node has neither GPUs nor NICs."));
  }

  [[nodiscard]] std::string facts() const {
    std::string agent = "no state: it has never run";
    if (!node_.agent_unread.empty()) agent = "not known: " + node_.agent_unread;
    if (node_.agent) {
      agent = node_.agent->running ? "running, mode " : "not running, mode ";
      if (node_.agent->mode) agent += to_text(*node_.agent->mode);
      if (!node_.agent->held.empty()) agent += "; not enforcing: " + node_.agent->held;
      if (!node_.agent->config_error.empty()) agent += "; " + node_.agent->config_error;
    }
    std::string policy = "valid";
    if (context_.policy == nullptr) policy.clear();
    if (context_.no_policy) policy = context_.no_policy->text();
    if (!context_.config_valid) policy = "invalid; the previous one is in use";
    return section("Node",
                   element("dl", "", term("Agent", agent) + term("Policy", policy) + term("Exporter", FABRIC_VERSION)));
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
  std::map<std::string, std::string> unresponsive_;  // device -> "has not answered for 92 s"
};

}  // namespace

std::string render_landing(const Snapshot& snapshot, const PageFindings& findings, const PageContext& context,
                           Clock::time_point now) {
  return Landing(snapshot, findings, context, now).page();
}

const std::string& content_policy() {
  static const std::string kPolicy = "default-src 'none'; style-src 'sha256-" + style_hash() +
                                     "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  return kPolicy;
}

}  // namespace fabric::exporter
