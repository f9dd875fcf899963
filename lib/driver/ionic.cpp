// SPDX-License-Identifier: Apache-2.0
#include "driver/upstream.h"
#include "driver/vendors.h"

namespace fabric {
namespace {

constexpr std::string_view kNames[] = {"ionic"};

constexpr KeyOp kOps[] = {
    {"pause", {upstream::write_pause}},
    {"mtu", {upstream::write_mtu, true}},
};

}  // namespace

const Driver kIonic{
    .name = "ionic",
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
