// SPDX-License-Identifier: Apache-2.0
// For LD_PRELOAD: RDMA netlink for kernels without it. Each request is sent as one for a link (RTM_GETLINK, which the
// kernel answers with one message of 1.4 kB and one acknowledgement, as RDMA's would be), and its answer is given
// RDMA's contents: the devices below /sys/class/infiniband, with the first values of their hw_counters files.
#include <dlfcn.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr int kMostFds = 4096;
constexpr uint16_t type_of(uint16_t command) { return static_cast<uint16_t>((RDMA_NL_NLDEV << 10) + command); }

// The last request to a socket.
struct Asked {
  std::atomic<bool> rdma = false;
  uint16_t type = 0;
  uint32_t device = 0;
};
std::array<Asked, kMostFds> sockets;

class Writer {
 public:
  void put(uint16_t type, const void* data, size_t size) {
    nlattr head{static_cast<uint16_t>(NLA_HDRLEN + size), type};
    bytes.append(reinterpret_cast<const char*>(&head), sizeof head).append(static_cast<const char*>(data), size);
    bytes.resize(NLA_ALIGN(bytes.size()), '\0');
  }
  template <class T>
  void number(uint16_t type, T value) {
    put(type, &value, sizeof value);
  }
  void text(uint16_t type, const std::string& value) { put(type, value.c_str(), value.size() + 1); }
  void nest(uint16_t type, const Writer& inside) { put(type | NLA_F_NESTED, inside.bytes.data(), inside.bytes.size()); }
  std::string bytes;
};

struct Device {
  std::string name, about, statistics, resources;
};

std::string statistics_of(uint32_t index, const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  for (const auto& file : std::filesystem::directory_iterator(folder))
    if (file.path().filename() != "lifespan") files.push_back(file.path());
  std::sort(files.begin(), files.end());
  Writer table, out;
  for (const auto& file : files) {
    uint64_t value = 0;
    std::ifstream(file) >> value;
    Writer entry;
    entry.text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, file.filename());
    entry.number(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value);
    table.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, entry);
  }
  out.number(RDMA_NLDEV_ATTR_DEV_INDEX, index);
  out.number(RDMA_NLDEV_ATTR_PORT_INDEX, uint32_t{1});
  out.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, table);
  return out.bytes;
}

std::string resources_of(uint32_t index, const std::string& name) {
  Writer table, out;
  for (const char* kind : {"pd", "cq", "qp", "cm_id", "mr", "ctx", "srq"}) {
    Writer entry;
    entry.text(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, kind);
    entry.number(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, uint64_t{index + 3});
    table.nest(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, entry);
  }
  out.number(RDMA_NLDEV_ATTR_DEV_INDEX, index);
  out.text(RDMA_NLDEV_ATTR_DEV_NAME, name);
  out.nest(RDMA_NLDEV_ATTR_RES_SUMMARY, table);
  return out.bytes;
}

const std::vector<Device>& devices() {
  static const std::vector<Device> all = [] {
    std::vector<Device> out;
    for (uint32_t index = 0;; ++index) {
      const std::string name = "mlx5_" + std::to_string(index);
      const std::filesystem::path folder = "/sys/class/infiniband/" + name + "/ports/1/hw_counters";
      if (!std::filesystem::exists(folder)) return out;
      Writer about;
      about.number(RDMA_NLDEV_ATTR_DEV_INDEX, index);
      about.text(RDMA_NLDEV_ATTR_DEV_NAME, name);
      about.number(RDMA_NLDEV_ATTR_PORT_INDEX, uint32_t{1});
      about.text(RDMA_NLDEV_ATTR_FW_VERSION, "28.39.1002");
      about.text(RDMA_NLDEV_ATTR_DEV_PROTOCOL, "roce");
      out.push_back({name, about.bytes, statistics_of(index, folder), resources_of(index, name)});
    }
  }();
  return all;
}

void append(std::string& out, uint16_t type, uint32_t sequence, const std::string& payload) {
  nlmsghdr head{static_cast<uint32_t>(NLMSG_HDRLEN + payload.size()), type, 0, sequence, 0};
  out.append(reinterpret_cast<const char*>(&head), sizeof head).append(payload);
}

std::string answer_to(const Asked& asked, uint32_t sequence) {
  std::string out;
  const Device* device = asked.device < devices().size() ? &devices()[asked.device] : nullptr;
  if (asked.type == type_of(RDMA_NLDEV_CMD_GET)) {
    for (const Device& each : devices()) append(out, asked.type, sequence, each.about);
  } else if (asked.type == type_of(RDMA_NLDEV_CMD_STAT_GET) && device) {
    append(out, asked.type, sequence, device->statistics);
  } else if (asked.type == type_of(RDMA_NLDEV_CMD_RES_GET) && device) {
    append(out, asked.type, sequence, device->resources);
  }
  return out;
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool is_ours(int fd) { return fd >= 0 && fd < kMostFds && sockets[static_cast<size_t>(fd)].rdma; }

}  // namespace

extern "C" {

int socket(int domain, int type, int protocol) {
  static auto* next = real<int(int, int, int)>("socket");
  const bool rdma = domain == AF_NETLINK && protocol == NETLINK_RDMA;
  const int fd = next(domain, type, rdma ? NETLINK_ROUTE : protocol);
  if (fd >= 0 && fd < kMostFds) sockets[static_cast<size_t>(fd)].rdma = rdma;
  return fd;
}

int close(int fd) {
  static auto* next = real<int(int)>("close");
  if (fd >= 0 && fd < kMostFds) sockets[static_cast<size_t>(fd)].rdma = false;
  return next(fd);
}

ssize_t sendmsg(int fd, const msghdr* message, int flags) {
  static auto* next = real<ssize_t(int, const msghdr*, int)>("sendmsg");
  if (!is_ours(fd)) return next(fd, message, flags);
  Asked& asked = sockets[static_cast<size_t>(fd)];
  const auto* head = static_cast<const nlmsghdr*>(message->msg_iov[0].iov_base);
  asked.type = head->nlmsg_type;
  asked.device = UINT32_MAX;
  const char* at = reinterpret_cast<const char*>(head) + NLMSG_HDRLEN;
  if (head->nlmsg_len >= NLMSG_HDRLEN + NLA_HDRLEN + 4)
    std::memcpy(&asked.device, at + NLA_HDRLEN, 4);  // the first attribute
  struct {
    nlmsghdr head;
    ifinfomsg link;
  } request{};
  request.head = *head;
  request.head.nlmsg_len = sizeof request;
  request.head.nlmsg_type = RTM_GETLINK;
  request.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
  request.link.ifi_index = 1;
  iovec part{&request, sizeof request};
  msghdr instead = *message;
  instead.msg_iov = &part;
  instead.msg_iovlen = 1;
  return next(fd, &instead, flags);
}

// libnl peeks for the size first: the answer is the same both times.
ssize_t recvmsg(int fd, msghdr* message, int flags) {
  static auto* next = real<ssize_t(int, msghdr*, int)>("recvmsg");
  const ssize_t got = next(fd, message, flags);
  if (!is_ours(fd) || got <= 0) return got;
  auto* head = static_cast<nlmsghdr*>(message->msg_iov[0].iov_base);
  if (head->nlmsg_type != RTM_NEWLINK) return got;
  const std::string answer = answer_to(sockets[static_cast<size_t>(fd)], head->nlmsg_seq);
  if (answer.empty()) {
    head->nlmsg_type = NLMSG_NOOP;
    return got;
  }
  std::memcpy(head, answer.data(), std::min(answer.size(), message->msg_iov[0].iov_len));
  return static_cast<ssize_t>(answer.size());
}
}
