// SPDX-License-Identifier: Apache-2.0
// libnvidia-ml.so.1 with two GPUs, as far as sys/nvml.cpp uses it (signatures of nvml.h, driver 550). FAKE_NVML in the
// environment: "mismatch" (nvmlInit fails as after an upgrade without a reload), "hang", "huge" (more GPUs than there
// can be), "mute" (a GPU that answers nothing). Compiled with FAKE_NVML_PARTIAL it has no nvmlDeviceGetUUID.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSuccess = 0, kUninitialized = 1, kInvalid = 2, kMismatch = 18, kLost = 15;
bool initialized = false;

bool is(const char* what) {
  const char* given = std::getenv("FAKE_NVML");
  return given != nullptr && std::strcmp(given, what) == 0;
}

unsigned number(void* device) { return static_cast<unsigned>(reinterpret_cast<uintptr_t>(device)) - 1; }

int text(void* device, char* out, unsigned size, const char* format) {
  if (is("mute") && number(device) == 1) return kLost;
  std::snprintf(out, size, format, number(device));
  return kSuccess;
}

}  // namespace

extern "C" {

struct PciInfo {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

int nvmlInit_v2() {
  if (is("hang")) ::pause();
  if (is("mismatch")) return kMismatch;
  initialized = true;
  return kSuccess;
}
int nvmlShutdown() {
  initialized = false;
  return kSuccess;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  if (!initialized) return kUninitialized;
  *count = is("huge") ? 4'000'000'000U : 2;
  return kSuccess;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index >= 2) return kInvalid;
  *device = reinterpret_cast<void*>(static_cast<uintptr_t>(index) + 1);
  return kSuccess;
}
int nvmlDeviceGetPciInfo_v3(void* device, PciInfo* info) {
  info->bus = number(device) == 0 ? 0x3b : 0xaf;
  std::snprintf(info->bus_id, sizeof info->bus_id, "%08X:%02X:00.0", 0, info->bus);
  return kSuccess;
}
#ifndef FAKE_NVML_PARTIAL
int nvmlDeviceGetUUID(void* device, char* out, unsigned size) { return text(device, out, size, "GPU-0000-%u"); }
#endif
int nvmlDeviceGetName(void* device, char* out, unsigned size) { return text(device, out, size, "NVIDIA Test %u"); }
// nvmlUtilization_t. GPU 0 works, GPU 1 is idle.
struct Utilization {
  unsigned gpu, memory;
};
int nvmlDeviceGetUtilizationRates(void* device, Utilization* use) {
  if (is("mute") && number(device) == 1) return kLost;
  *use = {number(device) == 0 ? 35U : 0U, 7};
  return kSuccess;
}
int nvmlDeviceGetPerformanceState(void* device, unsigned* state) {
  *state = number(device) == 0 ? 0 : 32;  // NVML_PSTATE_UNKNOWN
  return kSuccess;
}
int nvmlDeviceGetCurrPcieLinkGeneration(void* device, unsigned* generation) {
  *generation = number(device) == 0 ? 4 : 1;
  return kSuccess;
}
int nvmlDeviceGetMinorNumber(void* device, unsigned* minor) {
  if (is("mute") && number(device) == 1) return kLost;
  *minor = 7 - number(device);
  return kSuccess;
}
}
