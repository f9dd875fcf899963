// SPDX-License-Identifier: Apache-2.0
// Readings of the health rules that are more than counters.
#pragma once

#include <vector>

#include "model/view.h"

namespace fabric {

using HealthReadings = std::vector<HealthReading>;

// Whose netdev and module are watched: cable, light and pause are those of a bond's members, each a subject of its own.
inline bool is_watched(const Port& port) { return !port.virtual_function; }

// The port as it was; null: it was not there, or on another function.
const Port* port_before(const View& view, const Port& port);
// Seconds between the two readings; 0: there is only one.
double window_of(const View& view);
// Null: not known.
const Signals* signals_of_port(const View& view, const Port& port);

// Of the port's own netdev or a VLAN of it ("ens1.100", "vlan100"). Others are macvlans and the like of containers,
// which come and go.
bool is_own(const View& view, const Port& port, const Gid& gid);

void read_tx_pause(const View& view, HealthReadings& out);
void read_rx_pause(const View& view, HealthReadings& out);
void read_lossless_discards(const View& view, HealthReadings& out);
void read_lane_power(const View& view, HealthReadings& out);
void read_module_temperature(const View& view, HealthReadings& out);
void read_frozen_counters(const View& view, HealthReadings& out);
void read_stale_readings(const View& view, HealthReadings& out);
void read_gid_changed(const View& view, HealthReadings& out);
void read_device_errors(const View& view, HealthReadings& out);
void read_device_state(const View& view, HealthReadings& out);
void read_pcie_replays(const View& view, HealthReadings& out);

}  // namespace fabric
