// SPDX-License-Identifier: Apache-2.0
// Files that gzip 1.12 and zlib 1.3 wrote, by the kind of their blocks.
#include "wire/gzip.h"

#include <gtest/gtest.h>

namespace fabric {
namespace {

std::string bytes_of(std::string_view hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    out.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  return out;
}

const std::string kStored = bytes_of("1f8b0800000000000203010300fcff61620a3e984a0103000000");
// With the name of a file, "c".
const std::string kFixed =
    bytes_of("1f8b0808000000000203630073f6f773f3748f0f70f68c0f300a70f175b4ade472c62206008a60ff2e28000000");
const std::string kDynamic = bytes_of(
    "1f8b080000000000020355923d0e42310c83774ed3fc346d07a62781de0247e01cdc1e04433f6f51d3d88e9de3f9b89df757bbbe2fc7bfb4"
    "5de62e173ed4aebdef3af09ef85f809940b7465667279374e45e2427bb77762666c29322b91f1564b23331d31d687d80a7a8a0d8199c1944"
    "9be45954b04adca16c6bdcc88ccb9af8604e8b2cc4bd1463bb785e124749528319da4c4984b97b934c4c6ec51be63c1a303d9b314b6af192"
    "de90b929988b7c215ac2a8f37b13bc90e07e91bfdd3f333b975d1a030000");
constexpr size_t kMost = 1000;

TEST(Gzip, EveryKindOfBlock) {
  EXPECT_EQ(gunzip(kStored, kMost), "ab\n");
  EXPECT_EQ(gunzip(kFixed, kMost), "CONFIG_PCI_P2PDMA=y\nCONFIG_PCI_P2PDMA=y\n");
  std::string text;
  for (int n = 0; n < 60; ++n) text += "CONFIG_" + std::to_string(n * n) + "=y\n";
  EXPECT_EQ(gunzip(kDynamic, kMost), text);
  EXPECT_EQ(gunzip(kDynamic, text.size()), text);
  EXPECT_EQ(gunzip(kDynamic, text.size() - 1), std::nullopt) << "too long";
  EXPECT_EQ(gunzip(kStored, 2), std::nullopt) << "too long";
}

TEST(Gzip, ADamagedFileHasNoText) {
  EXPECT_EQ(gunzip("", kMost), std::nullopt);
  EXPECT_EQ(gunzip("CONFIG_PCI_P2PDMA=y\nCONFIG_HSA_AMD_P2P=y\n", kMost), std::nullopt);
  for (const std::string& file : {kStored, kFixed, kDynamic}) {
    for (size_t size = 0; size < file.size(); ++size)
      EXPECT_EQ(gunzip(file.substr(0, size), kMost), std::nullopt) << size;
    for (size_t at = 0; at < file.size() * 8; ++at) {  // must not read or write beyond its buffers
      std::string damaged = file;
      damaged[at / 8] = static_cast<char>(damaged[at / 8] ^ (1 << (at % 8)));
      const auto text = gunzip(damaged, kMost);
      if (text) EXPECT_LE(text->size(), kMost);
    }
  }
}

}  // namespace
}  // namespace fabric
