// SPDX-License-Identifier: Apache-2.0
#include "node/nvml.h"

#include "support/test.h"

namespace fabric {
namespace {

using test::has;

// What the probe prints with the library of this folder in reach, in the mood that fake_nvml.cpp knows.
std::string probed(const std::string& folder, const std::string& mood = "", const std::string& patience = "60000") {
  const std::string command = "LD_LIBRARY_PATH='" + folder + "' FAKE_NVML='" + mood + "' '" NVML_PROBE "' " + patience;
  std::string out;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::array<char, 512> part{};
  while (std::fgets(part.data(), part.size(), pipe) != nullptr) out += part.data();
  return ::pclose(pipe) == 0 ? out : out + "failed";
}

const std::string kWhole = FABRIC_NVML_DIR "/whole", kPartial = FABRIC_NVML_DIR "/partial";

TEST(Nvml, ListsGpusAsSysfsNamesThem) {
  EXPECT_EQ(probed(kWhole), "0 0000:3b:00.0 GPU-0000-0 NVIDIA Test 0 7\n1 0000:af:00.0 GPU-0000-1 NVIDIA Test 1 6\n");
  EXPECT_EQ(probed(kWhole, "mute"), "0 0000:3b:00.0 GPU-0000-0 NVIDIA Test 0 7\n1 0000:af:00.0   -1\n")
      << "one GPU is lost";
  EXPECT_EQ(probed(kWhole, "huge"), probed(kWhole)) << "what has no handle is not there";
}

TEST(Nvml, WhateverIsWrongIsAnOrdinaryAbsence) {
  EXPECT_TRUE(has(probed(kPartial), "ENOSYS"));
  EXPECT_TRUE(has(probed(kWhole, "mismatch"), "nvmlInit says 18"));
  EXPECT_TRUE(has(probed(kWhole, "hang", "50"), "ETIMEDOUT"));
  std::ofstream(kPartial + "/../libnvidia-ml.so.1") << "no library";
  EXPECT_TRUE(has(probed(FABRIC_NVML_DIR), "ELIBACC"));
}

TEST(Nvml, FillsWhatFilesDidNotTell) {
  Topology topology;
  for (const char* pci : {"0000:3b:00.0", "0000:af:00.0", "0000:d8:00.0"})
    topology.gpus.push_back({{.pci = pci, .vendor = 0x10de}});
  topology.gpus[0].model = "as the file says";
  EXPECT_TRUE(nvml::is_wanted(topology));
  nvml::complete({{"0000:3b:00.0", 0, "GPU-a", "as NVML says", 7}, {"0000:af:00.0", 1, "GPU-b", "B", {}}}, topology);
  EXPECT_EQ(topology.gpus[0].model, "as the file says");
  EXPECT_EQ(topology.gpus[0].uuid, "GPU-a");
  EXPECT_EQ(topology.gpus[0].minor, 7u);
  EXPECT_EQ(topology.gpus[1].vendor_index, std::vector<unsigned>{1});
  EXPECT_FALSE(topology.gpus[1].minor);
  EXPECT_EQ(topology.gpus[2].uuid, "") << "not in its list";
  topology.gpus.pop_back();
  EXPECT_FALSE(nvml::is_wanted(topology)) << "all is known, no GPU need wake up";
  topology.gpus[1].vendor = 0x1002;
  topology.gpus[1].uuid.clear();
  EXPECT_FALSE(nvml::is_wanted(topology)) << "AMD's";
}

// The services run for months in a sandbox without GPUs.
TEST(Nvml, OnlyTheProgramThatAPersonRunsAsks) {
  const std::string source = FABRIC_SOURCE_DIR;
  std::string users;
  for (const char* folder : {"/agent", "/lib"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source + folder))
      if (has(test::slurp(entry.path()), "\"node/nvml.h\"")) users += entry.path().string().substr(source.size()) + " ";
  for (const char* service : {"/agent/exporter", "/agent/agentd", "/lib/node/scan", "/lib/enforce"})
    EXPECT_FALSE(has(users, service));
  EXPECT_TRUE(has(users, "/agent/ctl/topo/topo.cpp"));
}

}  // namespace
}  // namespace fabric
