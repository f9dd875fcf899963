// SPDX-License-Identifier: Apache-2.0
#include "driver/upstream.h"
#include "driver/vendors.h"

namespace fabric {
namespace {

constexpr std::string_view kNames[] = {"qede"};

constexpr KeyOp kOps[] = {
    {"dcbx", {upstream::write_dcbx}},
    {"pause", {upstream::write_pause}},
    {"mtu", {upstream::write_mtu, true}},
    {"ets", {upstream::write_ets, true}},
    {"pfc", {upstream::write_pfc, true}},
};

}  // namespace

const Driver kQede{
    .name = "qede",
    .kernel_names = kNames,
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
