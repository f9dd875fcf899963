// SPDX-License-Identifier: Apache-2.0
#include "agentd/environment.h"

#include "node/scan.h"

namespace fabric::agentd {

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::tzset();  // the time zone may have changed
  ::localtime_r(&now, &parts);
  return parts;
}

Environment real_environment(Kernel& kernel) {
  Environment out{.kernel = kernel,
                  .directory = kernel.root.path(),
                  .scan = {},
                  .in_use = qos::ask_kernel_as_agent(kernel),
                  .read_only = !kernel.root.is_host()};
  out.scan = [&kernel](const Policy& policy) {
    ScanOptions what = ports_only();
    what.topology = matches_by_role(policy);
    what.serials = what.members = true;
    what.exclude = policy.exclude;
    Node node = scan(kernel, what);
    return FoundPorts(std::move(node.ports), std::move(node.rdma_unread));
  };
  return out;
}

void ErrorLog::once(const std::string& what) {
  constexpr std::chrono::hours kAgain{1};
  constexpr size_t kMost = 100;
  const auto now = std::chrono::steady_clock::now();
  std::erase_if(logged_, [&](const auto& each) { return now - each.second >= kAgain; });
  if (logged_.size() >= kMost) logged_.clear();
  if (!logged_.emplace(what, now).second) return;
  log_({message_id::trouble, LOG_ERR, what});
}

}  // namespace fabric::agentd
