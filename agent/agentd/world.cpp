// SPDX-License-Identifier: Apache-2.0
// What the port manager sees of the machine.
#include "agentd/port_manager.h"
#include "scan/scan.h"

namespace fabric::agentd {
namespace {

std::vector<Port> scan_ports(Kernel& kernel, const Policy& policy) {
  ScanOptions what = ports_only();
  what.topology = asks_for_role(policy);
  what.serials = what.members = true;
  what.exclude = policy.exclude;
  return scan(kernel, what).ports;
}

}  // namespace

std::tm local_time() {
  std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::tzset();  // the time zone may have changed
  ::localtime_r(&now, &parts);
  return parts;
}

World real_world(Kernel& kernel) {
  World world{.kernel = kernel, .scan = {}, .busy = {}};
  world.directory = kernel.root.path();
  world.scan = [&kernel](const Policy& policy) { return scan_ports(kernel, policy); };
  world.busy = [&kernel](const Port& port) { return qos::has_user_queue_pairs(kernel, port); };
  world.read_only = !kernel.root.is_host();
  return world;
}

}  // namespace fabric::agentd
