// SPDX-License-Identifier: Apache-2.0
// `topo` of whole machines in tests/golden/topo: the project's own, and those of the corpus if it is present.
// FABRIC_UPDATE_GOLDEN=1 writes the files; look at the difference and at the picture before the commit.
#include "ctl/output/table.h"
#include "ctl/topo/svg.h"
#include "ctl/topo/text.h"
#include "node/topology.h"
#include "node/topology_xml.h"
#include "support/corpus.h"
#include "support/golden.h"
#include "support/machines.h"
#include "support/test.h"

namespace fabric {
namespace {

void expect_both(const std::string& name, const Node& node) {
  ctl::TopoView view = ctl::topo_view(node);
  view.width = 120;
  test::expect_golden("topo/" + name + ".txt", ctl::folded(ctl::topo_text(view), 120));
  test::expect_golden("topo/" + name + ".svg", ctl::topo_svg(view));
}

TEST(TopoGolden, OwnMachines) {
  expect_both("snc_server", test::snc_server());
  expect_both("broken_server", test::broken_server());
  expect_both("mi300x_server", test::mi300x_server());
  expect_both("grace_server", test::grace_server());
  expect_both("cloud_guest", test::cloud_guest());
}

class TopoGoldenCorpus : public test::OfCorpus, public ::testing::WithParamInterface<const char*> {};

TEST_P(TopoGoldenCorpus, TextAndPicture) {
  const auto topology = load_topology_xml(corpus + "/hwloc-xml/" + GetParam() + ".xml");
  if (!topology && topology.error().code == ENOENT) GTEST_SKIP() << "not in this corpus";
  ASSERT_TRUE(topology) << topology.error().text();
  Node node;
  node.topology = *topology;
  expect_both(GetParam(), node);
}

INSTANTIATE_TEST_SUITE_P(Corpus, TopoGoldenCorpus,
                         ::testing::Values("psmgmt__jwb0001", "psmgmt__jwb0004", "psmgmt__dp-dam01", "psmgmt__j3c053",
                                           "mpibind__coral-lassen", "fluxcore__sierra", "mpibind__cts1-pascal",
                                           "fluxcore__tuo.SPX", "mpibind__epyc-corona", "mpibind__g4dnmetal",
                                           "nixl__p4d.24xl", "nixl__p5.48xl", "nixl__g5.48xl", "hwloc__nvidiaDGX2",
                                           "hwloc__24em64t-2n6c2t-pci", "psmgmt__mel3001"),
                         [](const auto& machine) {
                           std::string name = machine.param;
                           for (char& c : name)
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           return name;
                         });

}  // namespace
}  // namespace fabric
