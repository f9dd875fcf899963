// SPDX-License-Identifier: Apache-2.0
// Software RDMA (rxe, siw) on a netdev without a PCI driver that we know: there is no hardware queue to set, only the
// netdev's MTU, and global pause where the netdev offers it.
#include "driver/upstream.h"
#include "driver/vendors.h"

namespace fabric {
namespace {

constexpr std::string_view kNames[] = {"rxe", "siw"};

std::string remedy(const Setting&, const Qos&, const std::string&, int code) {
  return code == 0 ? "software RDMA has no priorities in hardware" : std::string();
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
