// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "base/json.h"
#include "ctl/output/report_text.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/samples.h"
#include "diagnosis/diagnosis.h"

namespace fabric::ctl {
namespace {

std::string confidence_text(const Diagnosis& one) {
  return one.culprit == Culprit::unknown ? std::string("-")
                                         : std::to_string(static_cast<int>(one.confidence * 100 + 0.5)) + " %";
}

std::string block_text(const Diagnosis& one, const Output& output) {
  std::string text =
      "\n" + colored(output, one.status, one.subject + "  " + std::string(to_text(one.culprit)) + "  " + one.rule) +
      "\n";
  text += "  " + wrapped(one.conclusion, output.width, 2) + "\n";
  const auto list = [&](std::string label, const std::vector<std::string>& lines) {
    for (const std::string& each : lines) {
      text += "  " + label + wrapped(each, output.width, 12) + "\n";
      label.assign(label.size(), ' ');
    }
  };
  list("Evidence: ", one.evidence);
  list("Next:     ", one.next);
  return text;
}

double seconds_of(const Samples& samples) {
  return std::chrono::duration<double>(samples.now.taken - samples.before->taken).count();
}

std::string window_text(const Samples& samples) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g s", seconds_of(samples));
  return text;
}

std::string diagnoses_text(const Diagnoses& all, const Samples& samples, size_t ports, const Output& output) {
  if (!samples.before) return "A diagnosis requires two samples of the counters: set --interval.\n";
  const std::string window = " in a window of " + window_text(samples);
  if (ports == 0) return "No RDMA port.\n";
  if (all.empty())
    return std::to_string(ports) + (ports == 1 ? " port" : " ports") + " without symptoms" + window + ".\n";
  Table table({"PORT", "CULPRIT", "CONFIDENCE", "RULE"});
  for (const Diagnosis& each : all)
    table.add({each.subject, std::string(to_text(each.culprit)), confidence_text(each), each.rule});
  std::string text = table.text(output);
  for (const Diagnosis& each : all) text += block_text(each, output);
  return text + "\n" + std::to_string(ports) + (ports == 1 ? " port" : " ports") + " observed" + window + ".\n";
}

// Ports may also be arguments.
Options with_ports(const Options& options) {
  Options out = options;
  out.ports.insert(out.ports.end(), options.arguments.begin(), options.arguments.end());
  return out;
}

}  // namespace

int run_diagnose(const Options& given, Output& output) {
  const Options options = with_ports(given);
  auto world = open_world(options);
  if (!world) return fail(output, kFailure, "diagnose: " + world.error().text());
  Samples samples = take_samples(*world, options.interval);
  if (auto known = check_ports(options, samples.now); !known)
    return fail(output, kFailure, "diagnose: " + known.error().text());
  const Plan plan = make_plan(*world, samples.now, options);
  Diagnoses all = diagnose(view_of(*world, samples, plan));
  const auto is_asked = [&](const std::string& id) {
    return std::ranges::any_of(samples.now.ports,
                               [&](const Port& port) { return port.id() == id && is_chosen(options, port); });
  };
  std::erase_if(all, [&](const Diagnosis& each) { return !is_asked(each.subject); });
  const auto ports = static_cast<size_t>(
      std::ranges::count_if(samples.now.ports, [&](const Port& port) { return is_asked(port.id()); }));
  if (options.json) {
    Json out = Json::object();
    out.update({{"verdict", to_text(samples.before ? worst(all) : Status::unknown)},
                {"seconds", samples.before ? Json(seconds_of(samples)) : Json()},
                {"diagnoses", to_json(all)},
                {"unread", unseen_json(samples.now)}});
    output.text += json_text(out);
  } else {
    output.text += diagnoses_text(all, samples, ports, output) + unseen_text(samples.now, output);
  }
  return samples.before ? static_cast<int>(worst(all)) : kFailure;
}

}  // namespace fabric::ctl
