// SPDX-License-Identifier: Apache-2.0
// What each health rule measures.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <span>

#include "health/health.h"
#include "health/health_ports.h"
#include "model/finding.h"
#include "vendor/capabilities.h"

namespace fabric {
namespace {

using S = Signals;

struct Part {
  std::string_view words;
  Rise Signals::*member;
};

// What a rise is compared with.
enum class Base : uint8_t { seconds, packets, bits };

// `most`: the parts count the same events at several places.
struct CounterRow {
  std::string_view rule;
  Base base;
  bool most;
  std::array<Part, 4> parts;
  std::array<Part, 2> beside{};  // told with them, and never judged
};

constexpr CounterRow kCounterRows[] = {
    {"link_flap", Base::seconds, false, {{{"times down", &S::link_downs}}}},
    {"bit_errors",
     Base::bits,
     true,
     {{{"FEC words beyond repair", &S::fec_uncorrectable},
       {"symbol errors", &S::symbol_errors},
       {"CRC errors", &S::crc_errors},
       {"ICRC errors", &S::icrc_errors}}}},
    {"link_recoveries", Base::seconds, false, {{{"link recoveries", &S::link_recoveries}}}},
    {"link_integrity", Base::seconds, false, {{{"link integrity errors", &S::link_integrity_errors}}}},
    {"pre_fec_ber", Base::bits, false, {{{"bits corrected by FEC", &S::fec_corrected_bits}}}},
    {"out_of_sequence",
     Base::packets,
     false,
     {{{"packets out of sequence", &S::out_of_sequence},
       {"sequence NAKs", &S::sequence_naks},
       {"requests repeated", &S::duplicate_requests}}}},
    {"ack_timeouts", Base::seconds, false, {{{"ACK timeouts", &S::ack_timeouts}}}},
    {"remote_physical_errors",
     Base::seconds,
     false,
     {{{"packets marked as damaged on the way", &S::remote_physical_errors}}}},
    {"retries_exceeded", Base::seconds, false, {{{"connections given up", &S::retries_exceeded}}}},
    {"port_discards",
     Base::seconds,
     false,
     {{{"discards received", &S::rx_discards}, {"discards sent", &S::tx_discards}}}},
    {"buffer_overruns", Base::seconds, false, {{{"buffer overruns", &S::buffer_overruns}}}},
    {"pause_storms", Base::seconds, false, {{{"pause storms", &S::pause_storm_events}}}},
    {"rnr_retries_exceeded",
     Base::seconds,
     false,
     {{{"connections given up: receiver not ready", &S::rnr_retries_exceeded}}},
     {{{"receiver-not-ready NAKs", &S::rnr_naks}, {"packets without a receive posted", &S::out_of_buffer}}}},
    {"cnp_ignored", Base::seconds, false, {{{"CNPs ignored", &S::cnp_ignored}}}},
    {"pcie_errors",
     Base::seconds,
     false,
     {{{"PCIe errors", &S::pcie_errors}, {"PCIe buffer overflows", &S::pcie_overflows}}}},
    {"pcie_stalls", Base::seconds, false, {{{"seconds stalled by PCIe", &S::pcie_stalled_seconds}}}},
    {"request_errors", Base::seconds, false, {{{"requests rejected", &S::request_errors}}}},
};

// Where a driver counts no packets: as many as the largest path MTU would need, which is the least.
constexpr double kLargestPayload = 4096;

// 0: not counted at all.
double packets(const Signals& signals) {
  if (signals.rx_packets || signals.tx_packets)
    return std::max(1.0, signals.rx_packets.value_or(0) + signals.tx_packets.value_or(0));
  if (!signals.rx_bytes && !signals.tx_bytes) return 0;
  return std::max(1.0, (signals.rx_bytes.value_or(0) + signals.tx_bytes.value_or(0)) / kLargestPayload);
}

double bits(const Port& port, const Signals& signals) {
  const double rate = port.rate ? *port.rate * 8 : port.speed ? *port.speed * 1e6 : 0;
  return rate * signals.seconds;
}

double base_of(Base base, const Port& port, const Signals& signals) {
  switch (base) {
    case Base::packets: return packets(signals);
    case Base::bits: return bits(port, signals);
    case Base::seconds: break;
  }
  return signals.seconds;
}

std::string base_text(Base base, double amount, double per) {
  if (base == Base::seconds || amount == 0 || per <= 0) return {};
  return base == Base::packets ? " of " + number_text(per) + " packets"
                               : " (" + number_text(amount / per) + " of the bits)";
}

// Nothing: the port has none of these counters.
std::optional<HealthReading> read_counters(const CounterRow& row, const Port& port, const Signals& signals) {
  HealthReading out{port.id()};
  bool any = false;
  for (const Part& part : row.parts) {
    const Rise rise = part.member != nullptr ? signals.*part.member : std::nullopt;
    if (!rise) continue;
    any = true;
    out.amount = row.most ? std::max(out.amount, *rise) : out.amount + *rise;
    if (*rise > 0)
      out.evidence += (out.evidence.empty() ? "" : ", ") + number_text(*rise) + " " + std::string(part.words);
  }
  out.base = base_of(row.base, port, signals);
  if (!any || out.base <= 0) return std::nullopt;
  bool some = !out.evidence.empty();
  if (!some) out.evidence = "no " + std::string(row.parts[0].words);
  for (const Part& part : row.beside)
    if (const Rise rise = part.member != nullptr ? signals.*part.member : std::nullopt; rise.value_or(0) > 0) {
      some = true;
      out.evidence += ", " + number_text(*rise) + " " + std::string(part.words);
    }
  // Nothing reads alike whatever the window: a capture is judged in the words of the spot.
  if (some)
    out.evidence +=
        base_text(row.base, out.amount, out.base) + " in " + number_text(std::round(signals.seconds * 10) / 10) + " s";
  return out;
}

// Up to which bit error ratio the code in use mends, where it is certain that it is another than RS(544,514) with
// its 2.4e-4: RS(528,514) serves lanes of 25 Gb/s (5e-5, IEEE 802.3 95.1.1), BASE-R's fire code 1e-8 (110.1).
double mends(const Port& port) {
  constexpr double kRs544 = 2.4e-4, kRs528 = 5e-5, kFireCode = 1e-8, kSlowLane = 28'000;  // Mb/s
  if (port.fec && port.fec->active == "baser") return kFireCode;
  const size_t lanes = port.fec ? std::max<size_t>(1, port.fec->corrected_bits.lanes.size()) : 1;
  return port.speed && *port.speed > 0 && *port.speed <= kSlowLane * static_cast<double>(lanes) ? kRs528 : kRs544;
}

void lower_limits(const View& view, const Port& port, HealthReading& reading) {
  const HealthPolicy defaults;
  const AllHealthLimits& limits = view.policy == nullptr ? defaults.limits : view.policy->health.limits;
  const double part = mends(port) / 2.4e-4;
  for (size_t i = 0; i < kHealthRules.size() && part < 1; ++i) {
    if (kHealthRules[i].key != "pre_fec_ber") continue;
    if (limits[i].warning) reading.warning = *limits[i].warning * part;
    if (limits[i].critical) reading.critical = *limits[i].critical * part;
    reading.evidence += "; FEC here mends " + number_text(mends(port));
  }
}

bool has_link(const Port& port) { return port.carrier ? *port.carrier : is_active(port); }

// A link that goes and comes makes errors while it trains, whoever took it; those that damage frames are counted by the
// frames.
Signals without_training(const View& view, const Port& port, Signals signals) {
  const Port* before = port_before(view, port);
  const bool stayed = signals.link_downs.value_or(0) <= 0 && has_link(port) && (before == nullptr || has_link(*before));
  if (!stayed && signals.crc_errors) signals.symbol_errors = signals.fec_uncorrectable = 0;
  return signals;
}

void read_row(const CounterRow& row, const View& view, HealthReadings& out) {
  for (const Port& port : view.now.ports) {
    const Signals* signals = signals_of_port(view, port);
    if (signals == nullptr || !is_watched(port)) continue;
    if (row.rule == "ack_timeouts" && capabilities_of(port.kernel_driver).resends_on_other_paths) continue;
    auto reading =
        read_counters(row, port, row.rule == "bit_errors" ? without_training(view, port, *signals) : *signals);
    if (!reading) continue;
    if (row.rule == "pre_fec_ber") lower_limits(view, port, *reading);
    out.push_back(std::move(*reading));
  }
}

struct OtherRow {
  std::string_view rule;
  void (*read)(const View& view, HealthReadings& out);
};
constexpr OtherRow kOtherRows[] = {
    {"lossless_discards", read_lossless_discards},
    {"tx_pause", read_tx_pause},
    {"rx_pause", read_rx_pause},
    {"lane_power", read_lane_power},
    {"module_temperature", read_module_temperature},
    {"frozen_counters", read_frozen_counters},
    {"stale_readings", read_stale_readings},
    {"gid_changed", read_gid_changed},
    {"device_errors", read_device_errors},
    {"device_state", read_device_state},
    {"pcie_replays", read_pcie_replays},
};

}  // namespace

const Port* port_before(const View& view, const Port& port) {
  if (view.before == nullptr) return nullptr;
  const auto& old = view.before->ports;
  const auto found = std::find_if(old.begin(), old.end(),
                                  [&](const Port& other) { return other.id() == port.id() && other.pci == port.pci; });
  return found == old.end() ? nullptr : &*found;
}

double window_of(const View& view) {
  if (view.before == nullptr) return 0;
  return std::chrono::duration<double>(view.now.taken - view.before->taken).count();
}

const Signals* signals_of_port(const View& view, const Port& port) {
  if (view.signals == nullptr) return nullptr;
  const auto found = view.signals->find(port.id());
  return found == view.signals->end() ? nullptr : &found->second;
}

HealthReadings read_health(const View& view, std::string_view rule) {
  HealthReadings out;
  for (const CounterRow& row : kCounterRows)
    if (row.rule == rule) read_row(row, view, out);
  for (const OtherRow& row : kOtherRows)
    if (row.rule == rule) row.read(view, out);
  return out;
}

}  // namespace fabric
