// SPDX-License-Identifier: Apache-2.0
#include "node/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <future>
#include <thread>

#include "base/parse.h"
#include "kernel/pci/pci.h"

namespace fabric::nvml {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";
constexpr unsigned kMaxDevices = 1'024;

// nvml.h: nvmlReturn_t, nvmlDevice_t and nvmlPciInfo_t as the functions of these versions have them.
using Status = int;
constexpr Status kSuccess = 0;
using Handle = void*;
struct PciInfo {
  char bus_id_legacy[16];
  unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
  char bus_id[32];
};
static_assert(sizeof(PciInfo) == 68);

struct Library {
  Status (*init)() = nullptr;
  Status (*shutdown)() = nullptr;
  Status (*count)(unsigned*) = nullptr;
  Status (*handle)(unsigned, Handle*) = nullptr;
  Status (*pci_info)(Handle, PciInfo*) = nullptr;
  Status (*uuid)(Handle, char*, unsigned) = nullptr;
  Status (*name)(Handle, char*, unsigned) = nullptr;
  Status (*minor)(Handle, unsigned*) = nullptr;
};

template <class Function>
bool take(void* library, const char* symbol, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, symbol));
  return out != nullptr;
}

// It stays loaded: a thread of its own may still be inside.
Result<Library> load() {
  void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return error(ELIBACC, kLibrary);
  Library out;
  const bool whole =
      take(library, "nvmlInit_v2", out.init) && take(library, "nvmlShutdown", out.shutdown) &&
      take(library, "nvmlDeviceGetCount_v2", out.count) && take(library, "nvmlDeviceGetHandleByIndex_v2", out.handle) &&
      take(library, "nvmlDeviceGetPciInfo_v3", out.pci_info) && take(library, "nvmlDeviceGetUUID", out.uuid) &&
      take(library, "nvmlDeviceGetName", out.name) && take(library, "nvmlDeviceGetMinorNumber", out.minor);
  if (!whole) return error(ENOSYS, kLibrary);
  return out;
}

std::string text_of(Status (*ask)(Handle, char*, unsigned), Handle device) {
  std::array<char, 128> text{};
  if (ask(device, text.data(), text.size() - 1) != kSuccess) return {};
  return clean_text(text.data());
}

std::optional<Device> read_device(const Library& library, unsigned index) {
  Handle handle = nullptr;
  PciInfo info{};
  if (library.handle(index, &handle) != kSuccess || library.pci_info(handle, &info) != kSuccess) return std::nullopt;
  info.bus_id[sizeof info.bus_id - 1] = '\0';
  const auto address = pci::parse_address(info.bus_id);  // "00000000:17:00.0"
  if (!address) return std::nullopt;
  Device out;
  out.pci = pci::address_text(*address);
  out.index = index;
  out.uuid = text_of(library.uuid, handle);
  out.name = text_of(library.name, handle);
  if (unsigned minor = 0; library.minor(handle, &minor) == kSuccess) out.minor = minor;
  return out;
}

Result<std::vector<Device>> ask() {
  const auto library = load();
  if (!library) return library.error();
  if (const Status failed = library->init(); failed != kSuccess)
    return error(EPROTO, std::string(kLibrary) + ": nvmlInit says " + std::to_string(failed));
  std::vector<Device> found;
  unsigned count = 0;
  const Status failed = library->count(&count);
  for (unsigned index = 0; failed == kSuccess && index < std::min(count, kMaxDevices); ++index)
    if (auto device = read_device(*library, index)) found.push_back(std::move(*device));
  library->shutdown();
  if (failed != kSuccess)
    return error(EPROTO, std::string(kLibrary) + ": nvmlDeviceGetCount says " + std::to_string(failed));
  return found;
}

}  // namespace

Result<std::vector<Device>> devices(std::chrono::milliseconds patience) {
  std::promise<Result<std::vector<Device>>> promise;
  auto answer = promise.get_future();
  std::thread([promise = std::move(promise)]() mutable { promise.set_value(ask()); }).detach();
  if (answer.wait_for(patience) != std::future_status::ready) return error(ETIMEDOUT, kLibrary);
  return answer.get();
}

void complete(const std::vector<Device>& devices, Topology& topology) {
  for (const Device& device : devices)
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
