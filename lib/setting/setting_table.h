// SPDX-License-Identifier: Apache-2.0
// The settings of a port: their values, and one row for each.
#pragma once

#include <bitset>
#include <functional>
#include <variant>

#include "base/status.h"
#include "setting/value.h"

namespace fabric {

// An absent value is not wanted (in a policy), or not offered by the port (in a reading). It never means zero.
// Members are in the order of kSettings, and each has a row there (tests/unit/enforce/setting_test.cpp).
struct Qos {
  std::optional<Dcbx> dcbx;
  std::optional<bool> fw_lldp;  // the firmware's own LLDP agent
  std::optional<Pause> pause;
  std::optional<uint32_t> mtu;               // bytes, netdev MTU
  std::optional<uint32_t> ring_rx, ring_tx;  // descriptors
  std::optional<uint32_t> channels;          // combined
  std::optional<Fec> fec;
  std::optional<Trust> trust;
  std::optional<AppTrust> apptrust;
  std::optional<DscpMap> dscp_map;
  std::optional<Ets> ets;
  std::optional<Eight> prio2buffer;
  std::optional<Buffers> buffer_size;
  std::optional<PrioSet> pfc;
  std::optional<uint32_t> pfc_watchdog;  // milliseconds; 0: off
  std::optional<uint32_t> cable_length;  // meters
  std::optional<Rates> maxrate;
  // Congestion control. Names and units of the DCQCN parameters are those of the vendors (OFED's sysfs, NVIDIA "DCQCN
  // CC Parameters"; bnxt_re's debugfs).
  std::optional<PrioSet> ecn_rp, ecn_np;
  std::optional<uint32_t> cnp_dscp;
  std::optional<OrNone> cnp_prio;  // none: the NIC chooses
  std::optional<uint32_t> min_time_between_cnps, clamp_tgt_rate, clamp_tgt_rate_after_time_inc;
  std::optional<uint32_t> rpg_time_reset, rpg_byte_reset, rpg_threshold;
  std::optional<uint32_t> rpg_max_rate, rpg_ai_rate, rpg_hai_rate;
  std::optional<uint32_t> rpg_gd, rpg_min_dec_fac, rpg_min_rate;
  std::optional<uint32_t> rate_to_set_on_first_cnp, dce_tcp_g, dce_tcp_rtt;
  std::optional<uint32_t> rate_reduce_monitor_period, initial_alpha_value;
  std::optional<OrNone> rtt_resp_dscp;  // none: the NIC chooses
  std::optional<bool> cc;
  std::optional<uint32_t> cc_mode, cc_g, cc_phases, cc_init_cr, cc_init_tr;
  std::optional<uint32_t> cc_rtt, cc_tcp_cp, cc_inactivity_cp, roce_dscp, roce_prio;
  // Defaults for connections and queue pairs.
  std::optional<RoceMode> roce_mode;
  std::optional<uint32_t> roce_tos;
  std::optional<OrNone> traffic_class;  // none: each queue pair keeps its own
  std::optional<Names> optional_counters;
  std::optional<uint32_t> mrrs;  // bytes
  bool operator==(const Qos&) const = default;
};

// The rows of kSettings, in their order.
enum class SettingId : uint8_t {
  dcbx,
  fw_lldp,
  pause,
  mtu,
  ring_rx,
  ring_tx,
  channels,
  fec,
  trust,
  apptrust,
  dscp_map,
  ets,
  prio2buffer,
  buffer_size,
  pfc,
  pfc_watchdog,
  cable_length,
  maxrate,
  ecn_rp,
  ecn_np,
  cnp_dscp,
  cnp_prio,
  min_time_between_cnps,
  clamp_tgt_rate,
  clamp_tgt_rate_after_time_inc,
  rpg_time_reset,
  rpg_byte_reset,
  rpg_threshold,
  rpg_max_rate,
  rpg_ai_rate,
  rpg_hai_rate,
  rpg_gd,
  rpg_min_dec_fac,
  rpg_min_rate,
  rate_to_set_on_first_cnp,
  dce_tcp_g,
  dce_tcp_rtt,
  rate_reduce_monitor_period,
  initial_alpha_value,
  rtt_resp_dscp,
  cc,
  cc_mode,
  cc_g,
  cc_phases,
  cc_init_cr,
  cc_init_tr,
  cc_rtt,
  cc_tcp_cp,
  cc_inactivity_cp,
  roce_dscp,
  roce_prio,
  roce_mode,
  roce_tos,
  traffic_class,
  optional_counters,
  mrrs
};
constexpr size_t index(SettingId id) { return static_cast<size_t>(id); }

// The subject of a setting. Code that reads, writes or explains several settings asks for the group, never for a list.
enum class SettingGroup : uint8_t {
  dcb,         // how the port classifies, queues and pauses (dcbnl)
  netdev,      // the netdev and its link: MTU, pause, rings, channels, FEC, the firmware's LLDP agent
  congestion,  // DCQCN: ECN, CNPs, and the RoCE marks that go with it
  rdma,        // the RDMA device: its defaults for connections and queue pairs, its counters
  pci,         // the PCI function
};

// The part of a setting in the class of RoCE traffic. Together they decide on which priority a packet travels and how
// it is protected there, so that none of them is written alone while the class moves (enforce/traffic.h).
enum class TrafficPart : uint8_t {
  none,
  classifies,  // decides the priority of a packet
  protects,    // protects a priority
  belongs,     // marks the congestion notifications of the class
};

// The kernel's notification after a program has written the setting. nothing: the setting is written through a file, or
// by a command that the kernel does not announce.
enum class NotificationKind : uint8_t { nothing, dcb, ethtool, link };

// Why an operator's value is rejected.
struct ValueProblem {
  std::string what;
  std::string_view part{};          // the member of a table that has the problem: "bw"; empty: the whole value
  std::optional<size_t> element{};  // the element of the list that has the problem
};
// Checks an operator's value beyond its range: narrower than what a port can have. Called only if `want` has the
// setting.
using ValueRule = std::optional<ValueProblem>(const Qos& want);
ValueRule check_fec, check_apptrust, check_ets, check_maxrate, check_roce_tos, check_traffic_class, check_mrrs;
inline constexpr ValueRule* kNoRule = nullptr;  // every value in the range is accepted

// One setting is one row. The TOML key, the error for an unknown key, plan, apply, read-back, text, JSON, the metric's
// label, the journal field and the place among features all follow from the row and the kind of its member. A row
// without group, notification, part in RoCE's class of traffic or rule does not compile.
struct Setting {
  template <class... Kinds>
  using AnyOf = std::variant<std::optional<Kinds> Qos::*...>;
  using Member = AnyOf<Dcbx, bool, Pause, uint32_t, Fec, Trust, AppTrust, DscpMap, Ets, Eight, Buffers, PrioSet, Rates,
                       RoceMode, OrNone, Names>;
  SettingId id;
  std::string_view key;
  SettingGroup group;
  NotificationKind announced;
  TrafficPart traffic;
  std::string_view help;  // one line, as in fabric-agent.toml(5): help_text()
  Member member;
  ValueRule* check;
  // Severity, title and effect of a difference from the policy. Critical: packets are lost or misdirected at once.
  // Warning: lower speed or less margin. The effect continues the title and begins with the separator.
  Status severity;
  std::string_view title, effect;
  // The range of a number that an operator may set, and its unit. Ranges of the DCQCN parameters are from NVIDIA "DCQCN
  // CC Parameters", else the width of the field in mstflint's tools_open_roce_cc_ecn. The ranges for Broadcom's NICs
  // are the widths of the fields of struct cmdq_modify_roce_cc (Linux 6.12, infiniband/hw/bnxt_re/roce_hsi.h).
  // Broadcom's comments on these fields (FreeBSD, sys/dev/bnxt/bnxt_en/hsi_struct_def.h) give g and
  // num_phases_per_state, a byte each, no smaller range; the limit of 15 is that of time_per_phase.
  uint32_t min = 0, max = UINT32_MAX;
  std::string_view unit{};
  uint32_t example = 0;      // an example of a number, for the error text; 0: min
  std::string_view owner{};  // the mechanism of the parameter, which help_text() begins with: "reaction point"

  std::string meaning() const { return std::string(title) + std::string(effect); }
  std::string help_text() const {
    return owner.empty() ? std::string(help) : std::string(owner) + ": " + std::string(help);
  }
};

// The owners of the parameters of congestion control.
inline constexpr std::string_view kReactionPoint = "reaction point", kNotificationPoint = "notification point",
                                  kBroadcomCc = "congestion control of Broadcom NICs";

// A parameter of congestion control.
constexpr Setting dcqcn(SettingId id, std::string_view key, std::string_view owner, std::string_view help,
                        std::optional<uint32_t> Qos::*member, uint32_t min, uint32_t max, std::string_view unit = {},
                        uint32_t example = 0) {
  constexpr std::string_view kTitle = "A parameter of congestion control (DCQCN) differs from the policy";
  constexpr std::string_view kEffect =
      ". Flows on this port slow down or recover differently from those of their peers.";
  return {id,
          key,
          SettingGroup::congestion,
          NotificationKind::nothing,
          TrafficPart::none,
          help,
          member,
          kNoRule,
          Status::warning,
          kTitle,
          kEffect,
          min,
          max,
          unit,
          example,
          owner};
}

inline constexpr std::array kSettings{
    Setting{SettingId::dcbx, "dcbx", SettingGroup::dcb, NotificationKind::nothing, TrafficPart::none,
            "who owns DCBX: \"host\" takes it from the NIC's firmware, which would overwrite the rest", &Qos::dcbx,
            kNoRule, Status::warning, "The owner of DCBX differs from the policy",
            ". NIC firmware that owns DCBX can overwrite PFC and ETS without notice."},
    Setting{
        SettingId::fw_lldp, "fw_lldp", SettingGroup::netdev, NotificationKind::ethtool, TrafficPart::none,
        "the LLDP agent in the NIC's firmware (Intel's fw-lldp-agent, disable-fw-lldp); off, so that the host sets DCB",
        &Qos::fw_lldp, kNoRule, Status::warning, "The LLDP agent in the NIC firmware differs from the policy",
        ". While it runs, it owns DCBX and overwrites PFC and ETS."},
    Setting{SettingId::pause, "pause", SettingGroup::netdev, NotificationKind::ethtool, TrafficPart::none,
            "global (802.3x) pause: \"off\", \"rx\", \"tx\", \"rx,tx\"; off wherever PFC is used", &Qos::pause, kNoRule,
            Status::critical, "Global pause differs from the policy",
            ". With PFC in use, global pause stops all priorities and disables PFC."},
    Setting{SettingId::mtu, "mtu", SettingGroup::netdev, NotificationKind::link, TrafficPart::none,
            "netdev MTU in bytes; 4192 or more gives the RoCE path MTU 4096", &Qos::mtu, kNoRule, Status::warning,
            "The MTU differs from the policy", ". RoCE uses smaller packets, or the packets of the peer are too large.",
            68, 65535, "bytes", 4200},
    Setting{SettingId::ring_rx, "ring_rx", SettingGroup::netdev, NotificationKind::ethtool, TrafficPart::none,
            "receive descriptors of the netdev (ethtool -G)", &Qos::ring_rx, kNoRule, Status::warning,
            "The netdev has a different number of receive descriptors",
            ". Bursts of TCP/IP can overrun it. RDMA is not affected.", 1, 65536, "", 8192},
    Setting{SettingId::ring_tx, "ring_tx", SettingGroup::netdev, NotificationKind::ethtool, TrafficPart::none,
            "send descriptors of the netdev (ethtool -G)", &Qos::ring_tx, kNoRule, Status::warning,
            "The netdev has a different number of transmit descriptors",
            ". TCP/IP can be slower. RDMA is not affected.", 1, 65536, "", 8192},
    Setting{SettingId::channels, "channels", SettingGroup::netdev, NotificationKind::ethtool, TrafficPart::none,
            "combined queues of the netdev (ethtool -L)", &Qos::channels, kNoRule, Status::warning,
            "The netdev has a different number of queues", ". TCP/IP can be slower. RDMA is not affected.", 1, 4096, "",
            64},
    Setting{SettingId::fec, "fec", SettingGroup::netdev, NotificationKind::ethtool, TrafficPart::none,
            "forward error correction: \"auto\", \"off\", \"rs\", \"baser\", \"llrs\", as on the switch", &Qos::fec,
            check_fec, Status::warning, "Forward error correction differs from the policy",
            ". If the switch uses another mode, the link stays down or loses packets."},
    Setting{SettingId::trust, "trust", SettingGroup::dcb, NotificationKind::dcb, TrafficPart::classifies,
            "classify received frames by \"dscp\" or by \"pcp\"", &Qos::trust, kNoRule, Status::critical,
            "Received frames are classified by the wrong header field", ": RoCE lands in a priority without PFC."},
    Setting{SettingId::apptrust, "apptrust", SettingGroup::dcb, NotificationKind::dcb, TrafficPart::classifies,
            "order of the header fields that classify received frames, as [\"dscp\", \"pcp\"], if the driver has an "
            "APP trust table",
            &Qos::apptrust, check_apptrust, Status::critical,
            "Received frames are classified by header fields in a different order",
            ": RoCE can land in a priority without PFC."},
    Setting{SettingId::dscp_map, "dscp_map", SettingGroup::dcb, NotificationKind::dcb, TrafficPart::classifies,
            "DSCP to priority, as { 26 = 3, 48 = 6 }", &Qos::dscp_map, kNoRule, Status::critical,
            "The DSCP map differs from that of the network", ": RoCE or CNP packets lose their class."},
    Setting{SettingId::ets, "ets", SettingGroup::dcb, NotificationKind::dcb, TrafficPart::protects,
            "priority to traffic class, algorithm and bandwidth of each class (802.1Qaz)", &Qos::ets, check_ets,
            Status::critical, "Traffic classes share the link differently from the policy",
            ": RoCE can starve or lose its own queue."},
    Setting{SettingId::prio2buffer, "prio2buffer", SettingGroup::dcb, NotificationKind::dcb, TrafficPart::protects,
            "receive buffer of each priority, as eight numbers", &Qos::prio2buffer, kNoRule, Status::critical,
            "Priorities share receive buffers differently from the policy",
            ": a lossless priority that shares a buffer loses packets, or pauses for others."},
    Setting{SettingId::buffer_size, "buffer_size", SettingGroup::dcb, NotificationKind::dcb, TrafficPart::protects,
            "bytes of the eight receive buffers; \"auto\" computes the headroom from cable, speed and MTU",
            &Qos::buffer_size, kNoRule, Status::critical, "The sizes of the receive buffers differ from the policy",
            ": a buffer that is too small loses packets of a lossless priority."},
    Setting{SettingId::pfc, "pfc", SettingGroup::dcb, NotificationKind::dcb, TrafficPart::protects,
            "priorities with priority flow control, as [3]", &Qos::pfc, kNoRule, Status::critical,
            "PFC differs from the priorities that the network pauses",
            ": RoCE drops packets under congestion, or other priorities are paused."},
    Setting{
        SettingId::pfc_watchdog, "pfc_watchdog", SettingGroup::netdev, NotificationKind::nothing, TrafficPart::none,
        "milliseconds of continuous PFC pause after which the NIC stops sending it (ethtool's pfc-prevention-tout); "
        "0 switches the watchdog off",
        &Qos::pfc_watchdog, kNoRule, Status::warning, "The PFC watchdog of the NIC differs from the policy",
        ": a host that hangs pauses the network for a different time, or without end.", 0, 65534, "ms", 100},
    Setting{SettingId::cable_length, "cable_length", SettingGroup::dcb, NotificationKind::dcb, TrafficPart::none,
            "length of the cable in meters; sizes the headroom on drivers that need it", &Qos::cable_length, kNoRule,
            Status::warning, "The headroom is sized for a different cable",
            ". A length that is too short loses packets when PFC pauses the link.", 1, 999, "m", 30},
    Setting{SettingId::maxrate, "maxrate", SettingGroup::dcb, NotificationKind::dcb, TrafficPart::none,
            "rate limit of the eight traffic classes, in kbit/s; 0 is none", &Qos::maxrate, check_maxrate,
            Status::warning, "The rate limits of traffic classes differ from the policy",
            ": RoCE is slower than it could be, or uses reserved bandwidth."},
    Setting{SettingId::ecn_rp, "ecn_rp", SettingGroup::congestion, NotificationKind::nothing, TrafficPart::protects,
            "priorities on which CNPs slow the sender down (DCQCN reaction point), as [3]", &Qos::ecn_rp, kNoRule,
            Status::warning, "Congestion notifications slow down other priorities than the policy wants",
            ": congestion then ends in PFC pause."},
    Setting{SettingId::ecn_np, "ecn_np", SettingGroup::congestion, NotificationKind::nothing, TrafficPart::protects,
            "priorities on which ECN marks are answered with CNPs (DCQCN notification point), as [3]", &Qos::ecn_np,
            kNoRule, Status::warning, "ECN marks are answered with CNPs on other priorities than the policy wants",
            ": senders then notice congestion by PFC only."},
    Setting{SettingId::cnp_dscp, "cnp_dscp", SettingGroup::congestion, NotificationKind::nothing, TrafficPart::belongs,
            "DSCP of the congestion notification packets (CNP)", &Qos::cnp_dscp, kNoRule, Status::warning,
            "CNPs carry a different DSCP",
            ": the network queues them with other traffic, and senders slow down too late.", 0, 63, "", 48},
    Setting{SettingId::cnp_prio, "cnp_prio", SettingGroup::congestion, NotificationKind::nothing, TrafficPart::belongs,
            "802.1p priority of the congestion notification packets (CNP), or \"none\"", &Qos::cnp_prio, kNoRule,
            Status::warning, "CNPs have a different priority",
            ": the network queues them with other traffic, and senders slow down too late.", 0, 7, "", 6},
    dcqcn(SettingId::min_time_between_cnps, "min_time_between_cnps", kNotificationPoint,
          "microseconds between two CNPs of a flow", &Qos::min_time_between_cnps, 0, 131071, "us"),
    dcqcn(SettingId::clamp_tgt_rate, "clamp_tgt_rate", kReactionPoint,
          "on a CNP the target rate falls to the current rate", &Qos::clamp_tgt_rate, 0, 1),
    dcqcn(SettingId::clamp_tgt_rate_after_time_inc, "clamp_tgt_rate_after_time_inc", kReactionPoint,
          "on a CNP after an increase by the timer, the target rate falls to the current rate",
          &Qos::clamp_tgt_rate_after_time_inc, 0, 1),
    dcqcn(SettingId::rpg_time_reset, "rpg_time_reset", kReactionPoint,
          "microseconds between two rate increases without a CNP", &Qos::rpg_time_reset, 1, 131071, "us", 300),
    dcqcn(SettingId::rpg_byte_reset, "rpg_byte_reset", kReactionPoint,
          "amount sent between two rate increases, in the firmware's units; 0 switches it off", &Qos::rpg_byte_reset, 0,
          32767),
    dcqcn(SettingId::rpg_threshold, "rpg_threshold", kReactionPoint, "rate increases until the next phase",
          &Qos::rpg_threshold, 1, 31),
    dcqcn(SettingId::rpg_max_rate, "rpg_max_rate", kReactionPoint,
          "Mb/s above which a flow is not limited; 0 is the port's speed", &Qos::rpg_max_rate, 0, 4000000, "Mb/s"),
    dcqcn(SettingId::rpg_ai_rate, "rpg_ai_rate", kReactionPoint, "Mb/s of an additive increase", &Qos::rpg_ai_rate, 1,
          131071, "Mb/s"),
    dcqcn(SettingId::rpg_hai_rate, "rpg_hai_rate", kReactionPoint, "Mb/s of a hyper increase", &Qos::rpg_hai_rate, 1,
          131071, "Mb/s"),
    dcqcn(SettingId::rpg_gd, "rpg_gd", kReactionPoint, "log2 of Gd, by which a CNP cuts the rate", &Qos::rpg_gd, 0, 15,
          "", 11),
    dcqcn(SettingId::rpg_min_dec_fac, "rpg_min_dec_fac", kReactionPoint,
          "largest cut of the rate by one CNP, in percent", &Qos::rpg_min_dec_fac, 0, 100, "%"),
    dcqcn(SettingId::rpg_min_rate, "rpg_min_rate", kReactionPoint, "lowest rate of a flow, in Mb/s", &Qos::rpg_min_rate,
          1, 4000000, "Mb/s"),
    dcqcn(SettingId::rate_to_set_on_first_cnp, "rate_to_set_on_first_cnp", kReactionPoint,
          "Mb/s after a flow's first CNP; 0 is the port's speed", &Qos::rate_to_set_on_first_cnp, 0, 4000000, "Mb/s"),
    dcqcn(SettingId::dce_tcp_g, "dce_tcp_g", kReactionPoint, "weight of new congestion in alpha, in 1/1024",
          &Qos::dce_tcp_g, 0, 1023, "/1024"),
    dcqcn(SettingId::dce_tcp_rtt, "dce_tcp_rtt", kReactionPoint, "microseconds between two updates of alpha",
          &Qos::dce_tcp_rtt, 1, 131071, "us"),
    dcqcn(SettingId::rate_reduce_monitor_period, "rate_reduce_monitor_period", kReactionPoint,
          "microseconds between two decreases", &Qos::rate_reduce_monitor_period, 1, 131071, "us"),
    dcqcn(SettingId::initial_alpha_value, "initial_alpha_value", kReactionPoint, "alpha of a new flow, in 1/1024",
          &Qos::initial_alpha_value, 1, 1023, "/1024"),
    Setting{SettingId::rtt_resp_dscp, "rtt_resp_dscp", SettingGroup::congestion, NotificationKind::nothing,
            TrafficPart::none, "DSCP of the responses to round-trip probes, or \"none\"", &Qos::rtt_resp_dscp, kNoRule,
            Status::warning, "Responses to round-trip probes carry a different DSCP",
            ": they measure the delay of another queue.", 0, 63, "", 26},
    Setting{SettingId::cc, "cc", SettingGroup::congestion, NotificationKind::nothing, TrafficPart::protects,
            "congestion control (DCQCN) as a whole, on NICs that cannot switch it for each priority", &Qos::cc, kNoRule,
            Status::warning, "Congestion control as a whole differs from the policy",
            ". Without it, every congestion ends in PFC pause."},
    dcqcn(SettingId::cc_mode, "cc_mode", kBroadcomCc, "0 TCP-like, 1 DCQCN by probability", &Qos::cc_mode, 0, 1),
    dcqcn(SettingId::cc_g, "cc_g", kBroadcomCc, "weight g of the running average (run_avg_weight_g)", &Qos::cc_g, 0,
          255),
    dcqcn(SettingId::cc_phases, "cc_phases", kBroadcomCc, "phases in each state (num_phase_per_state)", &Qos::cc_phases,
          0, 255),
    dcqcn(SettingId::cc_init_cr, "cc_init_cr", kBroadcomCc, "initial current rate (init_cr)", &Qos::cc_init_cr, 0,
          65535),
    dcqcn(SettingId::cc_init_tr, "cc_init_tr", kBroadcomCc, "initial target rate (init_tr)", &Qos::cc_init_tr, 0,
          65535),
    dcqcn(SettingId::cc_rtt, "cc_rtt", kBroadcomCc, "round-trip time in microseconds", &Qos::cc_rtt, 0, 16383, "us"),
    dcqcn(SettingId::cc_tcp_cp, "cc_tcp_cp", kBroadcomCc, "TCP congestion parameter (tcp_cp)", &Qos::cc_tcp_cp, 0,
          1023),
    dcqcn(SettingId::cc_inactivity_cp, "cc_inactivity_cp", kBroadcomCc, "inactivity threshold (inactivity_cp)",
          &Qos::cc_inactivity_cp, 0, 65535),
    Setting{SettingId::roce_dscp, "roce_dscp", SettingGroup::congestion, NotificationKind::nothing,
            TrafficPart::classifies, "DSCP of RoCE data in the congestion control of Broadcom NICs", &Qos::roce_dscp,
            kNoRule, Status::critical,
            "RoCE data carries a DSCP that the network does not map to the lossless priority", ".", 0, 63, "", 26},
    Setting{SettingId::roce_prio, "roce_prio", SettingGroup::congestion, NotificationKind::dcb, TrafficPart::classifies,
            "priority of RoCE data in the congestion control of Broadcom NICs", &Qos::roce_prio, kNoRule,
            Status::critical, "RoCE data is sent on another priority than the lossless one", ".", 0, 7, "", 3},
    Setting{SettingId::roce_mode, "roce_mode", SettingGroup::rdma, NotificationKind::nothing, TrafficPart::classifies,
            "RoCE version of rdma_cm connections: \"v2\" or \"v1\"", &Qos::roce_mode, kNoRule, Status::warning,
            "Connections of rdma_cm use another RoCE version", ". RoCE v1 is not routed and carries no DSCP."},
    Setting{SettingId::roce_tos, "roce_tos", SettingGroup::rdma, NotificationKind::nothing, TrafficPart::classifies,
            "type of service of rdma_cm connections, DSCP x 4 + ECN: 106 is DSCP 26 with ECT(0)", &Qos::roce_tos,
            check_roce_tos, Status::warning,
            "Connections of rdma_cm carry a different DSCP, so their packets use another priority",
            ". Programs that set their own DSCP, such as NCCL, are not affected.", 0, 255, "", 106},
    Setting{SettingId::traffic_class, "traffic_class", SettingGroup::rdma, NotificationKind::nothing,
            TrafficPart::classifies,
            "traffic class forced on all queue pairs (NVIDIA OFED/DOCA), DSCP x 4 + ECN, or \"none\"",
            &Qos::traffic_class, check_traffic_class, Status::critical, "All queue pairs get a different traffic class",
            ": RoCE packets use another priority than the lossless one.", 0, 255, "", 106},
    Setting{SettingId::optional_counters, "optional_counters", SettingGroup::rdma, NotificationKind::nothing,
            TrafficPart::none, "optional RDMA counters to switch on: names, or \"all\"", &Qos::optional_counters,
            kNoRule, Status::warning, "Optional counters that the policy wants are off",
            ". Their metrics are missing."},
    Setting{SettingId::mrrs, "mrrs", SettingGroup::pci, NotificationKind::nothing, TrafficPart::none,
            "PCIe maximum read request size: 128, 256, ... 4096 bytes", &Qos::mrrs, check_mrrs, Status::warning,
            "The PCIe read request size differs from the policy",
            ": reads from memory need more requests and lose bandwidth.", 128, 4096, "bytes", 4096},
};
inline constexpr size_t kSettingCount = kSettings.size();
static_assert(
    [] {
      for (size_t i = 0; i < kSettingCount; ++i)
        if (index(kSettings[i].id) != i) return false;
      return true;
    }(),
    "kSettings is in the order of SettingId");
// A set of settings; bit i is kSettings[i].
using Keys = std::bitset<kSettingCount>;
constexpr bool has_key(const Keys& keys, SettingId id) { return keys[index(id)]; }
constexpr const Setting& setting_of(SettingId id) { return kSettings[index(id)]; }
// The setting's name in TOML, JSON, metric labels and journal fields.
constexpr std::string_view key_text(SettingId id) { return kSettings[index(id)].key; }
// The setting of that name; nullopt if it is unknown.
std::optional<SettingId> parse_setting(std::string_view key);
// The settings of a group.
Keys keys_in(SettingGroup group);

// Calls `with(optional<T>&)` on the row's member.
template <class QosRef, class Function>
auto visit_member(const Setting& setting, QosRef& qos, Function&& with) {
  return std::visit([&](auto member) { return with(qos.*member); }, setting.member);
}

// Whether `qos` has a value of the setting.
bool has_value(const Setting& setting, const Qos& qos);
// The settings that have a value.
Keys keys_of(const Qos& qos);
// Text of the value; "-" if absent.
std::string value_text(const Setting& setting, const Qos& qos);
// Whether both have a value and the values are equal.
bool same_value(const Setting& setting, const Qos& a, const Qos& b);
// Copies the value, or its absence.
void copy_value(const Setting& setting, const Qos& from, Qos& to);

}  // namespace fabric
