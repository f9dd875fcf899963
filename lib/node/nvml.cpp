// SPDX-License-Identifier: Apache-2.0
#include "node/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <future>
#include <memory>

#include "base/parse.h"
#include "base/thread.h"
#include "kernel/pci/pci.h"

namespace fabric::nvml {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr unsigned kMaxDevices = 1'024;

// nvml.h: nvmlReturn_t, nvmlDevice_t and nvmlPciInfo_t as the functions of these versions have them.
using NvmlStatus = int;
constexpr NvmlStatus kSuccess = 0;
using NvmlHandle = void*;
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct NvmlLibrary {
  NvmlStatus (*init)() = nullptr;
  NvmlStatus (*shutdown)() = nullptr;
  NvmlStatus (*count)(unsigned*) = nullptr;
  NvmlStatus (*handle)(unsigned, NvmlHandle*) = nullptr;
  NvmlStatus (*pci_info)(NvmlHandle, PciInfo*) = nullptr;
  NvmlStatus (*uuid)(NvmlHandle, char*, unsigned) = nullptr;
  NvmlStatus (*name)(NvmlHandle, char*, unsigned) = nullptr;
  NvmlStatus (*minor)(NvmlHandle, unsigned*) = nullptr;
};

template <class Function>
bool find_symbol(void* library, const char* symbol, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, symbol));
  return out != nullptr;
}

std::string text_of(NvmlStatus (*query)(NvmlHandle, char*, unsigned), NvmlHandle device) {
  std::array<char, 128> text{};
  if (query(device, text.data(), text.size() - 1) != kSuccess) return {};
  return clean_text(text.data());
}

// The library stays loaded: after a timeout the thread that queries it may still be inside.
Result<std::vector<ListedGpu>> query() {
  void* file = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (file == nullptr) return error(ELIBACC, kLibrary);
  NvmlLibrary library;
  const bool whole =
      find_symbol(file, "nvmlInit_v2", library.init) && find_symbol(file, "nvmlShutdown", library.shutdown) &&
      find_symbol(file, "nvmlDeviceGetCount_v2", library.count) &&
      find_symbol(file, "nvmlDeviceGetHandleByIndex_v2", library.handle) &&
      find_symbol(file, "nvmlDeviceGetPciInfo_v3", library.pci_info) &&
      find_symbol(file, "nvmlDeviceGetUUID", library.uuid) && find_symbol(file, "nvmlDeviceGetName", library.name) &&
      find_symbol(file, "nvmlDeviceGetMinorNumber", library.minor);
  if (!whole) return error(ENOSYS, kLibrary);

  if (const NvmlStatus failed = library.init(); failed != kSuccess)
    return error(EPROTO, std::string(kLibrary) + ": nvmlInit says " + std::to_string(failed));
  std::vector<ListedGpu> found;
  unsigned count = 0;
  const NvmlStatus failed = library.count(&count);
  for (unsigned index = 0; failed == kSuccess && index < std::min(count, kMaxDevices); ++index) {
    NvmlHandle handle = nullptr;
    PciInfo info{};
    if (library.handle(index, &handle) != kSuccess || library.pci_info(handle, &info) != kSuccess) continue;
    info.bus_id[sizeof info.bus_id - 1] = '\0';
    const auto address = pci::parse_address(info.bus_id);  // "00000000:17:00.0"
    if (!address) continue;
    ListedGpu& device = found.emplace_back();
    device.pci = pci::address_text(*address);
    device.index = index;
    device.uuid = text_of(library.uuid, handle);
    device.name = text_of(library.name, handle);
    if (unsigned minor = 0; library.minor(handle, &minor) == kSuccess) device.minor = minor;
  }
  library.shutdown();
  if (failed != kSuccess)
    return error(EPROTO, std::string(kLibrary) + ": nvmlDeviceGetCount says " + std::to_string(failed));
  return found;
}

}  // namespace

Result<std::vector<ListedGpu>> devices(std::chrono::milliseconds patience) {
  const auto promise = std::make_shared<std::promise<Result<std::vector<ListedGpu>>>>();
  auto answer = promise->get_future();
  if (auto started = run_detached([promise] { promise->set_value(query()); }); !started)
    return error(started.error().code, std::string(kLibrary) + ": " + started.error().what);
  if (answer.wait_for(patience) != std::future_status::ready) return error(ETIMEDOUT, kLibrary);
  return answer.get();
}

void complete(const std::vector<ListedGpu>& devices, Topology& topology) {
  for (const ListedGpu& device : devices)
    for (Gpu& gpu : topology.gpus) {
      if (gpu.pci != device.pci) continue;
      if (gpu.uuid.empty()) gpu.uuid = device.uuid;
      if (gpu.model.empty()) gpu.model = device.name;
      if (gpu.vendor_index.empty()) gpu.vendor_index = {device.index};
      if (!gpu.minor) gpu.minor = device.minor;
    }
}

bool is_wanted(const Topology& topology) {
  return std::ranges::any_of(topology.gpus, [](const Gpu& gpu) {
    return gpu.vendor == kNvidia && (gpu.uuid.empty() || gpu.model.empty() || gpu.vendor_index.empty());
  });
}

}  // namespace fabric::nvml
