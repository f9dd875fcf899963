// SPDX-License-Identifier: Apache-2.0
#include "node/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <future>
#include <memory>

#include "base/parse.h"
#include "base/thread.h"
#include "kernel/pci/pci.h"
#include "node/gpu.h"

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
// nvmlUtilization_t: percent of time in which a kernel ran, and memory was read or written.
struct Utilization {
  unsigned gpu, memory;
};
constexpr unsigned kUnknownState = 32;  // NVML_PSTATE_UNKNOWN

struct NvmlLibrary {
  NvmlStatus (*init)() = nullptr;
  NvmlStatus (*shutdown)() = nullptr;
  NvmlStatus (*count)(unsigned*) = nullptr;
  NvmlStatus (*handle)(unsigned, NvmlHandle*) = nullptr;
  NvmlStatus (*pci_info)(NvmlHandle, PciInfo*) = nullptr;
  NvmlStatus (*uuid)(NvmlHandle, char*, unsigned) = nullptr;
  NvmlStatus (*name)(NvmlHandle, char*, unsigned) = nullptr;
  NvmlStatus (*minor)(NvmlHandle, unsigned*) = nullptr;
  // May be absent.
  NvmlStatus (*utilization)(NvmlHandle, Utilization*) = nullptr;
  NvmlStatus (*performance_state)(NvmlHandle, unsigned*) = nullptr;  // nvmlPstates_t
  NvmlStatus (*link_generation)(NvmlHandle, unsigned*) = nullptr;
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

std::optional<unsigned> number_of(NvmlStatus (*query)(NvmlHandle, unsigned*), NvmlHandle device) {
  unsigned number = 0;
  if (query == nullptr || query(device, &number) != kSuccess) return std::nullopt;
  return number;
}

// The generation of the link last: the questions before it may have woken the GPU.
std::optional<GpuLoad> load_of(const NvmlLibrary& library, NvmlHandle device) {
  Utilization use{};
  if (library.utilization == nullptr || library.utilization(device, &use) != kSuccess) return std::nullopt;
  GpuLoad out{.busy = use.gpu};
  out.performance_state = number_of(library.performance_state, device);
  if (out.performance_state == kUnknownState) out.performance_state.reset();
  out.link_generation = number_of(library.link_generation, device);
  return out;
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
  (void)find_symbol(file, "nvmlDeviceGetUtilizationRates", library.utilization);
  (void)find_symbol(file, "nvmlDeviceGetPerformanceState", library.performance_state);
  (void)find_symbol(file, "nvmlDeviceGetCurrPcieLinkGeneration", library.link_generation);

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
    device.minor = number_of(library.minor, handle);
    device.load = load_of(library, handle);
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
      gpu.load = device.load;
    }
}

bool is_wanted(const Topology& topology) {
  return std::ranges::any_of(topology.gpus, [](const Gpu& gpu) {
    return gpu.vendor == kNvidia && (gpu.uuid.empty() || gpu.model.empty() || gpu.vendor_index.empty());
  });
}

bool is_load_wanted(const Topology& topology) {
  return std::ranges::any_of(topology.gpus, [&](const Gpu& gpu) {
    return gpu.vendor == kNvidia && gpu::is_slower_than_equals(topology, gpu);
  });
}

std::string to_text(const std::vector<ListedGpu>& devices) {
  const auto optional = [](const std::optional<unsigned>& number) { return number ? std::to_string(*number) : ""; };
  std::string text;
  for (const ListedGpu& device : devices) {
    text += device.pci + "\t" + std::to_string(device.index) + "\t" + optional(device.minor) + "\t" + device.uuid +
            "\t" + device.name;
    if (const auto& load = device.load)
      text += "\t" + std::to_string(load->busy) + "\t" + optional(load->performance_state) + "\t" +
              optional(load->link_generation);
    text += "\n";
  }
  return text;
}

std::vector<ListedGpu> parse_devices(std::string_view text) {
  std::vector<ListedGpu> out;
  for (const std::string_view line : split(text, '\n')) {
    const auto field = split(line, '\t');
    if (field.size() != 5 && field.size() != 8) continue;
    const auto index = parse_number<unsigned>(field[1]);
    if (!index) continue;
    ListedGpu& device = out.emplace_back(ListedGpu{std::string(field[0]), *index, std::string(field[3]),
                                                   std::string(field[4]), parse_number<unsigned>(field[2])});
    if (field.size() == 5) continue;
    if (const auto busy = parse_number<unsigned>(field[5]))
      device.load = GpuLoad{*busy, parse_number<unsigned>(field[6]), parse_number<unsigned>(field[7])};
  }
  return out;
}

}  // namespace fabric::nvml
