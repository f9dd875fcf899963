// SPDX-License-Identifier: Apache-2.0
#include "topology/units.h"

#include "model/finding.h"
#include "model/node.h"

namespace fabric {
namespace {

std::string_view board_of(const Nic& nic, std::span<const Port> ports) {
  for (const Port& port : ports)
    if (!port.pci.empty() && card_of(port.pci) == card_of(nic.pci) && !port.board_id.empty()) return port.board_id;
  return {};
}

// A card without ports has the board of its model, if there is one only.
void complete_boards(Units& units) {
  std::map<Model, std::set<std::string_view>> boards;
  const auto plain = [](Model model) {
    model.board = {};
    return model;
  };
  for (const Unit& unit : units)
    if (!unit.model.board.empty()) boards[plain(unit.model)].insert(unit.model.board);
  for (Unit& unit : units)
    if (unit.model.board.empty() && boards[unit.model].size() == 1) unit.model.board = *boards[unit.model].begin();
}

}  // namespace

Units units_of(const Topology& topology, std::span<const Port> ports) {
  Units out;
  std::set<std::pair<uint16_t, uint16_t>> rdma;
  for (const Nic& nic : topology.nics)
    if (carries_rdma(nic) && !nic.virtual_function) rdma.emplace(nic.vendor, nic.device);
  for (size_t i = 0; i < topology.gpus.size(); ++i) {
    const Gpu& gpu = topology.gpus[i];
    out.push_back({gpu, gpu.name, {true, gpu.vendor, gpu.device}, i, true});
  }
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if (nic.virtual_function || !rdma.contains({nic.vendor, nic.device})) continue;
    out.push_back({nic, nic.name, {false, nic.vendor, nic.device, board_of(nic, ports)}, i, carries_rdma(nic)});
  }
  complete_boards(out);
  return out;
}

}  // namespace fabric
