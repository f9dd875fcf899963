// SPDX-License-Identifier: Apache-2.0
// Detects whether a job may be using a port.
#pragma once

#include <chrono>
#include <concepts>
#include <functional>

#include "kernel/kernel.h"
#include "node/node.h"

namespace fabric::qos {

// The kind of user of a port. An entry with front_end = true says that the port is for a default route and for
// forwarding.
enum class UseKind : uint8_t {
  work,           // a job, a guest, a session: anything that is not named below; or nothing
  default_route,  // the machine's default route alone
  forwarding,     // containers or guests whose packets the host routes, alone
};

// `why` is for people: "a process has registered memory with mlx5_0". Empty: the port is idle.
struct Use {
  std::string why{};
  UseKind kind = UseKind::work;
  // Known to carry the machine's default route, or held for it (hold_default_route()), also if `why` names another
  // user.
  bool has_default_route = false;
  std::string held{};  // why the port is held for a default route that it does not have now
  [[nodiscard]] bool is_front_end() const { return kind != UseKind::work; }
  explicit operator bool() const { return !why.empty(); }
};

// Called before each disruptive write; returns the user of the port, or only whether there is one. It has no default,
// so that it cannot be forgotten. If it was made from an empty function, it reports every port as in use.
class UseCheck {
 public:
  template <class Ask>
  requires(!std::same_as<Ask, UseCheck> &&
           (std::predicate<Ask, const Port&> || std::is_invocable_r_v<Use, Ask, const Port&>)) UseCheck(Ask ask) {
    if constexpr (requires { ask.target_type(); })  // a std::function
      if (!ask) return;
    ask_ = [ask = std::move(ask)](const Port& port) -> Use {
      if constexpr (std::is_same_v<std::invoke_result_t<Ask, const Port&>, Use>) return ask(port);
      else return Use{ask(port) ? kUnnamedUser : ""};
    };
  }
  [[nodiscard]] Use operator()(const Port& port) const {
    if (!ask_) return {kUnnamedUser};
    return ask_(port);
  }

 private:
  static constexpr const char* kUnnamedUser = "a process, a guest or a container uses the port";
  std::function<Use(const Port&)> ask_;
};

// The user of the port, or of another function on its link (functions_on_link(), their virtual functions and
// subfunctions), or of RDMA in software on its netdev:
// - a queue pair of a process or of the kernel (NVMe-oF, NFS, Lustre), by RDMA netlink,
// - memory that a process has registered, by RDMA netlink,
// - a guest that has the function open (vfio), a vDPA device of it, or a driver that is not the NIC's (DPDK on uio),
// - its RDMA device in another network namespace (rdma system set netns exclusive), or the netdev of such a function,
// - a bridge or Open vSwitch above it with another member,
// - a device above it in another network namespace (a container's macvlan, ipvlan or VLAN),
// - an established TCP session of this host over it or a device above it,
// - the machine's default route (default_route_of()),
// - containers or guests whose packets the host routes over it (use_of_netdev()).
// A use that cannot be determined counts as a user: a job may be running.
Use is_in_use(Kernel& kernel, const Port& port);

// Also reports a port as in use for `hold` after `ask` has last reported its default route. A network service that
// restarts takes the route away for a moment, and with the address the sessions that used the port until then; without
// its link the port might not get the route back. A route that `ask` has not reported, because no write waited or RDMA
// used the port, does not hold the port. The ports that are held are in a file below `directory` (empty: there is no
// file), because the next agent of this boot must hold them, too: from its start on, since it cannot know when the
// route left.
inline constexpr const char* kHeldPortsFile = "run/fabric-agent/held-ports.json";
inline constexpr std::chrono::minutes kRouteHold{2};
UseCheck hold_default_route(UseCheck ask, std::chrono::milliseconds hold, std::string directory = {});
// For programs that write once, beside the agent: also holds the ports that the file says an agent of this boot holds
// now. Does not write the file.
UseCheck hold_as_agent(UseCheck ask, std::chrono::milliseconds hold, std::string directory);

// A UseCheck of is_in_use() and hold_as_agent(). `kernel` must outlive it.
UseCheck ask_kernel(Kernel& kernel);
// The agent's: of is_in_use() and hold_default_route(). A captured tree gets no file.
UseCheck ask_kernel_as_agent(Kernel& kernel);

}  // namespace fabric::qos
