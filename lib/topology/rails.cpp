// SPDX-License-Identifier: Apache-2.0
#include "topology/rails.h"

#include <algorithm>

namespace fabric {

std::map<std::string, Rail> rails_of(const Topology& topology, std::span<const Port> ports) {
  Topology whole;
  const Pairing pairing = whole_pairing(topology, ports, whole);
  std::vector<std::vector<size_t>> rails;  // of NICs
  const bool shared = std::ranges::any_of(pairing.pairs, [](const Pair& pair) { return pair.shared_by > 1; });
  std::set<size_t> known;
  for (const Pair& pair : pairing.pairs) {
    std::vector<size_t> own;
    std::ranges::copy_if(pair.nics, std::back_inserter(own), [&](size_t nic) { return known.insert(nic).second; });
    if (!own.empty() || !shared) rails.push_back(std::move(own));
  }
  if (topology.gpus.empty()) {
    std::map<std::string, size_t> cards;
    for (const size_t nic : compute_nics(topology, ports)) {
      const Nic& each = topology.nics[nic];
      const auto [card, is_new] = cards.emplace(each.card.empty() ? each.pci : each.card, rails.size());
      if (is_new) rails.emplace_back();
      rails[card->second].push_back(nic);
    }
  }
  std::map<std::string, Rail> out;
  for (size_t rail = 0; rail < rails.size(); ++rail)
    for (size_t plane = 0; plane < rails[rail].size(); ++plane)
      out[whole.nics[rails[rail][plane]].pci] = {rail, rails[rail].size() > 1 ? std::optional(plane) : std::nullopt};
  return out;
}

}  // namespace fabric
