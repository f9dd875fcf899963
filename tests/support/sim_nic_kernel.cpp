// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "support/sim_nic_sockets.h"

namespace fabric::test {

bool begin(SimNic& nic, const std::string& op, int& verdict) {
  ++nic.calls[op];
  verdict = 0;
  auto it = nic.faults.find(op);
  if (it == nic.faults.end() || it->second.times == 0) return true;
  Fault& fault = it->second;
  if (fault.passes > 0) return --fault.passes, true;
  if (fault.times > 0) --fault.times;
  if (fault.action == Fault::vanish || fault.action == Fault::vanish_after) nic.present = false;
  if (fault.action == Fault::refuse) verdict = -fault.code;
  return fault.action == Fault::vanish_after;
}

SimNic& SimKernel::add_nic(const std::string& name, Personality personality) {
  return nics_.emplace_back(name, next_ifindex_++, personality);
}

SimNic* SimKernel::find(const std::string& name) {
  for (SimNic& nic : nics_)
    if (nic.present && nic.name == name) return &nic;
  return nullptr;
}

SimNic* SimKernel::find(int ifindex) {
  for (SimNic& nic : nics_)
    if (nic.present && nic.ifindex == ifindex) return &nic;
  return nullptr;
}

SimNic& SimKernel::nic(const std::string& name) {
  SimNic* found = find(name);
  if (found == nullptr) throw std::out_of_range("no simulated NIC " + name);
  return *found;
}

void SimKernel::reload(SimNic& nic) {
  nic.reload();
  nic.ifindex = next_ifindex_++;
  nic.present = true;
}

Kernel SimKernel::kernel(const std::string& root_directory) {
  auto root = Root::open(root_directory);
  if (!root) throw std::runtime_error(root.error().text());
  Kernel out{.root = std::move(root).value()};
  out.route = open_sim_route(*this);
  out.generic = open_sim_generic(*this);
  out.tunables = open_sim_tunables(*this);
  if (auto family = ethtool::resolve(*out.generic)) out.ethtool = *family;
  return out;
}

}  // namespace fabric::test
