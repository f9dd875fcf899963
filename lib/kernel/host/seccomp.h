// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fabric {

// The architecture of this program as seccomp names it (linux/audit.h); 0: no filters are written for it.
#if defined(__x86_64__)
inline constexpr uint32_t kSeccompArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
inline constexpr uint32_t kSeccompArchitecture = AUDIT_ARCH_AARCH64;
#else
inline constexpr uint32_t kSeccompArchitecture = 0;
#endif

// The lower half of an argument in seccomp_data: process numbers, requests, flags and sizes fit it. Both architectures
// are little-endian.
constexpr size_t argument(size_t number) { return offsetof(seccomp_data, args) + number * sizeof(uint64_t); }

// Instructions of a filter (linux/filter.h), with the offset of a member of seccomp_data to load.
constexpr sock_filter load_word(size_t offset) {
  return BPF_STMT(static_cast<uint16_t>(BPF_LD | BPF_W | BPF_ABS), static_cast<uint32_t>(offset));
}
constexpr sock_filter skip_unless_equal(uint32_t value, uint8_t skipped) {
  return BPF_JUMP(static_cast<uint16_t>(BPF_JMP | BPF_JEQ | BPF_K), value, 0, skipped);
}
constexpr sock_filter skip_if_equal(uint32_t value, uint8_t skipped) {
  return BPF_JUMP(static_cast<uint16_t>(BPF_JMP | BPF_JEQ | BPF_K), value, skipped, 0);
}
constexpr sock_filter skip_unless_any_bit(uint32_t bits, uint8_t skipped) {
  return BPF_JUMP(static_cast<uint16_t>(BPF_JMP | BPF_JSET | BPF_K), bits, 0, skipped);
}
constexpr sock_filter answer_with(uint32_t action) { return BPF_STMT(static_cast<uint16_t>(BPF_RET | BPF_K), action); }

// Applies the filter to the calling thread and what it starts. Irrevocable. False, with errno set: not possible.
bool install_filter(const std::vector<sock_filter>& filter);

}  // namespace fabric
