// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "ctl/output/report_text.h"
#include "ctl/verbs/samples.h"
#include "diagnosis/diagnosis.h"
#include "health/health.h"
#include "judge/health_state.h"

namespace fabric::ctl {
namespace {

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

std::string diagnoses_text(const Diagnoses& all, const Samples& samples, size_t ports, const Output& output) {
  if (!samples.before) return "A diagnosis requires two samples of the counters: set --interval.\n";
  if (ports == 0) return "No RDMA port, nothing is diagnosed; see fabric-agentctl check.\n";
  const double seconds = seconds_of(samples);
  char length[32];
  std::snprintf(length, sizeof length, seconds < 999.5 ? "%.3g s" : "%.0f s", seconds);
  const std::string window = std::string(" in a window of ") + length + ".\n",
                    observed = std::to_string(ports) + (ports == 1 ? " port" : " ports");
  if (all.empty()) return observed + " without symptoms" + window;
  Table table({"PORT", "CULPRIT", "CONFIDENCE", "RULE"});
  std::string blocks;
  for (const Diagnosis& each : all) {
    const std::string percent = std::to_string(static_cast<int>(each.confidence * 100 + 0.5)) + " %";
    table.add({each.subject, std::string(to_text(each.culprit)), each.culprit == Culprit::unknown ? "-" : percent,
               each.rule});
    blocks += block_text(each, output);
  }
  return table.text(output) + blocks + "\n" + observed + " observed" + window;
}

// What the checks of settings report, of the ports that were asked for: one source for both verbs.
Report settings_report(const World& world, const View& view, auto is_asked) {
  Report out = run_checks(view, {{std::string(group::settings)}});
  if (const auto acks = load_acks(world.kernel.root)) mark_acknowledged(out, *acks, wall_now(world.kernel));
  std::erase_if(out.findings, [&](const Finding& each) {
    return each.status == Status::ok || each.status == Status::unknown || each.acknowledged || !is_asked(each.subject);
  });
  return out;
}

}  // namespace

int run_diagnose(const Options& given, Output& output) {
  Options options = given;  // ports may also be arguments
  options.ports.insert(options.ports.end(), given.arguments.begin(), given.arguments.end());
  auto world = open_world(options);
  if (!world) return fail(output, kFailure, "diagnose: " + world.error().text());
  Samples samples = take_samples(*world, options.interval);
  if (auto known = check_ports(options, samples.now); !known)
    return fail(output, kFailure, "diagnose: " + known.error().text());
  const Plan plan = make_plan(*world, samples.now, options);
  const View view = view_of(*world, samples, plan);
  const auto is_asked = [&](const std::string& id) {
    const auto is_it = [&](const Port& port) { return port.id() == id && is_chosen(options, port); };
    return std::ranges::any_of(samples.now.ports, is_it) || (id == kHostSubject && names_host(options));
  };
  Diagnoses all = diagnose(view);
  std::erase_if(all, [&](const Diagnosis& each) { return !is_asked(each.subject); });
  const Report settings = settings_report(*world, view, is_asked);
  const auto ports = std::ranges::count_if(samples.now.ports, [&](const Port& port) { return is_asked(port.id()); });
  const bool is_observed = samples.before && ports > 0;
  const Status symptoms = is_observed ? worst(all) : Status::unknown;
  const Status verdict = std::min(symptoms, worst(settings), [](Status a, Status b) { return rank(a) < rank(b); });
  if (options.json) {
    output.text += json_text({{"verdict", to_text(verdict)},
                              {"seconds", samples.before ? Json(seconds_of(samples)) : Json()},
                              {"diagnoses", to_json(all)},
                              {"settings", to_json(settings)["checks"]},
                              {"unread", unseen_lines(samples.now)}});
  } else {
    output.text += diagnoses_text(all, samples, static_cast<size_t>(ports), output) + findings_text(settings, output) +
                   unseen_text(samples.now, output);
  }
  return is_observed ? static_cast<int>(verdict) : kFailure;
}

}  // namespace fabric::ctl
