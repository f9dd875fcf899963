// SPDX-License-Identifier: Apache-2.0
#include "enforce/selftest.h"

#include <thread>

#include "base/files.h"
#include "base/parse.h"
#include "enforce/restore.h"
#include "kernel/netlink/dcbnl.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "kernel/netlink/rtnl.h"
#include "node/state.h"

namespace fabric::qos {
namespace {

using Clock = std::chrono::steady_clock;

// A setting's value in a file, beside the interface that writes it; qos/: of NVIDIA's OFED driver
// (mlx5/core/en_sysfs.c).
struct SecondWay {
  SettingId setting;
  std::string_view file;  // below sys/class/net/NETDEV
};
constexpr SecondWay kSecondWays[]{
    {SettingId::mtu, "mtu"},
    {SettingId::prio2buffer, "qos/prio2buffer"},
    {SettingId::buffer_size, "qos/buffer_size"},
    {SettingId::maxrate, "qos/maxrate"},
};

// Empty: there is no second way.
std::string read_second(Kernel& kernel, const std::string& netdev, SettingId setting) {
  const Root& root = kernel.root;
  if (setting == SettingId::pfc)
    if (const auto pfc = dcbnl::cee_pfc(*kernel.route, netdev)) return to_text(*pfc);
  if (setting == SettingId::pause && root.is_host())
    if (const auto pause = ethtool::ioctl_pause(netdev)) return to_text(*pause);
  for (const SecondWay& way : kSecondWays)
    if (way.setting == setting) return root.line_of("sys/class/net/" + netdev + "/" + std::string(way.file));
  return {};
}

// True if `upper` is the netdev or a device above it (a bridge, a VLAN on a bond), by the links "lower_NAME".
// NOLINTNEXTLINE(misc-no-recursion): the kernel nests netdevs eight deep at most (MAX_NEST_DEV)
bool carries(const Root& root, std::string_view upper, const std::string& netdev) {
  return upper == netdev ||
         std::ranges::any_of(root.names_in("sys/class/net/" + std::string(upper)), [&](std::string_view name) {
           return name.starts_with("lower_") && carries(root, name.substr(6), netdev);
         });
}

class Tester {
 public:
  Tester(Kernel& kernel, Port& port, const SelfTestOptions& options, const Driver& driver, const Qos& want)
      : kernel_(kernel), port_(port), options_(options), driver_(driver), keys_(keys_of(want)) {}

  // Whether it is back, if the port had one.
  [[nodiscard]] bool await_carrier(bool had) const {
    const auto deadline = Clock::now() + options_.patience;
    for (; had; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
      const auto link = rtnl::link(*kernel_.route, port_.netdev);
      if (link && link->carrier.value_or(false)) return true;
      if (Clock::now() >= deadline) return false;
    }
    return true;
  }

  SelfTestStep write_once(SettingId id, const Qos& want) {
    const Setting& setting = setting_of(id);
    const Op& op = op_of(driver_, id);
    SelfTestStep step;
    step.setting = id;
    step.to = value_text(setting, want);
    const auto have = read(kernel_, port_, keys_);
    if (!have) return refused(std::move(step), have.error());
    step.disruptive = is_disruptive(op, id, have->notes);
    step.from = value_text(setting, have->values);
    step.detail = why_not(driver_, setting, want, *have, port_.netdev);
    if (!step.detail.empty()) return step;
    const auto before = rtnl::link(*kernel_.route, port_.netdev);
    const auto start = Clock::now();
    const auto written = op.write(port_io(kernel_, port_), setting, want, *have);
    step.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    step.link_back = await_carrier(before && before->carrier.value_or(false));
    const auto after = rtnl::link(*kernel_.route, port_.netdev);
    if (before && after)
      step.carrier_downs = after->carrier_down_count.value_or(0) - before->carrier_down_count.value_or(0);
    if (!written) return refused(std::move(step), written.error());
    return compare(std::move(step), setting, want);
  }

 private:
  static SelfTestStep refused(SelfTestStep step, const Error& error) {
    step.outcome = Outcome::refused;
    step.code = error.code;
    step.detail = error.text();
    return step;
  }

  SelfTestStep compare(SelfTestStep step, const Setting& setting, const Qos& want) const {
    const auto now = read(kernel_, port_, keys_);
    if (!now) return refused(std::move(step), now.error());
    step.read_back = value_text(setting, now->values);
    step.second = read_second(kernel_, port_.netdev, setting.id);
    if (!same_value(setting, want, now->values)) {
      step.outcome = Outcome::ignored;
    } else if (const auto* doubt = find_in(now->notes.unverified, setting.id)) {
      step.outcome = Outcome::unverified;
      step.detail = *doubt;
    } else {
      step.outcome = Outcome::applied;
    }
    return step;
  }

  Kernel& kernel_;
  Port& port_;
  const SelfTestOptions& options_;
  const Driver& driver_;
  Keys keys_;
};

bool is_back(const Change& change) { return is_done(change.outcome) || change.outcome == Outcome::unsupported; }

Result<void> save_record(const std::string& directory, const state::Originals& record) {
  if (!record.empty()) return state::save_originals(directory, record, state::kSelfTestFile);
  return remove_file(directory, state::kSelfTestFile);
}

}  // namespace

bool SelfTest::is_restored() const { return std::ranges::all_of(restored, is_back); }

// /proc/net/route: interface, destination, gateway, ...; /proc/net/ipv6_route: destination, its length, ..., interface.
bool has_default_route(const Root& root, const std::string& netdev) {
  constexpr std::string_view kAnyV4 = "00000000", kAnyV6 = "00000000000000000000000000000000";
  const std::string v4 = root.text_of("proc/net/route"), v6 = root.text_of("proc/net/ipv6_route");
  for (std::string_view line : split(v4, '\n'))
    if (const auto row = words(line); row.size() > 1 && row[1] == kAnyV4 && carries(root, row[0], netdev)) return true;
  for (std::string_view line : split(v6, '\n'))
    if (const auto row = words(line);
        row.size() > 9 && row[0] == kAnyV6 && row[1] == "00" && carries(root, row[9], netdev))
      return true;
  return false;
}

std::string why_no_self_test(Kernel& kernel, const Port& port, bool route_allowed) {
  if (port.netdev.empty() || !kernel.route) return port.id() + " has no netdev";
  if (const std::string why = why_unmanageable(port); !why.empty())
    return port.id() + " cannot be managed here: " + why;
  if (!port.bond.empty() || kernel.root.exists("sys/class/net/" + port.netdev + "/bonding"))
    return port.id() + " is a bond, or a member of one";
  if (!route_allowed && has_default_route(kernel.root, port.netdev))
    return "the default route goes through " + port.netdev + "; --force tests it all the same";
  if (is_in_use(kernel, port))
    return "a process or a connection of the kernel uses RDMA on " + port.id() + ", or that cannot be known";
  return {};
}

Result<SelfTest> self_test(Kernel& kernel, Port& port, const Qos& want, const SelfTestOptions& options) {
  const Driver& driver = driver_for(port.kernel_driver, &kernel.root, port.netdev);
  const auto before = read(kernel, port, keys_of(expected_of(driver, want, {})));
  if (!before) return before.error();
  const Qos wanted = expected_of(driver, want, *before);
  auto record = state::load_originals(options.directory, state::kSelfTestFile);
  if (!record) return record.error();
  // An earlier test of the port that was killed has the settings from before.
  if (state::find_original(*record, port) == record->end()) (*record)[state::port_key(port)] = before->values;
  if (auto saved = save_record(options.directory, *record); !saved) return saved.error();
  SelfTest out;
  Tester tester(kernel, port, options, driver, wanted);
  for (SettingId id : driver.order) {
    if (!has_value(setting_of(id), wanted)) continue;
    if (options.in_use(port)) out.stopped = "a process has begun to use RDMA on " + port.id();
    if (!out.stopped.empty()) break;
    out.steps.push_back(tester.write_once(id, wanted));
  }
  const bool had_carrier = port.carrier.value_or(false);
  auto ended = end_self_test(kernel, {&port, 1}, options.directory, options.in_use);
  if (!ended) return ended.error();
  out.restored = std::move(*ended);
  (void)tester.await_carrier(had_carrier);
  (void)settle(kernel, port);
  return out;
}

Result<Changes> end_self_test(Kernel& kernel, std::span<Port> ports, const std::string& directory,
                              const UseCheck& in_use) {
  auto record = state::load_originals(directory, state::kSelfTestFile);
  if (!record) return record.error();
  Changes all;
  bool changed = false;
  for (Port& port : ports) {
    if (state::find_original(*record, port) == record->end()) continue;
    // As the test itself did, it does not wait for the maintenance window.
    const Changes changes = restore(kernel, port, *record, {.in_use = in_use, .window = Maintenance::open});
    all.insert(all.end(), changes.begin(), changes.end());
    // What the port does not offer any more cannot come back by waiting.
    if (std::ranges::all_of(changes, is_back)) state::forget(*record, port, own_keys(port));
    changed = true;
  }
  if (changed)
    if (auto saved = save_record(directory, *record); !saved) return saved.error();
  return all;
}

}  // namespace fabric::qos
