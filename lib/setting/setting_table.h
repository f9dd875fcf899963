// SPDX-License-Identifier: Apache-2.0
// The settings of a port, a row each.
#pragma once

#include "setting/qos.h"

namespace fabric {

// A parameter of congestion control.
constexpr Setting dcqcn(SettingId id, std::string_view key, std::string_view help, std::optional<uint32_t> Qos::*member,
                        uint32_t min, uint32_t max, std::string_view unit = {}, uint32_t example = 0) {
  constexpr std::string_view kDiffers =
      "A parameter of congestion control (DCQCN) differs from the policy. Flows on this port slow down or recover "
      "differently from those of their peers.";
  return {id, key, help, member, Status::warning, kDiffers, min, max, unit, example};
}

inline constexpr std::array kSettings{
    Setting{SettingId::dcbx, "dcbx",
            "who owns DCBX: \"host\" takes it from the NIC's firmware, which would overwrite the rest", &Qos::dcbx,
            Status::warning,
            "The owner of DCBX differs from the policy. NIC firmware that owns DCBX can overwrite PFC and ETS without "
            "notice."},
    Setting{
        SettingId::fw_lldp, "fw_lldp",
        "the LLDP agent in the NIC's firmware (Intel's fw-lldp-agent, disable-fw-lldp); off, so that the host sets DCB",
        &Qos::fw_lldp, Status::warning,
        "The LLDP agent in the NIC firmware differs from the policy. While it runs, it owns DCBX and overwrites PFC "
        "and ETS."},
    Setting{
        SettingId::pause, "pause",
        "global (802.3x) pause: \"off\", \"rx\", \"tx\", \"rx,tx\"; off wherever PFC is used", &Qos::pause,
        Status::critical,
        "Global pause differs from the policy. With PFC in use, global pause stops all priorities and disables PFC."},
    Setting{SettingId::mtu, "mtu", "netdev MTU in bytes; 4200 or more gives the RoCE path MTU 4096", &Qos::mtu,
            Status::warning,
            "The MTU differs from the policy. RoCE uses smaller packets, or the packets of the peer are too large.", 68,
            65535, "bytes", 4200},
    Setting{SettingId::ring_rx, "ring_rx", "receive descriptors of the netdev (ethtool -G)", &Qos::ring_rx,
            Status::warning,
            "The netdev has a different number of receive descriptors. Bursts of TCP/IP can overrun it. RDMA is not "
            "affected.",
            1, 65536, "", 8192},
    Setting{SettingId::ring_tx, "ring_tx", "send descriptors of the netdev (ethtool -G)", &Qos::ring_tx,
            Status::warning,
            "The netdev has a different number of transmit descriptors. TCP/IP can be slower. RDMA is not affected.", 1,
            65536, "", 8192},
    Setting{SettingId::channels, "channels", "combined queues of the netdev (ethtool -L)", &Qos::channels,
            Status::warning, "The netdev has a different number of queues. TCP/IP can be slower. RDMA is not affected.",
            1, 4096, "", 64},
    Setting{SettingId::fec, "fec",
            "forward error correction: \"auto\", \"off\", \"rs\", \"baser\", \"llrs\", as on the switch", &Qos::fec,
            Status::warning,
            "Forward error correction differs from the policy. If the switch uses another mode, the link stays down or "
            "loses packets."},
    Setting{SettingId::trust, "trust", "classify received frames by \"dscp\" or by \"pcp\"", &Qos::trust,
            Status::critical,
            "Received frames are classified by the wrong header field: RoCE lands in a priority without PFC."},
    Setting{SettingId::apptrust, "apptrust",
            "order of the header fields that classify, as [\"dscp\", \"pcp\"], where the driver has an APP trust table",
            &Qos::apptrust, Status::critical,
            "Received frames are classified by header fields in a different order: RoCE can land in a priority without "
            "PFC."},
    Setting{SettingId::dscp_map, "dscp_map", "DSCP to priority, as { 26 = 3, 48 = 6 }", &Qos::dscp_map,
            Status::critical, "The DSCP map differs from that of the network: RoCE or CNP packets lose their class."},
    Setting{SettingId::ets, "ets", "priority to traffic class, algorithm and bandwidth of each class (802.1Qaz)",
            &Qos::ets, Status::critical,
            "Traffic classes share the link differently from the policy: RoCE can starve or lose its own queue."},
    Setting{SettingId::prio2buffer, "prio2buffer", "receive buffer of each priority, as eight numbers",
            &Qos::prio2buffer, Status::critical,
            "Priorities share receive buffers differently from the policy: a lossless priority that shares a buffer "
            "loses packets, or pauses for others."},
    Setting{SettingId::buffer_size, "buffer_size",
            "bytes of the eight receive buffers; \"auto\" computes the headroom from cable, speed and MTU",
            &Qos::buffer_size, Status::critical,
            "The sizes of the receive buffers differ from the policy: a buffer that is too small loses packets of a "
            "lossless priority."},
    Setting{SettingId::pfc, "pfc", "priorities with priority flow control, as [3]", &Qos::pfc, Status::critical,
            "PFC differs from the priorities that the network pauses: RoCE drops packets under congestion, or other "
            "priorities are paused."},
    Setting{SettingId::cable_length, "cable_length", "meters of cable; sizes the headroom on drivers that ask for it",
            &Qos::cable_length, Status::warning,
            "The headroom is sized for a different cable. A length that is too short loses packets when PFC pauses the "
            "link.",
            1, 999, "m", 30},
    Setting{SettingId::maxrate, "maxrate", "rate limit of the eight traffic classes, in kbit/s; 0 is none",
            &Qos::maxrate, Status::warning,
            "The rate limits of traffic classes differ from the policy: RoCE is slower than it could be, or uses "
            "reserved bandwidth."},
    Setting{SettingId::ecn_rp, "ecn_rp", "priorities on which CNPs slow the sender down (DCQCN reaction point), as [3]",
            &Qos::ecn_rp, Status::warning,
            "Congestion notifications slow down other priorities than the policy wants: congestion then ends in PFC "
            "pause."},
    Setting{SettingId::ecn_np, "ecn_np",
            "priorities on which ECN marks are answered with CNPs (DCQCN notification point), as [3]", &Qos::ecn_np,
            Status::warning,
            "ECN marks are answered with CNPs on other priorities than the policy wants: senders then notice "
            "congestion by PFC only."},
    Setting{SettingId::cnp_dscp, "cnp_dscp", "DSCP of the congestion notification packets (CNP)", &Qos::cnp_dscp,
            Status::warning,
            "CNPs carry a different DSCP: the network queues them with other traffic, and senders slow down too late.",
            0, 63, "", 48},
    Setting{
        SettingId::cnp_prio, "cnp_prio", "802.1p priority of the congestion notification packets (CNP), or \"none\"",
        &Qos::cnp_prio, Status::warning,
        "CNPs have a different priority: the network queues them with other traffic, and senders slow down too late.",
        0, 7, "", 6},
    dcqcn(SettingId::min_time_between_cnps, "min_time_between_cnps",
          "notification point: microseconds between two CNPs of a flow", &Qos::min_time_between_cnps, 0, 131071, "us"),
    dcqcn(SettingId::clamp_tgt_rate, "clamp_tgt_rate",
          "reaction point: on a CNP the target rate falls to the current rate", &Qos::clamp_tgt_rate, 0, 1),
    dcqcn(SettingId::clamp_tgt_rate_after_time_inc, "clamp_tgt_rate_after_time_inc",
          "reaction point: the same where the rate had been raised by the timer", &Qos::clamp_tgt_rate_after_time_inc,
          0, 1),
    dcqcn(SettingId::rpg_time_reset, "rpg_time_reset",
          "reaction point: microseconds between two rate increases without a CNP", &Qos::rpg_time_reset, 1, 131071,
          "us", 300),
    dcqcn(SettingId::rpg_byte_reset, "rpg_byte_reset",
          "reaction point: amount sent between two rate increases, in the firmware's units; 0 switches it off",
          &Qos::rpg_byte_reset, 0, 32767),
    dcqcn(SettingId::rpg_threshold, "rpg_threshold", "reaction point: rate increases until the next phase",
          &Qos::rpg_threshold, 1, 31),
    dcqcn(SettingId::rpg_max_rate, "rpg_max_rate",
          "reaction point: Mb/s above which a flow is not limited; 0 is the port's speed", &Qos::rpg_max_rate, 0,
          4000000, "Mb/s"),
    dcqcn(SettingId::rpg_ai_rate, "rpg_ai_rate", "reaction point: Mb/s of an additive increase", &Qos::rpg_ai_rate, 1,
          131071, "Mb/s"),
    dcqcn(SettingId::rpg_hai_rate, "rpg_hai_rate", "reaction point: Mb/s of a hyper increase", &Qos::rpg_hai_rate, 1,
          131071, "Mb/s"),
    dcqcn(SettingId::rpg_gd, "rpg_gd", "reaction point: log2 of Gd, by which a CNP cuts the rate", &Qos::rpg_gd, 0, 15,
          "", 11),
    dcqcn(SettingId::rpg_min_dec_fac, "rpg_min_dec_fac",
          "reaction point: percent that one CNP may take from the rate at most", &Qos::rpg_min_dec_fac, 0, 100, "%"),
    dcqcn(SettingId::rpg_min_rate, "rpg_min_rate", "reaction point: Mb/s that a flow keeps at least",
          &Qos::rpg_min_rate, 1, 4000000, "Mb/s"),
    dcqcn(SettingId::rate_to_set_on_first_cnp, "rate_to_set_on_first_cnp",
          "reaction point: Mb/s after a flow's first CNP; 0 is the port's speed", &Qos::rate_to_set_on_first_cnp, 0,
          4000000, "Mb/s"),
    dcqcn(SettingId::dce_tcp_g, "dce_tcp_g", "reaction point: weight of new congestion in alpha, of 1024",
          &Qos::dce_tcp_g, 0, 1023, "/1024"),
    dcqcn(SettingId::dce_tcp_rtt, "dce_tcp_rtt", "reaction point: microseconds between two updates of alpha",
          &Qos::dce_tcp_rtt, 1, 131071, "us"),
    dcqcn(SettingId::rate_reduce_monitor_period, "rate_reduce_monitor_period",
          "reaction point: microseconds between two decreases", &Qos::rate_reduce_monitor_period, 1, 131071, "us"),
    dcqcn(SettingId::initial_alpha_value, "initial_alpha_value", "reaction point: alpha of a new flow, of 1024",
          &Qos::initial_alpha_value, 1, 1023, "/1024"),
    Setting{SettingId::rtt_resp_dscp, "rtt_resp_dscp", "DSCP of the answers to round-trip probes, or \"none\"",
            &Qos::rtt_resp_dscp, Status::warning,
            "Answers to round-trip probes carry a different DSCP: they measure the delay of another queue.", 0, 63, "",
            26},
    Setting{SettingId::cc, "cc", "congestion control (DCQCN) as a whole, on cards without a switch for each priority",
            &Qos::cc, Status::warning,
            "Congestion control as a whole differs from the policy. Without it, every congestion ends in PFC pause."},
    dcqcn(SettingId::cc_mode, "cc_mode", "congestion control of Broadcom cards: 0 TCP-like, 1 DCQCN by probability",
          &Qos::cc_mode, 0, 1),
    dcqcn(SettingId::cc_g, "cc_g", "the same: weight g of the running average (run_avg_weight_g)", &Qos::cc_g, 0, 7),
    dcqcn(SettingId::cc_phases, "cc_phases", "the same: phases in each state (num_phase_per_state)", &Qos::cc_phases, 0,
          15),
    dcqcn(SettingId::cc_init_cr, "cc_init_cr", "the same: initial current rate (init_cr)", &Qos::cc_init_cr, 0, 65535),
    dcqcn(SettingId::cc_init_tr, "cc_init_tr", "the same: initial target rate (init_tr)", &Qos::cc_init_tr, 0, 65535),
    dcqcn(SettingId::cc_rtt, "cc_rtt", "the same: round trip time in microseconds", &Qos::cc_rtt, 0, 16383, "us"),
    dcqcn(SettingId::cc_tcp_cp, "cc_tcp_cp", "the same: its TCP congestion parameter (tcp_cp)", &Qos::cc_tcp_cp, 0,
          1023),
    dcqcn(SettingId::cc_inactivity_cp, "cc_inactivity_cp", "the same: inactivity threshold (inactivity_cp)",
          &Qos::cc_inactivity_cp, 0, 65535),
    Setting{SettingId::roce_dscp, "roce_dscp", "DSCP that Broadcom's congestion control takes for RoCE data",
            &Qos::roce_dscp, Status::critical,
            "RoCE data carries a DSCP that the network does not map to the lossless priority.", 0, 63, "", 26},
    Setting{SettingId::roce_prio, "roce_prio", "priority that Broadcom's congestion control takes for RoCE data",
            &Qos::roce_prio, Status::critical, "RoCE data is sent on another priority than the lossless one.", 0, 7, "",
            3},
    Setting{SettingId::roce_mode, "roce_mode", "RoCE version of rdma_cm connections: \"v2\" or \"v1\"", &Qos::roce_mode,
            Status::warning,
            "Connections of rdma_cm use another RoCE version. RoCE v1 is not routed and carries no DSCP."},
    Setting{SettingId::roce_tos, "roce_tos",
            "type of service of rdma_cm connections, DSCP x 4 + ECN: 106 is DSCP 26 with ECT(0)", &Qos::roce_tos,
            Status::warning,
            "Connections of rdma_cm carry a different DSCP, so their packets use another priority. Programs that set "
            "their own DSCP, such as NCCL, are not affected.",
            0, 255, "", 106},
    Setting{SettingId::traffic_class, "traffic_class",
            "traffic class forced on all queue pairs (NVIDIA OFED/DOCA), DSCP x 4 + ECN, or \"none\"",
            &Qos::traffic_class, Status::critical,
            "All queue pairs get a different traffic class: RoCE packets use another priority than the lossless one.",
            0, 255, "", 106},
    Setting{SettingId::optional_counters, "optional_counters", "optional RDMA counters to switch on: names, or \"all\"",
            &Qos::optional_counters, Status::warning,
            "Optional counters are off that the policy wants. Their metrics are missing."},
    Setting{
        SettingId::mrrs, "mrrs", "PCIe maximum read request size: 128, 256, ... 4096 bytes", &Qos::mrrs,
        Status::warning,
        "The PCIe read request size differs from the policy: reads from memory need more requests and lose bandwidth.",
        128, 4096, "bytes", 4096},
};
static_assert(
    kSettings.size() == kSettingCount &&
        [] {
          for (size_t i = 0; i < kSettingCount; ++i)
            if (index(kSettings[i].id) != i) return false;
          return true;
        }(),
    "kSettings is in the order of SettingId");
constexpr const Setting& setting_of(SettingId id) { return kSettings[index(id)]; }
// Its name in TOML, JSON, metric labels and journal fields.
constexpr std::string_view key_text(SettingId id) { return kSettings[index(id)].key; }
// The setting of that name; nullopt: unknown.
constexpr std::optional<SettingId> parse_setting(std::string_view key) {
  for (const Setting& setting : kSettings)
    if (setting.key == key) return setting.id;
  return std::nullopt;
}

}  // namespace fabric
