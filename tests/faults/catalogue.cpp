// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "faults/fault.h"
#include "nic/metrics.h"

namespace fabric::faults {
namespace {

// The subject is read after the alteration.
Plant named(Alter alter, std::string (*subject)(Machine&)) {
  return [=](Machine& m) {
    alter(m);
    return subject(m);
  };
}

}  // namespace

const std::vector<Area>& catalogue() {
  static const std::vector<Area> all{{"settings", settings_faults()}, {"topology", topology_faults()},
                                     {"host", host_faults()},         {"link", link_faults()},
                                     {"optics", optics_faults()},     {"congestion", congestion_faults()},
                                     {"software", software_faults()}};
  return all;
}

bool grow(Machine& machine, const std::vector<Grow>& all) {
  for (size_t i = 0; i < all.size(); ++i)
    if (!machine.raise(*all[i].metric, all[i].by, all[i].label) && i == 0) return false;
  return true;
}

Plant at_port(Alter alter) {
  return named(alter, [](Machine& m) { return m.port().id(); });
}
Plant at_nic(Alter alter) {
  return named(alter, [](Machine& m) { return m.nic().name; });
}
Plant at_gpu(Alter alter) {
  return named(alter, [](Machine& m) { return m.gpu().name; });
}
Plant on_host(Alter alter) {
  return named(alter, [](Machine&) { return std::string("host"); });
}

Plant at_switch(void (*alter)(Neighbor&)) {
  return [alter](Machine& m) {
    if (m.now.neighbors.heard.empty()) return std::string();
    alter(m.now.neighbors.heard.at(1));
    return m.port().id();
  };
}

Plant in_module(void (*alter)(Transceiver&)) {
  return [alter](Machine& m) {
    if (!m.port().module) return std::string();
    alter(*m.port().module);
    return m.port().id();
  };
}

Plant counted(std::vector<Grow> all) {
  return [all = std::move(all)](Machine& m) { return grow(m, all) ? m.port().id() : std::string(); };
}

Plant both(Plant first, Plant second) {
  return [first = std::move(first), second = std::move(second)](Machine& m) {
    return first(m).empty() ? std::string() : second(m);
  };
}

Plant on_roce(Plant plant) {
  return [plant = std::move(plant)](Machine& m) { return m.is_roce() ? plant(m) : std::string(); };
}

void hold_marks(Machine& m) {
  for (const Metric* each : {&metrics::kCnpHandled, &metrics::kCnpSent, &metrics::kEcnMarked}) m.hold(*each);
}

void move_nic_away(Machine& m) {
  m.nic().bridges = {"0000:f7:01.0"};
  m.nic().root = "pci0000:f7";
  m.nic().numa = m.now.topology.nics.back().numa;
}

Faults together(std::initializer_list<Faults> all) {
  Faults out;
  for (const Faults& each : all) out.insert(out.end(), each.begin(), each.end());
  return out;
}

}  // namespace fabric::faults
