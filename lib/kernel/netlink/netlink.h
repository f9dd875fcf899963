// SPDX-License-Identifier: Apache-2.0
// Netlink: a live socket (libnl), a recorded tree, or a simulated NIC of the tests.
#pragma once

#include <chrono>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string_view>

#include "base/bytes.h"
#include "base/result.h"

struct nl_sock;  // libnl's

namespace fabric {

// A netlink message without its nlmsghdr.
struct Message {
  uint16_t type = 0;
  Bytes payload;
};

class Netlink {
 public:
  virtual ~Netlink() = default;
  // Sends one request (NLM_F_REQUEST is added) and returns every reply up to the ACK (NLM_F_ACK is added unless it is a
  // dump) or NLMSG_DONE. An NLMSG_ERROR with a negative errno is an Error with that errno. ETIMEDOUT: no answer within
  // two seconds; E2BIG: more than 65,536 answers.
  virtual Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) = 0;
  // A dump of any length: `take` gets each reply as it arrives and returns false to stop. The dump is not repeated:
  // after an error (ETIMEDOUT: not complete within `patience`; EAGAIN: the dump is inconsistent; ECANCELED: `take`
  // stopped) the replies so far are invalid.
  using Take = std::function<bool(uint16_t type, View8 payload)>;
  virtual Result<void> dump(uint16_t type, View8 payload, std::chrono::milliseconds patience, const Take& take);
};

// A live socket of the protocol (NETLINK_ROUTE, NETLINK_GENERIC, NETLINK_RDMA).
Result<std::unique_ptr<Netlink>> open_netlink(int protocol);

struct NetlinkSocketFree {
  void operator()(nl_sock* socket) const;
};
using NetlinkSocket = std::unique_ptr<nl_sock, NetlinkSocketFree>;

// A separate socket for notifications, so that they do not mix with replies. Nonblocking, with a receive buffer for
// some thousand messages.
class NotificationSocket {
 public:
  // Joins the multicast groups of the protocol (RTNLGRP_*, or those of a generic netlink family).
  static Result<NotificationSocket> open(int protocol, std::initializer_list<uint32_t> groups);
  [[nodiscard]] int fd() const;  // readable when a notification waits

  struct Batch {
    std::vector<Message> messages;
    bool lost = false;  // ENOBUFS, or the kernel could not build a message
  };
  // All waiting notifications, up to a limit (the next call returns the rest).
  Batch drain();

 private:
  explicit NotificationSocket(NetlinkSocket socket) : socket_(std::move(socket)) {}
  NetlinkSocket socket_;
};

// Appends attributes to a payload.
class AttrWriter {
 public:
  AttrWriter& bytes(uint16_t type, View8 value);
  AttrWriter& u8(uint16_t type, uint8_t value) { return pod(type, value); }
  AttrWriter& u16(uint16_t type, uint16_t value) { return pod(type, value); }
  AttrWriter& u32(uint16_t type, uint32_t value) { return pod(type, value); }
  AttrWriter& u64(uint16_t type, uint64_t value) { return pod(type, value); }
  AttrWriter& flag(uint16_t type) { return bytes(type, {}); }
  AttrWriter& text(uint16_t type, std::string_view value);   // with the terminating NUL
  AttrWriter& nest(uint16_t type, const AttrWriter& inner);  // sets NLA_F_NESTED
  template <class Struct>
  AttrWriter& pod(uint16_t type, const Struct& value) {
    return bytes(type, std::as_bytes(std::span(&value, 1)));
  }
  template <class Struct>
  AttrWriter& header(const Struct& value) {  // a family header in front of the attributes
    return append(std::as_bytes(std::span(&value, 1)));
  }
  [[nodiscard]] const Bytes& data() const { return out_; }

 private:
  AttrWriter& append(View8 bytes);  // and zeros up to a multiple of 4
  Bytes out_;
};

// One attribute of a message; type without NLA_F_NESTED and NLA_F_NET_BYTEORDER.
struct Attr {
  uint16_t type = 0;
  View8 value;
  [[nodiscard]] std::optional<uint8_t> u8() const { return pod<uint8_t>(); }
  [[nodiscard]] std::optional<uint16_t> u16() const { return pod<uint16_t>(); }
  [[nodiscard]] std::optional<uint32_t> u32() const { return pod<uint32_t>(); }
  [[nodiscard]] std::optional<uint64_t> u64() const { return pod<uint64_t>(); }
  [[nodiscard]] std::string_view raw_text() const;  // up to the first NUL; valid as long as the message
  [[nodiscard]] std::string text() const;           // raw_text() by clean_text()
  // The struct; nullopt: the attribute is shorter. The rest of a longer attribute (of a newer kernel) is ignored.
  template <class Struct>
  [[nodiscard]] std::optional<Struct> pod() const {
    if (value.size() < sizeof(Struct)) return std::nullopt;
    Struct out;
    std::memcpy(&out, value.data(), sizeof out);
    return out;
  }
};

// The attributes of a payload after `skip` bytes of family header (aligned to 4). Never reads past the end: a
// malformed rest is dropped. Repeated and zero types are kept (ethtool statistics use both).
std::vector<Attr> parse_attributes(View8 payload, size_t skip = 0);
// The first attribute of the type; its value, its text, the attributes in it. Null, nullopt or empty: there is none, or
// it is too short.
const Attr* find(const std::vector<Attr>& attributes, uint16_t type);
template <class Struct>
std::optional<Struct> value_of(const std::vector<Attr>& attributes, uint16_t type) {
  const Attr* attr = find(attributes, type);
  if (attr == nullptr) return std::nullopt;
  return attr->pod<Struct>();
}
std::string text_of(const std::vector<Attr>& attributes, uint16_t type);
std::vector<Attr> parse_nested(const std::vector<Attr>& attributes, uint16_t type);

// True if the request or its answer may be lost, so that a repetition can succeed, and an answer to a reading means
// nothing: ENOBUFS, ENOMEM, EINTR, EAGAIN (netlink(7), recvmsg(2)), ETIMEDOUT (talk()).
bool is_transient(const Error& failure);

// The failure with its subject: "eth0: read rings: ...".
Error error_about(const std::string& subject, const Error& failure);
// Sends one request and returns its first reply of type `answer`. Errors name the subject; EPROTO: there is no such
// reply.
Result<Message> ask(Netlink& netlink, uint16_t type, uint16_t answer, const AttrWriter& request,
                    const std::string& subject);
// The same, with the reply's payload parsed. Errors of `parse` name the subject as well.
template <class Value>
Result<Value> ask(Netlink& netlink, uint16_t type, uint16_t answer, const AttrWriter& request,
                  const std::string& subject, Result<Value> (*parse)(View8)) {
  const auto reply = ask(netlink, type, answer, request, subject);
  if (!reply) return reply.error();
  auto value = parse(reply->payload);
  if (!value) return error_about(subject, value.error());
  return value;
}
template <class Value>
Result<Value> ask(Netlink& netlink, uint16_t type, uint16_t answer, const AttrWriter& request,
                  const std::string& subject, Value (*parse)(View8)) {
  const auto reply = ask(netlink, type, answer, request, subject);
  if (!reply) return reply.error();
  return parse(reply->payload);
}
// Sends a request whose only answer is the ACK.
Result<void> request_change(Netlink& netlink, uint16_t type, const AttrWriter& request, const std::string& subject);

}  // namespace fabric
