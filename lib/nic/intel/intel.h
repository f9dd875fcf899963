// SPDX-License-Identifier: Apache-2.0
// The common parts of ice and i40e.
#pragma once

#include "nic/operation.h"

namespace fabric::intel {

// The private flag of the firmware's LLDP agent, which owns DCBX while it runs: the driver refuses every change of DCB.
struct LldpAgent {
  std::string_view flag;  // fw-lldp-agent, disable-fw-lldp
  bool flag_means_running;
  [[nodiscard]] std::string command(const std::string& netdev) const;  // the command that stops the agent
};

// upstream::read() with fw_lldp, and dcbx = firmware while the agent runs. If the flag cannot be read, the mode of DCBX
// shows whether the agent runs: ice_init_dcb() and i40e_init_pf_dcb() of Linux 6.12 set LLD_MANAGED without HOST then.
Result<Reading> read(const PortIo& io, const LldpAgent& agent, const Keys& keys);
Result<void> write_agent(const PortIo& io, const LldpAgent& agent, bool running);

// Ring sizes become multiples of 32 (ICE_REQ_DESC_MULTIPLE, I40E_REQ_DESCRIPTOR_MULTIPLE).
Qos expected(const Qos& want, const Reading& have);

// Notes that ice_get_pauseparam() and i40e_get_pauseparam() show pause as off while PFC is on, whatever the PHY has.
void note_hidden_pause(Reading& out);

// ice_set_pauseparam() and i40e_set_pauseparam() refuse any change while PFC is on: write_pause() switches PFC off for
// a moment.
bool pause_needs_pfc_off(const Qos& have);
// Driver::impossible() of both drivers: global pause cannot be on while PFC is.
std::string impossible(const Setting& setting, const Qos& want, const Reading& have);
Result<void> write_pause(const PortIo& io, const Setting& setting, const Qos& want, const Reading& have,
                         Op::Write* write_pfc);

// Writes the ETS that the port shows. The drivers send the rest of their settings with it.
Result<void> send_shown_ets(const PortIo& io);

// Whether a class without a priority is below one with a priority. ice_dcb_get_num_tc() and i40e_dcb_get_num_tc() count
// one class then.
bool has_gap(const Ets& ets);

}  // namespace fabric::intel
