// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs.h"

#include "base/find.h"
#include "ctl/output/table.h"
#include "ctl/verbs/watch.h"

namespace fabric::ctl {

// Each function is defined in the file of its verb in verbs/ or topo/.
Run run_check, run_diagnose, run_ack, run_plan, run_apply, run_confirm, run_restore, run_counters, run_selftest,
    run_status, run_inventory, run_show, run_neighbors, run_topo, run_capture, run_config, run_explain, run_help;

namespace {

constexpr Verb kVerbs[] = {
    {"check", "[--watch [SECONDS]]", "check whether this node is fit for RDMA jobs; list findings with fixes",
     "0 ok, 1 warning, 2 critical, 3 unknown or failed; --strict: 2 for a warning", run_check},
    {"diagnose", "[PORT...]", "locate a fault: host, cable or network, with evidence and next steps",
     "as check: 0 ok, 1 warning, 2 critical, 3 unknown or failed", run_diagnose},
    {"ack", "[CHECK [SUBJECT]]", "acknowledge a finding: it does not count until it has cleared", "0, 3 failed",
     run_ack},
    {"plan", "", "show the settings that apply would write", "0 nothing to do, 2 changes, 3 failed", run_plan},
    {"apply", "", "write the settings of the policy now", "0 all in sync, 2 some are not, 3 failed", run_apply},
    {"confirm", "", "keep the settings of apply --confirm", "0 confirmed, 2 nothing to confirm, 3 failed", run_confirm},
    {"restore", "", "restore the original settings", "0 all restored, 2 some are not, 3 failed", run_restore},
    {"selftest", "PORT", "write each setting of the policy once on an idle port, and restore it",
     "0 all set, read back and restored, 2 some were not, 3 failed or refused", run_selftest},
    {"status", "", "show the state, policy and repairs of each port", "0, 3 failed", run_status},
    {"show", "", "show current and wanted settings", "0, 3 failed", run_show},
    {"inventory", "[accept]", "show the parts of the last good state and what is missing; accept the present state",
     "0 nothing is missing, 2 something is, 3 no inventory, or failed", run_inventory},
    {"counters", "[SECONDS]", "show counter rates, errors first", "0, 3 failed", run_counters},
    {"topo", "", "show the GPU and NIC topology, as nvidia-smi topo", "0, 3 failed", run_topo},
    {"neighbors", "", "show LLDP neighbors and the expected cabling", "0, 3 failed", run_neighbors},
    {"capture", "DIR", "record this machine for analysis elsewhere with --root DIR", "0, 3 failed", run_capture},
    {"config", "check|show", "validate the configuration, show it merged", "0 valid, 1 invalid, 3 failed", run_config},
    {"explain", "[ID...|LINE|-]", "explain a check, a setting, a diagnosis rule, or an error message of a log",
     "0, 1 no known message, 3 log not readable", run_explain},
    {"help", "[COMMAND]", "show help", "0", run_help},
};

// "  NAME    help", with the help at `column`.
std::string help_line(std::string name, std::string_view help, unsigned column, unsigned width) {
  name.insert(0, "  ");
  name.resize(std::max<size_t>(name.size() + 1, column), ' ');
  return name + wrapped(help, width, static_cast<unsigned>(name.size())) + "\n";
}

// The options that only this verb and a few others have (`own`), or those of every verb.
std::string option_lines(std::string_view verb, bool own, unsigned width) {
  std::string text;
  for (const OptionRow& row : option_rows()) {
    if (row.verbs.empty() == own || !takes(verb, row)) continue;
    std::string name = "    ";
    if (row.letter != 0) name = std::string("-") + row.letter + ", ";
    name.append("--").append(row.name);
    if (!row.argument.empty()) name.append(" ").append(row.argument);
    text += help_line(name, help_of(verb, row), 27, width);
  }
  return text;
}

// "check [SECONDS]"
std::string call_text(const Verb& verb) {
  std::string text(verb.name);
  if (!verb.arguments.empty()) text.append(" ").append(verb.arguments);
  return text;
}

// Everything but the final treatment of the errors.
int parse_and_run(std::span<const std::string> words, Output& output) {
  auto options = parse_options(words);
  if (!options) return fail(output, kUsage, options.error().text());
  output.paged = !options->watch && !options->no_pager;
  if (options->version) {
    output.text += "fabric-agentctl " FABRIC_VERSION "\n";
    return kDone;
  }
  const Verb* verb = find_verb(options->verb);
  if (options->help) {
    if (verb == nullptr) output.text += usage_text(output.width);
    else output.text += help_text(*verb, output.width);
    return kDone;
  }
  if (verb == nullptr) {
    output.errors += usage_text(output.width);
    return kUsage;
  }
  if (verb->arguments.empty() && !options->arguments.empty())
    return fail(output, kUsage, options->verb + ": unexpected argument: " + options->arguments.front());
  const int code = verb->run(*options, output);
  if (!options->watch) output.text = printable(output.text, output);  // --watch itself prints control sequences
  return code;
}

}  // namespace

int fail(Output& output, int code, const std::string& what) {
  output.errors += "fabric-agentctl: " + what + "\n";
  return code;
}

std::span<const Verb> verbs() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
  return find_where(kVerbs, [&](const Verb& verb) { return verb.name == name; });
}

std::string usage_text(unsigned width) {
  std::string text =
      "Usage: fabric-agentctl COMMAND [OPTIONS]\nCheck, configure and diagnose the RoCE ports of a GPU server.\n\n"
      "Commands:\n";
  for (const Verb& verb : kVerbs) text += help_line(call_text(verb), verb.help, 24, width);
  return text + "\nOptions of every command:\n" + option_lines("", false, width) +
         "\nSee fabric-agentctl help COMMAND and fabric-agentctl(1).\nA wrong command line exits with 64.\n";
}

std::string help_text(const Verb& verb, unsigned width) {
  std::string help(verb.help);
  help[0] = static_cast<char>(help[0] - 'a' + 'A');
  std::string text = "Usage: fabric-agentctl " + call_text(verb) + " [OPTIONS]\n" + wrapped(help, width, 0) + ".\n";
  const std::string own = option_lines(verb.name, true, width);
  if (!own.empty()) text += "\nOptions:\n" + own;
  return text + "\nOptions of every command:\n" + option_lines(verb.name, false, width) + "\n" +
         wrapped("Exit status: " + std::string(verb.exit) + "; 64 wrong command line.", width, 2) + "\n";
}

int run_help(const Options& options, Output& output) {
  if (options.arguments.empty()) {
    output.text += usage_text(output.width);
    return kDone;
  }
  const Verb* verb = find_verb(options.arguments.front());
  if (verb == nullptr)
    return fail(output, kUsage, "unknown command '" + options.arguments.front() + "'; see fabric-agentctl --help");
  if (options.arguments.size() > 1) return fail(output, kUsage, "help: too many arguments: " + options.arguments[1]);
  output.text += help_text(*verb, output.width);
  return kDone;
}

int run(std::span<const std::string> words, Output& output) {
  const int code = parse_and_run(words, output);
  output.errors = folded(printable(output.errors, output), output.error_width);
  return code;
}

}  // namespace fabric::ctl
