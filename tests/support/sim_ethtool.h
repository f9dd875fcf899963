// SPDX-License-Identifier: Apache-2.0
// What a simulated NIC keeps for the ethtool family, besides pause.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace fabric::test {

// Operations for SimNic::faults: setprivflag setrings setchannels setfec.
struct SimEthtool {
  // How a driver rounds what it is asked for: mlx5 to a power of two, ice and i40e to 32.
  enum class Rounding : uint8_t { none, power_of_two, up_to_32 };
  struct Amount {
    uint32_t now = 0, max = 0;
  };
  std::optional<Amount> ring_rx, ring_tx, channels;  // absent: no such operation
  Rounding rounding = Rounding::none;
  uint32_t ring_min = 1;                 // less is EINVAL
  std::optional<uint8_t> fec;            // configured modes, ETHTOOL_FEC_*
  std::optional<uint8_t> fec_abilities;  // listed in place of those, which show as what is in use
  unsigned fec_readings = 0;             // after a write show the mode before: the link trains
  std::optional<uint8_t> fec_before;
  std::map<std::string, bool> private_flags;  // besides the firmware's LLDP agent
};

}  // namespace fabric::test
