// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <chrono>

#include "kernel/netlink/datagrams.h"

namespace fabric {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(2);
constexpr int kReceiveBuffer = 4 << 20;
constexpr int kReadsPerDrain = 64;
constexpr int kDumpAttempts = 3;
// A host's tables have some thousands of entries. The limit keeps a router's tables from filling memory.
constexpr size_t kMostReplies = 65'536;

constexpr size_t align4(size_t size) { return (size + 3) & ~size_t{3}; }

template <class Struct>
Struct load(View8 bytes) {
  Struct out;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

std::string_view protocol_name(int protocol) {
  switch (protocol) {
    case NETLINK_ROUTE: return "rtnetlink";
    case NETLINK_GENERIC: return "generic netlink";
    case NETLINK_RDMA: return "RDMA netlink";
    default: return "netlink";
  }
}

// The kernel's own sentence in an NLMSG_ERROR, with ": " in front, or nothing (NLMSGERR_ATTR_MSG, linux/netlink.h).
std::string extended_ack(const nlmsghdr& header, View8 payload) {
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) == 0 || payload.size() < sizeof(nlmsgerr)) return {};
  size_t skip = sizeof(nlmsgerr);
  auto verdict = load<nlmsgerr>(payload);
  if ((header.nlmsg_flags & NLM_F_CAPPED) == 0 && verdict.msg.nlmsg_len > NLMSG_HDRLEN)
    skip += align4(verdict.msg.nlmsg_len - NLMSG_HDRLEN);
  auto attributes = parse_attributes(payload, skip);
  const Attr* message = find(attributes, NLMSGERR_ATTR_MSG);
  return message != nullptr ? ": " + message->text() : std::string();
}

// libnl folds several errnos into one code of its own; errno itself outlives its tidying up (free() keeps it since
// glibc 2.33).
Error failed(int protocol, std::string_view act, int code = errno) {
  return error(code, std::string(protocol_name(protocol)).append(": ").append(act));
}

// A nonblocking socket of the protocol.
Result<NetlinkSocket> open_socket(int protocol) {
  NetlinkSocket socket(nl_socket_alloc());
  if (!socket) return failed(protocol, "socket", ENOMEM);
  if (nl_connect(socket.get(), protocol) < 0 || nl_socket_set_nonblocking(socket.get()) < 0)
    return failed(protocol, "connect");
  // FORCE goes beyond net.core.rmem_max with CAP_NET_ADMIN; without it the plain option must do.
  const int fd = nl_socket_get_fd(socket.get());
  if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer) < 0)
    (void)nl_socket_set_buffer_size(socket.get(), kReceiveBuffer, 0);
  return socket;
}

// The same with two comforts: the kernel's own words on a refusal, and no echo of the request in it.
Result<NetlinkSocket> open_talking_socket(int protocol) {
  auto socket = open_socket(protocol);
  if (!socket) return socket;
  const int fd = nl_socket_get_fd(socket->get()), on = 1;
  (void)::setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  (void)::setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  return socket;
}

// Calls `take(header, payload)` for each.
template <class Take>
void for_each_message(View8 datagram, const Take& take) {
  auto* header = reinterpret_cast<nlmsghdr*>(const_cast<std::byte*>(datagram.data()));
  for (int left = static_cast<int>(datagram.size()); nlmsg_ok(header, left); header = nlmsg_next(header, &left))
    take(*header, View8(static_cast<const std::byte*>(nlmsg_data(header)), static_cast<size_t>(nlmsg_datalen(header))));
}

// All but a stranger's.
void keep(std::span<const Datagram> datagrams, NotificationSocket::Batch& batch) {
  for (const Datagram& datagram : datagrams) {
    if (!datagram.from_kernel) continue;
    batch.lost |= !datagram.whole;
    for_each_message(datagram.bytes, [&](const nlmsghdr& header, View8 payload) {
      batch.messages.push_back({header.nlmsg_type, Bytes(payload.begin(), payload.end())});
    });
  }
}

// One conversation.
struct Replies {
  const Netlink::Take& take;
  size_t taken = 0;
  bool done = false;
  bool enough = false;
  bool interrupted = false;  // NLM_F_DUMP_INTR: the dump mixes two states
  std::optional<Error> failure{};
};

class LiveNetlink final : public Netlink {
 public:
  LiveNetlink(int protocol, NetlinkSocket socket) : protocol_(protocol), socket_(std::move(socket)) {}

  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    const bool dump = (flags & NLM_F_DUMP) == NLM_F_DUMP;
    for (int attempt = 1;; ++attempt) {
      auto sent = send(type, static_cast<uint16_t>(flags | NLM_F_REQUEST | (dump ? 0 : NLM_F_ACK)), payload);
      if (!sent) return sent.error();
      std::vector<Message> messages;
      const Take keep = [&](uint16_t kind, View8 bytes) {
        messages.push_back({kind, Bytes(bytes.begin(), bytes.end())});
        return true;
      };
      Replies replies{.take = keep};
      auto gathered = gather(replies, kPatience);
      const bool again = dump && attempt < kDumpAttempts;
      if (!gathered) {
        if (gathered.error().code == ENOBUFS && again) continue;
        return dump ? give_up(gathered.error()) : gathered.error();
      }
      if (replies.failure) return *replies.failure;
      if (replies.interrupted && again) continue;
      return messages;
    }
  }

  Result<void> dump(uint16_t type, View8 payload, std::chrono::milliseconds patience, const Take& take) override {
    auto sent = send(type, NLM_F_REQUEST | NLM_F_DUMP, payload);
    if (!sent) return sent.error();
    Replies replies{.take = take};
    auto gathered = gather(replies, patience);
    if (!gathered) return give_up(gathered.error());
    if (replies.failure) return *replies.failure;
    if (replies.interrupted) return failed(protocol_, "the dump mixes two states", EAGAIN);
    return {};
  }

  [[nodiscard]] uint32_t last_sequence() const override { return sequence_; }

 private:
  Result<void> send(uint16_t type, uint16_t flags, View8 payload) {
    nlmsghdr header{};
    header.nlmsg_len = static_cast<uint32_t>(NLMSG_HDRLEN + align4(payload.size()));
    header.nlmsg_type = type;
    header.nlmsg_flags = flags;
    header.nlmsg_seq = nl_socket_use_seq(socket_.get());
    header.nlmsg_pid = nl_socket_get_local_port(socket_.get());
    request_.assign(header.nlmsg_len, std::byte{0});
    std::memcpy(request_.data(), &header, sizeof header);
    std::copy(payload.begin(), payload.end(), request_.begin() + NLMSG_HDRLEN);
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    iovec part{request_.data(), request_.size()};
    msghdr message{};
    message.msg_name = &kernel;
    message.msg_namelen = sizeof kernel;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    ssize_t sent = 0;
    do sent = ::sendmsg(nl_socket_get_fd(socket_.get()), &message, 0);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) return failed(protocol_, "send");
    sequence_ = header.nlmsg_seq;
    return {};
  }

  // The kernel answers requests, and begins dumps, before sendmsg() returns: usually there is nothing to wait for.
  Result<void> gather(Replies& replies, std::chrono::milliseconds patience) {
    const Datagrams::OfThread space;
    const int fd = nl_socket_get_fd(socket_.get());
    const auto deadline = Clock::now() + patience;
    while (!replies.done) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return failed(protocol_, "no answer", ETIMEDOUT);
      const auto datagrams = space->receive(fd);
      if (!datagrams && datagrams.error().code != EAGAIN) return failed(protocol_, "receive", datagrams.error().code);
      if (datagrams) {
        if (auto taken = take_all(*datagrams, replies); !taken) return taken;
      } else {
        pollfd wait{fd, POLLIN, 0};
        (void)::poll(&wait, 1, static_cast<int>(left.count()));
      }
    }
    return {};
  }

  Result<void> take_all(std::span<const Datagram> datagrams, Replies& replies) const {
    for (const Datagram& datagram : datagrams) {
      if (!datagram.from_kernel) continue;
      if (!datagram.whole && load<nlmsghdr>(datagram.bytes).nlmsg_seq == sequence_)
        return failed(protocol_, "a longer answer than there is room for", EMSGSIZE);
      for_each_message(datagram.bytes, [&](const nlmsghdr& header, View8 payload) {
        if (header.nlmsg_seq == sequence_ && !replies.done && !replies.enough) take_message(header, payload, replies);
      });
    }
    if (replies.enough) return failed(protocol_, "the rest is not wanted", ECANCELED);
    if (replies.taken > kMostReplies) return failed(protocol_, "more than 65,536 answers", E2BIG);
    return {};
  }

  // The kernel would first finish this dump (EBUSY): the next request goes by another socket.
  Error give_up(Error why) {
    auto socket = open_talking_socket(protocol_);
    if (!socket) return socket.error();
    socket_ = std::move(*socket);
    return why;
  }

  void take_message(const nlmsghdr& header, View8 payload, Replies& replies) const {
    if ((header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) replies.interrupted = true;
    if (header.nlmsg_type == NLMSG_NOOP) return;
    if (header.nlmsg_type == NLMSG_ERROR || header.nlmsg_type == NLMSG_DONE) {
      replies.done = true;
      int code = payload.size() >= sizeof(int) ? load<int>(payload) : 0;
      if (code < 0)
        replies.failure = error(-code, std::string(protocol_name(protocol_)) + extended_ack(header, payload));
      return;
    }
    ++replies.taken;
    replies.enough = !replies.take(header.nlmsg_type, payload);
  }

  int protocol_;
  NetlinkSocket socket_;
  uint32_t sequence_ = 0;
  Bytes request_;  // the last, for its memory
};

}  // namespace

Result<void> Netlink::dump(uint16_t type, View8 payload, std::chrono::milliseconds, const Take& take) {
  auto replies = talk(type, NLM_F_DUMP, payload);
  if (!replies) return replies.error();
  for (const Message& reply : *replies)
    if (!take(reply.type, reply.payload)) return error(ECANCELED, "the rest is not wanted");
  return {};
}

void NetlinkSocketFree::operator()(nl_sock* socket) const { nl_socket_free(socket); }

Result<std::unique_ptr<Netlink>> open_netlink(int protocol) {
  auto socket = open_talking_socket(protocol);
  if (!socket) return socket.error();
  return std::unique_ptr<Netlink>(std::make_unique<LiveNetlink>(protocol, std::move(*socket)));
}

Result<NotificationSocket> NotificationSocket::open(int protocol, std::initializer_list<uint32_t> groups) {
  auto socket = open_socket(protocol);
  if (!socket) return socket.error();
  for (uint32_t group : groups)
    if (nl_socket_add_membership(socket->get(), static_cast<int>(group)) < 0)
      return failed(protocol, "group " + std::to_string(group));
  return NotificationSocket(std::move(*socket));
}

int NotificationSocket::fd() const { return nl_socket_get_fd(socket_.get()); }

NotificationSocket::Batch NotificationSocket::drain() {
  Batch batch;
  const Datagrams::OfThread space;
  for (int i = 0; i < kReadsPerDrain; ++i) {
    const auto datagrams = space->receive(fd());
    if (!datagrams && datagrams.error().code == EAGAIN) break;
    // ENOBUFS, or an errno that the kernel left when it could not build a notification (net/dcb/dcbnl.c).
    if (!datagrams) batch.lost = true;
    else keep(*datagrams, batch);
  }
  return batch;
}

}  // namespace fabric
