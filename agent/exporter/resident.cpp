// SPDX-License-Identifier: Apache-2.0
#include "exporter/resident.h"

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace fabric::exporter {
namespace {

void forget(uintptr_t begin, uintptr_t end) {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  begin &= ~(page - 1);
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

int forget_object(dl_phdr_info* object, size_t, void*) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) == 0) forget(begin, begin + segment.p_filesz);
  }
  return 0;
}

}  // namespace

void forget_start() { ::dl_iterate_phdr(forget_object, nullptr); }

}  // namespace fabric::exporter
