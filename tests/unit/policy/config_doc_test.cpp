// SPDX-License-Identifier: Apache-2.0
// What is documented is what there is: sample configuration, manual pages, tables.
#include <cctype>

#include "agentd/messages.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "nic/driver.h"
#include "policy/config.h"
#include "policy/reader.h"
#include "policy/rule_keys.h"
#include "setting/change.h"
#include "support/config.h"
#include "support/golden.h"
#include "support/rules.h"
#include "support/test.h"

namespace fabric {
namespace {

using test::has;
using test::of_source;

const std::string kSource = FABRIC_SOURCE_DIR;
const std::string kTomlPage = "agent/agentd/fabric-agent.toml.5", kSample = "etc/fabric-agent.toml";

// A line "#key = value" or "#[section]" is a default that can be switched on by removing the "#".
std::string with_defaults_switched_on(const std::string& text) {
  std::string out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    bool is_default = line.size() > 1 && line[0] == '#' &&
                      (std::islower(static_cast<unsigned char>(line[1])) || line[1] == '[' || line[1] == '"');
    out += (is_default ? line.substr(1) : line) + "\n";
  }
  return out;
}

TEST(SampleConfiguration, IsAuditWithAProfileForEveryRocePort) {
  const LoadedConfig sample = test::loaded(load_config(kSource + "/etc/fabric-agent.toml"));
  EXPECT_EQ(sample.policy.mode, Mode::audit);
  EXPECT_TRUE(sample.warnings.empty()) << sample.warnings.front().what;
  Port port{.rdma = "rocep1s0", .netdev = "ens1", .serves = "host", .kernel_driver = "unheard_of"};
  EXPECT_EQ(policy_for(sample.policy, port), nullptr) << "not near a GPU: it may carry management or storage";
  port.serves = "compute";
  const PortPolicy* entry = policy_for(sample.policy, port);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->want.pfc, PrioSet{1 << 3});
  for (const char* driver : {"mlx5_core", "bnxt_en", "ionic", "ice"}) {
    port.kernel_driver = driver;
    entry = policy_for(sample.policy, port);
    ASSERT_NE(entry, nullptr);
    EXPECT_FALSE(entry->profile.empty()) << driver;
    EXPECT_FALSE(entry->front_end) << driver;
  }
}

TEST(SampleConfiguration, ItsCommentedDefaultsAreTheDefaults) {
  Policy sample = test::loaded(parse_config(with_defaults_switched_on(of_source(kSample)), "sample",
                                            kSource + "/etc/profiles", rule_rows()))
                      .policy;
  for (const Limit* row : test::limits()) {
    const double* value = find_in(sample.rules.limits, row->name());
    EXPECT_TRUE(value != nullptr && *value == row->value)
        << kSample << ": " << row->name() << " is out of date: tests/regenerate writes it";
  }
  const Policy defaults;
  for (const RuleWindow& rule : rule_windows())
    EXPECT_EQ(limits_of(sample.rules, rule), limits_of(defaults.rules, rule)) << rule.key;
  // Beside these: what has no default, and where each stands.
  sample.ports.clear(), sample.firmware.clear(), sample.driver_version.clear(), sample.sysctl.clear();
  sample.expect = {}, sample.cabling = {};
  sample.rules = {}, sample.origin.clear();
  EXPECT_EQ(show_config(sample), show_config(defaults));
}

TEST(SampleConfiguration, GivesEveryKey) {
  std::string text = of_source(kSample);
  for (const std::string& key : config_keys()) {
    std::string last = key.substr(key.rfind('.') + 1);
    if (last == "sysctl" || last == "firmware" || last == "driver_version") {
      EXPECT_TRUE(has(text, "[" + last + "]"));
      continue;
    }
    EXPECT_TRUE(std::regex_search(text, std::regex("(^|\\n)#?([a-z_]+ = \\{.*)?\\b" + last + " = ")))
        << kSample << " lacks a line for " << key << ": write one; those of [rules.ID] tests/regenerate writes";
  }
}

// The entry of a key, from its heading to the next one.
std::string entry_of(const std::string& page, const std::string& key) {
  const size_t head = page.find("\n.It Cm " + key + "\n");
  EXPECT_NE(head, std::string::npos) << kTomlPage << " lacks an entry .It Cm " << key << ": write one";
  return head == std::string::npos ? "" : page.substr(head + 1, page.find("\n.It Cm ", head + 1) - head);
}

// The table of a window: "rules.link-flap", or "rules.link-errors.bit_errors" of a rule with several.
std::string key_of(const RuleRow& row, const WindowRow& window) {
  const std::string rule = "rules." + std::string(row.id);
  return row.windows.size() == 1 ? rule : rule + "." + std::string(window.key);
}

TEST(ManualPage, HeadsEveryKeyAndNoOther) {
  std::string page = of_source(kTomlPage);
  std::set<std::string> headed;
  std::regex heading("\\n\\.It Cm ([a-z0-9_.-]+)");
  for (std::sregex_iterator match(page.begin(), page.end(), heading), end; match != end; ++match)
    headed.insert((*match)[1]);
  for (const std::string& key : config_keys())
    EXPECT_EQ(headed.erase(key), 1u) << kTomlPage << " lacks an entry .It Cm " << key
                                     << ": write one; those of [rules.ID] tests/regenerate writes";
  for (const RuleRow& row : rule_rows()) {
    for (const WindowRow& window : row.windows)
      EXPECT_EQ(headed.erase(key_of(row, window)), 1u)
          << kTomlPage << " lacks an entry .It Cm " << key_of(row, window) << ": describe the measurement";
    for (const Limit* limit : row.limits) EXPECT_EQ(headed.erase("rules." + limit->name()), 1u) << limit->name();
  }
  EXPECT_EQ(headed, std::set<std::string>()) << kTomlPage << " has entries that are no keys";
}

// Ranges in the page are those of the table.
TEST(ManualPage, GivesTheRangeOfEveryNumber) {
  const std::string page = of_source(kTomlPage);
  for (const Setting& setting : kSettings) {
    if (!std::holds_alternative<std::optional<uint32_t> Qos::*>(setting.member)) continue;
    const std::string entry = entry_of(page, "port." + std::string(setting.key));
    EXPECT_TRUE(has(entry, std::to_string(setting.min) + " to " + std::to_string(setting.max)))
        << kTomlPage << ": port." << setting.key << " gives another range than lib/setting/setting_table.h";
  }
}

std::set<std::string> words_of(const std::string& text) {
  const std::regex word("[a-z0-9_]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), word), std::sregex_token_iterator()};
}

// "Drivers: mlx5_core, bnxt_en": those that the page names are those that offer the setting. "All" names none, or some
// of them.
TEST(ManualPage, NamesTheDriversThatOfferASetting) {
  const std::string page = of_source(kTomlPage);
  for (const Setting& setting : kSettings) {
    const std::string entry = entry_of(page, "port." + std::string(setting.key));
    const size_t at = entry.find("\nDrivers: ");
    if (at == std::string::npos || entry.compare(at, 13, "\nDrivers: all") == 0) continue;
    const auto named = words_of(entry.substr(at, entry.find(".\n", at) - at));
    std::set<std::string> offer, told;
    for (const Driver* driver : drivers()) {
      const std::string name(driver->kernel_names.front());
      if (name.empty()) continue;
      if (named.contains(name)) told.insert(name);
      for (const SettingOp& each : driver->ops)
        if (each.setting == setting.id && each.op.write != nullptr) offer.insert(name);
    }
    EXPECT_EQ(told, offer) << kTomlPage << ": \"Drivers:\" of port." << setting.key;
  }
}

// "Used by: nofile, slow-host."
std::string users_of(const Limit& row) {
  std::string out;
  const auto add = [&](const auto& each) {
    if (std::ranges::find(each.limits, &row) == each.limits.end()) return;
    out.append(out.empty() ? "" : ", ").append(each.id);
  };
  for (const Rule& each : test::checks()) add(each);
  for (const Rule& each : test::causes()) add(each);
  return out;
}

std::string limits_text(const WindowRow& window, const char* between) {
  std::string out;
  for (const config::RuleValue& each : config::rule_values({"x", {window}, {}}, {}))
    out += (out.empty() ? "" : between) + std::string(each.key) + " = " + each.toml;
  return out;
}

// "#[rules.nofile]\n#limit = 65535\n"
std::string sample_of(const RuleRow& row) {
  std::string out;
  for (const Limit* limit : row.limits)
    out += "#" + std::string(limit->key) + " = " + test::number(limit->value) + "\n";
  for (const WindowRow& window : row.windows)
    out += "#" +
           (row.windows.size() == 1 ? limits_text(window, "\n#")
                                    : std::string(window.key) + " = { " + limits_text(window, ", ") + " }") +
           "\n";
  return out.empty() ? "" : "#[rules." + std::string(row.id) + "]\n" + out;
}

TEST(Generated, LimitsAreInThePageAndInTheSample) {
  std::string page, sample;
  for (const Limit* row : test::limits())
    page += ".It Cm rules." + row->name() + "\n" + test::number(row->value) + " " + std::string(row->unit) +
            ".\nRange: " + test::number(row->least) + " to " + test::number(row->most) +
            ".\nSource: " + std::string(row->source) + ".\nUsed by: " + users_of(*row) + ".\n";
  for (const RuleRow& row : rule_rows()) sample += sample_of(row);
  test::expect_golden_between(kTomlPage, ".\\\" Generated: tests/regenerate config_doc\n",
                              ".\\\" End of generated text\n", page);
  test::expect_golden_between(kSample, "#reload_grace = \"2min\"\n", "\n# The hardware", sample);
}

TEST(ManualPage, NamesTheRulesThatDoNotCountAfterTheBoot) {
  const std::string entry = entry_of(of_source(kTomlPage), "rules.boot_grace");
  for (const RuleWindow& rule : rule_windows())
    EXPECT_EQ(has(entry, ".Cm " + std::string(rule.rule) + " "), rule.graced) << rule.key;
}

TEST(ManualPage, NamesEveryDriverThatAnEntryMayMatch) {
  const auto named = words_of(entry_of(of_source(kTomlPage), "port.match.driver"));
  for (const Driver* driver : drivers())
    EXPECT_TRUE(named.contains(std::string(driver->name)))
        << kTomlPage << ": port.match.driver does not name " << driver->name;
}

TEST(ManualPage, ListsEveryMessageId) {
  std::string page = of_source("agent/agentd/fabric-agentd.8");
  namespace id = agentd::message_id;
  for (std::string_view one : {id::applied, id::repaired, id::differs, id::pending, id::not_set, id::conflict,
                               id::in_sync, id::configuration, id::port, id::reverted, id::trouble})
    EXPECT_TRUE(has(page, ".It Li " + std::string(one))) << one;
}

// "fabric-exporter(8)", as a page, a unit, a message or the sample refers to it, is a page that there is.
TEST(ManualPage, EveryReferenceIsToAPage) {
  namespace fs = std::filesystem;
  std::set<std::string> pages, referred;
  const std::regex reference(R"((fabric-[a-z]+(?:\.toml)?)(?: ?\(| )([1-8])\b)");
  for (const char* folder : {"agent", "lib", "etc", "systemd"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(kSource) / folder)) {
      if (!entry.is_regular_file()) continue;
      const std::string name = entry.path().filename().string(), extension = entry.path().extension().string();
      if (extension.size() == 2 && std::isdigit(static_cast<unsigned char>(extension[1]))) pages.insert(name);
      std::string text = of_source(fs::relative(entry.path(), kSource).string());
      std::erase(text, '\\');
      for (std::sregex_iterator match(text.begin(), text.end(), reference), end; match != end; ++match)
        referred.insert((*match)[1].str() + "." + (*match)[2].str());
    }
  EXPECT_TRUE(referred.contains("fabric-exporter.8"));
  for (const std::string& page : referred) EXPECT_TRUE(pages.contains(page)) << page;
}

TEST(ManualPage, NamesEveryOutcome) {
  std::string page = of_source("agent/agentd/fabric-agentd.8");
  for (const Outcome outcome : kValues<Outcome>)
    EXPECT_TRUE(has(page, ".It " + std::string(to_text(outcome)))) << to_text(outcome);
}

}  // namespace
}  // namespace fabric
