// SPDX-License-Identifier: Apache-2.0
// mlx5 RoCE LAG: one RDMA device on a bond, whose member netdevs are physical functions with settings of their own
// (drivers/net/ethernet/mellanox/mlx5/core/lag of Linux 6.12).
#include "base/parse.h"
#include "scan/port.h"

namespace fabric::scanning {
namespace {

std::string function_of(const Root& root, const std::string& netdev) {
  const auto resolved = root.resolve("sys/class/net/" + netdev + "/device");
  const auto place = resolved ? pci::parse_place(*resolved) : std::nullopt;
  return place ? place->folder : std::string();
}

}  // namespace

std::vector<Port> bond_members(Context& context, const Port& bond) {
  std::vector<Port> members;
  if (bond.bond.empty() || bond.virtual_function) return members;
  const Root& root = context.kernel.root;
  const auto names =
      root.read_line("sys/class/net/" + bond.bond + "/bonding/slaves");  // Documentation/networking/bonding.rst
  for (const std::string_view name : words(names ? std::string_view(*names) : std::string_view{})) {
    const std::string folder = function_of(root, std::string(name));
    if (folder.empty() || driver_of(root, folder) != bond.kernel_driver)
      continue;  // a member of another kind carries no RoCE
    Port member = bond;
    member.netdev = name;
    member.pci = folder.substr(folder.rfind('/') + 1);
    member.pci_id = pci_id_of(root, folder);
    member.numa = pci::numa_node(root, folder, context.cpu_nodes);
    member.gids.clear();
    member.counters = {};
    member.unread.clear();
    read_member(context, member);
    members.push_back(std::move(member));
  }
  return members;
}

}  // namespace fabric::scanning
