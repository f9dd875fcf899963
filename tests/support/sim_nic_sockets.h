// SPDX-License-Identifier: Apache-2.0
// The simulated sockets and their shared parts. Each call of a driver operation is counted, and may fail on request.
#pragma once

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "support/sim_nic.h"

namespace fabric::test {

std::unique_ptr<Netlink> open_sim_route(SimKernel& sim);    // rtnetlink with dcbnl
std::unique_ptr<Netlink> open_sim_generic(SimKernel& sim);  // nlctrl and ethtool
std::unique_ptr<ethtool::Tunables> open_sim_tunables(SimKernel& sim);

using Replies = Result<std::vector<Message>>;

// RINGS, CHANNELS and FEC of the ethtool family: sim_nic_ethtool_settings.cpp.
Replies answer_ethtool_settings(SimNic& nic, uint16_t family, uint8_t command, const std::vector<Attr>& attributes);

inline Error kernel_error(int code, std::string what = "simulated") { return error(code, std::move(what)); }
// The ACK of a change, with the driver's result.
inline Replies done(int verdict) {
  if (verdict < 0) return kernel_error(-verdict);
  return std::vector<Message>{};
}
// The beginning of a reply of a family of generic netlink.
AttrWriter generic_reply(uint8_t command);

// Counts the operation and applies its fault. True: the driver must do the operation. False: `verdict` is the answer.
bool begin(SimNic& nic, const std::string& op, int& verdict);

template <class Act>
int call(SimNic& nic, const std::string& op, Act&& act) {
  int verdict = -EIO;
  if (nic.refuse_change != 0 && --nic.refuse_change == 0) return verdict;
  if (begin(nic, op, verdict)) verdict = act();
  if (verdict != 0 || !nic.message_goes_on) nic.after_change(op);
  return verdict;
}

}  // namespace fabric::test
