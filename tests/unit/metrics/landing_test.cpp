// SPDX-License-Identifier: Apache-2.0
// The page of / for people. tests/integration/landing looks at the golden file in a browser.
#include "exporter/http/landing.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "support/diagnosed.h"
#include "support/golden.h"
#include "support/ports.h"

namespace fabric::exporter {
namespace {

using test::count_of;
using test::has;

constexpr int64_t kWall = 1'790'000'000;

// What the page is made of, of a machine as a literal.
struct Shown {
  explicit Shown(int rails = 8) : machine(rails) {}
  test::Healthy machine;
  std::vector<Ack> acks;
  std::vector<CollectorRun> runs{{"topology", "", true, 0.1, ""}};
  std::chrono::seconds age{2};
  std::string silent;  // a device that has not answered for long

  [[nodiscard]] std::string page() const {
    const Clock::time_point now = machine.now.taken + age;
    Snapshot snapshot{machine.now, machine.plan, runs, {}};
    for (const Port& port : machine.now.ports)
      snapshot.ages.push_back({port.rdma, machine.now.taken - std::chrono::seconds(port.rdma == silent ? 90 : 0)});
    PageContext context;
    context.before = &machine.before;
    context.policy = &machine.policy;
    context.acks = acks;
    context.wall = kWall;
    return render_landing(snapshot, find(snapshot, context), context, now);
  }
};

std::vector<std::string> all(const std::string& page, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<std::string> out;
  for (auto match = std::sregex_iterator(page.begin(), page.end(), expression); match != std::sregex_iterator();
       ++match)
    out.push_back((*match)[1]);
  return out;
}

// A port without a link, PFC off on two, a device that does not answer, one finding that is known.
Shown faulty() {
  Shown out;
  test::down(out.machine, 2, 2);
  test::lose_link(out.machine, 2);
  for (const char* port : {"mlx5_0/1", "mlx5_1/1"}) {
    Change& pfc = out.machine.change(port, "pfc");
    pfc.outcome = Outcome::pending;
    pfc.from = "none";
  }
  out.machine.now.agent->running = false;
  out.acks = {{"agent", "host", 0, kWall + 3600, "root", "under repair until Monday"}};
  out.machine.now.ports[5].unread = {"ethtool statistics: Operation not permitted (EPERM)"};
  out.machine.now.ports[6].rate.reset();
  out.silent = "mlx5_7";
  return out;
}

TEST(Landing, EqualsTheGoldenFile) {
  const std::regex version("<dd>" FABRIC_VERSION "</dd>");
  test::expect_golden("exporter_landing.html", std::regex_replace(faulty().page(), version, "<dd>-</dd>"));
}

TEST(Landing, AHealthyNodeHasNothingToDo) {
  const std::string page = Shown().page();
  EXPECT_TRUE(has(page, "<p class=\"verdict\">OK</p>"));
  EXPECT_TRUE(has(page, "Nothing: no check found a problem."));
  EXPECT_FALSE(has(page, "class=\"card")) << page;
  EXPECT_TRUE(has(page, "leaf0<small>"));
  EXPECT_EQ(count_of(page, "<span class=\"tone ok\">ok</span>"), 8u);
  EXPECT_TRUE(has(page, "GPU0 PIX mlx5_0."));
  EXPECT_TRUE(has(page, "running, mode enforce"));
}

TEST(Landing, ADeviceThatDoesNotAnswerIsNotOk) {
  Shown shown;
  shown.silent = "mlx5_3";
  EXPECT_TRUE(has(shown.page(), "<p class=\"verdict\">UNKNOWN</p>"));
  EXPECT_TRUE(has(shown.page(), "no answer from mlx5_3</h3>"));
  Shown never;
  never.runs.push_back({"reader", "mlx5_9", false, 3, ""});
  EXPECT_TRUE(has(never.page(), "mlx5_9 does not answer."));
}

// Nothing checked is not OK, and absent is not zero.
TEST(Landing, BeforeTheFirstReadingNothingIsKnown) {
  const std::string page = render_landing({}, {}, {}, Clock::now());
  EXPECT_TRUE(has(page, "<p class=\"verdict\">UNKNOWN</p>"));
  EXPECT_TRUE(has(page, "Nothing has been checked yet"));
  EXPECT_FALSE(has(page, "0 checks"));
  EXPECT_EQ(count_of(page, "Not known yet"), 3u) << "diagnosis, ports, topology\n" << page;
  Snapshot unread;
  unread.runs = {{"topology", "", false, 0.1, "hwloc: Permission denied"}};
  EXPECT_TRUE(has(render_landing(unread, {}, {}, Clock::now()), "Not known: hwloc: Permission denied"));
  EXPECT_FALSE(has(page, "has neither GPUs nor NICs"));
}

// Names that come from outside this process: firmware, drivers, switches, files.
Shown named(const std::string& name) {
  Shown out = faulty();
  out.machine.now.hostname = name;
  out.machine.now.agent->mode = out.machine.now.agent->held = out.machine.now.agent->config_error = name;
  out.machine.now.unseen = {name};
  out.runs.push_back({"ethtool", name, false, 1, name});
  out.acks[0].comment = name;
  for (Gpu& gpu : out.machine.now.topology.gpus) gpu.model = gpu.root = name;
  for (Nic& nic : out.machine.now.topology.nics) nic.netdevs = {name};
  for (Neighbor& neighbor : out.machine.now.neighbors.heard) neighbor.system_name = neighbor.port_id = name;
  for (Port& port : out.machine.now.ports) port.unread = {name};
  out.machine.change("mlx5_0/1", "pfc").from = name;
  return out;
}

TEST(Landing, TextFromOutsideStaysText) {
  const std::string attack = "\"'><script>alert(1)</script><img src=x onerror=y>&amp;\x1b[31m\xe2\x80\xae\xff";
  const std::string page = named(attack).page(), tame = named("!quiet").page();
  for (const char* sign : {"<script", "<img", "\x1b", "\xe2\x80\xae", "\xff", "\"'>"})
    EXPECT_FALSE(has(page, sign)) << sign;
  EXPECT_TRUE(has(page, "&lt;script&gt;"));
  const auto tags = [](const std::string& text) { return all(text, "<([^>]*)>"); };
  EXPECT_EQ(tags(page), tags(tame)) << "the same elements and attributes, whatever the names are";
}

TEST(Landing, NothingRunsAndNothingComesFromElsewhere) {
  std::string page = faulty().page();
  for (const char* forbidden : {"<script", " style=\"", " src=", " onload", "javascript:", "@import", "url("})
    EXPECT_FALSE(has(page, forbidden)) << forbidden;
  for (const std::string& link : all(page, "href=\"([^\"]*)\""))
    EXPECT_TRUE(link.starts_with("#") || link == "metrics" || link.starts_with("-/")) << link;
  EXPECT_TRUE(has(page, "<style>" + std::string(kLandingStyle) + "</style>"));
  unsigned char hash[32];
  ASSERT_EQ(::gnutls_hash_fast(GNUTLS_DIG_SHA256, kLandingStyle.data(), kLandingStyle.size(), hash), 0);
  gnutls_datum_t raw{hash, sizeof hash}, encoded{};
  ASSERT_EQ(::gnutls_base64_encode2(&raw, &encoded), 0);
  const std::string text(reinterpret_cast<char*>(encoded.data), encoded.size);
  ::gnutls_free(encoded.data);
  EXPECT_TRUE(content_policy().starts_with("default-src 'none'; style-src 'sha256-" + text + "';")) << content_policy();
  EXPECT_FALSE(has(content_policy(), "unsafe"));
}

// Hundreds of ports and findings do not make a page of megabytes.
TEST(Landing, AHugeNodeHasAPageOfBoundedSize) {
  Shown huge;
  for (int i = 0; i < 1000; ++i) {
    Port port = huge.machine.now.ports[0];
    port.rdma = "mlx5_" + std::to_string(100 + i);
    port.state = 1;
    port.unread = {"reason " + std::to_string(i)};
    if (i % 2 == 0) test::make_virtual(port);
    huge.machine.now.ports.push_back(port);
  }
  const std::string page = huge.page();
  EXPECT_LT(page.size(), 400'000u);
  EXPECT_TRUE(has(page, "more, virtual functions last: fabric-agentctl status"));
  EXPECT_TRUE(has(page, " more</li>"));
}

}  // namespace
}  // namespace fabric::exporter
