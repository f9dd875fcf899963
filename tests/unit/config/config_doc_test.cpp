// SPDX-License-Identifier: Apache-2.0
// What is documented is what there is: sample configuration, manual pages, tables.
#include <cctype>

#include "agentd/messages.h"
#include "checks/check.h"
#include "config/config.h"
#include "diagnosis/diagnosis.h"
#include "health/rule.h"
#include "model/change.h"
#include "support/config.h"
#include "support/test.h"
#include "vendor/driver.h"

namespace fabric {
namespace {

const std::string kSource = FABRIC_SOURCE_DIR;

std::string content(const std::string& path) {
  std::ifstream in(kSource + "/" + path);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

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
  auto loaded = load_config(kSource + "/etc/fabric-agent.toml");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  EXPECT_EQ(loaded->policy.mode, Mode::audit);
  EXPECT_TRUE(loaded->warnings.empty()) << loaded->warnings.front().what;
  Port port;
  port.rdma = "rocep1s0";
  port.netdev = "ens1";
  port.kernel_driver = "unheard_of";
  const PortPolicy* entry = policy_for(loaded->policy, port);
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->want.pfc, PrioSet{1 << 3});
  for (const char* driver : {"mlx5_core", "bnxt_en", "ionic", "ice"}) {
    port.kernel_driver = driver;
    entry = policy_for(loaded->policy, port);
    ASSERT_NE(entry, nullptr);
    EXPECT_FALSE(entry->profile.empty()) << driver;
  }
}

TEST(SampleConfiguration, ItsCommentedDefaultsAreTheDefaults) {
  auto loaded =
      parse_config(with_defaults_switched_on(content("etc/fabric-agent.toml")), "sample", kSource + "/etc/profiles");
  ASSERT_TRUE(loaded.ok()) << loaded.error().text();
  const Policy defaults;
  EXPECT_EQ(loaded->policy.disruptive, defaults.disruptive);
  EXPECT_EQ(loaded->policy.reread, defaults.reread);
  EXPECT_EQ(loaded->policy.conflict.rounds, defaults.conflict.rounds);
  EXPECT_EQ(loaded->policy.conflict.window, defaults.conflict.window);
  EXPECT_EQ(loaded->policy.listen, defaults.listen);
  EXPECT_EQ(loaded->policy.max_age, defaults.max_age);
  EXPECT_EQ(loaded->policy.exclude, defaults.exclude);
  EXPECT_EQ(loaded->policy.series_limit, defaults.series_limit);
  EXPECT_EQ(loaded->policy.sample_interval, defaults.sample_interval);
  EXPECT_EQ(loaded->policy.sample_cpu_budget, defaults.sample_cpu_budget);
  EXPECT_EQ(loaded->policy.maintenance, defaults.maintenance);
  EXPECT_EQ(loaded->policy.release, defaults.release);
  EXPECT_EQ(loaded->policy.health.boot_grace, defaults.health.boot_grace);
  EXPECT_EQ(loaded->policy.health.reload_grace, defaults.health.reload_grace);
  for (const HealthRule& rule : health_rules())
    EXPECT_EQ(limits_of(loaded->policy.health, rule), limits_of(defaults.health, rule)) << rule.key;
  for (const Threshold* row : thresholds()) EXPECT_EQ(loaded->policy.thresholds.at(std::string(row->key)), row->value);
  EXPECT_EQ(loaded->policy.optics, defaults.optics);
  EXPECT_EQ(loaded->policy.published.raw, defaults.published.raw);
  EXPECT_EQ(loaded->policy.published.groups, defaults.published.groups);
  EXPECT_EQ(loaded->policy.compat, defaults.compat);
  EXPECT_EQ(loaded->policy.ethtool, defaults.ethtool);
}

TEST(SampleConfiguration, GivesEveryKey) {
  std::string text = content("etc/fabric-agent.toml");
  for (const std::string& key : config_keys()) {
    std::string last = key.substr(key.rfind('.') + 1);
    if (last == "sysctl" || last == "firmware" || last == "driver_version") {
      EXPECT_NE(text.find("[" + last + "]"), std::string::npos);
      continue;
    }
    EXPECT_TRUE(std::regex_search(text, std::regex("(^|\\n)#?([a-z_]+ = \\{.*)?\\b" + last + " = "))) << key;
  }
}

TEST(ManualPage, HeadsEveryKeyAndNoOther) {
  std::string page = content("agent/agentd/fabric-agent.toml.5");
  std::set<std::string> headed;
  std::regex heading("\\n\\.It Cm ([a-z0-9_.]+)");
  for (std::sregex_iterator match(page.begin(), page.end(), heading), end; match != end; ++match)
    headed.insert((*match)[1]);
  auto keys = config_keys();
  EXPECT_EQ(headed, std::set<std::string>(keys.begin(), keys.end()));
}

// Ranges in the page are those of the table.
TEST(ManualPage, GivesTheRangeOfEveryNumber) {
  const std::string page = content("agent/agentd/fabric-agent.toml.5");
  for (const Setting& setting : kSettings) {
    if (!std::holds_alternative<std::optional<uint32_t> Qos::*>(setting.member)) continue;
    const size_t head = page.find("\n.It Cm port." + std::string(setting.key) + "\n");
    ASSERT_NE(head, std::string::npos) << setting.key;
    const std::string entry = page.substr(head, page.find("\n.It Cm ", head + 1) - head);
    EXPECT_NE(entry.find(std::to_string(setting.min) + " to " + std::to_string(setting.max)), std::string::npos)
        << entry;
  }
}

// The entry of a key, from its heading to the next one.
std::string entry_of(const std::string& page, const std::string& key) {
  const size_t head = page.find("\n.It Cm " + key + "\n");
  EXPECT_NE(head, std::string::npos) << key;
  return head == std::string::npos ? "" : page.substr(head + 1, page.find("\n.It Cm ", head + 1) - head);
}

std::set<std::string> words_of(const std::string& text) {
  const std::regex word("[a-z0-9_]+");
  return {std::sregex_token_iterator(text.begin(), text.end(), word), std::sregex_token_iterator()};
}

// "Drivers: mlx5_core, bnxt_en": those that the page names are those that offer the setting. "All" names none, or some
// of them.
TEST(ManualPage, NamesTheDriversThatOfferASetting) {
  const std::string page = content("agent/agentd/fabric-agent.toml.5");
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
    EXPECT_EQ(told, offer) << setting.key;
  }
}

// The text of the file between the two lines. FABRIC_UPDATE_GOLDEN=1 writes it.
void expect_between(const std::string& path, const std::string& first, const std::string& last,
                    const std::string& text) {
  std::string page = content(path);
  const size_t begin = page.find(first) + first.size(), end = page.find(last, begin);
  ASSERT_TRUE(begin >= first.size() && end != std::string::npos) << path;
  const std::string old = page.substr(begin, end - begin);
  if (std::getenv("FABRIC_UPDATE_GOLDEN") != nullptr)
    std::ofstream(kSource + "/" + path) << page.replace(begin, end - begin, text);
  else EXPECT_EQ(old, text) << path << " is out of date; run tests/regenerate config_doc";
}

// "Used by: nofile, slow-host."
std::string users_of(const Threshold& row) {
  std::string out;
  const auto add = [&](const auto& each) {
    if (std::ranges::find(each.thresholds, &row) == each.thresholds.end()) return;
    out.append(out.empty() ? "" : ", ").append(each.id);
  };
  for (const Check& each : checks()) add(each);
  for (const Rule& each : rules()) add(each);
  return out;
}

TEST(Generated, ThresholdsAreInThePageAndInTheSample) {
  std::string page, sample;
  for (const Threshold* row : thresholds()) {
    const std::string key(row->key), value = test::number(row->value);
    sample += "#" + key + " = " + value + "\n";
    page += ".It Cm thresholds." + key + "\n" + value + " " + std::string(row->unit) +
            ".\nRange: " + test::number(row->least) + " to " + test::number(row->most) +
            ".\nSource: " + std::string(row->source) + ".\nUsed by: " + users_of(*row) + ".\n";
  }
  expect_between("agent/agentd/fabric-agent.toml.5", ".\\\" Generated: tests/regenerate config_doc\n",
                 ".\\\" End of generated text\n", page);
  expect_between("etc/fabric-agent.toml", "#[thresholds]\n", "\n# The hardware", sample);
}

TEST(ManualPage, NamesTheRulesThatDoNotCountAfterTheBoot) {
  const auto named = words_of(entry_of(content("agent/agentd/fabric-agent.toml.5"), "health.boot_grace"));
  for (const HealthRule& rule : health_rules())
    EXPECT_EQ(named.contains(std::string(rule.key)), rule.graced) << rule.key;
}

TEST(ManualPage, NamesEveryDriverThatAnEntryMayMatch) {
  const auto named = words_of(entry_of(content("agent/agentd/fabric-agent.toml.5"), "port.match.driver"));
  for (const Driver* driver : drivers()) EXPECT_TRUE(named.contains(std::string(driver->name))) << driver->name;
}

TEST(ManualPage, ListsEveryMessageId) {
  std::string page = content("agent/agentd/fabric-agentd.8");
  namespace id = agentd::message_id;
  for (std::string_view one : {id::applied, id::repaired, id::differs, id::pending, id::not_set, id::conflict,
                               id::in_sync, id::configuration, id::port, id::reverted, id::trouble})
    EXPECT_NE(page.find(".It Li " + std::string(one)), std::string::npos) << one;
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
      std::string text = content(fs::relative(entry.path(), kSource).string());
      std::erase(text, '\\');
      for (std::sregex_iterator match(text.begin(), text.end(), reference), end; match != end; ++match)
        referred.insert((*match)[1].str() + "." + (*match)[2].str());
    }
  EXPECT_TRUE(referred.contains("fabric-exporter.8"));
  for (const std::string& page : referred) EXPECT_TRUE(pages.contains(page)) << page;
}

TEST(ManualPage, NamesEveryOutcome) {
  std::string page = content("agent/agentd/fabric-agentd.8");
  for (Outcome outcome : {Outcome::in_sync, Outcome::applied, Outcome::differs, Outcome::pending, Outcome::unsupported,
                          Outcome::refused, Outcome::ignored, Outcome::conflict})
    EXPECT_NE(page.find(".It " + std::string(to_text(outcome))), std::string::npos) << to_text(outcome);
}

}  // namespace
}  // namespace fabric
