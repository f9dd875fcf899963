// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/netlink.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/socket.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>

#include "base/find.h"
#include "base/parse.h"

namespace fabric {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kPatience = std::chrono::seconds(2);
constexpr int kReceiveBuffer = 4 << 20;
constexpr int kReadsPerDrain = 64;
constexpr int kDumpAttempts = 3;
// A host's tables have some thousands of entries. The limit keeps a router's tables from filling the memory.
constexpr size_t kMostReplies = 65'536;

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
    case NETLINK_SOCK_DIAG: return "sock_diag";
    default: return "netlink";
  }
}

// The kernel's own text in an NLMSG_ERROR (NLMSGERR_ATTR_MSG, linux/netlink.h), preceded by ": "; empty: none.
std::string extended_ack(const nlmsghdr& header, View8 payload) {
  if ((header.nlmsg_flags & NLM_F_ACK_TLVS) == 0 || payload.size() < sizeof(nlmsgerr)) return {};
  size_t skip = sizeof(nlmsgerr);
  auto verdict = load<nlmsgerr>(payload);
  if ((header.nlmsg_flags & NLM_F_CAPPED) == 0 && verdict.msg.nlmsg_len > NLMSG_HDRLEN)
    skip += NLMSG_ALIGN(verdict.msg.nlmsg_len - NLMSG_HDRLEN);
  std::string message = text_of(parse_attributes(payload, skip), NLMSGERR_ATTR_MSG);
  if (!message.empty()) message.insert(0, ": ");
  return message;
}

// libnl maps several errnos to one code of its own, so errno is used; it survives libnl's cleanup (free() preserves it
// since glibc 2.33).
Error failed(int protocol, std::string_view act, int code = errno) {
  return error(code, std::string(protocol_name(protocol)).append(": ").append(act));
}

// A nonblocking socket of the protocol.
Result<NetlinkSocket> open_socket(int protocol) {
  NetlinkSocket socket(nl_socket_alloc());
  if (!socket) return failed(protocol, "socket", ENOMEM);
  if (nl_connect(socket.get(), protocol) < 0 || nl_socket_set_nonblocking(socket.get()) < 0)
    return failed(protocol, "connect");
  nl_socket_disable_auto_ack(socket.get());  // talk() sets NLM_F_ACK
  // With CAP_NET_ADMIN, FORCE exceeds net.core.rmem_max; without it the plain option is used.
  const int fd = nl_socket_get_fd(socket.get()), on = 1;
  if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBuffer, sizeof kReceiveBuffer) < 0)
    (void)nl_socket_set_buffer_size(socket.get(), kReceiveBuffer, 0);
  // A refusal has the kernel's own text, and no copy of the request.
  (void)::setsockopt(fd, SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof on);
  (void)::setsockopt(fd, SOL_NETLINK, NETLINK_CAP_ACK, &on, sizeof on);
  return socket;
}

using TakeMessage = std::function<void(const nlmsghdr&, View8 payload)>;

// Passes on the messages of the next datagram, except those of other processes. EAGAIN: no datagram waits.
Result<void> receive(nl_sock* socket, int protocol, TakeMessage take) {
  const nl_recvmsg_msg_cb_t with_each = [](nl_msg* message, void* take_it) -> int {
    const nlmsghdr* header = nlmsg_hdr(message);
    if (nlmsg_get_src(message)->nl_pid == 0)
      (*static_cast<TakeMessage*>(take_it))(*header, View8(static_cast<const std::byte*>(nlmsg_data(header)),
                                                           static_cast<size_t>(nlmsg_datalen(header))));
    return NL_SKIP;  // libnl's own handling of ACKs and of the end of a dump
  };
  (void)nl_socket_modify_cb(socket, NL_CB_MSG_IN, NL_CB_CUSTOM, with_each, &take);
  if (nl_recvmsgs_default(socket) < 0) return failed(protocol, "receive");
  return {};
}

class LiveNetlink final : public Netlink {
 public:
  LiveNetlink(int protocol, NetlinkSocket socket) : protocol_(protocol), socket_(std::move(socket)) {}

  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    const bool dump = (flags & NLM_F_DUMP) == NLM_F_DUMP;
    if (!dump) flags = static_cast<uint16_t>(flags | NLM_F_ACK);
    for (int attempt = 1;; ++attempt) {
      std::vector<Message> messages;
      const auto take = [&](uint16_t kind, View8 bytes) {
        messages.push_back({kind, Bytes(bytes.begin(), bytes.end())});
        return true;
      };
      const auto interrupted = converse(type, flags, payload, kPatience, take);
      const bool lost = !interrupted && interrupted.error().code == ENOBUFS;
      if (dump && (lost || (interrupted && *interrupted)) && attempt < kDumpAttempts) continue;
      if (!interrupted) return interrupted.error();
      return messages;
    }
  }

  Result<void> dump(uint16_t type, View8 payload, std::chrono::milliseconds patience, const Take& take) override {
    const auto interrupted = converse(type, NLM_F_DUMP, payload, patience, take);
    if (!interrupted) return interrupted.error();
    if (*interrupted) return failed(protocol_, "the dump mixes two states", EAGAIN);
    return {};
  }

 private:
  // Sends a request and passes on its replies. True: NLM_F_DUMP_INTR, the dump mixes two states.
  Result<bool> converse(uint16_t type, uint16_t flags, View8 payload, std::chrono::milliseconds patience,
                        const Take& take) {
    const std::unique_ptr<nl_msg, decltype(&nlmsg_free)> request(
        nlmsg_alloc_size(static_cast<size_t>(nlmsg_total_size(static_cast<int>(payload.size())))), nlmsg_free);
    if (!request) return failed(protocol_, "send", ENOMEM);
    const uint32_t sequence = nl_socket_use_seq(socket_.get());
    nlmsg_put(request.get(), NL_AUTO_PORT, sequence, type, 0, flags | NLM_F_REQUEST);
    (void)nlmsg_append(request.get(), const_cast<std::byte*>(payload.data()), payload.size(), NLMSG_ALIGNTO);
    if (nl_send_auto(socket_.get(), request.get()) < 0) return failed(protocol_, "send");

    bool done = false, interrupted = false;
    size_t taken = 0;
    std::optional<Error> refused, broken;  // refused by the kernel; failed on our side
    const TakeMessage take_message = [&](const nlmsghdr& header, View8 reply) {
      if (header.nlmsg_seq != sequence || done || broken) return;
      if ((header.nlmsg_flags & NLM_F_DUMP_INTR) != 0) interrupted = true;
      switch (header.nlmsg_type) {
        case NLMSG_NOOP: return;
        case NLMSG_ERROR:
        case NLMSG_DONE: {
          done = true;
          int code = 0;
          if (reply.size() >= sizeof code) code = load<int>(reply);
          if (code < 0) refused = error(-code, std::string(protocol_name(protocol_)) + extended_ack(header, reply));
          return;
        }
        default:
          ++taken;
          if (!take(header.nlmsg_type, reply)) broken = failed(protocol_, "the rest is not wanted", ECANCELED);
      }
    };
    // The kernel answers requests, and begins dumps, before sendmsg() returns, so that usually no wait is needed.
    const auto deadline = Clock::now() + patience;
    while (!done && !broken) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) {
        broken = failed(protocol_, "no answer", ETIMEDOUT);
        break;
      }
      const auto received = receive(socket_.get(), protocol_, take_message);
      if (!broken && taken > kMostReplies) broken = failed(protocol_, "more than 65,536 answers", E2BIG);
      if (received || broken) continue;
      if (received.error().code != EAGAIN) {
        broken = received.error();
        break;
      }
      pollfd wait{nl_socket_get_fd(socket_.get()), POLLIN, 0};
      (void)::poll(&wait, 1, static_cast<int>(left.count()));
    }
    if (!broken && refused) return *refused;
    if (!broken) return interrupted;
    if ((flags & NLM_F_DUMP) != NLM_F_DUMP) return *broken;
    // On this socket the kernel would finish the dump before another one (EBUSY): the next request uses a new socket.
    auto socket = open_socket(protocol_);
    if (!socket) return socket.error();
    socket_ = std::move(*socket);
    return *broken;
  }

  int protocol_;
  NetlinkSocket socket_;
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
  auto socket = open_socket(protocol);
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
  for (int i = 0; i < kReadsPerDrain; ++i) {
    const auto received = receive(socket_.get(), 0, [&](const nlmsghdr& header, View8 payload) {
      batch.messages.push_back({header.nlmsg_type, Bytes(payload.begin(), payload.end())});
    });
    if (received) continue;
    if (received.error().code == EAGAIN) break;
    // ENOBUFS, or an errno that the kernel left when it could not build a notification (net/dcb/dcbnl.c).
    batch.lost = true;
  }
  return batch;
}

AttrWriter& AttrWriter::append(View8 bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  out_.resize(NLA_ALIGN(out_.size()));
  return *this;
}

AttrWriter& AttrWriter::bytes(uint16_t type, View8 value) {
  return header(nlattr{static_cast<uint16_t>(nla_attr_size(static_cast<int>(value.size()))), type}).append(value);
}

AttrWriter& AttrWriter::text(uint16_t type, std::string_view value) {
  const std::string terminated(value);
  return bytes(type, std::as_bytes(std::span(terminated.c_str(), terminated.size() + 1)));
}

AttrWriter& AttrWriter::nest(uint16_t type, const AttrWriter& inner) {
  return bytes(static_cast<uint16_t>(type | NLA_F_NESTED), inner.data());
}

std::string_view Attr::raw_text() const {
  const std::string_view raw = as_text(value);
  return raw.substr(0, raw.find('\0'));
}

std::string Attr::text() const { return clean_text(raw_text()); }

std::vector<Attr> parse_attributes(View8 payload, size_t skip) {
  payload = payload.subspan(std::min<size_t>(payload.size(), NLA_ALIGN(skip)));
  std::vector<Attr> out;
  int left = static_cast<int>(payload.size());
  // `left` becomes negative after a last attribute without its padding.
  for (auto* at = reinterpret_cast<const nlattr*>(payload.data()); left > 0 && nla_ok(at, left);
       at = nla_next(at, &left))
    out.push_back({static_cast<uint16_t>(nla_type(at)),
                   View8(static_cast<const std::byte*>(nla_data(at)), static_cast<size_t>(nla_len(at)))});
  return out;
}

const Attr* find(const std::vector<Attr>& attributes, uint16_t type) {
  return find_where(attributes, [type](const Attr& attr) { return attr.type == type; });
}

std::string text_of(const std::vector<Attr>& attributes, uint16_t type) {
  const Attr* attr = find(attributes, type);
  if (attr == nullptr) return {};
  return attr->text();
}

std::vector<Attr> parse_nested(const std::vector<Attr>& attributes, uint16_t type) {
  const Attr* nest = find(attributes, type);
  if (nest == nullptr) return {};
  return parse_attributes(nest->value);
}

bool is_transient(const Error& failure) {
  constexpr std::array kCodes{ENOBUFS, ENOMEM, EINTR, EAGAIN, ETIMEDOUT};
  return contains(kCodes, failure.code);
}

Error error_about(const std::string& subject, const Error& failure) {
  return error(failure.code, subject + ": " + failure.what);
}

Result<Message> ask(Netlink& netlink, uint16_t type, uint16_t answer, const AttrWriter& request,
                    const std::string& subject) {
  auto replies = netlink.talk(type, 0, request.data());
  if (!replies) return error_about(subject, replies.error());
  for (Message& reply : *replies)
    if (reply.type == answer) return std::move(reply);
  return error(EPROTO, subject + ": no answer in the kernel's reply");
}

Result<void> request_change(Netlink& netlink, uint16_t type, const AttrWriter& request, const std::string& subject) {
  auto replies = netlink.talk(type, 0, request.data());
  if (!replies) return error_about(subject, replies.error());
  return {};
}

}  // namespace fabric
