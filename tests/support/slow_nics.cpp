// SPDX-License-Identifier: Apache-2.0
#include "support/slow_nics.h"

#include <algorithm>

namespace fabric::test {
namespace {

class Fake final : public ethtool::Statistics {
 public:
  explicit Fake(std::shared_ptr<DriverStatistics> said) : said_(std::move(said)) {}
  Result<std::vector<Counter>> read(const std::string& netdev) override { return said_->read(netdev); }

 private:
  std::shared_ptr<DriverStatistics> said_;
};

}  // namespace

std::string add_rdma_nic(Tree& tree, const std::string& device, const std::string& netdev, const std::string& pci) {
  const std::string parent = "pci0000:16/0000:16:01.0", function = add_pci(tree, {parent, pci});
  const std::string port = function + "/infiniband/" + device + "/ports/1", net = function + "/net/" + netdev;
  tree.link("sys/class/infiniband/" + device, "../../devices/" + parent + "/" + pci + "/infiniband/" + device);
  tree.link(function + "/infiniband/" + device + "/device", "../../../" + pci);
  tree.link(function + "/driver", "../../../../bus/pci/drivers/mlx5_core").folder("sys/bus/pci/drivers/mlx5_core");
  tree.file(port + "/state", "4: ACTIVE\n")
      .file(port + "/phys_state", "5: LinkUp\n")
      .file(port + "/link_layer", "Ethernet\n");
  tree.file(port + "/gid_attrs/ndevs/0", netdev + "\n")
      .file(port + "/gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
  tree.file(port + "/hw_counters/np_cnp_sent", "17\n").file(port + "/hw_counters/out_of_sequence", "3\n");
  tree.link("sys/class/net/" + netdev, "../../devices/" + parent + "/" + pci + "/net/" + netdev);
  tree.link(net + "/device", "../../../" + pci);
  tree.file(net + "/carrier", "1\n")
      .file(net + "/ifindex", "7\n")
      .file(net + "/dev_port", "0\n")
      .file(net + "/speed", "400000\n");
  return function;
}

void DriverStatistics::set(const std::string& netdev, const std::string& counter, uint64_t value) {
  std::lock_guard lock(mutex_);
  auto& counters = counters_[netdev];
  auto known =
      std::find_if(counters.begin(), counters.end(), [&](const Counter& each) { return each.name == counter; });
  if (known == counters.end()) counters.push_back({counter, value});
  else known->value = value;
}

void DriverStatistics::fail(const std::string& netdev, int code) {
  std::lock_guard lock(mutex_);
  failures_[netdev] = code;
}

void DriverStatistics::hang(const std::string& netdev) {
  std::lock_guard lock(mutex_);
  hung_.insert(netdev);
}

void DriverStatistics::answer(const std::string& netdev) {
  std::lock_guard lock(mutex_);
  hung_.erase(netdev);
  changed_.notify_all();
}

bool DriverStatistics::is_waiting(const std::string& netdev) const {
  std::lock_guard lock(mutex_);
  const auto found = waiting_.find(netdev);
  return found != waiting_.end() && found->second > 0;
}

unsigned DriverStatistics::asked(const std::string& netdev) const {
  std::lock_guard lock(mutex_);
  const auto found = asked_.find(netdev);
  return found == asked_.end() ? 0 : found->second;
}

Result<std::vector<Counter>> DriverStatistics::read(const std::string& netdev) {
  std::unique_lock lock(mutex_);
  ++asked_[netdev];
  ++waiting_[netdev];
  changed_.wait(lock, [&] { return !hung_.contains(netdev); });
  --waiting_[netdev];
  if (const int code = failures_[netdev]; code != 0) return error(code, netdev + ": statistics");
  return counters_[netdev];
}

SlowNics::SlowNics() {
  add_pci(tree, {"pci0000:16", "0000:16:01.0", "0x8086", "0x352a", "0x060400"});
  add_rdma_nic(tree, "mlx5_0", "eth2", "0000:17:00.0");
  add_rdma_nic(tree, "mlx5_1", "eth3", "0000:17:00.1");
  for (const char* netdev : {"eth2", "eth3"})
    for (const char* counter : {"rx_packets", "rx_prio3_pause_duration", "rx_discards_phy"})
      statistics->set(netdev, counter, 0);
}

SlowNics::~SlowNics() {
  for (const char* netdev : {"eth2", "eth3"}) statistics->answer(netdev);
}

std::function<Result<Kernel>(const std::string&)> SlowNics::open() const {
  return [statistics = statistics](const std::string& root) -> Result<Kernel> {
    auto kernel = open_kernel(root);
    if (kernel) kernel->statistics = std::make_unique<Fake>(statistics);
    return kernel;
  };
}

}  // namespace fabric::test
