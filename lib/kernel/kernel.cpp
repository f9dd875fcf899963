// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.h"

#include <linux/netlink.h>

#include <thread>

#include "base/parse.h"

namespace fabric {
namespace {

// The numbers in this machine's byte order, then the payload.
std::string text_of(std::initializer_list<uint16_t> numbers, View8 payload) {
  std::string out(reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(uint16_t));
  return out.append(as_text(payload));
}

class TapedNetlink final : public Netlink {
 public:
  TapedNetlink(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape)
      : live_(std::move(live)), ask_(ask), tape_(std::move(tape)) {}

  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    const auto live = [&]() -> Answer {
      const auto replies = live_->talk(type, flags, payload);
      if (!replies) return replies.error();
      std::vector<std::string> parts;
      for (const Message& reply : *replies) parts.push_back(text_of({reply.type}, reply.payload));
      return parts;
    };
    const Answer parts =
        tape_->ask(ask_, text_of({type, flags}, payload), live, error(EOPNOTSUPP, "not in this capture"));
    if (!parts) return parts.error();
    std::vector<Message> replies;
    for (const std::string& part : *parts) {
      Message& reply = replies.emplace_back();
      if (part.size() < sizeof reply.type) continue;
      std::memcpy(&reply.type, part.data(), sizeof reply.type);
      const auto bytes = std::as_bytes(std::span(part)).subspan(sizeof reply.type);
      reply.payload.assign(bytes.begin(), bytes.end());
    }
    return replies;
  }

 private:
  std::unique_ptr<Netlink> live_;
  Ask ask_;
  std::shared_ptr<Tape> tape_;
};

class TapedStatistics final : public ethtool::Statistics {
 public:
  TapedStatistics(std::unique_ptr<ethtool::Statistics> live, std::shared_ptr<Tape> tape)
      : live_(std::move(live)), tape_(std::move(tape)) {}

  Result<std::vector<Counter>> read(const std::string& netdev) override {
    const auto live = [&]() -> Answer {
      const auto counters = live_->read(netdev);
      if (!counters) return counters.error();
      std::vector<std::string> parts;
      for (const Counter& counter : *counters)
        parts.push_back(counter.name.str() + "=" + std::to_string(counter.value));
      return parts;
    };
    const Answer parts =
        tape_->ask(Ask::statistics, netdev, live, error(EOPNOTSUPP, netdev + ": statistics: not in this capture"));
    if (!parts) return parts.error();
    std::vector<Counter> counters;
    for (const std::string& part : *parts) {
      const size_t equals = part.rfind('=');
      if (equals == std::string::npos) continue;
      if (const auto value = parse_number<uint64_t>(part.substr(equals + 1)))
        counters.push_back({clean_text(part.substr(0, equals)), *value});
    }
    return counters;
  }

 private:
  std::unique_ptr<ethtool::Statistics> live_;
  std::shared_ptr<Tape> tape_;
};

constexpr size_t kMostAnswers = size_t{64} << 20;

Result<Kernel> replay(Root root) {
  const auto text = root.read(kAnswersFile, kMostAnswers);
  if (!text) return text.error();
  auto answers = parse_answers(*text, root.path() + "/" + kAnswersFile);
  if (!answers) return answers.error();
  auto tape = std::make_shared<Tape>(true);
  tape->answers = std::move(*answers);
  root.set_tape(tape);
  Kernel kernel{.root = std::move(root)};
  // A capture of a tree has no kernel answers: its files are read. On a machine without an RDMA port no link is
  // queried, but the families of generic netlink are looked up on any machine.
  if (tape->holds(Ask::generic) || tape->holds(Ask::route)) kernel.route = on_tape(nullptr, Ask::route, tape);
  if (tape->holds(Ask::generic)) kernel.generic = on_tape(nullptr, Ask::generic, tape);
  if (tape->holds(Ask::rdma)) kernel.rdma = on_tape(nullptr, Ask::rdma, tape);
  if (tape->holds(Ask::statistics)) kernel.statistics = std::make_unique<TapedStatistics>(nullptr, tape);
  if (kernel.generic)
    if (auto family = ethtool::resolve(*kernel.generic)) kernel.ethtool = *family;
  kernel.verbs = kernel.route != nullptr;
  kernel.tape = std::move(tape);
  return kernel;
}

// The clock's two numbers: `now`, which is recorded, or the recorded numbers.
std::pair<int64_t, int64_t> clock_of(const Kernel& kernel, const std::string& name, std::pair<int64_t, int64_t> now) {
  if (!kernel.tape) return now;
  const auto live = [&]() -> Answer { return std::vector{std::to_string(now.first), std::to_string(now.second)}; };
  const Answer known = kernel.tape->ask(Ask::clock, name, live, error(ENODATA, name));
  if (!known || known->size() != 2) return now;
  const auto first = parse_number<int64_t>(known->front()), second = parse_number<int64_t>(known->back());
  constexpr int64_t kSane = int64_t{1} << 62;  // so that sums do not overflow
  if (!first || !second || *first > kSane || *first < -kSane || *second > 86'400 || *second < -86'400) return now;
  return {*first, *second};
}

}  // namespace

std::unique_ptr<Netlink> on_tape(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape) {
  return std::make_unique<TapedNetlink>(std::move(live), ask, std::move(tape));
}

Result<Kernel> open_kernel(const std::string& root) {
  auto directory = Root::open(root);
  if (!directory) return directory.error();
  if (!directory->is_host() && directory->exists(kAnswersFile)) return replay(std::move(directory).value());
  Kernel kernel{.root = std::move(directory).value()};
  if (!kernel.root.is_host()) return kernel;

  auto route = open_netlink(NETLINK_ROUTE);
  if (!route) return route.error();
  kernel.route = std::move(route).value();
  auto generic = open_netlink(NETLINK_GENERIC);
  if (!generic) return generic.error();
  kernel.generic = std::move(generic).value();
  // Kernels before 5.6 and some trimmed ones have no ethtool family: its data is absent then.
  if (auto family = ethtool::resolve(*kernel.generic)) kernel.ethtool = *family;
  // EPROTONOSUPPORT: no RDMA stack loaded (and none to load).
  if (auto rdma = open_netlink(NETLINK_RDMA)) kernel.rdma = std::move(rdma).value();
  if (auto statistics = ethtool::open_statistics()) kernel.statistics = std::move(statistics).value();
  kernel.tunables = ethtool::open_tunables();
  kernel.verbs = true;
  return kernel;
}

void record(Kernel& kernel, const std::shared_ptr<Tape>& tape) {
  kernel.root.set_tape(tape);
  if (kernel.route) kernel.route = on_tape(std::move(kernel.route), Ask::route, tape);
  if (kernel.generic) kernel.generic = on_tape(std::move(kernel.generic), Ask::generic, tape);
  if (kernel.rdma) kernel.rdma = on_tape(std::move(kernel.rdma), Ask::rdma, tape);
  if (kernel.statistics) kernel.statistics = std::make_unique<TapedStatistics>(std::move(kernel.statistics), tape);
  kernel.tape = tape;
  if (kernel.generic)
    (void)ethtool::resolve(*kernel.generic);  // it was resolved before recording, which needs it as well
}

void begin(const Kernel& kernel, Sample sample) {
  if (kernel.tape) kernel.tape->begin(sample);
}

Result<std::string> query_recorded(const Kernel& kernel, const std::string& question,
                                   const std::function<Result<std::string>()>& query) {
  if (!kernel.tape) return query();
  const auto live = [&]() -> Answer {
    auto text = query();
    if (!text) return text.error();
    return std::vector{std::move(*text)};
  };
  const Answer parts = kernel.tape->ask(Ask::query, question, live, error(ENODATA, question + ": not in this capture"));
  if (!parts) return parts.error();
  if (parts->empty()) return std::string{};
  return clean_text(parts->front(), Breaks::keep);
}

std::chrono::steady_clock::time_point steady_now(const Kernel& kernel) {
  using std::chrono::steady_clock;
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now().time_since_epoch());
  return steady_clock::time_point(std::chrono::nanoseconds(clock_of(kernel, "steady", {now.count(), 0}).first));
}

std::tm local_now(const Kernel& kernel) {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  const auto [seconds, offset] = clock_of(kernel, "local", {now, parts.tm_gmtoff});
  const std::time_t there = seconds + offset;
  std::tm shown{};
  if (::gmtime_r(&there, &shown) == nullptr) return parts;
  shown.tm_gmtoff = offset;
  return shown;
}

void wait_until(const Kernel& kernel, std::chrono::steady_clock::time_point moment) {
  if (!kernel.root.replays()) std::this_thread::sleep_until(moment);
}

}  // namespace fabric
