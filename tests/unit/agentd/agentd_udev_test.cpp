// SPDX-License-Identifier: Apache-2.0
// What udev tells: a device that comes or goes is looked for at once. The messages are udev's own format, sent to its
// multicast group in a network namespace of ours. Needs root; skips without.
#include <arpa/inet.h>
#include <linux/netlink.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <atomic>

#include "base/fd.h"
#include "support/running_agent.h"

namespace fabric::agentd {
namespace {

// MurmurHash2, by which udev's socket filter tells subsystems apart (src/basic/MurmurHash2.c of systemd 252).
uint32_t murmur(const std::string& text) {
  constexpr uint32_t kMultiply = 0x5bd1e995;
  uint32_t hash = static_cast<uint32_t>(text.size());
  size_t at = 0;
  for (; at + 4 <= text.size(); at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, text.data() + at, 4);
    word *= kMultiply;
    word ^= word >> 24;
    word *= kMultiply;
    hash = (hash * kMultiply) ^ word;
  }
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[at + i])); };
  const size_t rest = text.size() - at;
  if (rest == 3) hash ^= byte(2) << 16;
  if (rest >= 2) hash ^= byte(1) << 8;
  if (rest >= 1) {
    hash ^= byte(0);
    hash *= kMultiply;
  }
  hash ^= hash >> 13;
  hash *= kMultiply;
  return hash ^ (hash >> 15);
}

// struct monitor_netlink_header of src/libsystemd/sd-device/device-monitor.c; the properties follow.
struct UdevHeader {
  char prefix[8] = "libudev";
  uint32_t magic = htonl(0xfeedcafe), header_size = sizeof(UdevHeader), properties_offset = sizeof(UdevHeader);
  uint32_t properties_length = 0, subsystem_hash = 0, devtype_hash = 0, tags_high = 0, tags_low = 0;
};

std::string udev_message(const std::string& action, const std::string& subsystem, const std::string& path) {
  std::string properties;
  for (const std::string& each :
       {"ACTION=" + action, "DEVPATH=" + path, "SUBSYSTEM=" + subsystem, std::string("SEQNUM=4711")})
    properties += each + '\0';
  UdevHeader header;
  header.properties_length = static_cast<uint32_t>(properties.size());
  header.subsystem_hash = htonl(murmur(subsystem));
  return std::string(reinterpret_cast<const char*>(&header), sizeof header) + properties;
}

class Udev : public RunningAgent {
 protected:
  // libsystemd listens only where /run/udev/control shows that udev runs.
  void SetUp() override {
    if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) GTEST_SKIP() << "needs the right to make namespaces";
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", "/run", "tmpfs", 0, nullptr) != 0)
      GTEST_SKIP() << "needs the right to mount";
    ASSERT_EQ(::mkdir("/run/udev", 0755), 0);
    ASSERT_TRUE(std::ofstream("/run/udev/control").good());
    open_kernel_here();
    start(environment([this](const Policy&) {
            ++scans_;
            return std::vector<Port>{};
          }),
          "mode = \"audit\"\nreread = \"1h\"\n");
    ASSERT_TRUE(scans_become(1));
  }

  bool scans_become(unsigned count) {
    return test::becomes([&] { return scans_ >= count; });
  }

  static void tell(const std::string& action, const std::string& subsystem, const std::string& path) {
    const Fd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT));
    sockaddr_nl group{};
    group.nl_family = AF_NETLINK;
    group.nl_groups = 2;  // MONITOR_GROUP_UDEV: what udev has finished with
    const std::string message = udev_message(action, subsystem, path);
    ASSERT_EQ(
        ::sendto(fd.get(), message.data(), message.size(), 0, reinterpret_cast<const sockaddr*>(&group), sizeof group),
        static_cast<ssize_t>(message.size()))
        << std::strerror(errno);
  }

  std::atomic<unsigned> scans_ = 0;
};

// A GPU that comes or goes makes compute NICs of host NICs, or the other way round.
TEST_F(Udev, GpusRdmaDevicesAndNetdevsThatComeOrGoAreARescan) {
  const std::vector<std::array<const char*, 3>> messages{
      {"remove", "pci", "/devices/pci0000:16/0000:16:01.0/0000:1b:00.0"},
      {"add", "pci", "/devices/pci0000:16/0000:16:01.0/0000:1b:00.0"},
      {"add", "infiniband", "/devices/pci0000:16/0000:17:00.0/infiniband/mlx5_0"},
      {"add", "net", "/devices/pci0000:16/0000:17:00.0/net/eth2"}};
  for (const auto& [action, subsystem, path] : messages) {
    const unsigned before = scans_;
    tell(action, subsystem, path);
    EXPECT_TRUE(scans_become(before + 1)) << action << " " << subsystem;
  }
}

// Of these none is looked at; the one behind them is, and has been told later.
TEST_F(Udev, OthersAreNot) {
  const unsigned before = scans_;
  tell("add", "block", "/devices/pci0000:16/0000:16:02.0/0000:20:00.0/nvme/nvme0/nvme0n1");
  tell("add", "net", "/devices/virtual/net/veth7");
  // Longer than a rescan waits for its burst to be over.
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  EXPECT_EQ(scans_, before);
  tell("add", "pci", "/devices/pci0000:16/0000:16:01.0/0000:1b:00.0");
  EXPECT_TRUE(scans_become(before + 1));
}

}  // namespace
}  // namespace fabric::agentd
