// SPDX-License-Identifier: Apache-2.0
// fabric-checks(7) matches the tables in lib/judge and the alerts, and every rule of a file is registered.
#include <cctype>

#include "judge/engine.h"
#include "setting/setting_table.h"
#include "support/manuals.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;

const std::string kPage = "agent/ctl/fabric-checks.7";

// "{{ $labels.device }}" -> "DEVICE"; other parts of a template are removed.
std::string without_templates(std::string text) {
  text = std::regex_replace(text, std::regex(R"(\{\{ (with|range) .*?\{\{ end \}\})"), "");
  std::string out;
  std::smatch found;
  for (const std::regex one(R"(\{\{ \$(labels\.)?([a-z_]+)[^}]*\}\})"); std::regex_search(text, found, one);
       text = found.suffix()) {
    std::string name = found[2];
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char each) { return std::toupper(each); });
    out += found.prefix().str() + name;
  }
  return out + text;
}

// An entry for each alert of a file of rules: name, severity, summary and command.
std::string alerts_of(const std::string& file) {
  std::string out;
  std::istringstream lines(test::slurp(FABRIC_SOURCE_DIR "/etc/prometheus/" + file));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (!std::regex_match(line, found, std::regex(R"( *(?:- )?(alert|severity|summary|description): '?(.*?)'?)")))
      continue;
    const std::string text = test::roff(without_templates(found[2]));
    if (found[1] == "alert") out += ".TP\n.B " + text + "\n";
    else if (found[1] == "severity") out += "Severity: " + text + ".\n.br\n";
    else out += (found[1] == "summary" ? "Says: " : ".br\n") + text + "\n";
  }
  return out;
}

// checks_manual(), with the alerts before its last section.
std::string manual() {
  std::string out = test::checks_manual();
  const size_t end = out.find(".SH SEE ALSO");
  return out.insert(end,
                    ".SH ALERTS\nOf the rules in\n.IR /usr/share/fabric\\-agent .\nWords in capitals stand for the "
                    "labels of the alert.\n"
                    "page: a job is dead, will die, or is slowed as a whole; ticket: degraded, or redundancy is lost; "
                    "info: for dashboards.\n"
                    ".SS Of a node\n" +
                        alerts_of("fabric-agent.rules.yml") + ".SS Of a fleet\n" + alerts_of("fabric-fleet.rules.yml"));
}

TEST(ChecksManual, MatchesTheTables) { test::expect_generated(kPage, manual()); }

TEST(ChecksManual, TheAlertAboutSettingsNamesEach) {
  std::string keys;
  for (const Setting& setting : kSettings) keys += (keys.empty() ? "" : "|") + std::string(setting.key);
  const std::string file = "etc/prometheus/fabric-agent.rules.yml";
  EXPECT_NE(test::of_source(file).find("{check=~\"" + keys + "\"}"), std::string::npos)
      << file << ": write into FabricSettingNotInSync: {check=~\"" << keys << "\"}";
}

// runbook_url names an entry of the pages of packaging/make-site: of the alert in the runbook, or of the check in the
// label. tests/parts/site follows them.
TEST(ChecksManual, EveryAlertNamesItsCommandAndItsEntry) {
  for (const std::string file : {"fabric-agent.rules.yml", "fabric-fleet.rules.yml"}) {
    const std::string text = test::slurp(FABRIC_SOURCE_DIR "/etc/prometheus/" + file);
    const std::regex start("- alert: ");
    for (std::sregex_token_iterator each(text.begin(), text.end(), start, -1), end; ++each != end;) {
      const std::string alert = *each, name = alert.substr(0, alert.find('\n'));
      EXPECT_TRUE(std::regex_search(alert, std::regex("severity: (page|ticket|info)\n"))) << name;
      EXPECT_TRUE(std::regex_search(alert, std::regex("description: '.*(fabric-agentctl|systemctl|curl|man) ")))
          << name;
      EXPECT_TRUE(
          std::regex_search(alert, std::regex("runbook_url: 'https://[^']*/(runbook\\.html#" + name +
                                              R"(|fabric-checks\.7\.html#\{\{ \$labels\.(check|setting) \}\})')")))
          << name;
      if (alert.find("increase(fabric_events_total") != std::string::npos ||
          alert.find("port_events:increase") != std::string::npos)
        EXPECT_TRUE(has(alert, "keep_firing_for:")) << name << " would end after five minutes";
    }
  }
}

// A rule that is missing in the table of its subject would never run.
TEST(ChecksManual, EveryRuleOfAFileIsRegistered) {
  const std::regex id(R"(\.id = "([^"]+)\")");
  size_t rows = 0;
  for (const auto& file : std::filesystem::directory_iterator(FABRIC_SOURCE_DIR "/lib/judge")) {
    if (file.path().extension() != ".cpp") continue;
    const std::string text = test::slurp(file.path());
    for (std::sregex_iterator found(text.begin(), text.end(), id), end; found != end; ++found, ++rows)
      EXPECT_NE(find_rule((*found)[1].str()), nullptr) << file.path() << ": add the row to the table at its end";
  }
  EXPECT_GE(rows, 52u);
}

}  // namespace
}  // namespace fabric
