// SPDX-License-Identifier: Apache-2.0
// A link with errors, or one that goes down: cable, switch, or this host.

#include "checks/cabling/peer.h"
#include "diagnosis/context.h"
#include "health/health.h"
#include "nic/counter_catalogue.h"

namespace fabric {

extern const Threshold kFlaps("link_downs", 3, "link downs in the window", "gpud: 3 times in 12 h", 1, 1e6);
extern const Threshold kLinksAtOnce("links_with_errors", 3, "links with errors at once: not one cable", "ours", 2, 1e4);

namespace {

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
    return port.id() != ctx.port.id() && !port.virtual_function && lost_its_link(ctx.view, port);
  });
}

bool was_driver_reloaded(const View& view, const Port& port) {
  return view.before != nullptr && std::ranges::any_of(view.before->ports, [&](const Port& then) {
           return then.id() == port.id() && then.ifindex != port.ifindex;
         });
}

// This host may have taken the links down itself: all are of one card, or no other link stayed up. One NIC with
// functions in two sockets (socket direct) is one card.
bool could_be_this_host(const View& view, const std::set<std::string>& lost) {
  std::set<std::string> cards;
  bool other_stayed = false;
  for (const Port& port : view.now.ports) {
    const Nic* nic =
        find_where(view.now.topology.nics, [&](const Nic& each) { return each.pci == port.pci && !each.card.empty(); });
    if (lost.contains(port.id())) cards.insert(nic == nullptr ? card_of(port.pci) : nic->card);
    else other_stayed = other_stayed || (!port.virtual_function && !is_down(port) && !lost_its_link(view, port));
  }
  return cards.size() < 2 || !other_stayed;
}

MaybeResult switch_restart(const PortContext& ctx) {
  if (ctx.peer == nullptr || !rose(ctx.signals.link_downs)) return std::nullopt;
  std::set<std::string> lost;
  for (const Neighbor& each : ctx.view.now.neighbors.heard) {
    const Port* port = port_of_netdev(ctx.view, each.netdev);
    if (port == nullptr) continue;
    const bool gone = lost_its_link(ctx.view, *port), same_switch = each.system() == ctx.peer->system();
    if ((gone && was_driver_reloaded(ctx.view, *port)) || gone != same_switch) return std::nullopt;
    if (gone) lost.insert(port->id());
  }
  if (lost.size() < 2) return std::nullopt;
  return RuleResult{!could_be_this_host(ctx.view, lost),
                    {std::to_string(lost.size()) + " ports to " + ctx.peer->system() +
                     " lost their link in the same window, and no other port did"}};
}

MaybeResult one_lane(const PortContext& ctx) {
  const auto bad = ctx.before == nullptr ? std::nullopt : bad_lane(*ctx.before, ctx.port);
  if (!bad || damaged_frames(ctx.signals) <= 0 || came_damaged(ctx.port, ctx.signals)) return std::nullopt;
  // Lanes of a good link differ by as much before FEC: the few frames that any link damages prove nothing.
  RuleResult out{damaged_frames(ctx.signals) >= ctx.limit(kFewEvents),
                 {percent(bad->share) + " of the bit errors are on lane " + std::to_string(bad->lane)}};
  out.add(error_lines(ctx));
  return out;
}
bool all_have_errors(const PortContext& ctx, bool (*is_similar)(const Port& a, const Port& b)) {
  size_t counting = 0;
  for (const Port& port : ctx.view.now.ports) {
    const Signals* seen = signals_of_port(ctx.view, port);
    if (port.virtual_function || seen == nullptr || port.rate != ctx.port.rate || !is_similar(port, ctx.port) ||
        (!seen->crc_errors && !seen->symbol_errors && !seen->fec_uncorrectable))
      continue;
    if (damaged_frames(*seen) < ctx.limit(kFewEvents)) return false;
    ++counting;
  }
  return static_cast<double>(counting) >= ctx.limit(kLinksAtOnce);
}

// Errors on all links at once are not one cable's. Links of another speed lead to another network; so may storage NICs
// of the same speed: then all links of NICs like this one count.
std::string group_with_errors(const PortContext& ctx) {
  if (all_have_errors(ctx, [](const Port&, const Port&) { return true; }))
    return "all links of this host at this speed";
  return all_have_errors(ctx, are_twins) ? "all links of NICs like this one in this host" : "";
}

MaybeResult link_errors(const PortContext& ctx) {
  if (auto result = by_reason(ctx, {"Large number of physical errors"})) return result;
  const double allowed = allowed_error_ratio(ctx.port);  // of the bits; the same limit as the check link-errors
  const Signals& seen = ctx.signals;
  const double count = damaged_frames(seen), few = ctx.limit(kFewEvents);
  const bool is_much = count >= few && count >= allowed * 8 * ctx.port.rate.value_or(0) * ctx.signals.seconds;
  if (count <= 0 && !rose(seen.link_recoveries) && !rose(seen.link_integrity_errors)) return std::nullopt;
  // A few errors may come from a hand at the cable.
  const bool retrains = rise(seen.link_recoveries) >= ctx.limit(kRetrains) || rose(seen.link_integrity_errors);
  RuleResult out{is_much || retrains, error_lines(ctx)};
  if (count >= few && !is_much) out.add("within the limit of a good link, " + number_text(allowed) + " of the bits");
  if (is_much && rose(seen.link_downs) && seen.crc_errors == 0.0) {
    const bool alone = !another_link_was_lost(ctx);
    out.certain = alone && rise(seen.link_downs) >= ctx.limit(kFlaps);
    out.add(std::string("no frame was damaged") + (alone ? "" : ", and other links went down too") +
            ": a link that goes down and up makes symbol errors as well");
  }
  if (came_damaged(ctx.port, seen))
    out.doubt("but FEC corrected every code word: the frames were damaged before this link");
  if (const std::string all = group_with_errors(ctx); !all.empty())
    out.doubt(all + " have errors at the same time: more likely the switch or this host");
  out.add(lines_of({{"receive buffer overruns, which damaged credits cause too", seen.buffer_overruns}}));
  // Packets that did not fit are receive errors too (IBTA 1.4, 16.1.3.5, PortRcvErrors).
  if (rose(seen.buffer_overruns) && count <= rise(seen.crc_errors) && !retrains)
    out.doubt("packets that overran the buffer count as damaged frames, and nothing else was damaged");
  if (!ctx.port.module)
    out.next.push_back("Read the module as root to find the faulty end: ethtool -m " + ctx.port.netdev);
  return out;
}

MaybeResult flapping_link(const PortContext& ctx) {
  if (rise(ctx.signals.link_downs) < ctx.limit(kFlaps) || another_link_was_lost(ctx)) return std::nullopt;
  std::string stayed;
  for (const Neighbor& each : ctx.view.now.neighbors.heard) {
    const Port* port = port_of_netdev(ctx.view, each.netdev);
    if (port == nullptr || port->id() == ctx.port.id() || ctx.peer == nullptr || each.system() != ctx.peer->system() ||
        is_down(*port))
      continue;
    append_item(stayed, port->id());
  }
  return RuleResult{
      .certain = !stayed.empty(),
      .evidence = {
          plus("link downs", *ctx.signals.link_downs),
          (stayed.empty() ? "" : "meanwhile " + stayed + " kept the link to " + ctx.peer->system() + ", and ") +
              "no other port of this host lost its link"}};
}
// The reading that identifies a part comes first.
MaybeResult damaged_link(const PortContext& ctx) {
  MaybeResult candidate;
  for (const auto ask : {rx_power_low, one_lane, link_errors, flapping_link}) {
    MaybeResult out = ask(ctx);
    if (out && out->certain) return out;
    if (!candidate) candidate = std::move(out);
  }
  return candidate;
}

}  // namespace

extern const Rule kSwitchRestart{
    .id = "switch-restart",
    .culprit = Culprit::network,
    .status = Status::critical,
    .confidence = 0.94,
    .explains = {link, loss},
    .conclusion = "The switch at the far end went down for a moment: all links to it were lost together.",
    .next = "Check the uptime, log and power of {peer}.",
    .signature =
        "Two or more ports of several NICs to one switch lost their link in the same window, all other ports to it "
        "too, and no port to another switch.",
    .excludes =
        "All links of this host end on that switch, the ports are of one NIC, or the driver was loaded again: it may "
        "have been this host.",
    .evaluate = switch_restart,
};

extern const Rule kDamagedLink{
    .id = "damaged-link",
    .culprit = Culprit::cable,
    .status = Status::critical,
    .confidence = 0.99,
    .explains = {link, loss, overrun},
    .conclusion = "The link damages bits or flaps: fiber, connector, cable, or one of the two modules.",
    .next =
        "Clean and reseat cable and modules of {netdev} at both ends.\nCompare the lanes' power at both ends: ethtool "
        "-m {netdev}, and the tx power of the same lane at {peer}: if it is low, replace that module, else the "
        "cable.\nIf the errors stay, try another port of {peer}, then another NIC.",
    .signature =
        "Link errors, and one of: rx power below the module's own limits on some lanes; ten damaged frames, and 90 % "
        "of the FEC errors on one lane; ten or more symbol errors, CRC errors or uncorrectable code words, more than "
        "IEEE 802.3 allows (1e-13 of the bits, 1e-12 up to 100 Gb/s); six link recoveries; a link that went down "
        "three times while another link to the same switch stayed up.",
    .excludes =
        "Errors on three or more links at once (the switch or this host), CRC errors alone where FEC corrected every "
        "code word (they were damaged before this link), receive errors alone where a buffer overran (InfiniBand), low "
        "rx power without errors.",
    .thresholds = {&kFewEvents, &kRetrains, &kFlaps, &kLinksAtOnce},
    .evaluate = damaged_link,
};

}  // namespace fabric
