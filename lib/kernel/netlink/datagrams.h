// SPDX-License-Identifier: Apache-2.0
// What waits on a netlink socket, several datagrams by one system call, received into memory that is used again.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "base/result.h"

namespace fabric {

struct Datagram {
  std::span<const std::byte> bytes;  // the first of them, where there was no room for all
  bool whole = true;
  bool from_kernel = true;  // else some process has sent it
};

class Datagrams {
 public:
  // Buffer size. Pages beyond the received data are never touched, so it costs address space, not memory. Dumps fill
  // 32 kB (Linux 6.12 net/netlink/af_netlink.c, netlink_dump and netlink_recvmsg). A single answer may be larger: a
  // link's with 64 kB of alternative names and 64 kB for each table of its functions (net/core/rtnetlink.c,
  // if_nlmsg_size; nla_len has 16 bits) is the largest that we request.
  static constexpr size_t kRoom = 256 * 1024;

  explicit Datagrams(size_t room = kRoom);
  ~Datagrams();
  Datagrams(const Datagrams&) = delete;
  Datagrams& operator=(const Datagrams&) = delete;

  // Waits for nothing: EAGAIN where nothing waits. Good until the next call.
  Result<std::span<const Datagram>> receive(int fd);

  // The buffer of the calling thread; a nested request gets another one.
  class OfThread {
   public:
    explicit OfThread(size_t room = kRoom);  // `room` where it has none yet
    ~OfThread();
    OfThread(const OfThread&) = delete;
    OfThread& operator=(const OfThread&) = delete;
    Datagrams* operator->() const { return held_.get(); }

   private:
    std::unique_ptr<Datagrams> held_;
  };

 private:
  static constexpr size_t kMost = 4;  // an answer and its ACK; of a dump some

  size_t room_;
  std::byte* memory_;  // null: there was none
  std::array<Datagram, kMost> received_;
};

}  // namespace fabric
