// SPDX-License-Identifier: Apache-2.0
// Health of the link: flaps, damaged bits, retraining.
#include <cmath>

#include "health/health.h"
#include "health/rule.h"
#include "nic/counter_catalogue.h"

namespace fabric {

double allowed_error_ratio(const Port& port) {
  constexpr double kFast = 100'000;  // Mb/s
  return port.speed && *port.speed > 0 && *port.speed <= kFast ? 1e-12 : 1e-13;
}

namespace {

using enum HealthMeasure;
using S = Signals;

bool has_link(const Port& port) { return port.carrier ? *port.carrier : is_active(port); }

void add_lane(HealthReading& reading, const View& view, const Port& port) {
  const Port* before = port_before(view, port);
  const auto bad = before == nullptr ? std::nullopt : bad_lane(*before, port);
  if (!bad) return;
  reading.evidence += "; " + number_text(std::floor(bad->share * 1000) / 10) + " % of the bit errors are on lane " +
                      std::to_string(bad->lane);
}

void scale_limits(HealthReading& reading, const View& view, const HealthRule& rule, double scale) {
  const HealthLimits& limits = limits_of(health_policy(view), rule);
  if (limits.warning) reading.warning = *limits.warning * scale;
  if (limits.critical) reading.critical = *limits.critical * scale;
}

// A link that trains makes symbol errors, whichever end took it down. Then damaged frames alone count, if counted.
std::optional<HealthReading> read_bit_errors(const View& view, const HealthRule& rule, const Port& port) {
  const Signals* seen = signals_of_port(view, port);
  if (seen == nullptr) return std::nullopt;
  Signals signals = *seen;
  const Port* before = port_before(view, port);
  const bool stayed_up =
      signals.link_downs.value_or(0) <= 0 && has_link(port) && (before == nullptr || has_link(*before));
  if (!stayed_up && signals.crc_errors) signals.symbol_errors = signals.fec_uncorrectable = 0;
  auto reading = sum_counters(rule.sum, port, signals);
  if (!reading) return reading;
  scale_limits(*reading, view, rule, allowed_error_ratio(port) / 1e-13);
  add_lane(*reading, view, port);
  return reading;
}

constexpr double kRs544 = 2.4e-4, kRs528 = 5e-5, kFireCode = 1e-8;

// The bit error ratio that the port's FEC corrects. RS(544,514), IEEE 802.3 136.1, unless another code is certain:
// RS(528,514) on lanes of 25 Gb/s (SFF-8024 table 4-4, code 01h), or BASE-R's fire code. That corrects one burst in a
// block of 2112 bits (clause 74): at 1e-8, blocks with two errors leave 2e-13 of the bits wrong.
double correctable_ratio(const Port& port) {
  constexpr double kSlowLane = 28'000;  // Mb/s
  if (port.fec && port.fec->active == "baser") return kFireCode;
  const size_t lanes = port.fec ? std::max<size_t>(1, port.fec->corrected_bits.lanes.size()) : 1;
  return port.speed && *port.speed > 0 && *port.speed <= kSlowLane * static_cast<double>(lanes) ? kRs528 : kRs544;
}

std::optional<HealthReading> read_pre_fec_ber(const View& view, const HealthRule& rule, const Port& port) {
  auto reading = read_counters(view, rule, port);
  if (!reading) return reading;
  if (const double ratio = correctable_ratio(port); ratio < kRs544) {
    scale_limits(*reading, view, rule, ratio / kRs544);
    reading->evidence += "; this FEC corrects up to " + number_text(ratio);
  }
  add_lane(*reading, view, port);
  return reading;
}

constexpr HealthRow kRules[]{
    {.check = "link-flap",
     .window = {"link_flap", count, HealthLimits{3, 5, 12 * kHour, 0, kMinute}, "link downs",
                "gpud: 3 in 12 h; azurehpc drains a node after 5 in a day", "link stays up"},
     .quiet = 1,
     .graced = true,
     .meaning = "The link went down and came back: RoCE stops each time, and connections may break.",
     .remedy = "Rule out changes of PFC, FEC or DCB, which restart the link: journalctl -u fabric-agent. Check the "
               "module and its light: ethtool -m {netdev}. Clean and reseat the connectors, then replace the "
               "cable or the transceivers, then try another switch port.",
     .sum = {{{{"link downs", &S::link_downs}}}}},
    {.check = "link-errors",
     .window = {"bit_errors", ratio, HealthLimits{1e-11, kNever, 20, 0, kMinute},
                "errors after FEC per bit; 10 times as many up to 100 Gb/s", "ours: 100 times what IEEE 802.3 allows",
                "errors below 1e-11 of the bits (1e-10 up to 100 Gb/s)", 10},
     .meaning = "Bits arrive damaged after FEC, and RoCE retransmits the packets. The cause is this link, or a device "
                "on the path if there are only ICRC errors, or CRC errors without uncorrectable FEC words.",
     .remedy = "Check the module and its light: ethtool -m {netdev}. Clean, reseat or replace the cable and the "
               "transceivers, then try another switch port.",
     .slow = {{"bit_errors_slow", ratio, HealthLimits{1e-13, kNever, 2 * kHour, 0, 10 * kMinute},
               "errors after FEC per bit; 10 times as many up to 100 Gb/s",
               "IEEE 802.3: 1e-13 above 100 Gb/s (802.3bs), 1e-12 up to it (802.3ba). At 400 Gb/s 1e-13 is "
               "144 an hour (NVSentinel: 120 symbol errors)",
               "errors below 1e-13 of the bits (1e-12 up to 100 Gb/s)", 20}},
     .sum = {.parts = {{{"uncorrectable FEC words", &S::fec_uncorrectable},
                        {"symbol errors", &S::symbol_errors},
                        {"CRC errors", &S::crc_errors},
                        {"ICRC errors", &S::icrc_errors}}},
             .per = CounterSum::Per::bit,
             .largest = true},
     .read_port = read_bit_errors},
    {.check = "link-errors",
     .window = {"link_recoveries", count, HealthLimits{6, kNever, kMinute, 0, kMinute}, "link recoveries",
                "NVSentinel: link_error_recovery more than 5 a minute", "at most 5 a minute"},
     .meaning = "The link retrains repeatedly and carries no data meanwhile.",
     .remedy = "Read the error counters of both ends: perfquery -x. Clean, reseat or replace the cable, then try "
               "another switch port.",
     .slow = {{"link_recoveries_slow", count, HealthLimits{10, kNever, 2 * kHour, 0, 10 * kMinute}, "link recoveries",
               "ibcheckerrs (infiniband-diags): 10", "fewer than 10 in 2 h", 6}},
     .sum = {{{{"link recoveries", &S::link_recoveries}}}}},
    {.check = "link-errors",
     .window = {"link_integrity", count, HealthLimits{1, kNever, kMinute, 0, kMinute},
                "times the port's threshold of local errors was exceeded",
                "NVSentinel: any local_link_integrity_errors is fatal", "none"},
     .meaning = "The bit errors of this InfiniBand link exceeded the port's own threshold.",
     .remedy = "Read the error counters of both ends: perfquery -x. Clean, reseat or replace the cable, then try "
               "another switch port.",
     .sum = {{{{"link integrity errors", &S::link_integrity_errors}}}}},
    {.check = "pre-fec-ber",
     .window = {"pre_fec_ber", ratio, HealthLimits{kRs544 / 10, kRs544, 20, 10, kMinute},
                "corrected bits per bit; lower for weaker FEC",
                "IEEE 802.3 136.1: RS(544,514) corrects up to 2.4e-4; warning at a tenth of it (ours)",
                "below a tenth of the ratio that FEC corrects (2.4e-4 for lanes of 50 Gb/s and faster)", 100},
     .meaning = "FEC is close to its limit: with a little more heat or dirt, frames are lost.",
     .remedy = "Compare the lanes' power: ethtool -m {netdev}. Clean and reseat the connectors, and replace the cable "
               "when no job runs.",
     .sum = {.parts = {{{"bits corrected by FEC", &S::fec_corrected_bits}}}, .per = CounterSum::Per::bit},
     .read_port = read_pre_fec_ber},
};

}  // namespace

std::span<const HealthRow> link_health_rules() { return kRules; }

extern const Check kLinkFlapCheck{
    .id = "link-flap",
    .group = group::counters,
    .title = "The link goes down and up",
    .meaning =
        "Counts how often carrier or the physical link went down within the window (12 hours by default), as counted "
        "by the kernel (carrier_down_count) and the NIC. Each flap stops RoCE for seconds and can end connections. "
        "Flaps while the machine boots or the driver loads do not count; those of a change of PFC (mlx5), FEC or DCB, "
        "which restarts the link, do. The finding clears when the window has "
        "passed.",
    .inspect =
        "journalctl -k -g 'Link|carrier'; journalctl -u fabric-agent; ip -s -s link show dev NETDEV; the log of the "
        "switch port",
    .fix =
        "Clean and reseat the connectors, then replace the cable or the transceivers, then use another switch port. "
        "fabric-agentctl ack link-flap acknowledges a known flap.",
};
extern const Check kLinkErrorsCheck{
    .id = "link-errors",
    .group = group::counters,
    .title = "The link damages bits",
    .meaning =
        "Compares symbol and CRC errors, uncorrectable FEC code words, ICRC errors and InfiniBand link recoveries with "
        "the number of bits carried; IEEE 802.3 requires a bit error ratio of 1e-13 or less. An InfiniBand port that "
        "exceeds its own threshold of local errors is reported at once. While a link goes down and up, only damaged "
        "frames count. ICRC errors without other errors come from inside a switch or a NIC; CRC errors without "
        "uncorrectable FEC words come from another link, whose damaged frames a switch has forwarded (cut-through).",
    .inspect = "ethtool -S NETDEV | grep -iE 'phy|fec|err|fcs'; ethtool -I --show-fec NETDEV; perfquery (InfiniBand)",
    .fix = "Clean, reseat or replace the cable and the transceivers of this port, then use another switch port.",
};
extern const Check kPreFecBerCheck{
    .id = "pre-fec-ber",
    .group = group::counters,
    .title = "FEC corrects nearly as many bits as it can",
    .meaning =
        "Bits corrected by forward error correction per bit carried. RS(544,514) corrects up to 2.4e-4, RS(528,514) at "
        "25 Gb/s per lane up to 5e-5, BASE-R 1e-8; beyond that frames are lost. A ratio near the limit announces a "
        "failing laser, a dirty connector or an aging cable, and gets worse when warm.",
    .inspect = "ethtool -I --show-fec NETDEV; mlxlink -d ADDRESS -c -e",
    .fix = "Clean and reseat the connectors, then replace the cable while no job runs.",
};

}  // namespace fabric
