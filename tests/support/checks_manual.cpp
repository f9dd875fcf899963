// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "judge/engine.h"
#include "support/manuals.h"
#include "support/rules.h"

namespace fabric::test {
namespace {

constexpr std::string_view kHead = R"(.\" SPDX-License-Identifier: Apache-2.0
.\" Generated from the tables in lib/judge: tests/regenerate check
.TH FABRIC-CHECKS 7 "2026-11-23" "fabric-agent" "Miscellaneous Information"
.SH NAME
fabric\-checks \- what fabric-agentctl check verifies
.SH DESCRIPTION
.B fabric\-agentctl check
and
.BR fabric\-exporter (8)
run the checks of this page.
.B \-\-only
selects checks by id or by group.
.B fabric\-agentctl explain ID
prints one entry.
.PP
A check reports at most one finding per subject: a port
.RB ( mlx5_0/1 ),
a NIC, a GPU, a PCI address, a systemd unit or
.BR host .
Each finding has a status:
.TP
.B ok
The subject is in order.
.TP
.B warning
Performance or safety margin is lost, or a fault is developing.
.TP
.B critical
Jobs fail, hang or lose packets.
.TP
.B unknown
The evidence could not be read. The finding names the reason.
.PP
In commands, NETDEV stands for a network interface, RDMADEV for an RDMA device such as mlx5_0, and ADDRESS for a PCI
address such as 0000:17:00.0.
.PP
Each rule can be suppressed, or its severity and its limits changed, in [rules.ID] of
.BR fabric\-agent.toml (5).
)";

constexpr std::string_view kTail = R"(.SH SEE ALSO
.BR fabric\-agentctl (1),
.BR fabric\-exporter (8),
.BR fabric\-counters (7),
.BR fabric\-agent.toml (5)
)";

void add_line(std::string& out, std::string_view title, std::string_view text) {
  if (!text.empty()) out += ".br\n" + std::string(title) + ": " + roff(text) + "\n";
}

std::string windows_of(const Rule& check) {
  std::string names;
  for (const RuleWindow& rule : rule_windows())
    if (rule.rule == check.id) names.append(names.empty() ? "" : ", ").append(rule.key);
  return names;
}

std::string entry(const Rule& check) {
  std::string out = ".TP\n.B " + roff(check.id) + "\n.I " + roff(check.title) + ".\n.br\n" + roff(check.meaning) + "\n";
  add_line(out, "Inspect", check.inspect);
  add_line(out, "Fix", check.fix.text());
  add_line(out, "Windows", windows_of(check));
  for (const Limit* each : check.limits)
    if (each != nullptr) out += ".br\n" + roff(limit_text(*each)) + "\n";
  return out;
}

}  // namespace

std::string roff(std::string_view text) {
  std::string out;
  for (const char letter : text) {
    if (letter == '-') out += '\\';
    out += letter == '\\' ? std::string("\\e") : std::string(1, letter);
  }
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string checks_manual() {
  std::string out(kHead);
  out += ".SH CHECKS\n";
  std::string_view group;
  for (const Rule& check : checks()) {
    if (check.group != group) out += ".SS Group " + std::string(group = check.group) + "\n";
    out += entry(check);
  }
  return out + std::string(kTail);
}

}  // namespace fabric::test
