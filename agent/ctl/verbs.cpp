// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs.h"

#include <algorithm>

#include "ctl/verbs/watch.h"

namespace fabric::ctl {
namespace {

constexpr Verb kVerbs[] = {
    {"check", "[SECONDS]", "is this node fit for its job? Every finding with evidence, meaning and remedy",
     "0 ok, 1 warning, 2 critical, 3 unknown or failed", run_check},
    {"diagnose", "[PORT...]", "is it this host, the cable or the network? Culprit, evidence and what to do",
     "0 no port in trouble, 1 warning, 2 critical, 3 trouble without enough evidence, or failed", run_diagnose},
    {"ack", "[CHECK [SUBJECT]]", "a finding is known: it is shown, and does not count until it has cleared",
     "0, 3 failed", run_ack},
    {"plan", "", "what would be written to bring the ports in order", "0 nothing to do, 2 changes, 3 failed", run_plan},
    {"apply", "", "write it now, and say what became of each setting", "0 all as wanted, 2 something is not, 3 failed",
     run_apply},
    {"confirm", "", "keep what an apply on trial has written", "0 confirmed, 2 nothing awaits confirmation, 3 failed",
     run_confirm},
    {"restore", "", "put back what stood before the first write", "0 all put back, 2 something is not, 3 failed",
     run_restore},
    {"status", "", "each port: state, rate, policy, in sync, repairs", "0, 3 failed", run_status},
    {"show", "", "settings as read, beside wanted", "0, 3 failed", run_show},
    {"counters", "[SECONDS]", "what moves: the rate of each counter, those of trouble first", "0, 3 failed",
     run_counters},
    {"topo", "", "GPU x NIC matrix in nvidia-smi's words", "0, 3 failed", run_topo},
    {"neighbors", "", "who is at the other end of each cable, by LLDP, and who should be", "0, 3 failed",
     run_neighbors},
    {"capture", "DIR", "all that is read of this machine, to be judged elsewhere with --root DIR", "0, 3 failed",
     run_capture},
    {"config", "check|show", "validate the configuration, or show it merged", "0 good, 3 faulty", run_config},
    {"explain", "[ID...]", "what a check or a setting is about", "0, 64 no such id", run_explain},
    {"help", "[VERB]", "how to use a verb", "0, 64 no such verb", run_help},
};

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string option_lines(std::string_view verb, bool own) {
  std::string text;
  for (const OptionRow& row : option_rows()) {
    if (row.verbs.empty() == own || !takes(verb, row)) continue;
    const std::string value = row.argument.empty() ? "" : " " + std::string(row.argument);
    text += "  " + padded(std::string("-") + row.letter + ", --" + std::string(row.name) + value, 24) + " " +
            std::string(row.help) + "\n";
  }
  return text;
}

int usage_error(const std::string& what, Output& output) {
  output.errors += "fabric-agentctl: " + what + "\n";
  return kUsage;
}

}  // namespace

std::span<const Verb> verbs() { return kVerbs; }

const Verb* find_verb(std::string_view name) {
  for (const Verb& verb : kVerbs)
    if (verb.name == name) return &verb;
  return nullptr;
}

std::string usage_text() {
  std::string text =
      "Usage: fabric-agentctl VERB [OPTIONS]\nAnswers of a RoCE GPU server: is it fit, what would be changed, and "
      "why.\n\nVerbs:\n";
  for (const Verb& verb : kVerbs) {
    const std::string call = std::string(verb.name) + (verb.arguments.empty() ? "" : " " + std::string(verb.arguments));
    text += "  " + padded(call, 18) + " " + std::string(verb.help) + "\n";
  }
  return text + "\nOptions of every verb:\n" + option_lines("", false) +
         "\nfabric-agentctl help VERB tells more; fabric-agentctl(1) all. A wrong command line exits with 64.\n";
}

std::string help_text(const Verb& verb) {
  std::string text = "Usage: fabric-agentctl " + std::string(verb.name);
  if (!verb.arguments.empty()) text += " " + std::string(verb.arguments);
  text += " [OPTIONS]\n" + std::string(verb.help) + "\n";
  const std::string own = option_lines(verb.name, true);
  if (!own.empty()) text += "\nOptions:\n" + own;
  return text + "\nOptions of every verb:\n" + option_lines(verb.name, false) +
         "\nExit codes: " + std::string(verb.exit) + "; 64 a wrong command line.\n";
}

int run_help(const Options& options, Output& output) {
  if (options.arguments.empty()) {
    output.text += usage_text();
    return kDone;
  }
  const Verb* verb = find_verb(options.arguments.front());
  if (verb == nullptr)
    return usage_error(options.arguments.front() + " is no verb; see fabric-agentctl --help", output);
  if (options.arguments.size() > 1) return usage_error("help: too many arguments: " + options.arguments[1], output);
  output.text += help_text(*verb);
  return kDone;
}

int run(std::span<const std::string> words, Output& output) {
  auto options = parse_options(words);
  if (!options) return usage_error(options.error().text(), output);
  if (options->version) {
    output.text += "fabric-agentctl " FABRIC_VERSION "\n";
    return kDone;
  }
  const Verb* verb = find_verb(options->verb);
  if (verb == nullptr && options->help) {
    output.text += usage_text();
    return kDone;
  }
  if (verb == nullptr) {
    output.errors += usage_text();
    return kUsage;
  }
  if (options->help) {
    output.text += help_text(*verb);
    return kDone;
  }
  if (verb->arguments.empty() && !options->arguments.empty())
    return usage_error(options->verb + " takes no argument: " + options->arguments.front(), output);
  const int code = verb->run(*options, output);
  if (!options->watch) output.text = printable(output.text, output);  // --watch: done, beside what moves the cursor
  output.errors = printable(output.errors, output);
  return code;
}

}  // namespace fabric::ctl
