// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/datagrams.h"

#include <linux/netlink.h>
#include <sys/mman.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>

namespace fabric {
namespace {

thread_local std::unique_ptr<Datagrams> spare;

// Not of the heap, which gives memory back at a higher mark once it had a block of this size (mallopt(3),
// M_MMAP_THRESHOLD).
std::byte* map(size_t size) {
  void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  (void)::madvise(memory, size, MADV_NOHUGEPAGE);  // side by side those of some threads would get 2 MB for a byte
  return static_cast<std::byte*>(memory);
}

}  // namespace

Datagrams::Datagrams(size_t room) : room_(room), memory_(map(room * kMost)) {}

Datagrams::~Datagrams() {
  if (memory_ != nullptr) ::munmap(memory_, room_ * kMost);
}

Result<std::span<const Datagram>> Datagrams::receive(int fd) {
  if (memory_ == nullptr) return error(ENOMEM, "memory for datagrams");
  std::array<sockaddr_nl, kMost> from{};
  std::array<iovec, kMost> places;
  std::array<mmsghdr, kMost> headers{};
  for (size_t i = 0; i < kMost; ++i) {
    places[i] = {memory_ + i * room_, room_};
    msghdr& header = headers[i].msg_hdr;
    header.msg_name = &from[i];
    header.msg_namelen = sizeof from[i];
    header.msg_iov = &places[i];
    header.msg_iovlen = 1;
  }
  int count = 0;
  do count = ::recvmmsg(fd, headers.data(), kMost, MSG_DONTWAIT, nullptr);
  while (count < 0 && errno == EINTR);
  if (count < 0) return error(errno, "receive");
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    const bool whole = (headers[i].msg_hdr.msg_flags & MSG_TRUNC) == 0;
    received_[i] = {{memory_ + i * room_, headers[i].msg_len}, whole, from[i].nl_pid == 0};
  }
  return std::span<const Datagram>(received_.data(), static_cast<size_t>(count));
}

Datagrams::OfThread::OfThread(size_t room) : held_(spare ? std::move(spare) : std::make_unique<Datagrams>(room)) {}

Datagrams::OfThread::~OfThread() { spare = std::move(held_); }

}  // namespace fabric
