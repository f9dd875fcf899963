// SPDX-License-Identifier: Apache-2.0
// The versions of the kernel's ABI that a provider of libibverbs supports, from its file.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "node/host.h"

namespace fabric::host {

// match_min_abi_version and match_max_abi_version of struct verbs_device_ops (libibverbs/driver.h of rdma-core 65), by
// the name of the driver in that struct; libibverbs skips a device whose abi_version is outside of them (match_device()
// in libibverbs/init.c). `file` is an ELF file of x86-64 or AArch64, or the lines of to_text(). The result
// may include structs of other types that begin with the same members.
std::map<std::string, AbiRange> parse_provider_abis(std::string_view file);

// A line "bnxt_re 1 1" for each, so that a capture can record them.
std::string to_text(const std::map<std::string, AbiRange>& abis);

}  // namespace fabric::host
