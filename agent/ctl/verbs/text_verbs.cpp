// SPDX-License-Identifier: Apache-2.0
// config and explain.
#include "base/json.h"
#include "checks/check.h"
#include "ctl/output/table.h"
#include "ctl/verbs/writer.h"
#include "diagnosis/diagnosis.h"
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

std::string paragraph(std::string_view text, const Output& output, unsigned indent = 2) {
  return "  " + wrapped(text, output.width, indent) + "\n";
}

// A check or a diagnosis rule.
struct Topic {
  std::string_view id, group, title;
  std::string runbook;
  std::string_view culprit{}, next{};  // of a rule
};

std::vector<Topic> topics() {
  std::vector<Topic> out;
  for (const Check& check : checks()) out.push_back({check.id, check.group, check.title, runbook(check)});
  const auto add = [&](const Rule& rule) {
    std::string text = std::string(rule.signature) + "\nExcludes: " + std::string(rule.excludes);
    for (const Threshold* each : rule.thresholds)
      if (each != nullptr) text += "\n" + limit_text(*each);
    if (rule.confidence > 0)
      text += "\nConfidence: " + number_text(100 * rule.confidence) +
              " %, measured with the package's catalogue of faults.";
    out.push_back({rule.id, "diagnosis", rule.conclusion, text, to_text(rule.culprit), rule.next});
  };
  for (const Rule& rule : rules()) add(rule);
  add(*find_rule("not-enough-evidence"));
  return out;
}

// A rule's steps have NETDEV in place of {netdev} and so on.
std::string explain_one(const Topic& topic, const Output& output) {
  std::string text = std::string(topic.id) + " (" + std::string(topic.group) + ")\n" + paragraph(topic.title, output);
  for (const std::string_view line : split(topic.runbook, '\n')) text += paragraph(line, output);
  if (topic.culprit.empty()) return text;
  text += paragraph("Culprit: " + std::string(topic.culprit) + ".", output);
  if (topic.next.empty()) return text;
  for (const std::string_view line : split(topic.next, '\n')) text += paragraph(with_names(line, upper), output, 4);
  return text;
}

Json explain_json(const Topic& topic) {
  Json out = {{"id", topic.id}, {"group", topic.group}, {"title", topic.title}, {"runbook", topic.runbook}};
  if (!topic.culprit.empty()) out["culprit"] = topic.culprit;
  return out;
}

}  // namespace

int run_config(const Options& options, Output& output) {
  const std::string what = options.arguments.size() == 1 ? options.arguments.front() : "";
  if (what != "check" && what != "show") return fail(output, kUsage, "config requires check or show");
  const auto root = Root::open(options.root);
  if (!root) return fail(output, kInvalid, root.error().text());
  auto config = load_config(*root, options.config);
  if (what == "check" && config) check_cabling_file(*root, *config);
  if (what == "check") return check_config(options, config, output);
  if (!config) return fail(output, kInvalid, config.error().text());
  output.text += options.json ? json_text(policy_json(config->policy)) : show_config(config->policy);
  return kDone;
}

int run_explain(const Options& options, Output& output) {
  // An ID has no blanks.
  const auto is_line = [](const std::string& word) {
    return word == "-" || word.find_first_of(" \t") != std::string::npos;
  };
  if (!options.log.empty() || std::ranges::any_of(options.arguments, is_line)) return run_explain_log(options, output);
  const std::vector<Topic> all = topics();
  if (options.arguments.empty() && !options.json) {
    Table table({"ID", "GROUP", "TITLE"});
    for (const Topic& topic : all)
      table.add({std::string(topic.id), std::string(topic.group), std::string(topic.title)});
    output.text += table.text(output);
    return kDone;
  }
  std::vector<Topic> wanted;
  if (options.arguments.empty()) wanted = all;
  std::vector<std::string_view> known;
  for (const Topic& topic : all) known.push_back(topic.id);
  for (const std::string& id : options.arguments) {
    const Topic* found = find_where(all, [&](const Topic& topic) { return topic.id == id; });
    if (found == nullptr)
      return fail(output, kUsage, "unknown check, setting or rule '" + id + "'" + suggestion(id, known, "explain"));
    wanted.push_back(*found);
  }
  Json list = Json::array();
  std::string text;
  for (const Topic& topic : wanted) {
    list.push_back(explain_json(topic));
    append_item(text, explain_one(topic, output), "\n");
  }
  output.text += options.json ? json_text(list) : text;
  return kDone;
}

}  // namespace fabric::ctl
