// SPDX-License-Identifier: Apache-2.0
// The link of a port: rate, flaps and errors; causes of links that go down, and of damaged bits.
#include "judge/link.h"

#include <cmath>

#include "judge/engine.h"
#include "judge/finding.h"
#include "judge/network.h"
#include "judge/optics.h"
#include "judge/port_context.h"
#include "judge/port_state.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "node/endpoints.h"
#include "node/signals.h"
#include "node/topology.h"

namespace fabric {

constexpr Limit kLaneShare{"damaged-link",
                           "lane_share",
                           0.9,
                           "of the bit errors on one lane",
                           "ours: a bad reference clock or switch port damages all lanes",
                           0.25,
                           1};

namespace {

// The faster port of the same card, if both serve GPUs and neither is the front end or has another entry of the policy,
// which shows that it is for something else. Null if the machine has another card of this board: its port in the same
// place is compared instead, and second ports that are slower on each card are so by design.
const Port* faster_port_of_card(const View& view, const Port& port) {
  const auto is_for_gpus = [&](const Port& each) {
    return is_active(each) && is_judged(each) && each.rate && serves_gpu(view, each) && !is_front_end(view.now, each);
  };
  if (!is_for_gpus(port)) return nullptr;
  const Port* best = nullptr;
  for (const Port& other : view.now.ports) {
    if (&other == &port) continue;
    if (!are_of_one_card(port, other)) {
      if (are_of_one_board(port, other)) return nullptr;
    } else if (is_for_gpus(other) && *other.rate > *port.rate && policy_of(view, other) == policy_of(view, port)) {
      if (best == nullptr || *other.rate > *best->rate) best = &other;
    }
  }
  return best;
}

// The links of the members of a bond, as far as their speed is known.
struct BondLinks {
  const Port* fastest = nullptr;
  bool are_unequal = false;
};

// By the netdev of the bond.
std::map<std::string, BondLinks> bond_links(const Node& node) {
  std::map<std::string, BondLinks> out;
  for (const Port& member : node.ports) {
    if (!member.is_member() || member.carrier != true || !member.speed) continue;
    BondLinks& links = out[member.bond];
    links.are_unequal = links.are_unequal || (links.fastest != nullptr && *links.fastest->speed != *member.speed);
    if (links.fastest == nullptr || *member.speed > *links.fastest->speed) links.fastest = &member;
  }
  return out;
}

// The member of a bond whose link is slower than that of another member. nullopt: it is no such member.
std::optional<Finding> slow_member_finding(const std::map<std::string, BondLinks>& bonds, const Port& member) {
  if (!member.is_member() || member.carrier != true || !member.speed) return std::nullopt;
  const Port* fastest = bonds.at(member.bond).fastest;
  if (*fastest->speed <= *member.speed) return std::nullopt;
  const auto text = [](const Port& each) { return rate_text(*each.speed * 1e6 / 8); };
  return bad(Status::warning, member.id(), member.netdev + " at " + text(member),
             text(*fastest) + ", like " + fastest->netdev + " of the same bond",
             "The members of " + member.bond +
                 " have links of different speeds. 802.3ad (LACP) aggregates links of one speed only, so that some of "
                 "them carry nothing. balance-xor sends as much over the slower link as over the faster one. With "
                 "active-backup, the bond is slower while this member is the active one.",
             {{Work::ends_jobs, "Configure the same speed and FEC at both ends of " + member.netdev + " (ethtool " +
                                    member.netdev + "; cat /proc/net/bonding/" + member.bond + "). "},
              {Work::at_link, "Else replace its cable or module by one for the higher speed."}});
}

// A member of the bond `port` has the finding, and its rate is no reference for other ports.
bool has_slow_member(const std::map<std::string, BondLinks>& bonds, const Port& port) {
  const BondLinks* links = port.role == PortRole::bond ? find_in(bonds, port.bond) : nullptr;
  return links != nullptr && links->are_unequal;
}

// "400 Gb/s", "200 Gb/s (2X NDR)"
std::string speed_text(double rate, const std::optional<IbWidth>& width) {
  std::string out = rate_text(rate);
  if (width) out += " (" + std::to_string(width->lanes) + "X " + width->speed + ")";
  return out;
}

Finding rate_finding(const View& view, const std::map<std::string, BondLinks>& bonds, const Port& port) {
  const bool for_gpus = serves_gpu(view, port);
  // Equal ports with the same purpose.
  const auto is_like = [&](const Port& other) { return are_twins(port, other) && serves_gpu(view, other) == for_gpus; };
  const std::string show = fill_names("ethtool {netdev}", &port, port.id());
  if (!port.rate)
    return bad(Status::unknown, port.id(), "-", "a link speed",
               "The speed of this active port could not be read: " + why_unread(port, PortPart::rate) + ".", show);
  std::vector<double> rates;  // of the active ports equal to this one, including its own
  const Port* fastest = &port;
  for (const Port& other : view.now.ports) {
    if (!is_active(other) || !other.rate || !is_like(other) || (&other != &port && has_slow_member(bonds, other)))
      continue;
    rates.push_back(*other.rate);
    if (*other.rate > *fastest->rate) fastest = &other;
  }
  const double best = *fastest->rate;
  if (*port.rate >= best) {
    const Port* faster = faster_port_of_card(view, port);
    if (faster == nullptr) return good(port.id(), rate_text(*port.rate), rate_text(best));
    return bad(
        Status::warning, port.id(), rate_text(*port.rate),
        rate_text(*faster->rate) + ", like " + faster->id() + " of the same card",
        "Both ports of the card serve GPUs, and this link is slower. Every collective that uses both runs at the "
        "speed of the slower one.",
        {{Work::at_link,
          "Swap the cables of the two ports, if both lead to the same peer or switch: if the lower rate moves "
          "with the cable, replace it, or its modules, by one for the higher rate. "},
         {Work::ends_jobs, "If neither is at fault, configure the same speed and FEC at the far end (" + show + ")."}});
  }
  // If all ports have the best rate or one lower rate, and at least half of them, two or more, have the lower one,
  // these are two groups by design. More than half of the ports that serve GPUs must have the lower rate: if half of
  // them reach the higher one, the board and its network support it.
  const auto same = std::ranges::count(rates, *port.rate), full = std::ranges::count(rates, best);
  const auto dark = std::ranges::count_if(view.now.ports, [&](const Port& other) {  // may have the higher rate
    return !is_active(other) && is_like(other);
  });
  const auto least = full + dark + (for_gpus ? 1 : 0);
  if (same >= 2 && same >= least && same + full == static_cast<long>(rates.size()))
    return good(port.id(), rate_text(*port.rate) + ", like at least half of the equal ports", rate_text(best));
  Fix fix{{Work::ends_jobs, "Configure the same speed and FEC as on the switch port (" + show + "). "},
          {Work::at_link, "Replace a cable or transceiver that brings up fewer lanes."}};
  std::string meaning = "The link is slower than those of equal ports.";
  // The speed of a lane is negotiated; lanes that do not come up are lost in the cable, a module or a split cage.
  if (const auto& own = port.width, &whole = fastest->width;
      own && whole && own->speed == whole->speed && own->lanes < whole->lanes) {
    meaning = "The link has " + std::to_string(own->lanes) + " of " + std::to_string(whole->lanes) + " lanes.";
    fix = {{Work::at_link, "Reseat the cable at both ends, then replace it or its modules. "},
           {Work::ends_jobs, "If the switch splits this port (a breakout cable), undo the split for it."}};
  }
  if (is_virtual(port)) fix = fix_of_far_link();
  // A mode with one active member has the speed of one.
  const auto &own_bond = port.bonding, &best_bond = fastest->bonding;
  if (own_bond && best_bond && own_bond->mode != best_bond->mode) {
    meaning = port.bond + " has the mode " + own_bond->mode + ", and bonds of equal ports have " + best_bond->mode +
              ": it uses fewer of its links.";
    fix = {"Compare: cat /proc/net/bonding/" + port.bond + " /proc/net/bonding/" + fastest->bond + ". ",
           {Work::ends_jobs, "Give " + port.bond + " the mode " + best_bond->mode +
                                 ", and its switch ports what those of " + fastest->bond +
                                 " have (802.3ad: a port channel with LACP)."}};
  }
  for (const Port& member : view.now.ports)
    if (member.is_member() && member.bond == port.netdev && member.carrier == false)
      fix = "Restore the link of " + member.netdev + ": a bond is as fast as its members that have one.";
  const bool odd_one_out = static_cast<size_t>(full) * 2 > rates.size();
  return bad(odd_one_out ? Status::critical : Status::warning, port.id(), speed_text(*port.rate, port.width),
             speed_text(best, fastest->width) + ", like equal ports",
             meaning + " Every collective runs at the speed of its slowest link.", std::move(fix));
}

// The driver reports no width of the link. Not if equal ports have a rate: then the driver reports it.
bool has_driver_without_rate(const View& view, const Port& port) {
  if (port.rate || !port.has_no_width) return false;
  return std::ranges::none_of(
      view.now.ports, [&](const Port& other) { return is_active(other) && other.rate && are_twins(port, other); });
}

// The reference is the rate of equal ports, not a table of models.
void ask_rate(const View& view, Findings& findings) {
  const auto bonds = bond_links(view.now);
  for (const Port& port : view.now.ports)
    if (auto slow = slow_member_finding(bonds, port)) findings.push_back(std::move(*slow));
    else if (is_own_device(port) && is_active(port) && !misses_speed(view, port) &&
             !has_driver_without_rate(view, port) && !has_slow_member(bonds, port))
      findings.push_back(rate_finding(view, bonds, port));
}

constexpr Rule kRate{
    .id = "rate",
    .group = group::link,
    .title = "A port is slower than equal ports",
    .meaning =
        "Compares ports of the same NIC model in the same position. A slower port has lost lanes or negotiated a lower "
        "speed, and every collective runs at the speed of its slowest link. If the machine has one card of the "
        "model, its ports are compared with each other, if both serve GPUs and neither carries the default route. The "
        "members of a bond are compared with each other. A bond that is slower because of its mode is named as such.",
    .inspect = "ethtool NETDEV; ethtool --show-fec NETDEV; the speed and FEC of the switch port",
    .fix = "Configure the same speed and FEC at both ends. Replace a cable or transceiver that brings up fewer lanes.",
    .ask = ask_rate,
};

}  // namespace

double allowed_error_ratio(const Port& port) {
  constexpr double kFast = 100'000;  // Mb/s
  const bool is_slow = port.speed && *port.speed > 0 && *port.speed <= kFast;
  return is_slow ? 1e-12 : 1e-13;
}

namespace {

using enum Measure;
using S = Signals;

void add_lane(Measured& reading, const View& view, const Port& port) {
  const Port* before = port_before(view, port);
  if (before == nullptr) return;
  const auto bad = bad_lane(*before, port, limit_of(view, kFewEvents), limit_of(view, kLaneShare));
  if (!bad) return;
  reading.evidence += "; " + number_text(std::floor(bad->share * 1000) / 10) + " % of the bit errors are on lane " +
                      std::to_string(bad->lane);
}

constexpr double kRs544 = 2.4e-4, kRs528 = 5e-5, kFireCode = 1e-8;

// The bit error ratio that the port's FEC corrects. RS(544,514), IEEE 802.3 136.1, unless another code is certain:
// RS(528,514), or BASE-R's fire code. That corrects one burst in a
// block of 2112 bits (clause 74): at 1e-8, blocks with two errors leave 2e-13 of the bits wrong.
double correctable_ratio(const Port& port) {
  if (port.fec && port.fec->active == FecCode::baser) return kFireCode;
  return has_lanes_of_25g(port) ? kRs528 : kRs544;
}

void scale_limits(Measured& reading, const View& view, const RuleWindow& rule, double scale) {
  const WindowLimits& limits = limits_of(rule_policy(view), rule);
  if (limits.warning) reading.warning = *limits.warning * scale;
  if (limits.critical) reading.critical = *limits.critical * scale;
}

// Damaged bits per bit that are allowed between a NIC and its module, before FEC (IEEE 802.3 120E.1.1).
constexpr double kChipToModule = 1e-5;

// The place where the errors of a link arise, by the measurements of its module.
enum class Origin : uint8_t { unknown, cable, host };

// Bits that are damaged when they reach the module from the cable were damaged by the fiber, a connector or the far
// end. If few are, the errors arise between the module and the NIC: FEC of the NIC corrects more, or the other
// direction is bad too. A ratio of 0 may be that of a module that does not measure, and is no evidence.
Origin origin_of_errors(const View& view, const Port& port, const Signals& signals) {
  const InputErrors arrived = input_errors(port);
  const double much = limit_of_window(view, "pre_fec_ber") * correctable_ratio(port) / kRs544;
  if (arrived.from_cable.value_or(0) <= 0) return Origin::unknown;
  if (*arrived.from_cable >= much) return Origin::cable;
  if (arrived.from_nic.value_or(0) >= limit_of_window(view, "module_from_nic")) return Origin::host;
  const double bits = 8 * port.rate.value_or(0) * signals.seconds;
  if (bits > 0 && rise(signals.fec_corrected_bits) / bits >= much) return Origin::host;
  return Origin::unknown;
}

// Empty if the module does not measure what arrives.
std::string origin_text(const View& view, const Port& port, const Signals& signals) {
  const InputErrors arrived = input_errors(port);
  std::string out;
  if (arrived.from_cable) out = number_text(*arrived.from_cable) + " of those from the cable";
  if (arrived.from_nic) append_item(out, number_text(*arrived.from_nic) + " of those from the NIC");
  if (out.empty()) return out;
  out.insert(0, "bits that reach the module damaged, before FEC: ");
  switch (origin_of_errors(view, port, signals)) {
    case Origin::cable: return out + ": the errors come over the cable";
    case Origin::host: return out + ": the errors arise between the module and the NIC";
    case Origin::unknown: break;
  }
  return out;
}

void add_origin(Measured& reading, const View& view, const Port& port) {
  const Signals* seen = signals_of_port(view, port);
  if (seen == nullptr || reading.amount <= 0) return;
  if (const std::string text = origin_text(view, port, *seen); !text.empty()) reading.evidence += "; " + text;
}

// A link that trains makes symbol errors, whichever end took it down. If the link did not stay up, only damaged frames
// count, if the port counts them.
std::optional<Measured> read_bit_errors(const View& view, const RuleWindow& rule, const Port& port) {
  const Signals* seen = signals_of_port(view, port);
  if (seen == nullptr) return std::nullopt;
  Signals signals = *seen;
  const Port* before = port_before(view, port);
  const bool stayed_up =
      signals.link_downs.value_or(0) <= 0 && !is_down(port) && (before == nullptr || !is_down(*before));
  if (!stayed_up && signals.crc_errors) signals.symbol_errors = signals.fec_uncorrectable = 0;
  auto reading = sum_counters(rule.sum, port, signals);
  if (!reading) return reading;
  scale_limits(*reading, view, rule, allowed_error_ratio(port) / 1e-13);
  add_lane(*reading, view, port);
  add_origin(*reading, view, port);
  return reading;
}

// "; 7 other links ...": a fault that many links of a host have at once is not that of their cables. Empty: fewer have
// it.
template <class Has>
std::string in_common(const View& view, const Port& port, const std::string& what, Has has) {
  const auto others = std::ranges::count_if(view.now.ports, [&](const Port& other) {
    if (other.id() == port.id() || is_virtual(other) || other.role == PortRole::bond) return false;
    const Signals* seen = signals_of_port(view, other);
    return other.link_layer == port.link_layer && seen != nullptr && has(other, *seen);
  });
  if (static_cast<double>(others + 1) < limit_of(view, kLinksAtOnce)) return {};
  return "; " + counted(static_cast<size_t>(others), "other link") + " " + what;
}

std::optional<Measured> read_link_flap(const View& view, const RuleWindow& rule, const Port& port) {
  auto reading = read_counters(view, rule, port);
  if (reading && reading->amount > 0)
    reading->evidence += in_common(view, port, "at the same time: rather their switch, or this host, than their cables",
                                   [](const Port&, const Signals& seen) { return rise(seen.link_downs) > 0; });
  return reading;
}

std::optional<Measured> read_icrc_errors(const View& view, const RuleWindow& rule, const Port& port) {
  auto reading = read_counters(view, rule, port);
  if (reading) scale_limits(*reading, view, rule, allowed_error_ratio(port) / 1e-13);
  return reading;
}

std::optional<Measured> read_pre_fec_ber(const View& view, const RuleWindow& rule, const Port& port) {
  auto reading = read_counters(view, rule, port);
  if (!reading) return reading;
  if (const double ratio = correctable_ratio(port); ratio < kRs544) {
    scale_limits(*reading, view, rule, ratio / kRs544);
    reading->evidence += "; this FEC corrects up to " + number_text(ratio);
  }
  add_lane(*reading, view, port);
  add_origin(*reading, view, port);
  const double most = limit_of_window(view, rule.key) / kRs544;
  const auto is_as_bad = [&](const Port& other, const Signals& seen) {
    const double bits = 8 * other.rate.value_or(0) * seen.seconds;
    return bits > 0 && rise(seen.fec_corrected_bits) / bits >= most * correctable_ratio(other);
  };
  const Signals* seen = signals_of_port(view, port);
  if (seen != nullptr && is_as_bad(port, *seen))
    reading->evidence += in_common(view, port, "as bad: rather what they share than their cables", is_as_bad);
  return reading;
}

// The finding is that of the worse side, and names the other one if it is bad, too.
std::optional<Measured> read_from_cable(const View& view, const RuleWindow& rule, const Port& port) {
  const InputErrors arrived = input_errors(port);
  if (!arrived.from_cable) return std::nullopt;
  Measured out{port.id(), *arrived.from_cable};
  out.evidence = number_text(*arrived.from_cable) + " of the bits from the cable reach the module damaged";
  if (arrived.from_nic.value_or(0) >= limit_of_window(view, "module_from_nic"))
    out.evidence += ", and " + number_text(*arrived.from_nic) +
                    " of those from the NIC: the contacts, the cage, the NIC or the module, too";
  if (const double corrects = correctable_ratio(port); corrects < kRs544)
    scale_limits(out, view, rule, corrects / kRs544);
  return out;
}

std::optional<Measured> read_from_nic(const View& view, const RuleWindow&, const Port& port) {
  const InputErrors arrived = input_errors(port);
  if (!arrived.from_nic) return std::nullopt;
  Measured out{port.id(), *arrived.from_nic, 0,
               number_text(*arrived.from_nic) + " of the bits from the NIC reach the module damaged"};
  const double much = limit_of_window(view, "module_from_cable") * correctable_ratio(port) / kRs544;
  if (arrived.from_cable.value_or(0) >= much)
    out.evidence += ", and " + number_text(*arrived.from_cable) +
                    " of those from the cable: the fiber, a connector or the far module, too";
  return out;
}

std::optional<Measured> read_fec_words(const View& view, const RuleWindow&, const Port& port) {
  const Signals* seen = signals_of_port(view, port);
  if (seen == nullptr || !seen->fec_words || !seen->fec_words_near_limit || *seen->fec_words <= 0) return std::nullopt;
  Measured out{port.id(), *seen->fec_words_near_limit, *seen->fec_words, "no code word near the limit"};
  if (out.amount > 0)
    out.evidence = number_text(out.amount) + " of " + number_text(out.base) +
                   " code words needed two thirds of the symbols that FEC corrects, or more";
  return out;
}

constexpr FixRow kInfinibandCable{"Read the error counters of both ends: perfquery -x. ",
                                  {Work::at_link, "Clean, reseat or replace the cable, then try another switch port."}};
constexpr FixRow kFiber{
    "Compare the lanes' power at both ends: ethtool -m {netdev}. ",
    {Work::at_link | Work::when_idle, "Clean and reseat the connectors, and replace the cable when no job runs."}};

constexpr Measurement kLinkFlapWindows[]{
    {.window = {"link_flap", count, WindowLimits{3, 5, 12 * kHour, 0, kMinute}, "link downs",
                "gpud: 3 in 12 h; azurehpc drains a node after 5 in a day", "link stays up"},
     .quiet = 1,
     .graced = true,
     .meaning = "The link went down and came back: RoCE stops each time, and connections may break.",
     .remedy = {"Rule out changes of PFC, FEC or DCB, which restart the link",
                {Work::service, ": journalctl -u fabric-agent"},
                ". Check the module and its light: ethtool -m {netdev}. ",
                {Work::at_link,
                 "Clean and reseat the connectors, then replace the cable or the transceivers, then try another switch "
                 "port."}},
     .sum = {{{{"link downs", &S::link_downs}}}},
     .read_port = read_link_flap},
};

constexpr Measurement kLinkErrorsWindows[]{
    {.window = {"bit_errors", ratio, WindowLimits{1e-11, kNever, 20, 0, kMinute},
                "errors after FEC per bit; 10 times as many up to 100 Gb/s", "ours: 100 times what IEEE 802.3 allows",
                "errors below 1e-11 of the bits (1e-10 up to 100 Gb/s)", 10},
     .meaning =
         "Bits arrive damaged, and the packets are sent again. The cause is this link, or a device on the path if "
         "there are CRC errors without uncorrectable FEC words.",
     .remedy = {"Check the module and its light: ethtool -m {netdev}. ",
                {Work::at_link,
                 "Clean, reseat or replace the cable and the transceivers, then try another switch port."}},
     .slow = {{"bit_errors_slow", ratio, WindowLimits{1e-13, kNever, 2 * kHour, 0, 10 * kMinute},
               "errors after FEC per bit; 10 times as many up to 100 Gb/s",
               "IEEE 802.3: 1e-13 above 100 Gb/s (802.3bs), 1e-12 up to it (802.3ba). At 400 Gb/s 1e-13 is "
               "144 an hour (NVSentinel: 120 symbol errors)",
               "errors below 1e-13 of the bits (1e-12 up to 100 Gb/s)", 20}},
     .sum = {.parts = {{{"uncorrectable FEC words", &S::fec_uncorrectable},
                        {"symbol errors", &S::symbol_errors},
                        {"CRC errors", &S::crc_errors}}},
             .per = CounterSum::Per::bit,
             .largest = true},
     .read_port = read_bit_errors},
    // A link discards the frames that it damages by their CRC, before anything reads the ICRC.
    {.window = {"icrc_errors", ratio, WindowLimits{1e-11, kNever, 20, 0, kMinute},
                "RoCE packets with a wrong ICRC per bit; 10 times as many up to 100 Gb/s", "as bit_errors",
                "errors below 1e-11 of the bits (1e-10 up to 100 Gb/s)", 10},
     .meaning = "RoCE packets arrive damaged in intact frames, and are sent again. Not this link damages them, but the "
                "inside of a device: a switch or NIC on the path, or the host that sends them.",
     .remedy = "Find the cause: fabric-agentctl diagnose {netdev}. Compare with the other hosts that report this: look "
               "for parity or ECC errors in the logs of the switches that their paths share; if one sender is common "
               "to all, in that host.",
     .slow = {{"icrc_errors_slow", ratio, WindowLimits{1e-13, kNever, 2 * kHour, 0, 10 * kMinute},
               "RoCE packets with a wrong ICRC per bit; 10 times as many up to 100 Gb/s", "as bit_errors_slow",
               "errors below 1e-13 of the bits (1e-12 up to 100 Gb/s)", 20}},
     .sum = {.parts = {{{"ICRC errors", &S::icrc_errors}}}, .per = CounterSum::Per::bit},
     .read_port = read_icrc_errors},
    {.window = {"link_recoveries", count, WindowLimits{6, kNever, kMinute, 0, kMinute}, "link recoveries",
                "NVSentinel: link_error_recovery more than 5 a minute", "at most 5 a minute"},
     .meaning = "The link retrains repeatedly and carries no data meanwhile.",
     .remedy = kInfinibandCable,
     .slow = {{"link_recoveries_slow", count, WindowLimits{10, kNever, 2 * kHour, 0, 10 * kMinute}, "link recoveries",
               "ibcheckerrs (infiniband-diags): 10", "fewer than 10 in 2 h", 6}},
     .sum = {{{{"link recoveries", &S::link_recoveries}}}}},
    {.window = {"link_integrity", count, WindowLimits{1, kNever, kMinute, 0, kMinute},
                "times the port's threshold of local errors was exceeded",
                "NVSentinel: any local_link_integrity_errors is fatal", "none"},
     .meaning = "The bit errors of this InfiniBand link exceeded the port's own threshold.",
     .remedy = kInfinibandCable,
     .sum = {{{{"link integrity errors", &S::link_integrity_errors}}}}},
};

constexpr Measurement kPreFecBerWindows[]{
    {.window = {"pre_fec_ber", ratio, WindowLimits{kRs544 / 10, kRs544, 20, 10, kMinute},
                "corrected bits per bit; lower for weaker FEC",
                "IEEE 802.3 136.1: RS(544,514) corrects up to 2.4e-4; warning at a tenth of it (ours)",
                "below a tenth of the ratio that FEC corrects (2.4e-4 for lanes of 50 Gb/s and faster)", 100},
     .meaning = "FEC is close to its limit: with a little more heat or dirt, frames are lost.",
     .remedy = kFiber,
     .sum = {.parts = {{{"bits corrected by FEC", &S::fec_corrected_bits}}}, .per = CounterSum::Per::bit},
     .read_port = read_pre_fec_ber},
    {.window = {"fec_margin", ratio, WindowLimits{1e-9, kNever, 10 * kMinute, 0, 10 * kMinute},
                "share of code words in which FEC corrected two thirds of the symbols that it can, or more",
                "ours: random errors at a tenth of the ratio that RS(544,514) corrects leave 1 such word in 1e15",
                "no more than 1 code word in 1e9 near the limit of FEC", 10},
     .meaning = "Errors come in bursts that FEC just corrects: the next longer burst loses frames.",
     .remedy = kFiber,
     .read_port = read_fec_words},
    {.window = {"module_from_cable", level, WindowLimits{kRs544 / 10, kRs544, 0, 10, kMinute},
                "damaged bits per bit, before FEC, from the cable at the module (CMIS VDM); lower for weaker FEC",
                "as pre_fec_ber", "below a tenth of the ratio that FEC corrects"},
     .meaning = "Bits are damaged when they reach the module: the fiber, a connector, or the far module.",
     .remedy = kFiber,
     .read_port = read_from_cable},
    {.window = {"module_from_nic", level, WindowLimits{kChipToModule, kRs544, 0, 10, kMinute},
                "damaged bits per bit, before FEC, from the NIC at the module (CMIS VDM)",
                "IEEE 802.3 120E.1.1: less than 1e-5 between a NIC and its module", "below 1e-5"},
     .meaning = "Bits that this NIC sends are damaged before they leave the module: the contacts, the cage, the NIC or "
                "the module. Only the far end counts these errors.",
     .remedy = {Work::at_link | Work::when_idle,
                "Reseat the module of {netdev} when no job runs. If nothing changes, try it in another cage: the fault "
                "is in the NIC if it stays with the cage, else in the module."},
     .read_port = read_from_nic},
};

constexpr Rule kLinkFlap{
    .id = "link-flap",
    .group = group::counters,
    .title = "The link goes down and up",
    .meaning =
        "Counts how often carrier or the physical link went down within the window (12 hours by default), as counted "
        "by the kernel (carrier_down_count) and the NIC. Each flap stops RoCE for seconds and can end connections. "
        "Flaps while the machine boots or the driver loads do not count; flaps from a change of PFC (mlx5), FEC or "
        "DCB, which restarts the link, do. The finding clears when the window has "
        "passed.",
    .inspect =
        "journalctl -k -g 'Link|carrier'; journalctl -u fabric-agent; ip -s -s link show dev NETDEV; the log of the "
        "switch port",
    .fix =
        "Clean and reseat the connectors, then replace the cable or the transceivers, then use another switch port. "
        "fabric-agentctl ack link-flap acknowledges a known flap.",
    .windows = kLinkFlapWindows,
};
constexpr Rule kLinkErrors{
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
    .windows = kLinkErrorsWindows,
};
constexpr Rule kPreFecBer{
    .id = "pre-fec-ber",
    .group = group::counters,
    .title = "FEC corrects nearly as many bits as it can",
    .meaning =
        "Bits corrected by forward error correction per bit carried. RS(544,514) corrects up to 2.4e-4, RS(528,514) at "
        "25 Gb/s per lane up to 5e-5, BASE-R 1e-8; beyond that frames are lost. A ratio near the limit announces a "
        "failing laser, a dirty connector or an aging cable, and gets worse when warm. If the driver has a histogram "
        "of "
        "code words by corrected symbols (mlx5 since Linux 6.18, bnxt_en since 7.0), code words near the limit are "
        "counted too: they "
        "show bursts of errors, which the ratio of bits hides. A CMIS module with Versatile Diagnostics Monitoring "
        "(VDM) measures the damaged bits that reach it from the cable and from the NIC, which distinguishes the two "
        "sides.",
    .inspect = "ethtool -I --show-fec NETDEV; mlxlink -d ADDRESS -c -e",
    .fix = "Clean and reseat the connectors, then replace the cable while no job runs.",
    .windows = kPreFecBerWindows,
};

// Causes of link errors and of links that go down: cable, switch, or this host.

using enum Symptom;

const Port* port_of_netdev(const View& view, const std::string& netdev) {
  return find_where(view.now.ports, [&](const Port& port) { return port.netdev == netdev; });
}

bool lost_its_link(const View& view, const Port& port) {
  const Signals* seen = signals_of_port(view, port);
  return seen != nullptr && rose(seen->link_downs);
}

bool another_link_was_lost(const PortContext& ctx) {
  return std::ranges::any_of(ctx.view.now.ports, [&](const Port& port) {
    return port.id() != ctx.port.id() && !is_virtual(port) && lost_its_link(ctx.view, port);
  });
}

// The netdev was created again.
bool was_driver_reloaded(const View& view, const Port& port) {
  return view.before != nullptr && std::ranges::any_of(view.before->ports, [&](const Port& before) {
           return is_same_port(before, port) && before.ifindex != port.ifindex;
         });
}

// This host may have taken the links down itself: all of them are on one card, or no other link stayed up. One NIC with
// functions in two sockets (socket direct) is one card.
bool could_be_this_host(const View& view, const std::set<std::string>& lost) {
  std::set<std::string> cards;
  bool other_stayed = false;
  for (const Port& port : view.now.ports) {
    const Nic* nic = nic_at(view.now.topology, port.pci);
    if (lost.contains(port.id())) cards.insert(nic == nullptr ? card_of(port.pci) : card_of(*nic));
    else if (!is_virtual(port) && !is_down(port) && !lost_its_link(view, port)) other_stayed = true;
  }
  return cards.size() < 2 || !other_stayed;
}

MaybeCause switch_restart(const PortContext& ctx) {
  if (ctx.peer == nullptr || !rose(ctx.signals.link_downs)) return std::nullopt;
  std::set<std::string> lost;
  for (const Neighbor& each : ctx.view.now.neighbors.heard) {
    const Port* port = port_of_netdev(ctx.view, each.netdev);
    if (port == nullptr) continue;
    const bool lost_link = lost_its_link(ctx.view, *port), same_switch = each.system() == ctx.peer->system();
    if (lost_link != same_switch) return std::nullopt;
    if (lost_link && was_driver_reloaded(ctx.view, *port)) return std::nullopt;
    if (lost_link) lost.insert(port->id());
  }
  if (lost.size() < 2) return std::nullopt;
  return Cause{!could_be_this_host(ctx.view, lost),
               {std::to_string(lost.size()) + " ports to " + ctx.peer->system() +
                " lost their link in the same window, and no other port did"}};
}

MaybeCause one_lane(const PortContext& ctx) {
  if (ctx.before == nullptr) return std::nullopt;
  const auto bad = bad_lane(*ctx.before, ctx.port, ctx.limit(kFewEvents), ctx.limit(kLaneShare));
  if (!bad || damaged_frames(ctx.signals) <= 0 || came_damaged(ctx.port, ctx.signals)) return std::nullopt;
  // Lanes of a good link differ by as much before FEC: a few damaged frames, which every link has, prove nothing.
  Cause out{damaged_frames(ctx.signals) >= ctx.limit(kFewEvents),
            {percent(bad->share) + " of the bit errors are on lane " + std::to_string(bad->lane)}};
  out.add(error_lines(ctx));
  return out;
}

// Several links of the port's rate count errors, and all of them have errors.
enum class Among : uint8_t { all, twins };
bool all_links_have_errors(const PortContext& ctx, Among among) {
  size_t counting = 0;
  for (const Port& port : ctx.view.now.ports) {
    const Signals* seen = signals_of_port(ctx.view, port);
    if (is_virtual(port) || seen == nullptr || port.rate != ctx.port.rate) continue;
    if (among == Among::twins && !are_twins(port, ctx.port)) continue;
    if (!seen->crc_errors && !seen->symbol_errors && !seen->fec_uncorrectable) continue;
    if (damaged_frames(*seen) < ctx.limit(kFewEvents)) return false;
    ++counting;
  }
  return static_cast<double>(counting) >= ctx.limit(kLinksAtOnce);
}

MaybeCause link_errors(const PortContext& ctx) {
  if (auto result = by_reason(ctx, {"Large number of physical errors"})) return result;
  // Errors per bit: the limit of the rule link-errors, which is for links above 100 Gb/s.
  const double allowed = ctx.limit("bit_errors_slow") * allowed_error_ratio(ctx.port) / 1e-13;
  const Signals& seen = ctx.signals;
  const double count = damaged_frames(seen), few = ctx.limit(kFewEvents);
  const bool is_much = count >= few && count >= allowed * 8 * ctx.port.rate.value_or(0) * ctx.signals.seconds;
  if (count <= 0 && !rose(seen.link_recoveries) && !rose(seen.link_integrity_errors)) return std::nullopt;
  // A few errors may come from someone touching the cable.
  const bool retrains = rise(seen.link_recoveries) >= ctx.limit("link_recoveries") || rose(seen.link_integrity_errors);
  Cause out{is_much || retrains, error_lines(ctx)};
  if (count >= few && !is_much) out.add("within the limit of a good link, " + number_text(allowed) + " of the bits");
  if (is_much && rose(seen.link_downs) && seen.crc_errors == 0.0) {
    const bool others_were_lost = another_link_was_lost(ctx);
    out.is_proven = !others_were_lost && rise(seen.link_downs) >= ctx.limit("link_flap");
    std::string line = "no frame was damaged";
    if (others_were_lost) line += ", and other links went down too";
    out.add(line + ": a link that goes down and up makes symbol errors as well");
  }
  if (came_damaged(ctx.port, seen))
    out.doubt("but FEC corrected every code word: the frames were damaged before this link");
  // Errors on all links at once do not come from one cable. Links of another speed lead to another network. Storage
  // NICs of the same speed may do so too: then all links of NICs like this one count.
  if (all_links_have_errors(ctx, Among::all))
    out.doubt("all links of this host at this speed have errors at the same time: more likely the switch or this host");
  else if (all_links_have_errors(ctx, Among::twins))
    out.doubt(
        "all links of NICs like this one in this host have errors at the same time: more likely the switch or this "
        "host");
  out.add(lines_of({{"receive buffer overruns, which damaged credits cause too", seen.buffer_overruns}}));
  // Packets that did not fit are receive errors too (IBTA 1.4, 16.1.3.5, PortRcvErrors).
  if (rose(seen.buffer_overruns) && count <= rise(seen.crc_errors) && !retrains)
    out.doubt("packets that overran the buffer count as damaged frames, and nothing else was damaged");
  if (!ctx.port.module)
    out.next.emplace_back(
        fill_names("Read the module as root to find the faulty end: ethtool -m {netdev}", &ctx.port, {}));
  return out;
}

MaybeCause flapping_link(const PortContext& ctx) {
  if (rise(ctx.signals.link_downs) < ctx.limit("link_flap") || another_link_was_lost(ctx)) return std::nullopt;
  std::string stayed_up;  // other ports to the same switch
  for (const Neighbor& each : ctx.view.now.neighbors.heard) {
    if (ctx.peer == nullptr || each.system() != ctx.peer->system()) continue;
    const Port* port = port_of_netdev(ctx.view, each.netdev);
    if (port == nullptr || port->id() == ctx.port.id() || is_down(*port)) continue;
    append_item(stayed_up, port->id());
  }
  std::string others = "no other port of this host lost its link";
  if (!stayed_up.empty())
    others = "meanwhile " + stayed_up + " kept the link to " + ctx.peer->system() + ", and " + others;
  return Cause{.is_proven = !stayed_up.empty(),
               .evidence = {plus("link downs", *ctx.signals.link_downs), std::move(others)}};
}

MaybeCause damaged_in_host(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  Cause out;
  if (is_unheard(ctx)) {
    const double from_nic = input_errors(ctx.port).from_nic.value_or(0);
    if (from_nic < ctx.limit("module_from_nic")) return std::nullopt;
    out.is_proven = from_nic >= correctable_ratio(ctx.port);  // else FEC of the far end corrects them
    out.add(loss_lines(ctx));
  } else {
    if (damaged_frames(seen) <= 0 || came_damaged(ctx.port, seen)) return std::nullopt;
    if (origin_of_errors(ctx.view, ctx.port, seen) != Origin::host) return std::nullopt;
    out.is_proven = damaged_frames(seen) >= ctx.limit(kFewEvents);
    out.add(error_lines(ctx));
    if (rose(seen.fec_corrected_bits)) out.add(plus("bits corrected by FEC", *seen.fec_corrected_bits));
  }
  out.add(origin_text(ctx.view, ctx.port, seen));
  return out;
}

// Readings that identify a part come first.
MaybeCause damaged_link(const PortContext& ctx) {
  MaybeCause candidate;
  for (const auto ask : {rx_power_low, one_lane, link_errors, flapping_link}) {
    MaybeCause out = ask(ctx);
    const bool is_proven = out && out->is_proven;
    if (!candidate || is_proven) candidate = std::move(out);
    if (is_proven) break;
  }
  if (const std::string text = origin_text(ctx.view, ctx.port, ctx.signals); candidate && !text.empty())
    candidate->add(text);
  return candidate;
}

}  // namespace

constexpr Rule kSwitchRestart{
    .id = "switch-restart",
    .group = group::diagnosis,
    .title = "The switch at the far end went down for a moment: all links to it were lost together.",
    .meaning =
        "Two or more ports of several NICs to one switch lost their link in the same window, all other ports to it "
        "too, and no port to another switch.",
    .fix = "Check the uptime, log and power of {peer}.",
    .culprit = Culprit::network,
    .status = Status::critical,
    .explains = {link, loss},
    .excludes =
        "All links of this host end on that switch, the ports are of one NIC, or the driver was loaded again: it may "
        "have been this host.",
    .find_cause = switch_restart,
};

constexpr Rule kDamagedInHost{
    .id = "damaged-in-host",
    .group = group::diagnosis,
    .title = "Bits are damaged between the NIC and its module: contacts, cage, NIC, or the module.",
    .meaning =
        "Ten or more damaged frames, although few bits from the cable reach the module damaged (CMIS VDM): less than a "
        "tenth of the ratio that FEC corrects. And FEC of the NIC corrects more than that, or 1e-5 of the bits from "
        "the NIC reach the module damaged. Sent packets that do not arrive, while more bits than FEC corrects reach "
        "the module damaged from the NIC, are this too.",
    .fix =
        {Work::at_link | Work::when_idle,
         "Reseat the module of {netdev} when no job runs, and clean its contacts.\nTry the module in another cage, and "
         "another module in this one: the fault is in the NIC if it stays with the cage, else in the module."},
    .limits = {&kFewEvents},
    .culprit = Culprit::host,
    .status = Status::critical,
    .explains = {link, loss},
    .excludes =
        "A module that does not measure what arrives from the cable, or measures 0; frames that were damaged before "
        "this link; a link that is down.",
    .find_cause = damaged_in_host,
};

constexpr Rule kDamagedLink{
    .id = "damaged-link",
    .group = group::diagnosis,
    .title = "The link damages bits or flaps: fiber, connector, cable, or one of the two modules.",
    .meaning =
        "Link errors, and one of: rx power below the module's own limits on some lanes; ten damaged frames, and 90 % "
        "of the FEC errors on one lane; ten or more symbol errors, CRC errors or uncorrectable code words, more than "
        "IEEE 802.3 allows (1e-13 of the bits, 1e-12 up to 100 Gb/s); six link recoveries; a link that went down "
        "three times while another link to the same switch stayed up.",
    .fix = {{Work::at_link,
             "Clean and reseat cable and modules of {netdev} at both ends.\nCompare the lanes' power at both ends: "
             "ethtool "
             "-m {netdev}, and the tx power of the same lane at {peer}: if it is low, replace that module, else the "
             "cable.\n"},
            {Work::at_link | Work::in_machine, "If the errors stay, try another port of {peer}, then another NIC."}},
    .limits = {&kFewEvents, &kLinksAtOnce, &kLaneShare},
    .culprit = Culprit::cable,
    .status = Status::critical,
    .explains = {link, loss, overrun},
    .excludes =
        "Errors on three or more links at once (the switch or this host), only CRC errors although FEC corrected "
        "every code word (they were damaged before this link), only receive errors while a buffer overran "
        "(InfiniBand), "
        "low rx power without errors.",
    .find_cause = damaged_link,
};

constexpr Rule kTable[]{kRate, kLinkFlap, kLinkErrors, kPreFecBer, kSwitchRestart, kDamagedInHost, kDamagedLink};
const std::span<const Rule> kLinkRules = kTable;

}  // namespace fabric
