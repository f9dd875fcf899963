// SPDX-License-Identifier: Apache-2.0
// config and explain: answers that need no comparison of ports.
#include "check/check.h"
#include "config/cabling.h"
#include "config/config.h"
#include "ctl/table.h"
#include "ctl/verbs.h"

namespace fabric::ctl {
namespace {

int failure(const std::string& what, Output& output) {
  output.errors += "fabric-agentctl: " + what + "\n";
  return kFailure;
}

int usage(const std::string& what, Output& output) {
  output.errors += "fabric-agentctl: " + what + "\n";
  return kUsage;
}

// The plan of cables is a file of its own, and no reason for the agent not to start.
void check_cabling_file(const Options& options, LoadedConfig& config) {
  auto root = Root::open(options.root);
  if (!root) return;
  load_cabling(*root, config.policy);
  const Cabling& cabling = config.policy.cabling;
  if (!cabling.problem.empty()) config.warnings.push_back({"[cabling] file", cabling.problem});
  else if (!cabling.file.empty() && cabling.cables.empty())
    config.warnings.push_back({cabling.file, "no cable of " + cabling.host + "; give the name under which this host stands in it as [cabling] host"});
}

int check_config(const Options& options, const Result<LoadedConfig>& config, Output& output) {
  Json warnings = Json::array();
  if (config)
    for (const ConfigWarning& warning : config->warnings) {
      warnings.push(Json(warning.where + ": " + warning.what));
      if (!options.json) output.text += "warning: " + warning.where + ": " + warning.what + "\n";
    }
  if (options.json) {
    Json out = Json::object();
    out.put("file", options.config_file())
        .put("ok", config.ok())
        .put("error", config ? Json() : Json(config.error().text()));
    output.text += out.put("warnings", std::move(warnings)).dump() + "\n";
  } else if (config) {
    output.text += options.config_file() + ": good, mode " + std::string(to_text(config->policy.mode)) + ", " +
                   std::to_string(config->policy.ports.size()) + " port entries\n";
  } else {
    output.errors += config.error().text() + "\n";
  }
  return config ? kDone : kFailure;
}

Json policy_json(const Policy& policy) {
  Json ports = Json::array();
  for (const PortPolicy& entry : policy.ports) {
    Json want = Json::object();
    for (size_t row = 0; row < kSettingCount; ++row) {
      if (!has_value(kSettings[row], entry.want)) continue;
      Json value = Json::object();
      want.put(kSettings[row].key,
               value.put("value", value_json(kSettings[row], entry.want)).put("origin", entry.origin[row]));
    }
    Json out = Json::object();
    ports.push(out.put("name", entry.name).put("want", std::move(want)));
  }
  Json out = Json::object();
  return out.put("mode", to_text(policy.mode))
      .put("disruptive", to_text(policy.disruptive))
      .put("ports", std::move(ports));
}

std::string heading(std::string_view id, std::string_view group) {
  return std::string(id) + " (" + std::string(group) + ")\n";
}

std::string paragraph(std::string_view text, const Output& output) {
  return "  " + wrapped(text, output.width, 2) + "\n";
}

std::string explain_one(const Check& check, const Output& output) {
  return heading(check.id, check.group) + paragraph(check.question, output) + paragraph(check.runbook, output);
}

Json explain_json(const Check& check) {
  Json out = Json::object();
  return out.put("id", check.id)
      .put("group", check.group)
      .put("question", check.question)
      .put("runbook", check.runbook);
}

}  // namespace

int run_config(const Options& options, Output& output) {
  const std::string what = options.arguments.size() == 1 ? options.arguments.front() : "";
  if (what != "check" && what != "show") return usage("config check, or config show", output);
  auto config = load_config(options.config_file());
  if (what == "check" && config) check_cabling_file(options, *config);
  if (what == "check") return check_config(options, config, output);
  if (!config) return failure(config.error().text(), output);
  output.text += options.json ? policy_json(config->policy).dump() + "\n" : show_config(config->policy);
  return kDone;
}

int run_explain(const Options& options, Output& output) {
  if (options.arguments.empty() && !options.json) {
    Table table({"ID", "GROUP", "QUESTION"});
    for (const Check& check : checks())
      table.add({std::string(check.id), std::string(check.group), std::string(check.question)});
    output.text += table.text(output);
    return kDone;
  }
  std::vector<const Check*> wanted;
  std::vector<std::string_view> known;
  for (const Check& check : checks()) {
    known.push_back(check.id);
    if (options.arguments.empty()) wanted.push_back(&check);
  }
  for (const std::string& id : options.arguments) {
    const Check* check = find_check(id);
    const std::string candidate = nearest(id, known);
    if (check == nullptr)
      return usage(
          id + " is no check and no setting" +
              (candidate.empty() ? "; fabric-agentctl explain lists them" : "; did you mean " + candidate + "?"),
          output);
    wanted.push_back(check);
  }
  Json list = Json::array();
  std::string text;
  for (const Check* check : wanted) {
    list.push(explain_json(*check));
    text += (text.empty() ? "" : "\n") + explain_one(*check, output);
  }
  output.text += options.json ? list.dump() + "\n" : text;
  return kDone;
}

}  // namespace fabric::ctl
