// SPDX-License-Identifier: Apache-2.0
// Intel: irdma over ice and i40e. Linux 6.12: drivers/infiniband/hw/irdma/verbs.c (and the names of 7.x, some with spaces),
// intel/ice/ice_ethtool.c, intel/i40e/i40e_ethtool.c. Their xoff counters are the frames that pause; xon ones end it.
#include "counter/catalogue.h"
#include "counter/metrics.h"

namespace fabric {
namespace {

using namespace metrics;
constexpr CounterSource hw = CounterSource::hw, ethtool = CounterSource::ethtool;

constexpr CounterRow kRows[] = {
    {hw, "cnpSent", &kCnpSent},
    {hw, "cnpHandled", &kCnpHandled},
    {hw, "cnpIgnored", &kCnpIgnored},
    {hw, "RxECNMrkd", &kEcnMarked},
    {hw, "RxUDP", &kRdmaPackets, kRx},
    {hw, "TxUDP", &kRdmaPackets, kTx},
    {hw, "Rcvd Out of order packets", &kOutOfSequence},
    {hw, "Nak Sequence Error", &kSequenceNaks},
    {hw, "RTO", &kAckTimeouts},
    {hw, "RNR received", &kRnrNaksReceived},
    {hw, "RNR sent", &kRnrNaksSent},
    {hw, "CRC errors", &kIcrcErrors},

    {ethtool, "rx_priority_#_xoff.nic", &kPfcFrames, kRx},
    {ethtool, "tx_priority_#_xoff.nic", &kPfcFrames, kTx},
    {ethtool, "link_xoff_rx.nic", &kGlobalPauseFrames, kRx},
    {ethtool, "link_xoff_tx.nic", &kGlobalPauseFrames, kTx},
    {ethtool, "rx_dropped.nic", &kPhyDiscards, kRx},
    {ethtool, "rx_crc_errors.nic", &kPhyCrcErrors},

    {ethtool, "port.rx_priority_#_xoff_rx", &kPfcFrames, kRx},
    {ethtool, "port.tx_priority_#_xoff_tx", &kPfcFrames, kTx},
    {ethtool, "port.rx_priority_#_xon_2_xoff", &kPfcTransitions, kRx},
    {ethtool, "port.link_xoff_rx", &kGlobalPauseFrames, kRx},
    {ethtool, "port.link_xoff_tx", &kGlobalPauseFrames, kTx},
};

}  // namespace

std::span<const CounterRow> ice_irdma_rows() { return kRows; }

}  // namespace fabric
