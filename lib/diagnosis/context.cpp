// SPDX-License-Identifier: Apache-2.0
#include "diagnosis/context.h"

#include <cmath>

#include "checks/cabling/peer.h"
#include "nic/capabilities.h"
#include "nic/counter_catalogue.h"

namespace fabric {

extern const Threshold kFewEvents("few_events", 10, "events in the window: fewer are noise of one connection", "ours",
                                  1, 1e6);
extern const Threshold kPauseShare("pause_share", 0.05, "of the window, if pause time is counted", "ours", 0.001, 1);
extern const Threshold kPauseFramesShare("pause_frames_share", 0.2,
                                         "of the window, if only pause frames are counted (at most)", "ours", 0.001, 1);
extern const Threshold kFaultPause("fault_pause_share", 0.2, "of the window, pause without congestion", "ours", 0.001,
                                   1);
extern const Threshold kStorm("pause_storm_share", 0.8, "of the window, PFC pause sent", "SONiC's PFC watchdog", 0.01,
                              1);
extern const Threshold kBlocked("blocked_share", 0.8, "of the window, paused or without credits",
                                "ours, as with pause sent", 0.01, 1);
extern const Threshold kPcieStall("pcie_stall_share", 0.05, "of the window stalled by PCIe", "ours", 0.001, 1);

namespace {

// One pause frame lasts at most 65535 quanta of 512 bit times (IEEE 802.3 annex 31B, 802.1Qbb).
constexpr double kLongestPauseBits = 65535.0 * 512;

const Neighbor* peer_of(const View& view, const Port& port) {
  if (const Neighbor* with_pfc = first_with(view.now, port, &Neighbor::pfc)) return with_pfc;
  if (const Neighbor* named = switch_of(view.now, view.policy, port)) return named;
  const Neighbor* any = nullptr;  // of a bond's neighbors, one whose PFC differs from the bond's
  for (const Port* member : members_of(view.now, port)) {
    const Neighbor* each = peer_of(view, *member);
    if (any == nullptr || (each != nullptr && each->pfc && each->pfc->enabled != port.qos.pfc)) any = each;
  }
  return any;
}

PauseShare pause_of(const PortContext& ctx, Direction direction) {
  const Signals& seen = ctx.signals;
  const bool rx = direction == Direction::rx;
  PauseShare out{.direction = direction};
  if (seen.seconds <= 0) return out;
  const auto keep_larger = [&](double seconds, int priority, bool measured) {
    const double ratio = std::min(seconds / seen.seconds, 1.0);
    if (ratio > out.ratio && (measured || !out.measured)) out = {direction, ratio, priority, measured};
  };
  const double speed = ctx.port.speed.value_or(0) * 1e6;
  const auto at_most = [&](double frames) { return speed > 0 ? frames * kLongestPauseBits / speed : 0; };
  for (int priority = 0; priority < kPriorities; ++priority) {
    const PrioritySignals& each = seen.priority[static_cast<size_t>(priority)];
    if (const Rise& time = rx ? each.rx_pause_seconds : each.tx_pause_seconds) keep_larger(*time, priority, true);
    else if (!rx || !ctx.port.qos.pfc || ctx.port.qos.pfc->has(priority))  // pause without PFC has no effect
      keep_larger(at_most(rise(rx ? each.rx_pause_frames : each.tx_pause_frames)), priority, false);
  }
  // A few PFC frames do not hide much global pause.
  const Rise& time = rx ? seen.rx_global_pause_seconds : seen.tx_global_pause_seconds;
  const double most = time ? *time : at_most(rise(rx ? seen.rx_global_pause_frames : seen.tx_global_pause_frames));
  const PauseShare global{direction, std::min(most / seen.seconds, 1.0), -1, time.has_value()};
  if (global.ratio > out.ratio && (!out.measured || global.measured || (global.is_much(ctx) && !out.is_much(ctx))))
    out = global;
  return out;
}

}  // namespace

PortContext make_context(const View& view, const Port& port, const Signals& signals) {
  PortContext ctx{.view = view,
                  .port = port,
                  .signals = signals,
                  .peer = peer_of(view, port),
                  .policy = view.policy == nullptr ? nullptr : policy_for(*view.policy, port)};
  if (view.before != nullptr)
    ctx.before = find_where(view.before->ports, [&](const Port& old) { return old.id() == port.id(); });
  if (!port.pci.empty())
    ctx.nic = find_where(view.now.topology.nics, [&](const Nic& nic) { return nic.pci == port.pci; });
  if (ctx.policy != nullptr) ctx.policy_pfc = ctx.policy->want.pfc;
  if (ctx.peer != nullptr && ctx.peer->pfc) ctx.switch_pfc = ctx.peer->pfc->enabled;
  for (const auto& set : {port.qos.pfc, ctx.policy_pfc, ctx.switch_pfc})
    if (set) ctx.lossless = PrioSet{static_cast<uint8_t>(ctx.lossless.value_or(PrioSet{}).bits | set->bits)};
  ctx.sent = pause_of(ctx, Direction::tx);
  ctx.received = pause_of(ctx, Direction::rx);
  ctx.lost = loss_of(port, signals);
  for (size_t priority = 0; priority < kPriorities; ++priority) {
    const double count = rise(signals.priority[priority].discards);
    if (count <= 0 || !ctx.lossless || !ctx.lossless->has(priority)) continue;
    ctx.discarding.bits = static_cast<uint8_t>(ctx.discarding.bits | 1u << priority);
    ctx.lossless_discards += count;
  }
  ctx.symptoms = symptoms_of(ctx);
  return ctx;
}

std::string PortContext::pfc_text() const {
  return (port.qos.pfc ? "PFC of this port: " : "PFC of the policy: ") + to_text(*pfc());
}

std::string PortContext::peer_label() const { return peer == nullptr ? "the switch" : peer_name(*peer); }

PrioSet without_congestion_control(const PortContext& ctx, const std::optional<PrioSet>& point) {
  const auto& own = ctx.port.qos.pfc;
  const uint8_t roce = own && own->bits != 0 ? own->bits : ctx.lossless.value_or(PrioSet{}).bits;
  return PrioSet{static_cast<uint8_t>(point ? roce & ~point->bits : 0)};
}

bool is_down(const Port& port) {
  constexpr unsigned kDown = 1;  // enum ib_port_state (rdma/ib_verbs.h)
  return port.carrier == false || port.state == kDown;
}

double rise(const Rise& value) { return value.value_or(0); }
bool rose(const Rise& value) { return rise(value) > 0; }

std::string plus(std::string_view name, double value) {
  return std::string(name) + " +" + std::to_string(std::llround(value));
}
Lines lines_of(std::initializer_list<std::pair<std::string_view, Rise>> counters) {
  Lines out;
  for (const auto& [name, value] : counters)
    if (rose(value)) out.push_back(plus(name, *value));
  return out;
}
std::string percent(double ratio) { return number_text(std::round(ratio * 1000) / 10) + " %"; }
void append(Lines& to, Lines lines) {
  for (std::string& line : lines) to.push_back(std::move(line));
}

double metric_rise(const PortContext& ctx, const Metric& metric, std::string_view severity) {
  double out = 0;
  if (ctx.before == nullptr) return out;
  const auto add = [&](CounterSource source, std::vector<Counter> PortCounters::*member) {
    for (const Counter& now : ctx.port.counters.*member) {
      const auto match = find_counter(source, now.name, ctx.port.kernel_driver);
      if (!match || match->row->metric != &metric) continue;
      if (!severity.empty() && match->row->label.value != severity) continue;
      for (const Counter& old : ctx.before->counters.*member)
        if (old.name == now.name && now.value > old.value) out += static_cast<double>(now.value - old.value);
    }
  };
  add(CounterSource::hw, &PortCounters::hw);
  add(CounterSource::ethtool, &PortCounters::ethtool);
  return out;
}

bool PauseShare::is_much(const PortContext& ctx) const {
  return ratio >= ctx.limit(measured ? kPauseShare : kPauseFramesShare);
}

std::string PauseShare::text() const {
  const std::string side = direction == Direction::rx ? "received" : "sent";
  return (priority < 0 ? "global pause " + side : "PFC pause " + side + ", priority " + std::to_string(priority)) +
         (measured ? ": " : ": at most ") + percent(ratio) + " of the time";
}

bool is_pfc_storm(const PortContext& ctx) {
  // Then the NIC stops sending pause and discards frames (net/mlx5e: "Expose PFC stall prevention counters", 4.17).
  const bool warning_stops = capabilities_of(ctx.port.kernel_driver).storm_warning_stops_pause;
  if (metric_rise(ctx, metrics::kPauseStorms, "error") > 0) return true;
  if (warning_stops && metric_rise(ctx, metrics::kPauseStorms, "warning") > 0) return true;
  const PauseShare& sent = ctx.sent;
  // A short storm in a long window is over.
  if (rose(ctx.signals.pause_storm_events) && (!sent.measured || sent.is_much(ctx))) return true;
  return sent.measured && sent.ratio >= ctx.limit(kStorm);
}

// A NIC counts a storm when its receive buffers have not moved for a while. A slow host still receives a little.
bool receives_nothing(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  if (rose(seen.pause_storm_events)) return is_pfc_storm(ctx);
  const PauseShare& sent = ctx.sent;
  return sent.measured && sent.ratio >= 0.9 && seen.rx_bytes &&
         *seen.rx_bytes < 0.01 * ctx.port.rate.value_or(0) * seen.seconds;
}

std::optional<double> starved_share(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  const double tick = capabilities_of(ctx.port.kernel_driver).transmit_wait_bytes;
  const double bytes = ctx.port.rate.value_or(0) * seen.seconds;
  if (ctx.port.link_layer != LinkLayer::infiniband || tick == 0 || !seen.transmit_wait || bytes <= 0)
    return std::nullopt;
  return std::min(1.0, *seen.transmit_wait * tick / bytes);
}

bool is_tx_blocked(const PortContext& ctx) {
  const PauseShare& received = ctx.received;
  const Rise sent =
      received.priority < 0 ? Rise() : ctx.signals.priority[static_cast<size_t>(received.priority)].tx_bytes;
  const bool is_other_traffic = sent && *sent < 0.5 * rise(ctx.signals.tx_bytes);  // RDMA uses another priority
  const bool is_paused = (received.measured && received.ratio >= ctx.limit(kBlocked) && !is_other_traffic) ||
                         starved_share(ctx).value_or(0) >= ctx.limit(kBlocked);
  return is_paused && rise(ctx.signals.sequence_naks) < ctx.limit(kFewEvents) && !is_disordered(ctx);
}

bool is_pcie_stalled(const PortContext& ctx) {
  const Signals& seen = ctx.signals;
  return seen.seconds > 0 && rise(seen.pcie_stalled_seconds) >= ctx.limit(kPcieStall) * seen.seconds;
}

Lines pause_lines(const PortContext& ctx) {
  Lines out;
  if (ctx.symptoms.has(Symptom::tx_pause) && ctx.sent.ratio > 0) out.push_back(ctx.sent.text());
  append(out, lines_of({{"PFC storms counted by the NIC", ctx.signals.pause_storm_events}}));
  if (ctx.lossless_discards > 0 && receives_nothing(ctx))
    out.push_back(plus("frames of a lossless priority discarded meanwhile", ctx.lossless_discards));
  if (ctx.symptoms.has(Symptom::loss) && is_pfc_storm(ctx))
    for (const std::string& line : loss_lines(ctx)) out.push_back("packets do not reach this host meanwhile: " + line);
  return out;
}

}  // namespace fabric
