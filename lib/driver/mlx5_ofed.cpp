// SPDX-License-Identifier: Apache-2.0
#include "driver/upstream.h"
#include "driver/vendors.h"

namespace fabric {
namespace {

constexpr std::string_view kNames[] = {"mlx5_core"};

bool has_ecn_files(const Root& root, const std::string& netdev) {
  return root.exists("sys/class/net/" + netdev + "/ecn");
}

constexpr KeyOp kOps[] = {
    {"dcbx", {upstream::write_dcbx}},
    {"pause", {upstream::write_pause}},
    {"mtu", {upstream::write_mtu, true}},
    {"ets", {upstream::write_ets, true}},
    {"pfc", {upstream::write_pfc, true}},
};

}  // namespace

const Driver kMlx5Ofed{
    .name = "mlx5_ofed",
    .kernel_names = kNames,
    .evidence = has_ecn_files,
    .read = upstream::read,
    .expected = upstream::expected,
    .effect = upstream::effect,
    .impossible = upstream::impossible,
    .remedy = upstream::remedy,
    .ops = kOps,
    .order = upstream::kOrder,
    .settle = nullptr,
};

}  // namespace fabric
