// SPDX-License-Identifier: Apache-2.0
// The engine of the health rules (rule.h): states over time, and findings for the checks.
#pragma once

#include "judge/view.h"

namespace fabric {

// Adds the view's readings to the states. `now`: seconds since boot; `wall`: the same moment in seconds since 1970.
// States and devices without readings are dropped after a while.
void advance_health(Health& health, const View& view, double now, int64_t wall);

// The PCI address of a device that was removed; empty if it had none. nullopt: the device is present.
std::optional<std::string> place_of_gone(const HealthDevice& device);

// nullopt: no reading, or the rule is off.
std::optional<Status> health_status(const View& view, std::string_view rule, std::string_view subject);

// The findings of all rules of one check, at most one per subject.
void ask_health(std::string_view check, const View& view, std::vector<Finding>& findings);

// Of the port's netdev or a VLAN of it ("ens1.100", "vlan100"), not of a macvlan, which containers create and remove.
bool is_own_gid(const View& view, const Port& port, const Gid& gid);

// Errors after FEC per bit that IEEE 802.3 allows: 1e-12 up to 100 Gb/s (802.3ba), 1e-13 above (802.3bs).
double allowed_error_ratio(const Port& port);

// Marks the findings that an operator has acknowledged and that are not expired at `wall`.
void mark_acknowledged(Report& report, const std::vector<Ack>& acks, int64_t wall);

// {netdev}, {rdma}, {pci} and {peer} of a remedy -> names of the port. `port` may be null: then the subject.
std::string fill_names(std::string_view text, const Port* port, const std::string& subject,
                       const std::string& peer = {});

// The findings of health rules in the past: for a log line, what the counters of its port showed at its time.

// Adds what the states show after an update. `gap`: the seconds since the last one were not watched.
void follow_history(HealthHistory& history, const Health& health, bool gap);
// Findings of one of the subjects that lasted at `time` (seconds since boot) or ended in the two minutes before it: a
// connection breaks some time after its first packet is lost. One minute of readings after it counts, too.
std::vector<PastFinding> findings_at(const HealthHistory& history, const std::vector<std::string>& subjects,
                                     double time);
// A moment of the past in seconds since 1970.
int64_t wall_of(const Health& health, double time);

}  // namespace fabric
