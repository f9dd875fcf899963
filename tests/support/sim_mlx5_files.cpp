// SPDX-License-Identifier: Apache-2.0
#include <cerrno>

#include "base/parse.h"
#include "support/sim_files.h"

namespace fabric::test {
namespace {

// Ranges and values as shipped: NVIDIA, "DCQCN parameters"; mstflint, tools_open_roce_cc_ecn. A driver cuts a number
// off to the bits of its field (MLX5_SET) before the firmware judges it.
struct Parameter {
  const char *debugfs, *ofed;  // ofed null: no such file there
  uint32_t mask, min, max, shipped;
};
constexpr uint32_t kWide = UINT32_MAX, kLineRate = 400'000;
constexpr Parameter kParameters[]{
    {"rp_clamp_tgt_rate", "roce_rp/clamp_tgt_rate", 1, 0, 1, 0},
    {"rp_clamp_tgt_rate_ati", "roce_rp/clamp_tgt_rate_after_time_inc", 1, 0, 1, 1},
    {"rp_time_reset", "roce_rp/rpg_time_reset", kWide, 1, 131'071, 300},
    {"rp_byte_reset", "roce_rp/rpg_byte_reset", kWide, 0, 32'767, 32'767},
    {"rp_threshold", "roce_rp/rpg_threshold", kWide, 1, 31, 1},
    {"rp_max_rate", "roce_rp/rpg_max_rate", kWide, 0, kLineRate, 0},
    {"rp_ai_rate", "roce_rp/rpg_ai_rate", kWide, 1, 131'071, 5},
    {"rp_hai_rate", "roce_rp/rpg_hai_rate", kWide, 1, 131'071, 50},
    {"rp_gd", "roce_rp/rpg_gd", kWide, 0, 15, 11},
    {"rp_min_dec_fac", "roce_rp/rpg_min_dec_fac", kWide, 0, 100, 50},
    {"rp_min_rate", "roce_rp/rpg_min_rate", kWide, 1, kLineRate, 1},
    {"rp_rate_to_set_on_first_cnp", "roce_rp/rate_to_set_on_first_cnp", kWide, 0, kLineRate, 0},
    {"rp_dce_tcp_g", "roce_rp/dce_tcp_g", kWide, 0, 1023, 1019},
    {"rp_dce_tcp_rtt", "roce_rp/dce_tcp_rtt", kWide, 1, 131'071, 1},
    {"rp_rate_reduce_monitor_period", "roce_rp/rate_reduce_monitor_period", kWide, 1, 131'071, 4},
    {"rp_initial_alpha_value", "roce_rp/initial_alpha_value", kWide, 1, 1023, 1023},
    {"np_min_time_between_cnps", "roce_np/min_time_between_cnps", kWide, 0, 131'071, 4},
    {"np_cnp_dscp", "roce_np/cnp_dscp", 0x3f, 0, 63, 48},
    {"np_cnp_prio_mode", nullptr, 1, 0, 1, 0},
    {"np_cnp_prio", "roce_np/cnp_802p_prio", 7, 0, 7, 6},
    {"rtt_resp_dscp_valid", nullptr, 1, 0, 1, 0},
    {"rtt_resp_dscp", nullptr, 0x3f, 0, 63, 0},
};

SimFiles::Handler handler(const Parameter& parameter) {
  return [parameter](SimFiles& files, const std::string& file, std::string_view text) {
    auto value = kernel_number(text);
    if (!value) return EINVAL;
    *value &= parameter.mask;
    return store_number(parameter.min, parameter.max)(files, file, std::to_string(*value));
  };
}

// Then the other file says that the value counts.
SimFiles::Handler with_condition(const Parameter& parameter, std::string condition, const char* counts) {
  return [=](SimFiles& files, const std::string& file, std::string_view text) {
    const int err = handler(parameter)(files, file, text);
    if (err == 0) files.tree.file(condition, counts);
    return err;
  };
}

// A query that fails shows nothing; an unchanged value costs no command.
int set_enable(SimFiles& files, const std::string& file, std::string_view text) {
  auto value = parse_number<int>(text);
  if (!value) return EINVAL;
  files.tree.file(file, (*value & 1) != 0 ? "1\n" : "0\n");
  return 0;
}

// Below 0: none is forced any more.
int set_traffic_class(SimFiles& files, const std::string& file, std::string_view text) {
  text = trim(text);
  if (text.starts_with("tclass=")) text.remove_prefix(7);
  const auto value = parse_number<int>(text);
  if (!value || *value > 255) return EINVAL;
  files.tree.file(file, *value < 0 ? "" : "Global tclass=" + std::to_string(*value) + "\n");
  return 0;
}

}  // namespace

void add_mlx5_cc_params(SimFiles& files, const std::string& pci) {
  const std::string folder = "sys/kernel/debug/mlx5/" + pci + "/cc_params/";
  for (const Parameter& each : kParameters) {
    const std::string file = folder + each.debugfs;
    files.tree.file(file, std::to_string(each.shipped) + "\n");
    files.on_write(file, handler(each));
    if (each.debugfs == std::string_view("np_cnp_prio"))
      files.on_write(file, with_condition(each, folder + "np_cnp_prio_mode", "0\n"));
    if (each.debugfs == std::string_view("rtt_resp_dscp"))
      files.on_write(file, with_condition(each, folder + "rtt_resp_dscp_valid", "1\n"));
  }
}

void add_ofed_ecn(SimFiles& files, const std::string& netdev) {
  const std::string folder = "sys/class/net/" + netdev + "/ecn/";
  for (const Parameter& each : kParameters) {
    if (each.ofed == nullptr) continue;
    files.tree.file(folder + each.ofed, std::to_string(each.shipped) + "\n");
    files.on_write(folder + each.ofed, handler(each));
  }
  for (const char* half : {"roce_rp", "roce_np"})
    for (int prio = 0; prio < 8; ++prio) files.tree.file(folder + half + "/enable/" + std::to_string(prio), "1\n");
  files.on_write(folder + "roce_?p/enable/?", set_enable);
}

void add_ofed_traffic_class(SimFiles& files, const std::string& rdma, unsigned port) {
  const std::string file = "sys/class/infiniband/" + rdma + "/tc/" + std::to_string(port) + "/traffic_class";
  files.tree.file(file, "");
  files.on_write(file, set_traffic_class);
}

}  // namespace fabric::test
