// SPDX-License-Identifier: Apache-2.0
#include "enforce/in_use.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>

#include "base/files.h"
#include "base/find.h"
#include "base/json.h"
#include "base/parse.h"
#include "kernel/rdma/infiniband.h"
#include "kernel/rdma/nldev.h"
#include "node/netdev_use.h"
#include "node/state.h"

namespace fabric::qos {
namespace {

// Whether the error says that there is no such file. After every other one it is unknown what there is.
bool is_absent(const Error& why) { return why.code == ENOENT; }

// True if `device` belongs to one of the functions, or to a virtual function or subfunction of one
// (Documentation/ABI/testing/sysfs-bus-pci; auxiliary bus devices below the function): its traffic uses the same link.
Result<bool> is_function_of(const Root& root, const std::string& device, const std::vector<std::string>& functions) {
  const std::string folder = std::string(infiniband::kClass) + "/" + device + "/device";
  const auto physical = root.resolve(folder + "/physfn");
  if (!physical && !is_absent(physical.error())) return physical.error();
  const auto place = root.resolve(folder);
  if (!place && !is_absent(place.error())) return place.error();
  return std::ranges::any_of(functions, [&](const std::string& pci) {
    if (physical) return physical->ends_with("/" + pci);
    return place && (*place + "/").find("/" + pci + "/") != std::string::npos;
  });
}

// True if a vDPA device of the function is bound to vhost_vdpa (a guest or a container) or virtio_vdpa: its driver
// makes the queues by itself, so that RDMA netlink lists none.
Result<bool> has_vdpa(const Root& root, const std::string& function) {
  const std::string devices = "sys/bus/vdpa/devices";
  const auto names = root.list(devices);
  if (!names && !is_absent(names.error())) return names.error();
  if (!names || names->empty()) return false;
  const auto own = root.resolve(function);
  if (!own) return own.error();
  for (const std::string& name : *names) {
    const auto device = root.resolve(devices + "/" + name);
    if (!device && !is_absent(device.error())) return device.error();
    if (device && device->starts_with(*own + "/") && root.exists(*device + "/driver")) return true;
  }
  return false;
}

// True if a guest, another network namespace or a driver of user space (DPDK on uio_pci_generic) uses a virtual
// function or subfunction of the function `pci`: RDMA netlink does not list its queue pairs, and no socket diagnosis
// its TCP sessions.
Result<bool> is_used_by_guest_or_container(const Root& root, const std::string& pci) {
  const std::string folder = "sys/bus/pci/devices/" + pci + "/";
  const auto names = root.list(folder);
  if (!names && !is_absent(names.error())) return names.error();
  if (!names) return false;
  for (const std::string& name : *names) {
    if (!name.starts_with("virtfn") && name.find(".sf.") == std::string::npos) continue;
    const std::string function = folder + name;
    const auto driver = root.resolve(function + "/driver");
    if (!driver && !is_absent(driver.error())) return driver.error();
    if (driver && base_name(*driver).find("vfio") != std::string::npos) {
      // vfio_pci_core_enable() enables the function when a guest opens it.
      if (root.number_in<uint32_t>(function + "/enable").value_or(1) > 0) return true;
      continue;
    }
    const auto vdpa = has_vdpa(root, function);
    if (!vdpa || *vdpa) return vdpa;
    // The folder looks empty while the RDMA device or the netdev is in a container's network namespace.
    bool is_for_others = driver.ok();  // uio_pci_generic, igb_uio, Xen's pciback: it has neither
    for (const char* devices : {"/infiniband", "/net"}) {
      const auto seen = root.list(function + devices);
      if (!seen && !is_absent(seen.error())) return seen.error();
      if (seen && seen->empty()) return true;
      is_for_others = is_for_others && !seen;
    }
    if (is_for_others) return true;
  }
  return false;
}

// The file kHeldPortsFile: when the agent last saw the route of a port (state::port_key()), or started, to within
// kLate: in milliseconds of CLOCK_MONOTONIC, which all processes of a boot share.
struct HeldPorts {
  std::map<std::string, int64_t> seen{};
};
FABRIC_JSON(HeldPorts, seen)

// Whether this process is the agent, which keeps the file, or only reads it.
enum class HeldFile : uint8_t { kept, read };

// The ports that have or have had the default route within `hold`.
class RouteHolds {
 public:
  RouteHolds(std::chrono::milliseconds hold, std::string directory, HeldFile file)
      : hold_(hold), directory_(std::move(directory)), file_(file) {
    if (file_ == HeldFile::read) return;
    read_as_next_agent();
    save();
  }

  // Why the port is held, for people. Empty: it is not.
  std::string why_held(const Port& port, bool has_route) {
    if (file_ == HeldFile::read) {
      const auto held = load();
      unread_.reset();
      if (!held) unread_ = {Clock::now(), held.error().text()};
      else add(*held);
    } else if (unread_) {
      read_as_next_agent();
    }
    const auto now = Clock::now();  // later than any moment that the agent has written
    const std::string key = state::port_key(port);
    if (has_route) seen_[key] = now;
    std::erase_if(seen_, [&](const auto& each) { return now - each.second >= hold_; });
    if (unread_ && now - unread_->first >= hold_) unread_.reset();
    if (file_ == HeldFile::kept) save();
    const std::string period = " in the last " + std::to_string(ceil<std::chrono::seconds>(hold_).count()) + " s";
    if (seen_.contains(key)) return "the default route left by " + port.netdev + period;
    if (!unread_) return {};
    return "whether the default route left by " + port.netdev + period + " cannot be determined (" + unread_->second +
           ")";
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr int64_t kLate = 5'000;

  static int64_t in_milliseconds(Clock::time_point moment) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(moment.time_since_epoch()).count();
  }

  // No file: no port.
  [[nodiscard]] Result<HeldPorts> load() const {
    if (directory_.empty()) return HeldPorts{};
    const auto root = Root::open(directory_);
    if (!root) return root.error();
    auto last = parse_file(root->read(kHeldPortsFile), kHeldPortsFile, read_state<HeldPorts>);
    if (!last) return last.error();
    return std::move(*last).value_or(HeldPorts{});
  }

  // Reads what the agent before this one has written. A read that fails (EMFILE, EIO) is repeated when a port is asked
  // for.
  void read_as_next_agent() {
    auto last = load();
    if (!last) {
      if (!unread_) unread_ = {Clock::now(), last.error().text()};
      return;
    }
    unread_.reset();
    for (const auto& [port, moment] : last->seen) seen_[port] = Clock::now();
    saved_ = std::move(*last);
  }

  void add(const HeldPorts& held) {
    const int64_t now = in_milliseconds(Clock::now());
    for (const auto& [port, moment] : held.seen)
      if (0 <= moment && moment <= now)
        seen_[port] = std::max(seen_[port], Clock::time_point(std::chrono::milliseconds(moment)));
  }

  // Without the file, which /run may have no room for, this agent still holds the ports. A file that cannot be read
  // stays until its ports need not be held any more.
  void save() {
    if (directory_.empty() || unread_) return;
    HeldPorts held;
    for (const auto& [port, last] : seen_) held.seen[port] = in_milliseconds(last);
    const auto is_late = [](const auto& now, const auto& before) {
      return now.first != before.first || now.second - before.second >= kLate;
    };
    if (saved_ && std::ranges::equal(held.seen, saved_->seen, std::not_fn(is_late))) return;
    if (replace_file(directory_, kHeldPortsFile, state_text(held))) saved_ = std::move(held);
  }

  const std::chrono::milliseconds hold_;
  const std::string directory_;
  const HeldFile file_;
  std::map<std::string, Clock::time_point> seen_;
  std::optional<HeldPorts> saved_;                                   // what the file has, if that is known
  std::optional<std::pair<Clock::time_point, std::string>> unread_;  // since when the file cannot be read, and why
};

UseCheck with_holds(UseCheck ask, std::shared_ptr<RouteHolds> holds) {
  return [ask = std::move(ask), holds = std::move(holds)](const Port& port) -> Use {
    Use use = ask(port);
    std::string why = holds->why_held(port, use.has_default_route);
    if (why.empty()) return use;
    if (!use) use = {.why = why, .kind = UseKind::default_route};
    if (!use.has_default_route) use.held = std::move(why);
    use.has_default_route = true;
    return use;
  };
}

}  // namespace

Use is_in_use(Kernel& kernel, const Port& port) {
  constexpr std::chrono::seconds kPatience{2};
  const auto unknown = [&](const std::string& why) {
    return Use{"whether " + port.id() + " is in use cannot be determined (" + why + ")"};
  };
  if (kernel.rdma == nullptr) return unknown("no RDMA netlink");
  const auto functions = functions_on_link(kernel.root, port);
  if (!functions) return unknown(functions.error().text());
  for (const std::string& pci : *functions) {
    const auto used = is_used_by_guest_or_container(kernel.root, pci);
    if (!used) return unknown(used.error().text());
    if (*used) return {"a guest or a container uses a function of " + pci};
  }
  const auto devices = nldev::devices(*kernel.rdma);
  if (!devices) return unknown(devices.error().text());
  bool known = false;
  for (const nldev::Device& device : *devices) {
    const bool own = device.name == port.rdma;
    // RDMA in software (rxe) has no function.
    const bool is_software = !port.netdev.empty() && kernel.root.line_of(std::string(infiniband::kClass) + "/" +
                                                                         device.name + "/parent") == port.netdev;
    if (!own && !is_software) {
      const auto shares_link = is_function_of(kernel.root, device.name, *functions);
      if (!shares_link) return unknown(shares_link.error().text());
      if (!*shares_link) continue;
    }
    // The registered memory comes first: each queue pair that is listed costs the firmware a command, and a job has
    // thousands. It also shows users of mlx5's DEVX (UCX, NVSHMEM's IBGDA, NCCL's device API, DPDK), whose queue pairs
    // are not listed: the kernel does not know what such an object is (drivers/infiniband/hw/mlx5/devx.c).
    const auto memory = nldev::owners(*kernel.rdma, device.index, nldev::Object::mr, kPatience);
    if (memory && memory->user > 0) return {"a process has registered memory with " + device.name};
    if (!memory && memory.error().code != EINVAL && memory.error().code != EOPNOTSUPP)
      return unknown(memory.error().text());
    const auto count = nldev::queue_pairs_in_use(*kernel.rdma, device.index, own ? port.number : 1);
    if (!count) return unknown(count.error().text());
    if (*count > 0) return {"a process or the kernel has queue pairs on " + device.name};
    known = known || own;
  }
  if (!known) return unknown(port.rdma + " is not listed by RDMA netlink");
  NetdevUse use = use_of_netdev(kernel, port);
  Use out{.why = std::move(use.why), .has_default_route = use.has_default_route};
  switch (use.user) {
    case NetdevUse::User::default_route: out.kind = UseKind::default_route; break;
    case NetdevUse::User::forwarding: out.kind = UseKind::forwarding; break;
    case NetdevUse::User::none:
    case NetdevUse::User::session: break;
  }
  return out;
}

UseCheck hold_default_route(UseCheck ask, std::chrono::milliseconds hold, std::string directory) {
  return with_holds(std::move(ask), std::make_shared<RouteHolds>(hold, std::move(directory), HeldFile::kept));
}

UseCheck hold_as_agent(UseCheck ask, std::chrono::milliseconds hold, std::string directory) {
  return with_holds(std::move(ask), std::make_shared<RouteHolds>(hold, std::move(directory), HeldFile::read));
}

UseCheck ask_kernel(Kernel& kernel) {
  return hold_as_agent([&kernel](const Port& port) { return is_in_use(kernel, port); }, kRouteHold, kernel.root.path());
}

UseCheck ask_kernel_as_agent(Kernel& kernel) {
  return hold_default_route([&kernel](const Port& port) { return is_in_use(kernel, port); }, kRouteHold,
                            kernel.root.is_host() ? kernel.root.path() : std::string());
}

}  // namespace fabric::qos
