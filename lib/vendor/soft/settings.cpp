// SPDX-License-Identifier: Apache-2.0
// Software RDMA (rxe, siw) on a netdev without a PCI driver that we know: there is no hardware queue to set, only the
// netdev's MTU, and global pause where the netdev offers it.
#include "vendor/generic/upstream.h"
#include "vendor/vendors.h"

namespace fabric {
namespace {

constexpr std::string_view kNames[] = {"rxe", "siw"};

std::string remedy(const Setting& setting, const Qos&, const std::string&, int code) {
  if (code != 0) return {};
  const std::string_view key = setting.key;
  if (key == "pause") return "the netdev below software RDMA has no pause";
  if (key == "fw_lldp") return "software RDMA has no firmware";
  if (key == "cc" || key.starts_with("cc_") || key.starts_with("ecn_") || key.starts_with("cnp_") ||
      key.starts_with("rpg_"))
    return "software RDMA has no congestion control: siw has TCP's, rxe none";
  return "software RDMA has no priorities in hardware";
}

constexpr KeyOp kOps[] = {
    {"pause", {upstream::write_pause}},
    {"mtu", {upstream::write_mtu, true}},
};

}  // namespace

const Driver kRxe{
    .name = "rxe",
    .kernel_names = kNames,
    .read = upstream::read,
    .expected = upstream::expected,
    .effect = upstream::effect,
    .impossible = upstream::impossible,
    .remedy = remedy,
    .ops = kOps,
    .order = upstream::kOrder,
    .settle = nullptr,
};

}  // namespace fabric
