// SPDX-License-Identifier: Apache-2.0
// Simulated NICs behind simulated netlink sockets. They handle every message that our writers send like
// net/dcb/dcbnl.c, net/core/rtnetlink.c and net/ethtool/pause.c of Linux 6.12 do, with the behavior of each vendor's
// driver.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "kernel/netlink/dcbnl.h"
#include "node/node.h"
#include "support/sim_devlink.h"
#include "vm/module/driver_rules.h"

namespace fabric::test {

// mlx5, bnxt, ice: behave like these drivers (each rule is in sim_nic.cpp). nodcb: has no dcbnl at all (ionic). full:
// has every dcbnl operation without restrictions, and an apptrust table. i40e, qede: like these drivers
// (sim_nic_vendors.cpp). mlx4: sim_nic_mlx4.cpp.
enum class Personality { mlx5, bnxt, ice, nodcb, full, i40e, qede, mlx4 };
std::string name_of(Personality personality);  // "mlx5"

// A fault of an operation. The names of the operations are those of the drivers: setets setpfc setapp delapp settrust
// setdcbx setpause setmtu setbuffer setmaxrate setall fwapp (the firmware behind an APP entry of bnxt) fwpfc
// (behind its PFC) fwdcb (the firmware behind every change of ice's ETS, PFC and DSCPs) getets getpfc getpause
// getbuffer getmaxrate.
struct Fault {
  enum Action { refuse, ignore, vanish, vanish_after } action = refuse;
  int code = 0;         // errno for refuse
  int times = -1;       // how often it still applies; -1: always
  unsigned passes = 0;  // calls that succeed first
};

// The state of a simulated NIC for the ethtool family, except pause.
// Operations for SimNic::faults: setprivflag setrings setchannels setfec settunable.
struct SimEthtool {
  // How a driver rounds requested numbers: mlx5 to a power of two, ice and i40e to 32.
  enum class Rounding : uint8_t { none, power_of_two, up_to_32 };
  struct Amount {
    uint32_t now = 0, max = 0;
  };
  std::optional<Amount> ring_rx, ring_tx, channels;  // absent: no such operation
  Rounding rounding = Rounding::none;
  uint32_t ring_min = 1;                 // EINVAL below it
  std::optional<uint8_t> fec;            // configured modes, ETHTOOL_FEC_*
  uint8_t fec_chosen = 0;                // modes listed together with auto, which chooses from them
  bool fec_lists_off = true;             // lists off as a mode; bnxt lists no mode instead
  std::optional<uint8_t> fec_abilities;  // listed instead of the configured modes, which show as the mode in use
  unsigned fec_readings = 0;             // this many readings after a write show the old mode: the link trains
  std::optional<uint8_t> fec_before;
  std::optional<uint16_t> pfc_prevention{};   // milliseconds; absent: no such tunable
  std::map<std::string, bool> private_flags;  // except that of the firmware's LLDP agent
  // FEC's statistics, sent on request (ETHTOOL_FLAG_STATS). The histogram, of Linux 6.18: code words by corrected
  // symbols, 16 bins of bnxt_en, as many of mlx5 as its firmware says. Empty: the NIC has none.
  uint64_t fec_corrected = 0, fec_uncorrectable = 0;
  std::vector<FecBin> fec_histogram{};
  // Why there is no link: ETHTOOL_LINK_EXT_STATE_* and the number of its substate, 0: none. Absent: the driver gives no
  // reason (bnxt_en before Linux 7.0).
  struct DownReason {
    uint8_t state = 0, substate = 0;
  };
  std::optional<DownReason> down_reason{};
};

class SimNic {
 public:
  SimNic(std::string name, int ifindex, Personality personality);

  std::string name;
  int ifindex;
  Personality personality;
  bool present = true;
  bool has_default_route = false;  // the machine's, of IPv4 and the main table
  std::string card;                // Port::card

  uint32_t mtu = 1500, min_mtu = 68, max_mtu = 9978;  // bytes
  bool carrier = true;
  uint32_t carrier_downs = 0;
  Pause pause{true, true};
  bool pause_autoneg =
      false;  // ETHTOOL_A_PAUSE_AUTONEG: bnxt, ice, i40e and qede negotiate pause, and a write restarts the link
  ieee_ets ets{};
  ieee_pfc pfc{};
  std::vector<dcb_app> app;
  std::vector<uint8_t> trust{dcbnl::kSelectorPcp};  // full only
  uint32_t speed = 100'000;                         // Mb/s with a carrier
  uint32_t cell = 128;                              // bytes; mlx5 rounds buffers down to it
  dcbnl_buffer buffer{};                            // mlx5, full
  std::array<bool, 8> lossy{};                      // mlx5: for each buffer; sends no PFC for a lossy buffer
  std::array<uint32_t, 8> room{};  // mlx5: bytes of a lossless buffer for what arrives after pause was sent
  uint32_t last_xoff = 0;          // mlx5: priv->dcbx.xoff
  bool manual_buffers = false;     // mlx5: the host owns the buffers (6.1: it has set one since the driver was loaded)
  bool shows_ownership = true;  // mlx5: false for firmware without PCAM's buffer_ownership: PFC never changes buffers
  bool mtu_sets_thresholds = false;  // mlx5: stable releases of autumn 2025 ("Update and set Xon/Xoff upon MTU set")
  ieee_maxrate maxrate{};            // mlx5, full
  // mlx5: a change of trust closes and opens the channels: NICs that want L2 headers inline (ConnectX-4), and OFED.
  bool reopens_for_trust = false;
  bool truncates_rates = false;  // mlx5: like Linux 5.10 and OFED
  uint8_t dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
  bool firmware_agent = false;          // ice: private flag fw-lldp-agent; bnxt: an NVM option
  bool agent_runs_dcbx = true;          // bnxt: FW_CAP_DCBX_AGENT beside FW_CAP_LLDP_AGENT (bnxt_dcb_init())
  bool ets_known = false;               // bnxt: ETS was set since the driver was loaded; before, zeros are shown
  bool pfc_known = false;               // bnxt: PFC was set since the driver was loaded; before, zeros are shown
  uint8_t traffic_classes = 8;          // bnxt: bp->max_tc
  std::array<uint8_t, 8> tc_to_qidx{};  // bnxt: the queue of each class
  bool dscp_mode = false;
  bool finds_nothing_to_do = false;  // ice: ice_pf_dcb_cfg() compares as equal, so that a deletion is answered by 2
  bool shows_agents_dcb = false;     // i40e: the agent has stopped, `ets` and `pfc` are its, and the NIC has one class
  rule_ice ice{};  // ice: the NIC's settings, which `ets`, `pfc` and `dscp_mode` show, and the driver's copy
  std::map<uint16_t, uint8_t> firmware_dscp;  // bnxt: DSCP -> priority in the NIC's table
  std::optional<ieee_ets> offered_ets;        // qede: set, but not active before set_all()
  std::optional<ieee_pfc> offered_pfc;
  SimEthtool ethtool;
  std::optional<SimDevlink> devlink{};  // absent: the kernel knows no devlink instance of it

  std::map<std::string, Fault> faults;
  unsigned refuse_change = 0;  // EIO for the n-th change from now, from 1
  std::function<void(const std::string& op)> after_change = [](const auto&) {};  // called after each change
  bool message_goes_on = false;  // the change has another behind it in the same message, under the same lock (RTNL)
  std::map<std::string, unsigned> calls;
  std::vector<std::string> log;  // every operation that changes something, in order: "setpfc pfc_en=0x08 delay=30"

  // Loads the driver again: mlx5 loses ETS and cable length, the others lose everything.
  void reload();
  void link_up() { carrier = true; }
  [[nodiscard]] unsigned writes() const { return static_cast<unsigned>(log.size()); }
  [[nodiscard]] const char* kernel_driver() const;
  // mlx5: the room that a lossless buffer needs now, for what arrives after pause was sent.
  [[nodiscard]] uint32_t xoff() const;
  [[nodiscard]] ieee_ets mlx5_shown_ets() const;
  [[nodiscard]] bool has_buffers() const {
    return personality == Personality::mlx5 || personality == Personality::full;
  }
  [[nodiscard]] bool has_rates() const { return has_buffers() || personality == Personality::mlx4; }
  // The Port that a scan would find: "sim<ifindex>", port 1.
  [[nodiscard]] Port port() const;

  // Driver operations. They return a negative errno or the driver's answer.
  int set_ets(const ieee_ets& wanted);
  int set_pfc(const ieee_pfc& wanted);
  int set_app(const dcb_app& entry);
  int del_app(const dcb_app& entry);
  int set_trust(const std::vector<uint8_t>& selectors);
  int set_dcbx(uint8_t mode);  // 0 accepted, 1 refused
  int set_all();               // qede
  int set_pause(const Pause& wanted);
  int set_mtu(uint32_t wanted);
  int set_buffer(const dcbnl_buffer& wanted);
  int set_maxrate(const ieee_maxrate& wanted);
  // Includes the flag of the firmware's LLDP agent: fw-lldp-agent of ice, disable-fw-lldp of i40e.
  [[nodiscard]] std::map<std::string, bool> private_flags() const;
  int set_private_flag(const std::string& flag, bool on);
  int set_rings(uint32_t rx, uint32_t tx);
  int set_channels(uint32_t combined);
  int set_fec(uint8_t modes);
  int set_pfc_prevention(uint16_t milliseconds);

 private:
  void firmware_defaults();
  void flap();
  void reopen();
  [[nodiscard]] bool host_controlled() const;
  bool listed(const dcb_app& entry) const;
  bool listed_dscp(uint16_t dscp) const;
  void unlist(const dcb_app& entry);
  int mlx5_config_buffers(unsigned change, const dcbnl_buffer* wanted);
  int mlx5_set_pfc(const ieee_pfc& wanted);
  int mlx5_set_app(const dcb_app& entry);
  void mlx4_defaults();
  int mlx4_set_dcbx(uint8_t mode);
  int mlx4_set_pfc(uint8_t enabled);
  int mlx4_set_pause(const Pause& wanted);
  static uint64_t mlx4_rate(uint64_t kbit);
  int bnxt_set_pfc(const ieee_pfc& wanted);
  int bnxt_set_app(const dcb_app& entry);
  int bnxt_del_app(const dcb_app& entry);
  int firmware_app();
  int set_agent(bool runs);
  int ice_set_app(const dcb_app& entry);
  int ice_del_app(const dcb_app& entry);
  int ice_set_ets(const ieee_ets& wanted);
  int ice_set_pfc(const ieee_pfc& wanted);
  void ice_load();
  void ice_note_changes();
  void ice_show();
  int ice_commit();
  int ice_firmware();
  [[nodiscard]] unsigned ice_dcbx() const;

  std::vector<dcb_app> ice_app_{};  // `app` after the last request
};

class SimKernel {
 public:
  SimNic& add_nic(const std::string& name, Personality personality);
  SimNic& nic(const std::string& name);
  // Null: there is no NIC of that name now.
  SimNic* find(const std::string& name);
  SimNic* find(int ifindex);
  // Unloads and loads the NIC's driver, which gives it a new ifindex.
  void reload(SimNic& nic);
  // A kernel with simulated sockets, without RDMA and statistics. This object must outlive it.
  Kernel kernel(const std::string& root_directory = "/");
  std::deque<SimNic>& nics() { return nics_; }

 private:
  std::deque<SimNic> nics_;
  int next_ifindex_ = 2;
};

}  // namespace fabric::test
