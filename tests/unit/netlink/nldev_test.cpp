// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/nldev.h"

#include <linux/netlink.h>

#include "support/test.h"

namespace fabric {
namespace {

// Attribute numbers are written out as linux/rdma/rdma_netlink.h of 6.12 has them, so that the test does not repeat
// the code's own idea of them.
constexpr uint16_t kDevIndex = 1, kDevName = 2, kPortIndex = 3, kFwVersion = 5, kPortState = 12, kPhysState = 13;
constexpr uint16_t kResQp = 19, kResQpEntry = 20, kLqpn = 21, kType = 26, kPid = 28, kKernName = 29, kNdevIndex = 50,
                   kNdevName = 51;
constexpr uint16_t kProtocol = 67, kHwCounters = 80, kEntry = 81, kEntryName = 82, kEntryValue = 83;
constexpr uint16_t kNested = 0x8000;

template <class Number>
Bytes number(Number value) {
  auto raw = std::as_bytes(std::span(&value, 1));
  return {raw.begin(), raw.end()};
}
Bytes text(std::string_view value) {
  Bytes out;
  for (char c : value) out.push_back(std::byte(c));
  out.push_back(std::byte{0});
  return out;
}
Bytes operator+(Bytes a, const Bytes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
// struct nlattr: u16 length with header, u16 type, payload, padded to 4.
Bytes attr(uint16_t type, const Bytes& value) {
  Bytes out = number(static_cast<uint16_t>(4 + value.size())) + number(type) + value;
  out.resize((out.size() + 3) & ~size_t{3});
  return out;
}
// nla_put_u64_64bit() puts an empty attribute of type 0 first if the payload would not be aligned to 8.
Bytes u64_attr(uint16_t type, uint64_t value, bool pad) {
  return (pad ? attr(0, {}) : Bytes{}) + attr(type, number(value));
}

Bytes counter(const char* name, uint64_t value, bool pad) {
  return attr(kEntry | kNested, attr(kEntryName, text(name)) + u64_attr(kEntryValue, value, pad));
}
Bytes head(uint32_t device, const char* name) { return attr(kDevIndex, number(device)) + attr(kDevName, text(name)); }
Bytes statistics_reply() {
  return head(2, "mlx5_0") + attr(kPortIndex, number(1u)) +
         attr(kHwCounters | kNested, counter("np_cnp_sent", 17, true) + counter("RNR received", ~0ull, false));
}

TEST(NldevParse, DeviceHasEverythingTheKernelSays) {
  auto device = nldev::parse_device(head(2, "mlx5_0") + attr(kPortIndex, number(1u)) +
                                    attr(kFwVersion, text("28.39.1002")) + attr(kProtocol, text("roce")));
  ASSERT_TRUE(device);
  EXPECT_EQ(device->index, 2u);
  EXPECT_EQ(device->name, "mlx5_0");
  EXPECT_EQ(device->firmware, "28.39.1002");
  EXPECT_EQ(device->protocol, "roce");
}

TEST(NldevParse, SoftwareDeviceHasNoFirmware) {
  auto device = nldev::parse_device(head(0, "rxe0") + attr(kPortIndex, number(1u)));
  ASSERT_TRUE(device);
  EXPECT_EQ(device->firmware, "");
  EXPECT_EQ(device->protocol, "");
}

TEST(NldevParse, DeviceWithoutNameOrIndexIsAnError) {
  EXPECT_EQ(nldev::parse_device(attr(kDevIndex, number(1u))).error().code, EBADMSG);
  EXPECT_EQ(nldev::parse_device(attr(kDevName, text("mlx5_0"))).error().code, EBADMSG);
  EXPECT_EQ(nldev::parse_device(attr(kDevIndex, number(uint16_t{1})) + attr(kDevName, text("x"))).error().code,
            EBADMSG);
}

TEST(NldevParse, PortOfAnotherNetworkNamespaceHasNoNetdev) {
  Bytes bare = head(2, "mlx5_0") + attr(kPortIndex, number(1u)) + attr(kPortState, number(uint8_t{4})) +
               attr(kPhysState, number(uint8_t{5}));
  auto port = nldev::parse_port(bare);
  ASSERT_TRUE(port);
  EXPECT_EQ(port->state, 4);
  EXPECT_EQ(port->phys_state, 5);
  EXPECT_EQ(port->netdev, "");
  port = nldev::parse_port(bare + attr(kNdevIndex, number(7u)) + attr(kNdevName, text("ens1f0np0")));
  ASSERT_TRUE(port);
  EXPECT_EQ(port->netdev, "ens1f0np0");
}

TEST(NldevParse, StatisticsKeepNamesWithSpacesAndAllSixtyFourBits) {
  std::vector<Counter> expected{{"np_cnp_sent", 17}, {"RNR received", ~0ull}};
  EXPECT_EQ(nldev::parse_statistics(statistics_reply()), expected);
}

TEST(NldevParse, EveryTruncationGivesAPrefixOfTheCounters) {
  Bytes whole = statistics_reply();
  auto all = nldev::parse_statistics(whole);
  for (size_t size = 0; size < whole.size(); ++size) {
    auto some = nldev::parse_statistics(View8(whole).first(size));
    ASSERT_LE(some.size(), all.size());
    EXPECT_TRUE(std::equal(some.begin(), some.end(), all.begin())) << size;
  }
}

TEST(NldevParse, CounterWithoutValueIsAbsentNotZero) {
  Bytes entry = attr(kEntry | kNested, attr(kEntryName, text("out_of_buffer")));
  EXPECT_TRUE(nldev::parse_statistics(attr(kHwCounters | kNested, entry)).empty());
}

Bytes queue_pair(uint32_t number_of, const Bytes& port, const Bytes& owner) {
  return attr(kResQpEntry | kNested, port + attr(kLqpn, number(number_of)) + owner);
}

TEST(NldevParse, QueuePairsOfTheKernelAndOfOtherPortsDoNotCount) {
  Bytes one = attr(kPortIndex, number(1u)), two = attr(kPortIndex, number(2u));
  Bytes kernel = attr(kKernName, text("ib_core")), process = attr(kPid, number(4711u));
  Bytes table = queue_pair(1, one, kernel) + queue_pair(17, one, process) + queue_pair(18, two, process) +
                queue_pair(19, {}, process) +                                   // created, not yet bound to a port
                queue_pair(20, one, {}) +                                       // its process is dying
                queue_pair(21, one, kernel + attr(kType, number(uint8_t{2})));  // a connection, IB_QPT_RC
  auto count = nldev::parse_owners(head(2, "mlx5_0") + attr(kResQp | kNested, table), nldev::Object::qp, 1);
  ASSERT_TRUE(count);
  EXPECT_EQ(*count, (nldev::Owners{3, 2, 1}));
}

// One object as fill_res_qp_entry() and its like of Linux 6.12 write it: nests without the flag.
Bytes object(uint16_t entry, const Bytes& owner) {
  constexpr uint16_t kRqpn = 22, kState = 27;
  return attr(entry, attr(kPortIndex, number(1u)) + attr(kLqpn, number(17u)) + owner + attr(kRqpn, number(5u)) +
                         attr(kState, number(uint8_t{3})));
}
const Bytes kOfTheKernel = attr(kKernName, text("rpcrdma")), kOfAProcess = attr(kPid, number(4711u));

std::optional<nldev::Owners> known(const Result<nldev::Owners>& told) {
  return told ? std::optional(*told) : std::nullopt;
}

struct KindCase {
  nldev::Object kind;
  uint16_t type, table, entry;
};
constexpr std::array<KindCase, 3> kKindCases{
    {{nldev::Object::qp, 0x140a, 19, 20}, {nldev::Object::cq, 0x140c, 35, 36}, {nldev::Object::mr, 0x140d, 40, 41}}};

TEST(NldevParse, AnObjectWithoutAKernelNameIsAProcesss) {
  for (const KindCase& each : kKindCases) {
    const Bytes table = object(each.entry, kOfTheKernel) + object(each.entry, kOfAProcess) + object(each.entry, {}) +
                        object(each.entry, kOfAProcess);
    EXPECT_EQ(known(nldev::parse_owners(head(2, "mlx5_0") + attr(each.table, table), each.kind)), (nldev::Owners{3, 1}))
        << "one of them of a PID namespace beside this";
    EXPECT_EQ(known(nldev::parse_owners(head(2, "mlx5_0") + attr(each.table, {}), each.kind)), nldev::Owners());
  }
}

TEST(NldevParse, OwnersAreNeverCountedInPart) {
  for (const KindCase& each : kKindCases) {
    const Bytes whole =
        head(2, "mlx5_0") + attr(each.table, object(each.entry, kOfAProcess) + object(each.entry, kOfTheKernel));
    for (size_t size = 0; size < whole.size(); ++size)
      EXPECT_EQ(nldev::parse_owners(View8(whole).first(size), each.kind).error().code, EBADMSG) << size;
    EXPECT_EQ(known(nldev::parse_owners(whole, each.kind)), (nldev::Owners{1, 1}));
    Bytes cut_inside = object(each.entry, kOfTheKernel);
    cut_inside.resize(cut_inside.size() - 8);
    cut_inside[0] = std::byte(cut_inside.size());
    EXPECT_TRUE(nldev::parse_owners(attr(each.table, cut_inside), each.kind).ok()) << "an attribute less is no fault";
    cut_inside.resize(cut_inside.size() - 4);
    cut_inside[0] = std::byte(cut_inside.size());
    EXPECT_EQ(nldev::parse_owners(attr(each.table, cut_inside), each.kind).error().code, EBADMSG);
  }
  EXPECT_EQ(nldev::parse_owners(head(2, "mlx5_0") + attr(19, {}), nldev::Object::mr).error().code, EBADMSG)
      << "another kind's table";
}

// Answers the dump of objects with these payloads, or an errno.
class Objects : public Netlink {
 public:
  uint16_t type = 0;
  std::vector<Bytes> payloads;
  int failure = 0;
  std::chrono::milliseconds patience{};

  Result<std::vector<Message>> talk(uint16_t, uint16_t, View8) override { return error(EPROTO, "not as a whole"); }
  Result<void> dump(uint16_t asked, View8 request, std::chrono::milliseconds given, const Take& take) override {
    const Bytes of_the_device = attr(kDevIndex, number(2u));
    EXPECT_TRUE(std::equal(request.begin(), request.end(), of_the_device.begin(), of_the_device.end()))
        << "no port: it would leave out those that have none";
    EXPECT_EQ(asked, type);
    patience = given;
    for (const Bytes& payload : payloads) take(asked, payload);
    return failure != 0 ? Result<void>(error(failure, "fake")) : Result<void>();
  }
};

TEST(Nldev, OwnersOfAllMessagesOfADump) {
  for (const KindCase& each : kKindCases) {
    Objects rdma;
    rdma.type = each.type;
    const Bytes one =
        head(2, "mlx5_0") + attr(each.table, object(each.entry, kOfAProcess) + object(each.entry, kOfTheKernel));
    rdma.payloads.assign(1000, one);
    EXPECT_EQ(known(nldev::owners(rdma, 2, each.kind, std::chrono::milliseconds(70))), (nldev::Owners{1000, 1000}));
    EXPECT_EQ(rdma.patience.count(), 70);
    rdma.payloads[500].resize(one.size() - 4);
    EXPECT_EQ(nldev::owners(rdma, 2, each.kind, {}).error().code, EBADMSG) << "a message is cut";
    rdma.payloads = {one};
    for (int code : {EOPNOTSUPP, ETIMEDOUT}) {
      rdma.failure = code;
      EXPECT_EQ(nldev::owners(rdma, 2, each.kind, {}).error().code, code) << "and nothing of what came before";
    }
    rdma.payloads.clear();
    rdma.failure = 0;
    EXPECT_EQ(known(nldev::owners(rdma, 2, each.kind, {})), nldev::Owners())
        << "a dump without a message: there are none";
  }
}

// One device with one port, as the kernel answers it.
class OneDevice : public Netlink {
 public:
  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    auto asked = parse_attributes(payload);
    const Attr* device = find(asked, kDevIndex);
    bool dump = flags & NLM_F_DUMP;
    if (type == 0x1401 && dump) return std::vector<Message>{{type, head(2, "mlx5_0") + attr(kPortIndex, number(1u))}};
    if (!device || device->u32() != 2u) return error(EINVAL, "fake");
    if (type == 0x140a && dump) return queue_pairs(type);
    const Attr* port = find(asked, kPortIndex);
    if (!port || port->u32() != 1u || dump) return error(EINVAL, "fake");
    if (type == 0x1411) return std::vector<Message>{{type, statistics_reply()}};
    if (type == 0x1405)
      return std::vector<Message>{
          {type, head(2, "mlx5_0") + attr(kPortIndex, number(1u)) + attr(kPortState, number(uint8_t{1}))}};
    return error(EOPNOTSUPP, "fake");
  }

 private:
  static std::vector<Message> queue_pairs(uint16_t type) {
    Bytes mine = queue_pair(17, attr(kPortIndex, number(1u)), attr(kPid, number(1u)));
    return {{type, head(2, "mlx5_0") + attr(kResQp | kNested, mine + mine)},
            {type, head(2, "mlx5_0") + attr(kResQp | kNested, mine)}};
  }
};

TEST(Nldev, AsksTheDocumentedMessages) {
  OneDevice kernel;
  auto devices = nldev::devices(kernel);
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 1u);
  auto counters = nldev::statistics(kernel, 2, 1);
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->size(), 2u);
  auto port = nldev::port(kernel, 2, 1);
  ASSERT_TRUE(port);
  EXPECT_EQ(port->state, 1);
  auto busy = nldev::queue_pairs_in_use(kernel, 2, 1);
  ASSERT_TRUE(busy);
  EXPECT_EQ(*busy, 3u) << "a dump may come in several messages";
}

TEST(Nldev, ErrorsKeepTheirErrnoAndNameTheSubject) {
  OneDevice kernel;
  auto missing = nldev::statistics(kernel, 9, 1);
  ASSERT_EQ(test::code_of(missing), EINVAL);
  EXPECT_TRUE(test::has(missing.error().what, "device 9 port 1"));
}

}  // namespace
}  // namespace fabric
