// SPDX-License-Identifier: Apache-2.0
// Captured machines: a few simulated servers in tests/corpus, and real ones, which live beside the project and not in
// it.
#pragma once

#include "base/json.h"
#include "kernel/telemetry.h"
#include "support/test.h"

namespace fabric::test {

// $FABRIC_CORPUS, else ../shared/corpus beside the source tree; absent when there is none. Tests skip then.
std::optional<std::string> corpus_directory();

// Tests that need it.
class OfCorpus : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = corpus_directory();
    if (!found) GTEST_SKIP() << "no corpus: set FABRIC_CORPUS";
    corpus = *found;
  }
  std::string corpus;
};

// What the corpus' oracle says of its machines of that kind ("hwloc-xml", "sysfs-snapshot"), by name.
std::map<std::string, Json> oracle_of(const std::string& corpus, std::string_view kind);

// An archive of tests/corpus.
std::string own_archive(const std::string& name);
// The archives of /sys trees in which nothing is broken, sorted, of tests/corpus and of the corpus if there is one; and
// the machine of such an archive.
std::vector<std::string> healthy_archives();
std::string machine_of(const std::string& archive);

// A tar archive (any compression that tar knows), unpacked into a temporary folder that goes away with the object.
class Unpacked {
 public:
  explicit Unpacked(const std::string& archive);  // throws std::runtime_error
  ~Unpacked();
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // The folder that holds sys/: the archive's top or the only folder in it.
  [[nodiscard]] std::string root() const;

 private:
  std::string path_;
};

// Each machine of tests/corpus and of the corpus' ib-sysfs, unpacked: the folder that holds its sys/.
void each_rdma_machine(const std::function<void(const std::filesystem::path& root)>& each);

// A port of such a machine with the files that hold a number, read without the product's code.
struct CapturedPort {
  std::string device, number;
  std::vector<Counter> hw, pma;
};
std::vector<CapturedPort> captured_ports(const std::filesystem::path& root);

// What `ethtool -S` printed: "     rx_prio3_pause: 11". Names may hold colons.
std::vector<Counter> printed_by_ethtool(const std::string& text);

}  // namespace fabric::test
