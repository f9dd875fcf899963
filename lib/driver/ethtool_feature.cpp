// SPDX-License-Identifier: Apache-2.0
#include "driver/vendors.h"

namespace fabric {
namespace {

Result<void> write(PortIo& io, const Setting& setting, const Qos&, const Qos&) {
  return error(EOPNOTSUPP, io.netdev + ": " + std::string(setting.key));
}

void read(PortIo&, Qos&) {}

constexpr KeyOp kOps[] = {
    {"ring_rx", {write}},
    {"ring_tx", {write}},
    {"channels", {write}},
    {"fec", {write}},
};

}  // namespace

const Feature kEthtoolFeature{.ops = kOps, .read = read};

}  // namespace fabric
