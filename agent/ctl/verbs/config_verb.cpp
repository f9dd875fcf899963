// SPDX-License-Identifier: Apache-2.0
// config check, show and accept.
#include "base/json.h"
#include "ctl/output/table.h"
#include "ctl/verbs/write_verbs.h"
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

}  // namespace

int run_config(const Options& options, Output& output) {
  const std::string what = options.arguments.size() == 1 ? options.arguments.front() : "";
  if (what != "check" && what != "show") return fail(output, kUsage, "config requires check or show");
  const auto root = Root::open(options.root);
  if (!root) return fail(output, kInvalid, root.error().text());
  auto config = load_config(*root, options.config, rule_rows());
  if (what == "check" && config) check_cabling_file(*root, *config);
  if (what == "check") return check_config(options, config, output);
  if (!config) return fail(output, kInvalid, config.error().text());
  output.text += options.json ? json_text(policy_json(config->policy)) : show_config(config->policy, rule_rows());
  return kDone;
}

}  // namespace fabric::ctl
