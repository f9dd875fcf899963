// SPDX-License-Identifier: Apache-2.0
#include "node/node.h"

#include <algorithm>
#include <ostream>

namespace fabric {

bool Port::is_member() const { return !bond.empty() && bond != netdev; }

std::string Port::id() const { return rdma + "/" + std::to_string(number) + (is_member() ? "@" + netdev : ""); }

namespace qos {

Keys own_keys(const Port& port) {
  if (port.bond.empty()) return Keys().set();
  const Keys of_bond = keys_in(SettingGroup::rdma).set(index(SettingId::mtu));
  if (port.bond == port.netdev) return of_bond;
  return ~of_bond;
}

}  // namespace qos

static std::string pair_text(const ResourceLimit& limit, std::string (*text)(uint64_t)) {
  return limit.soft == limit.hard ? text(limit.soft) : text(limit.soft) + " (hard: " + text(limit.hard) + ")";
}

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

bool can_have_data_direct(const Nic& nic) {
  constexpr uint16_t kConnectX8 = 0x1023;  // mlx5_core_pci_table
  return nic.vendor == kNvidiaNetworking && nic.device == kConnectX8 && !nic.virtual_function && !nic.rdma.empty();
}

bool carries_rdma(const Nic& nic) {
  return !nic.rdma.empty() || nic.rdma_elsewhere || (nic.vendor == kCray && nic.class_code >> 16 == 0x02);
}

}  // namespace fabric
