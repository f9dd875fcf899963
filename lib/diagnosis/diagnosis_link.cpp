// SPDX-License-Identifier: Apache-2.0
// Rules about the wire: cable, module, and who let the link go.
#include <algorithm>
#include <set>

#include "checks/cabling/peer.h"
#include "diagnosis/diagnosis_case.h"
#include "model/finding.h"
#include "model/switched_off.h"

namespace fabric::judges {
namespace {

constexpr unsigned kDisabled = 3;  // enum ib_port_phys_state (rdma/ib_verbs.h)

bool down_or_errors(const Case& one) { return one.symptoms.has(Symptom::link); }

double damaged(const Signals& seen) {
  return rise(seen.fec_uncorrectable) + rise(seen.symbol_errors) + rise(seen.crc_errors);
}

// Of devlink's health reporters, one of the card. Others are of the netdev's queues ("tx", "rx", "tx_hang"), which
// stand still for pause or a missing link as well, or of virtual functions ("mdd", "vnic").
bool is_of_the_card(std::string_view reporter) { return reporter.starts_with("fw") || reporter.starts_with("hw"); }

// The firmware stopped or was reset, which is more than an error that it told: nothing recovers from those of mlx5's
// and ice's "fw", which are never healthy again (mlx5/core/health.c, Linux 6.12; intel/ice/devlink/health.c, 6.15), and
// bnxt's "hw" are of its NVM.
bool is_stop(const HealthReporter& then, const HealthReporter& now) {
  return (now.name.starts_with("fw") && now.recoveries > then.recoveries) || (now.name == "fw_fatal" && !now.healthy);
}

// The reason that the NIC gives while the link is down, "Autoneg: No partner detected".
std::string reason(const Case& one) {
  if (!is_down(one.port) || !one.port.link_status) return {};
  const LinkStatus& status = *one.port.link_status;
  return status.detail.empty() ? status.reason : status.reason + ": " + status.detail;
}

Judgement by_reason(const Case& one, std::initializer_list<std::string_view> texts, double confidence) {
  const std::string text = reason(one);
  if (std::none_of(texts.begin(), texts.end(),
                   [&](std::string_view each) { return !text.empty() && text.find(each) != std::string::npos; }))
    return std::nullopt;
  return Verdict{confidence, {"the NIC says why the link is down: " + text}};
}

const Port* twin_on(const View& view, const std::string& netdev) {
  for (const Port& port : view.now.ports)
    if (port.netdev == netdev) return &port;
  return nullptr;
}

bool lost_its_link(const View& view, const Port& port) {
  const auto found = view.signals->find(port.id());
  return found != view.signals->end() && rose(found->second.link_downs);
}

}  // namespace
}  // namespace fabric::judges

namespace fabric {

std::vector<std::string> error_lines(const Case& one) {
  const Signals& seen = one.signals;
  std::vector<std::string> out;
  const auto tell = [&](std::string_view name, const Rise& value) {
    if (rose(value)) out.push_back(plus(name, *value));
  };
  tell("FEC code words beyond correction", seen.fec_uncorrectable);
  tell("symbol errors", seen.symbol_errors);
  tell("frames with a wrong CRC", seen.crc_errors);
  tell("times the port passed its limit of local errors", seen.link_integrity_errors);
  tell("link recoveries", seen.link_recoveries);
  tell("link downs", seen.link_downs);
  if (is_down(one.port)) out.push_back("the link is down now");
  return out;
}

}  // namespace fabric

namespace fabric::judges {

Judgement admin_down(const Case& one) {
  if (!is_down(one.port)) return std::nullopt;
  if (one.port.link_status && one.port.link_status->reason == kSwitchedOff)
    return Verdict{0.95, {"the netdev is administratively down"}};
  if (one.port.link_layer != LinkLayer::infiniband || one.port.phys_state != kDisabled) return std::nullopt;
  return Verdict{0.9, {"the physical state is Disabled: the port was switched off on this host"}};
}

Judgement device_reset(const Case& one) {
  if (one.before == nullptr) return std::nullopt;
  Verdict out;
  bool stopped = false;
  for (const HealthReporter& now : one.port.reporters)
    for (const HealthReporter& then : one.before->reporters)
      if (is_of_the_card(now.name) && now.name == then.name &&
          (now.errors > then.errors || now.recoveries > then.recoveries || (then.healthy && !now.healthy))) {
        stopped = stopped || is_stop(then, now);
        out.evidence.push_back("health reporter " + now.name + ": errors +" +
                               std::to_string(now.errors - std::min(now.errors, then.errors)) + ", recoveries +" +
                               std::to_string(now.recoveries - std::min(now.recoveries, then.recoveries)) +
                               (now.healthy ? "" : ", not healthy now"));
      }
  // It takes the link, and damages nothing on one that stays.
  const bool link_went = is_down(one.port) || rose(one.signals.link_downs);
  if (out.evidence.empty() || (down_or_errors(one) ? !link_went : !stopped)) return std::nullopt;
  for (std::string& line : error_lines(one)) out.evidence.push_back(std::move(line));
  out.confidence = 0.85;
  return out;
}

Judgement no_cable(const Case& one) { return by_reason(one, {"No cable"}, 0.9); }

Judgement module_unusable(const Case& one) {
  if (auto said = by_reason(
          one, {"Cable issue", "EEPROM issue", "Calibration failure", "Power budget exceeded", "Overheat", "Module"},
          0.85))
    return said;
  if (!is_down(one.port) || !one.port.module || !is_asleep(*one.port.module)) return std::nullopt;
  // Modules are read once a minute: one that had a link then is awake, whatever was read of it while it started.
  if (one.before != nullptr && !is_down(*one.before) && one.before->module && is_asleep(*one.before->module))
    return std::nullopt;
  return Verdict{0.7,
                 {"the NIC has not woken the module, whose lasers are off: its state is " +
                  std::string(to_text(*one.port.module->state))}};
}

Judgement far_end_silent(const Case& one) {
  return by_reason(one,
                   {"No partner detected", "Ack not received", "Remote side is not ready yet",
                    "Link partner did not set receiver ready"},
                   0.6);
}

Judgement link_mode(const Case& one) {
  return by_reason(one, {"FEC mismatch during override", "No HCD", "FEC is not locked", "Unsupported rate"}, 0.65);
}

bool is_same_netdev(const View& view, const Port& port) {
  if (view.before == nullptr) return true;
  for (const Port& then : view.before->ports)
    if (then.id() == port.id()) return then.ifindex == port.ifindex;
  return true;
}

// The card of a port, also where it has functions in two sockets: both lose one cable.
std::string whole_card(const View& view, const Port& port) {
  for (const Nic& nic : view.now.topology.nics)
    if (nic.pci == port.pci && !nic.card.empty()) return nic.card;
  return card_of(port.pci);
}

// Links that this host may have taken down itself: those of one card, or all that it has.
bool could_be_this_host(const View& view, const std::set<std::string>& lost) {
  std::set<std::string> cards;
  bool other_held = false;
  for (const Port& port : view.now.ports)
    if (lost.contains(port.id())) cards.insert(whole_card(view, port));
    else other_held = other_held || (!port.virtual_function && !is_down(port) && !lost_its_link(view, port));
  return cards.size() < 2 || !other_held;
}

// All our links to one switch went at once, and links elsewhere did not.
Judgement switch_restart(const Case& one) {
  if (one.peer == nullptr || !rose(one.signals.link_downs)) return std::nullopt;
  std::set<std::string> lost, kept, elsewhere;
  for (const Neighbor& each : one.view.now.neighbors.heard) {
    const Port* port = twin_on(one.view, each.netdev);
    if (port == nullptr) continue;
    const bool gone = lost_its_link(one.view, *port);
    if (gone && !is_same_netdev(one.view, *port)) return std::nullopt;  // its driver was loaded anew
    if (each.system() != one.peer->system()) {
      if (gone) elsewhere.insert(port->id());
    } else {
      (gone ? lost : kept).insert(port->id());
    }
  }
  if (lost.size() < 2 || !kept.empty() || !elsewhere.empty()) return std::nullopt;
  return Verdict{could_be_this_host(one.view, lost) ? 0.45 : 0.85,
                 {std::to_string(lost.size()) + " ports to " + one.peer->system() +
                  " lost their link in the same window, and no other port did"}};
}

// One lane carries nearly all errors that FEC saw.
Judgement bad_lane(const Case& one) {
  if (one.before == nullptr || !one.before->fec || !one.port.fec || !rose(one.signals.fec_uncorrectable))
    return std::nullopt;
  for (const auto member :
       {&FecStatus::uncorrectable_blocks, &FecStatus::corrected_bits, &FecStatus::corrected_blocks}) {
    const auto &now = (*one.port.fec.*member).lanes, &then = (*one.before->fec.*member).lanes;
    if (now.size() < 2 || now.size() != then.size()) continue;
    double sum = 0, most = 0;
    size_t worst = 0;
    for (size_t lane = 0; lane < now.size(); ++lane) {
      const double by = now[lane] > then[lane] ? static_cast<double>(now[lane] - then[lane]) : 0;
      sum += by;
      if (by > most) most = by, worst = lane;
    }
    if (most < 10 || most < 0.9 * sum) continue;
    Verdict out{
        0.75,
        {percent(most / sum) + " of what FEC corrected or could not correct came on lane " + std::to_string(worst)}};
    for (std::string& line : error_lines(one)) out.evidence.push_back(std::move(line));
    return out;
  }
  return std::nullopt;
}

bool all_suffer(const Case& one, bool (*is_like)(const Port& a, const Port& b)) {
  size_t counting = 0;
  for (const Port& port : one.view.now.ports) {
    const auto found = one.view.signals->find(port.id());
    if (port.virtual_function || found == one.view.signals->end() || port.rate != one.port.rate ||
        !is_like(port, one.port))
      continue;
    const Signals& seen = found->second;
    if (!seen.crc_errors && !seen.symbol_errors && !seen.fec_uncorrectable) continue;
    if (damaged(seen) < 10) return false;
    ++counting;
  }
  return counting >= 3;
}

// All links of this speed that count their errors have them, three or more: no cable alone does that. Those of another
// speed lead to another network, and so may those of storage that are as fast: then all links of cards like this one.
std::string all_that_suffer(const Case& one) {
  if (all_suffer(one, [](const Port&, const Port&) { return true; })) return "all links of this host with this speed";
  return all_suffer(one, are_twins) ? "all links of this host's cards like this one" : "";
}

// Good links have a few in an hour: IEEE 802.3 promises 1e-13 of the bits, and the check link-errors says the same.
bool are_many(const Case& one, double errors) {
  return errors >= 10 && errors >= 1e-13 * 8 * one.port.rate.value_or(0) * one.signals.seconds;
}

Judgement link_errors(const Case& one) {
  const double count = damaged(one.signals);
  const bool many = are_many(one, count);
  if (auto said = by_reason(one, {"Large number of physical errors"}, 0.65)) return said;
  const Signals& seen = one.signals;
  if (count <= 0 && !rose(seen.link_recoveries) && !rose(seen.link_integrity_errors)) return std::nullopt;
  // A handful is one event, which may be a hand at the cable as well. NVSentinel: any time that local errors passed
  // their threshold.
  const bool retrains = rise(seen.link_recoveries) >= kRetrains || rose(seen.link_integrity_errors);
  Verdict out{many ? 0.65 : retrains ? 0.55 : 0.4, error_lines(one)};
  if (count >= 10 && !many) out.evidence.emplace_back("no more than a good link may have in so long a window");
  if (many && rose(seen.link_downs) && seen.crc_errors == 0.0) {
    const auto& ports = one.view.now.ports;
    const bool alone = std::none_of(ports.begin(), ports.end(), [&](const Port& port) {
      return port.id() != one.port.id() && !port.virtual_function && lost_its_link(one.view, port);
    });
    out.confidence = alone ? 0.5 : 0.4;
    out.evidence.emplace_back(
        alone ? "no frame was damaged: a link that goes and comes makes symbol errors as well"
              : "no frame was damaged, and other links went as well: a link that goes and comes makes symbol errors");
  }
  if (const std::string all = all_that_suffer(one); !all.empty()) {
    out.confidence = 0.4;
    out.evidence.push_back(all + " have errors at once: rather the switch, or this host");
  }
  if (rose(one.signals.buffer_overruns))
    out.evidence.push_back(
        plus("receive buffer overruns, which damaged credits cause as well", *one.signals.buffer_overruns));
  // Packets that did not fit are receive errors themselves (IBTA 1.4, 16.1.3.5, PortRcvErrors).
  if (rose(seen.buffer_overruns) && damaged(seen) <= rise(seen.crc_errors) && !retrains) {
    out.confidence = 0.4;
    out.evidence.emplace_back(
        "what the buffer could not take is counted among the damaged frames, and nothing else was damaged");
  }
  if (!one.port.module)
    out.next.push_back("Read the module as root, to learn which end: ethtool -m " + one.port.netdev);
  return out;
}

// It goes again and again, while another link to the same switch holds and no other port of this host lost one: neither
// the switch as a whole nor this host.
Judgement flapping_link(const Case& one) {
  constexpr double kFlaps = 3;  // gpud: three times
  if (one.peer == nullptr || rise(one.signals.link_downs) < kFlaps) return std::nullopt;
  for (const Port& port : one.view.now.ports)
    if (port.id() != one.port.id() && !port.virtual_function && lost_its_link(one.view, port)) return std::nullopt;
  std::string held;
  for (const Neighbor& each : one.view.now.neighbors.heard) {
    const Port* port = twin_on(one.view, each.netdev);
    if (port == nullptr || port->id() == one.port.id() || each.system() != one.peer->system() || is_down(*port))
      continue;
    held += (held.empty() ? "" : ", ") + port->id();
  }
  if (held.empty()) return std::nullopt;
  return Verdict{
      0.55,
      {plus("link downs", *one.signals.link_downs), "meanwhile " + held + " kept the link to " + one.peer->system() +
                                                        ", and no other port of this host lost its own"}};
}

}  // namespace fabric::judges
