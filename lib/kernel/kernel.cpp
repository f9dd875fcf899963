// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.h"

#include <linux/netlink.h>

#include <thread>

#include "base/parse.h"

namespace fabric {
namespace {

void put_u16(std::string& out, uint16_t value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); }

void put_bytes(std::string& out, View8 bytes) { out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); }

Message message_of(std::string_view part) {
  Message message;
  if (part.size() < sizeof message.type) return message;
  std::memcpy(&message.type, part.data(), sizeof message.type);
  const auto payload = std::as_bytes(std::span(part)).subspan(sizeof message.type);
  message.payload.assign(payload.begin(), payload.end());
  return message;
}

class TapedNetlink final : public Netlink {
 public:
  TapedNetlink(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape)
      : live_(std::move(live)), ask_(ask), tape_(std::move(tape)) {}

  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    std::string question;
    put_u16(question, type);
    put_u16(question, flags);
    put_bytes(question, payload);
    return live_ ? record(question, live_->talk(type, flags, payload)) : replay(question);
  }

 private:
  Result<std::vector<Message>> record(const std::string& question, Result<std::vector<Message>> replies) {
    std::vector<std::string> parts;
    if (replies)
      for (const Message& reply : *replies) {
        put_u16(parts.emplace_back(), reply.type);
        put_bytes(parts.back(), reply.payload);
      }
    tape_->note(ask_, question, replies ? Answer(std::move(parts)) : Answer(replies.error()));
    return replies;
  }

  Result<std::vector<Message>> replay(const std::string& question) {
    const Answer* known = tape_->find(ask_, question);
    if (known == nullptr) return error(EOPNOTSUPP, "not in this capture");
    if (!known->ok()) return known->error();
    std::vector<Message> replies;
    for (const std::string& part : **known) replies.push_back(message_of(part));
    return replies;
  }

  std::unique_ptr<Netlink> live_;
  Ask ask_;
  std::shared_ptr<Tape> tape_;
};

class TapedStatistics final : public ethtool::Statistics {
 public:
  TapedStatistics(std::unique_ptr<ethtool::Statistics> live, std::shared_ptr<Tape> tape)
      : live_(std::move(live)), tape_(std::move(tape)) {}

  Result<std::vector<Counter>> read(const std::string& netdev) override {
    if (!live_) return replay(netdev);
    auto counters = live_->read(netdev);
    std::vector<std::string> parts;
    if (counters)
      for (const Counter& counter : *counters)
        parts.push_back(counter.name.str() + "=" + std::to_string(counter.value));
    tape_->note(Ask::statistics, netdev, counters ? Answer(std::move(parts)) : Answer(counters.error()));
    return counters;
  }

 private:
  Result<std::vector<Counter>> replay(const std::string& netdev) {
    const Answer* known = tape_->find(Ask::statistics, netdev);
    if (known == nullptr) return error(EOPNOTSUPP, netdev + ": statistics: not in this capture");
    if (!known->ok()) return known->error();
    std::vector<Counter> counters;
    for (const std::string& part : **known) {
      const size_t equals = part.rfind('=');
      const auto value = equals == std::string::npos
                             ? std::nullopt
                             : parse_number<uint64_t>(std::string_view(part).substr(equals + 1));
      if (value) counters.push_back({clean_text(std::string_view(part).substr(0, equals)), *value});
    }
    return counters;
  }

  std::unique_ptr<ethtool::Statistics> live_;
  std::shared_ptr<Tape> tape_;
};

}  // namespace

std::unique_ptr<Netlink> on_tape(std::unique_ptr<Netlink> live, Ask ask, std::shared_ptr<Tape> tape) {
  return std::make_unique<TapedNetlink>(std::move(live), ask, std::move(tape));
}

std::unique_ptr<ethtool::Statistics> on_tape(std::unique_ptr<ethtool::Statistics> live, std::shared_ptr<Tape> tape) {
  return std::make_unique<TapedStatistics>(std::move(live), std::move(tape));
}

namespace {

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
  // A capture of a tree has no kernel answers: use its files.
  if (tape->holds(Ask::route)) kernel.route = on_tape(std::unique_ptr<Netlink>(), Ask::route, tape);
  if (tape->holds(Ask::generic)) {
    kernel.generic = on_tape(std::unique_ptr<Netlink>(), Ask::generic, tape);
    if (auto family = ethtool::resolve(*kernel.generic)) kernel.ethtool = *family;
  }
  if (tape->holds(Ask::rdma)) kernel.rdma = on_tape(std::unique_ptr<Netlink>(), Ask::rdma, tape);
  if (tape->holds(Ask::statistics)) kernel.statistics = on_tape(std::unique_ptr<ethtool::Statistics>(), tape);
  kernel.verbs = kernel.route != nullptr;
  kernel.tape = std::move(tape);
  return kernel;
}

// The clock's two numbers, recorded or as they were.
std::pair<int64_t, int64_t> clock_of(const Kernel& kernel, const std::string& name, std::pair<int64_t, int64_t> now) {
  if (!kernel.tape) return now;
  if (!kernel.tape->replays())
    kernel.tape->note(Ask::clock, name, std::vector{std::to_string(now.first), std::to_string(now.second)});
  const Answer* known = kernel.tape->find(Ask::clock, name);
  if (known == nullptr || !known->ok() || (*known)->size() != 2) return now;
  const auto first = parse_number<int64_t>((**known)[0]), second = parse_number<int64_t>((**known)[1]);
  constexpr int64_t kSane = int64_t{1} << 62;  // sums stay within their type
  if (!first || !second || *first > kSane || *first < -kSane || *second > 86'400 || *second < -86'400) return now;
  return {*first, *second};
}

}  // namespace

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
  kernel.verbs = true;
  return kernel;
}

void record(Kernel& kernel, const std::shared_ptr<Tape>& tape) {
  kernel.root.set_tape(tape);
  if (kernel.route) kernel.route = on_tape(std::move(kernel.route), Ask::route, tape);
  if (kernel.generic) kernel.generic = on_tape(std::move(kernel.generic), Ask::generic, tape);
  if (kernel.rdma) kernel.rdma = on_tape(std::move(kernel.rdma), Ask::rdma, tape);
  if (kernel.statistics) kernel.statistics = on_tape(std::move(kernel.statistics), tape);
  kernel.tape = tape;
  if (kernel.generic) (void)ethtool::resolve(*kernel.generic);  // asked before; the recording needs it
}

void begin(const Kernel& kernel, Sample sample) {
  if (kernel.tape) kernel.tape->begin(sample);
}

Result<std::string> query_recorded(const Kernel& kernel, const std::string& question,
                                   const std::function<Result<std::string>()>& ask) {
  if (!kernel.tape) return ask();
  if (!kernel.tape->replays()) {
    auto text = ask();
    kernel.tape->note(Ask::query, question, text ? Answer(std::vector{*text}) : Answer(text.error()));
    return text;
  }
  const Answer* known = kernel.tape->find(Ask::query, question);
  if (known == nullptr) return error(ENODATA, question + ": not in this capture");
  if (!known->ok()) return known->error();
  return (*known)->empty() ? std::string{} : clean_text((*known)->front(), Breaks::keep);
}

std::chrono::steady_clock::time_point steady_now(const Kernel& kernel) {
  using Clock = std::chrono::steady_clock;
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now().time_since_epoch());
  return Clock::time_point(std::chrono::nanoseconds(clock_of(kernel, "steady", {now.count(), 0}).first));
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
  if (!kernel.tape || !kernel.tape->replays()) std::this_thread::sleep_until(moment);
}

}  // namespace fabric
