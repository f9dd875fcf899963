// SPDX-License-Identifier: Apache-2.0
// config and explain.
#include "base/json.h"
#include "ctl/output/table.h"
#include "ctl/verbs/writer.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "judge/rule.h"
#include "policy/cabling.h"
#include "policy/config.h"

namespace fabric::ctl {
namespace {

constexpr int kInvalid = 1;  // of `config`

// The cabling plan is a separate file; the agent starts without it.
void check_cabling_file(const Root& root, LoadedConfig& config) {
  load_cabling(root, config.policy);
  const Cabling& cabling = config.policy.cabling;
  if (!cabling.problem.empty()) config.warnings.push_back({"[cabling] file", cabling.problem});
  else if (!cabling.file.empty() && cabling.cables.empty())
    config.warnings.push_back(
        {cabling.file, "no cable of " + cabling.host + "; set [cabling] host to the name of this host in the file"});
}

int check_config(const Options& options, const Result<LoadedConfig>& config, Output& output) {
  Json warnings = Json::array();
  if (config)
    for (const ConfigWarning& warning : config->warnings) {
      const std::string text = warning.where + ": " + warning.what;
      warnings.push_back(text);
      if (!options.json) output.text += folded("warning: " + text + "\n", output.width);
    }
  if (options.json) {
    output.text += json_text({{"file", options.config_file()},
                              {"ok", config.ok()},
                              {"error", config ? Json() : Json(config.error().text())},
                              {"warnings", std::move(warnings)}});
  } else if (config) {
    output.text += options.config_file() + ": valid, mode " + std::string(to_text(config->policy.mode)) + ", " +
                   std::to_string(config->policy.ports.size()) + " [[port]] entries\n";
  } else {
    output.errors += config.error().text() + "\n";
  }
  return config ? kDone : kInvalid;
}

// Without a drop-in that the configuration in use has.
int accept_config(const Options& options, Output& output) {
  if (auto host = must_be_host(options); !host) return fail(output, kFailure, host.error().text());
  const auto config = load_config(options.config_file(), rule_rows());
  if (!config) return fail(output, kInvalid, config.error().text());
  if (auto saved = save_last_good(options.root, *config, rule_rows()); !saved)
    return fail(output, kFailure, saved.error().text());
  if (!options.json) output.text += "Accepted. Next: systemctl reload fabric-agent\n";
  else output.text += json_text({{"accepted", true}});
  return kDone;
}

Json policy_json(const Policy& policy) {
  Json ports = Json::array();
  for (const PortPolicy& entry : policy.ports) {
    Json want = Json::object();
    for (size_t row = 0; row < kSettingCount; ++row) {
      if (!has_value(kSettings[row], entry.want)) continue;
      want[std::string(kSettings[row].key)] = {{"value", value_json(kSettings[row], entry.want)},
                                               {"origin", entry.origin[row]}};
    }
    ports.push_back({{"name", entry.name}, {"want", std::move(want)}});
  }
  return {{"mode", to_text(policy.mode)}, {"disruptive", to_text(policy.disruptive)}, {"ports", std::move(ports)}};
}

std::string paragraph(std::string_view text, const Output& output, unsigned indent = 2) {
  return "  " + wrapped(text, output.width, indent) + "\n";
}

// The steps of a cause have NETDEV in place of {netdev} and so on.
std::string explain_one(const Rule& rule, const Output& output) {
  std::string text = std::string(rule.id) + " (" + std::string(rule.group) + ")\n" + paragraph(rule.title, output);
  const std::string book = runbook(rule);
  for (const std::string_view line : split(book, '\n')) text += paragraph(line, output);
  text += paragraph("Configuration: [rules." + std::string(rule.id) + "] in fabric-agent.toml(5)", output);
  if (!rule.is_cause()) return text;
  text += paragraph("Culprit: " + std::string(to_text(rule.culprit)) + ".", output);
  if (rule.fix.empty()) return text;
  for (const std::string_view line : split(rule.fix, '\n')) text += paragraph(with_names(line, upper), output, 4);
  return text;
}

Json explain_json(const Rule& rule) {
  Json out = {{"id", rule.id}, {"group", rule.group}, {"title", rule.title}, {"runbook", runbook(rule)}};
  if (rule.is_cause()) out["culprit"] = to_text(rule.culprit);
  return out;
}

}  // namespace

int run_config(const Options& options, Output& output) {
  const std::string what = options.arguments.size() == 1 ? options.arguments.front() : "";
  if (what == "accept") return accept_config(options, output);
  if (what != "check" && what != "show") return fail(output, kUsage, "config requires check, show or accept");
  auto config = load_whole_config(options.root, options.config, rule_rows());
  if (const auto root = Root::open(options.root); what == "check" && config && root) check_cabling_file(*root, *config);
  if (what == "check") return check_config(options, config, output);
  if (!config) return fail(output, kInvalid, config.error().text());
  output.text += options.json ? json_text(policy_json(config->policy)) : show_config(config->policy, rule_rows());
  return kDone;
}

int run_explain(const Options& options, Output& output) {
  // An ID has no blanks.
  const auto is_line = [](const std::string& word) {
    return word == "-" || word.find_first_of(" \t") != std::string::npos;
  };
  if (!options.log.empty() || std::ranges::any_of(options.arguments, is_line)) return run_explain_log(options, output);
  if (options.arguments.empty() && !options.json) {
    Table table({"ID", "GROUP", "TITLE"});
    for (const Rule& rule : rules())
      table.add({std::string(rule.id), std::string(rule.group), std::string(rule.title)});
    output.text += table.text(output);
    return kDone;
  }
  std::vector<Rule> wanted;
  if (options.arguments.empty()) wanted.assign(rules().begin(), rules().end());
  std::vector<std::string_view> known;
  for (const Rule& rule : rules()) known.push_back(rule.id);
  for (const std::string& id : options.arguments) {
    const Rule* found = find_rule(id);
    if (found == nullptr)
      return fail(output, kUsage, "unknown check, setting or rule '" + id + "'" + suggestion(id, known, "explain"));
    wanted.push_back(*found);
  }
  Json list = Json::array();
  std::string text;
  for (const Rule& rule : wanted) {
    list.push_back(explain_json(rule));
    append_item(text, explain_one(rule, output), "\n");
  }
  output.text += options.json ? json_text(list) : text;
  return kDone;
}

}  // namespace fabric::ctl
