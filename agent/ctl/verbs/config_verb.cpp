// SPDX-License-Identifier: Apache-2.0
// config check and config show.
#include "base/json.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "enforce/confirm.h"
#include "judge/rule.h"
#include "policy/cabling.h"
#include "policy/config.h"
#include "policy/last_good.h"
#include "policy/show_config.h"

namespace fabric::ctl {
namespace {

constexpr int kInvalid = 1;  // exit code of `config`

int check_config(const Options& options, const Root& root, Result<LoadedConfig>& config, Output& output) {
  if (!config) {
    if (options.json)
      output.text += json_text({{"file", options.config_file()},
                                {"ok", false},
                                {"error", config.error().text()},
                                {"policy", nullptr},
                                {"warnings", Json::array()}});
    else output.errors += config.error().text() + "\n";
    return kInvalid;
  }
  // The cabling plan is a separate file. The agent starts without it, so its problems are warnings.
  load_cabling(root, config->policy);
  const Cabling& cabling = config->policy.cabling;
  if (!cabling.problem.empty()) config->warnings.push_back({"[cabling] file", cabling.problem});
  else if (!cabling.file.empty() && cabling.cables.empty())
    config->warnings.push_back(
        {cabling.file, "no cable of " + cabling.host + "; set [cabling] host to the name of this host in the file"});
  Json warnings = Json::array();
  for (const ConfigWarning& warning : config->warnings) {
    const std::string text = warning.where + ": " + warning.what;
    warnings.push_back(text);
    if (!options.json) output.text += folded("warning: " + text + "\n", output.width);
  }
  const std::string hash = confirm::digest(wanted_config(config->policy));
  if (options.json)
    output.text += json_text({{"file", options.config_file()},
                              {"ok", true},
                              {"error", nullptr},
                              {"policy", hash},
                              {"warnings", std::move(warnings)}});
  else
    output.text += options.config_file() + ": valid, mode " + std::string(to_text(config->policy.mode)) + ", " +
                   std::to_string(config->policy.ports.size()) + " [[port]] entries, policy " + hash + "\n";
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

}  // namespace

int run_config(const Options& options, Output& output) {
  const bool checks = options.arguments == std::vector<std::string>{"check"};
  if (!checks && options.arguments != std::vector<std::string>{"show"})
    return fail(output, kUsage, "config requires check or show");
  const auto root = Root::open(options.root);
  if (!root) return fail(output, kInvalid, root.error().text());
  auto config = load_config(*root, options.config, rule_rows());
  // --config names files to validate, which need not be those that the agent uses.
  std::string unused;  // why the agent does not use the files
  if (options.config.empty())
    if (const auto in_use = load_config_in_use(*root, {}, rule_rows()))
      if (in_use->error) unused = in_use->error->text();
  if (checks && !unused.empty()) config = error(0, unused);
  if (checks) return check_config(options, *root, config, output);
  if (!config) return fail(output, kInvalid, config.error().text());
  if (!unused.empty()) output.errors += "fabric-agentd uses the last valid configuration instead: " + unused + "\n";
  if (options.json) output.text += json_text(policy_json(config->policy));
  else output.text += show_config(config->policy, rule_rows());
  return kDone;
}

}  // namespace fabric::ctl
