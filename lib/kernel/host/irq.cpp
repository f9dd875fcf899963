// SPDX-License-Identifier: Apache-2.0
#include "kernel/host/irq.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/parse.h"
#include "kernel/pci/machine.h"

namespace fabric::host {
namespace {

constexpr size_t kMaxVectors = 4096;

// The vector's effective CPUs; the requested ones before Linux 4.13 and for controllers that do not report them.
std::string cpus_of(const Root& root, const std::string& folder) {
  for (const char* file : {"/effective_affinity_list", "/smp_affinity_list"})
    if (const auto line = root.read_line(folder + file); line && !line->empty()) return *line;
  return {};
}

// Each handler has a folder of its name beside the files (kernel/irq/proc.c register_handler_proc).
std::string handler_of(const Root& root, const std::string& folder) {
  constexpr std::string_view kFiles[] = {"affinity_hint", "effective_affinity", "effective_affinity_list",
                                         "node",          "smp_affinity",       "smp_affinity_list",
                                         "spurious"};
  const auto names = root.list(folder);
  for (const std::string& name : names ? *names : std::vector<std::string>{})
    if (std::find(std::begin(kFiles), std::end(kFiles), name) == std::end(kFiles)) return name;
  return {};
}

}  // namespace

bool is_control_interrupt(std::string_view name) {
  constexpr std::string_view kWords[] = {"async", "pages", "cmd", "misc",   "ctrl", "mgmt",
                                         "mgmnt", "aeq",   "AEQ", "adminq", "mbx",  "health"};
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [&](std::string_view word) { return name.find(word) != std::string_view::npos; });
}

void read_interrupts(const Root& root, std::string_view local, NicInterrupts& nic) {
  const auto cpus = machine::parse_cpus(local);
  const auto vectors = root.list("sys/bus/pci/devices/" + nic.pci + "/msi_irqs");
  if (!cpus || !vectors || vectors->size() > kMaxVectors) return;
  const std::set<unsigned> near(cpus->begin(), cpus->end());
  nic.local_cpus = static_cast<unsigned>(near.size());
  for (const std::string& name : *vectors) {
    const auto irq = parse_number<unsigned>(name);
    const std::string folder = "proc/irq/" + name;
    const std::string list = irq ? cpus_of(root, folder) : std::string{};
    const auto places = machine::parse_cpus(list);
    if (list.empty() || !places) continue;
    const bool is_near =
        std::any_of(places->begin(), places->end(), [&](unsigned cpu) { return near.count(cpu) != 0; });
    const std::string handler = is_near ? std::string{} : handler_of(root, folder);
    if (!is_near && (handler.empty() || is_control_interrupt(handler))) continue;
    ++nic.queues;
    if (!is_near) nic.elsewhere.push_back({*irq, handler, list});
  }
}

}  // namespace fabric::host
