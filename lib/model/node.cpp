// SPDX-License-Identifier: Apache-2.0
#include "model/node.h"

#include <algorithm>
#include <ostream>

namespace fabric {

std::string_view to_text(PathClass value) {
  constexpr std::array<std::string_view, 5> kTexts{"PIX", "PXB", "PHB", "NODE", "SYS"};
  return kTexts.at(static_cast<size_t>(value));
}

std::string_view to_text(LinkLayer value) {
  constexpr std::array<std::string_view, 3> kTexts{"Unknown", "Ethernet", "InfiniBand"};
  return kTexts.at(static_cast<size_t>(value));
}

bool Port::is_member() const { return !bond.empty() && bond != netdev; }

std::string Port::id() const { return rdma + "/" + std::to_string(number) + (is_member() ? "@" + netdev : ""); }

// state_show() and phys_state_to_str() of drivers/infiniband/core/sysfs.c, Linux 6.12.
std::string_view port_state_text(unsigned state) {
  constexpr std::array<std::string_view, 6> kNames{"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  return state < kNames.size() ? kNames[state] : "UNKNOWN";
}

std::string_view phys_state_text(unsigned phys_state) {
  constexpr std::array<std::string_view, 8> kNames{
      "", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "Phy Test"};
  return phys_state > 0 && phys_state < kNames.size() ? kNames[phys_state] : "<unknown>";
}

namespace qos {

Keys own_keys(const Port& port) {
  if (port.bond.empty()) return Keys().set();
  Keys of_bond;
  for (const SettingId setting : {SettingId::mtu, SettingId::roce_mode, SettingId::roce_tos, SettingId::traffic_class,
                                  SettingId::optional_counters})
    of_bond.set(index(setting));
  return port.bond == port.netdev ? of_bond : ~of_bond;
}

}  // namespace qos

std::ostream& operator<<(std::ostream& out, const CounterName& name) { return out << name.text(); }

namespace {

std::string pair_text(const ResourceLimit& limit, std::string (*text)(uint64_t)) {
  return limit.soft == limit.hard ? text(limit.soft) : text(limit.soft) + " (hard: " + text(limit.hard) + ")";
}

}  // namespace

std::string bytes_text(uint64_t bytes) {
  if (bytes == kNoLimit) return "unlimited";
  constexpr const char* kUnits[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + kUnits[unit];
}

std::string memory_text(const ResourceLimit& limit) { return pair_text(limit, bytes_text); }

std::string count_text(const ResourceLimit& limit) {
  return pair_text(limit,
                   [](uint64_t count) { return count == kNoLimit ? std::string("unlimited") : std::to_string(count); });
}

std::string FileLine::text() const { return line == 0 ? file : file + ":" + std::to_string(line); }

std::optional<unsigned> ConfValue::effective() const {
  if (!all || !own) return std::nullopt;
  return std::max(*all, *own);
}

}  // namespace fabric
