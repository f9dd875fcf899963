// SPDX-License-Identifier: Apache-2.0
// Cornelis Omni-Path. Linux 6.12: drivers/infiniband/hw/hfi1/mad.c.
#include "nic/counter_row.h"

namespace fabric {
namespace {

constexpr CounterOrigin kPmaAnswer{"infiniband/hw/hfi1/mad.c pma_get_opa_port_ectrs(), C_DC_RX_REPLAY",
                                   "a reload of the driver, or a fabric manager"};

constexpr CounterRow kRows[] = {
    raw(CounterSource::pma, "local_link_integrity_errors", kPmaAnswer, CounterClass::none, 64,
        "Link-level retransmissions (C_DC_RX_REPLAY); elsewhere this file counts exceeded error limits."),
};

}  // namespace

const CounterTable kHfi1Counters{.vendor = "Cornelis hfi1", .drivers = {"hfi1"}, .rows = kRows, .exclusive = true};

}  // namespace fabric
