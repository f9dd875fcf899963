// SPDX-License-Identifier: Apache-2.0
// Captured machines: a few simulated servers in tests/corpus, and captures of real servers, which are kept outside the
// project.
#pragma once

#include "base/json.h"
#include "kernel/telemetry.h"
#include "support/test.h"

namespace fabric::test {

// $FABRIC_CORPUS, or ../shared/corpus relative to the source tree; nullopt: there is none, and tests are skipped.
std::optional<std::string> corpus_directory();

// A test that requires the corpus.
class OfCorpus : public testing::Test {
 protected:
  void SetUp() override {
    const auto found = corpus_directory();
    if (!found) GTEST_SKIP() << "no corpus: set FABRIC_CORPUS";
    corpus = *found;
  }
  std::string corpus;
};

// The expected properties of the corpus' machines of a kind ("hwloc-xml", "sysfs-snapshot"), by name of the machine.
std::map<std::string, Json> oracle_of(const std::string& corpus, std::string_view kind);

// The path of an archive in tests/corpus.
std::string own_archive(const std::string& name);
// The archives of healthy machines in tests/corpus and in the corpus, if there is one, sorted.
std::vector<std::string> healthy_archives();
// The name of the machine in an archive.
std::string machine_of(const std::string& archive);

// A tar archive (with any compression that tar knows), unpacked into a temporary folder that the destructor removes. A
// machine of healthy_archives() that the corpus has with a planted fault only is restored: the lost part is a copy of
// an equal one.
class Unpacked {
 public:
  explicit Unpacked(const std::string& archive);  // throws std::runtime_error
  ~Unpacked();
  Unpacked(const Unpacked&) = delete;
  Unpacked& operator=(const Unpacked&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  // The folder that contains sys/: the top of the archive or its only folder.
  [[nodiscard]] std::string root() const;

 private:
  std::string path_;
};

// Calls `each` for every machine in tests/corpus and in ib-sysfs of the corpus, with the folder that contains sys/.
void each_rdma_machine(const std::function<void(const std::filesystem::path& root)>& each);

// A port of such a machine with its counter files, read without the product's code.
struct CapturedPort {
  std::string device, number;
  std::vector<Counter> hw, pma;
};
std::vector<CapturedPort> captured_ports(const std::filesystem::path& root);

// Parses the output of `ethtool -S`: "     rx_prio3_pause: 11". Names may contain colons.
std::vector<Counter> printed_by_ethtool(const std::string& text);

}  // namespace fabric::test
