// SPDX-License-Identifier: Apache-2.0
// Unit files, limits.conf, slurm.conf, lldpad.conf, providers of libibverbs, /proc/PID/limits and /proc/PID/cgroup: a
// captured tree may hold anything.
#include <cstdlib>

#include "fuzzer.h"
#include "node/host.h"
#include "node/lldpad.h"
#include "node/provider_abi.h"
#include "node/services.h"
#include "node/systemd.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace fabric;
  const std::string_view text = text_of(data, size);
  for (const unit_file::Assignment& each : unit_file::parse(text)) {
    if (each.section.empty() || each.key.empty() || each.line == 0) std::abort();
    if (const auto limit = unit_file::parse_memory_limit(each.value); limit && limit->soft > limit->hard) std::abort();
    if (const auto limit = unit_file::parse_count_limit(each.value); limit && limit->soft > limit->hard) std::abort();
  }
  std::vector<UserLimit> users;
  host::parse_user_limits(text, "/etc/security/limits.conf", users);
  for (const UserLimit& each : users)
    if (each.domain.empty() || (!each.soft && !each.hard)) std::abort();
  (void)host::parse_slurm_limits(text, "/etc/slurm/slurm.conf");
  (void)host::parse_process_limits(text);
  (void)host::unit_of_cgroup(text);
  (void)host::kernel_parameters(text);
  (void)host::parse_lldpad(text);
  for (const auto& [name, range] : host::parse_provider_abis(text))
    if (name.empty() || range.least > range.most) std::abort();
  if (chosen_word(text).size() > size) std::abort();
  return 0;
}
