// SPDX-License-Identifier: Apache-2.0
// The real fabric-agentd on this kernel, in which one call to the C library fails: it starts with an apply that was not
// confirmed and a self-test that was killed, sets two ports and a sysctl, repairs a drift, reloads a configuration that
// has one of the ports no more, and stops. A first run lists the calls; each further run lets one of them fail. In the
// end the node is in sync, or the fault is reported and the next start is in sync; the original settings are saved, or
// restored; the program never crashes, hangs or ends without a word. Requires root, for namespaces of its own.
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "support/test.h"
#include "support/tree.h"

namespace fabric {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// Far longer than a step takes on a busy machine, and than the agent needs to find a change without its notification
// (reread = "1s").
constexpr milliseconds kPatience{60'000};
constexpr const char *kPort = "roce0", *kReleased = "roce1";
constexpr const char* kSysctl = "net.ipv4.conf.roce0.arp_ignore";
constexpr const char* kSysctlPath = "/proc/sys/net/ipv4/conf/roce0/arp_ignore";
constexpr const char* kOriginalsFile = "/var/lib/fabric-agent/originals.json";
constexpr const char* kSysctlFile = "/var/lib/fabric-agent/sysctl.json";
constexpr const char* kConfirmFile = "/var/lib/fabric-agent/confirm.json";
constexpr const char* kSelfTestFile = "/var/lib/fabric-agent/selftest.json";

struct Values {
  unsigned mtu = 0, mtu_of_released = 0;
  std::string sysctl;
  bool operator==(const Values&) const = default;
  [[nodiscard]] std::string text() const {
    return "MTU " + std::to_string(mtu) + " and " + std::to_string(mtu_of_released) + ", arp_ignore " + sysctl;
  }
};
// Before the program starts, an apply and a self-test have written the tried values.
const Values kOriginal{1500, 1600, "0"}, kTried{4500, 4600, "3"}, kFirst{4200, 4300, "1"}, kForeign{1400, 4300, "0"};
const Values kSecond{4400, 1600, "2"};

struct CallFault {
  std::string place, function, fault;
  unsigned nth = 1;
};

// The faults with which the kernel lets the function fail.
std::vector<std::string> faults_of(const std::string& function) {
  const auto numbers = [](std::initializer_list<int> codes) {
    std::vector<std::string> out;
    for (const int code : codes) out.push_back(std::to_string(code));
    return out;
  };
  const auto with = [](std::vector<std::string> out, const char* more) {
    out.emplace_back(more);
    return out;
  };
  static const std::map<std::string, std::vector<std::string>> kFaults{
      {"open", numbers({EINTR, EIO, EMFILE, ENOMEM})},
      {"openat2", numbers({EAGAIN, EIO, ENOSYS})},
      {"read", with(numbers({EINTR, EIO}), "short")},
      {"write", with(numbers({EINTR, EIO, ENOSPC}), "short")},
      {"fsync", numbers({EINTR, EIO, ENOSPC})},
      {"change", numbers({EIO, ENOSPC, EROFS})},
      {"stat", numbers({EIO, ENOMEM})},
      {"fcntl", numbers({EINTR, EIO, ENOLCK})},
      {"ioctl", numbers({EINTR, EIO, EBUSY})},
      {"socket", numbers({ENOBUFS, EMFILE})},
      {"send", numbers({EINTR, EIO, ENOBUFS, ETIMEDOUT})},
      {"recvmsg", with(numbers({EINTR, EIO, ENOBUFS, ETIMEDOUT}), "interrupted")},
      {"wait", numbers({EINTR, ENOMEM})},
      {"watch", numbers({EMFILE, ENOMEM, ENOSPC})},
      {"fork", numbers({EAGAIN, ENOMEM})},
      {"landlock", numbers({ENOSYS, EPERM})},
      {"waitpid", numbers({EINTR, ECHILD})},
      {"dup2", numbers({EINTR, EMFILE})},
      {"memfd_create", numbers({EMFILE, ENOMEM})},
      {"lseek", numbers({EIO})},
      {"nanosleep", numbers({EINTR})},
      {"close", numbers({EIO})},
      {"prctl", numbers({EPERM})},
  };
  static const std::map<std::string, std::string> kKinds{{"openat", "open"},
                                                         {"open64", "open"},
                                                         {"openat64", "open"},
                                                         {"fopen", "open"},
                                                         {"fopen64", "open"},
                                                         {"pread", "read"},
                                                         {"pread64", "read"},
                                                         {"pwrite", "write"},
                                                         {"pwrite64", "write"},
                                                         {"ftruncate", "change"},
                                                         {"ftruncate64", "change"},
                                                         {"fchmod", "change"},
                                                         {"mkdirat", "change"},
                                                         {"unlinkat", "change"},
                                                         {"renameat", "change"},
                                                         {"renameat2", "change"},
                                                         {"fstat", "stat"},
                                                         {"fstat64", "stat"},
                                                         {"fstatat", "stat"},
                                                         {"fstatat64", "stat"},
                                                         {"stat64", "stat"},
                                                         {"readlinkat", "stat"},
                                                         {"lseek64", "lseek"},
                                                         {"realpath", "stat"},
                                                         {"access", "stat"},
                                                         {"fdopendir", "stat"},
                                                         {"readdir", "stat"},
                                                         {"readdir64", "stat"},
                                                         {"fcntl64", "fcntl"},
                                                         {"bind", "socket"},
                                                         {"connect", "socket"},
                                                         {"getsockname", "socket"},
                                                         {"setsockopt", "socket"},
                                                         {"sendmsg", "send"},
                                                         {"sendto", "send"},
                                                         {"poll", "wait"},
                                                         {"epoll_wait", "wait"},
                                                         {"epoll_ctl", "watch"},
                                                         {"epoll_create1", "watch"},
                                                         {"timerfd_create", "watch"},
                                                         {"timerfd_settime", "watch"},
                                                         {"inotify_init1", "watch"},
                                                         {"inotify_add_watch", "watch"},
                                                         {"pipe2", "socket"},
                                                         {"pthread_create", "fork"}};
  const auto kind = kKinds.find(function);
  return kFaults.at(kind == kKinds.end() ? function : kind->second);
}

bool becomes(const std::function<bool()>& done) {
  const auto end = Clock::now() + kPatience;
  while (!done()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return true;
}

// One run, in a process with its own namespaces. Its failures are lines of `complaints`.
class Scenario {
 public:
  Scenario(std::string folder, std::optional<CallFault> fault) : folder_(std::move(folder)), fault_(std::move(fault)) {}

  std::string run() {
    if (const std::string why = prepare(); !why.empty()) return "SKIP " + why;
    start();
    reaches(kFirst, "the start");
    set(kForeign);
    reaches(kFirst, "the drift");
    configure(kSecond, false);
    starts_ = 0;
    send(SIGHUP);
    reaches(kSecond, "the reload");
    is_published("rxe0/1", "mtu");
    is_published("host", kSysctl);
    stop();
    judge_files();
    if (!complaints_.empty()) complain("log of the agent:\n" + test::slurp(log()));
    return complaints_;
  }

 private:
  void complain(const std::string& what) { complaints_ += what + "\n"; }
  [[nodiscard]] std::string log() const { return folder_ + "/log"; }
  [[nodiscard]] bool has_failed() const { return !test::slurp(folder_ + "/done").empty(); }

  // A network namespace with a veth, and a mount namespace in which /sys shows its ends as the netdevs of soft-RoCE
  // ports, and /run and /var/lib have only what the apply and the self-test have left.
  std::string prepare() {
    if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0) return "requires root for namespaces";
    if (std::system("ip link add roce0 type veth peer name roce1 && ip link set roce0 up && ip link set roce1 up") != 0)
      return "no veth, or no iproute2";
    const std::string sys = folder_ + "/sys", real = folder_ + "/real";
    std::filesystem::create_directories(sys);
    std::filesystem::create_directories(real);
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("sysfs", real.c_str(), "sysfs", 0, nullptr) != 0)
      return "cannot mount sysfs";
    for (const char* part : {"/class/net", "/devices", "/bus"}) {
      std::filesystem::create_directories(sys + part);
      if (::mount((real + part).c_str(), (sys + part).c_str(), nullptr, MS_BIND | MS_REC, nullptr) != 0)
        return "cannot mount sysfs";
    }
    add_rdma(sys, "rxe0", kPort, "01");
    add_rdma(sys, "rxe1", kReleased, "02");
    if (::mount(sys.c_str(), "/sys", nullptr, MS_BIND | MS_REC, nullptr) != 0) return "cannot mount /sys";
    for (const char* place : {"/run", "/var/lib"})
      if (::mount("tmpfs", place, "tmpfs", 0, nullptr) != 0) return std::string("cannot mount ") + place;
    for (const char* place : {"/run/fabric-agent", "/var/lib/fabric-agent"}) std::filesystem::create_directories(place);
    set(kTried);
    set_mtu(kReleased, kTried.mtu_of_released);
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    const std::string boot = trimmed(test::slurp("/proc/sys/kernel/random/boot_id"));
    const nlohmann::json record{{"format", 1},
                                {"id", "1-1"},
                                {"boot_id", boot},
                                {"deadline", now.tv_sec * 1000},
                                {"disruptive", "now"},
                                {"before", entry(kPort, kOriginal.mtu)},
                                {"sysctl", {{kSysctl, kOriginal.sysctl}}}};
    std::ofstream(kConfirmFile) << record.dump() << "\n";
    const nlohmann::json test{{"format", 1}, {"ports", entry(kReleased, kOriginal.mtu_of_released)}};
    std::ofstream(kSelfTestFile) << test.dump() << "\n";
    configure(kFirst, true);
    return {};
  }

  static void add_rdma(const std::string& sys, const std::string& rdma, const char* netdev, const std::string& number) {
    const std::string device = sys + "/class/infiniband/" + rdma, port = device + "/ports/1";
    for (const char* part : {"/gids", "/gid_attrs/types", "/gid_attrs/ndevs"})
      std::filesystem::create_directories(port + part);
    const auto file = [](const std::string& name, const std::string& text) { std::ofstream(name) << text << "\n"; };
    file(device + "/parent", netdev);
    file(device + "/node_type", "1: CA");
    file(device + "/fw_ver", "");
    file(device + "/node_guid", "0200:00ff:fe00:00" + number);
    file(port + "/state", "4: ACTIVE");
    file(port + "/phys_state", "5: LinkUp");
    file(port + "/link_layer", "Ethernet");
    file(port + "/rate", "100 Gb/sec (4X EDR)");
    file(port + "/gids/0", "fe80:0000:0000:0000:0000:00ff:fe00:00" + number);
    file(port + "/gid_attrs/types/0", "RoCE v2");
    file(port + "/gid_attrs/ndevs/0", netdev);
  }

  void configure(const Values& values, bool has_both) {
    const std::string file = folder_ + "/agent.toml";
    std::ofstream out(file + ".new");
    const auto port = [&out](const std::string& netdev, unsigned mtu) {
      out << "[[port]]\nmatch = { netdev = \"" << netdev << "\" }\nmtu = " << mtu << "\n";
    };
    out << "mode = \"enforce\"\ndisruptive = \"now\"\nrelease = \"restore\"\nreread = \"1s\"\n[sysctl]\n\"" << kSysctl
        << "\" = \"" << values.sysctl << "\"\n";
    port(kPort, values.mtu);
    if (has_both) port(kReleased, values.mtu_of_released);
    out.close();
    std::filesystem::rename(file + ".new", file);
  }

  void start() {
    ++starts_;
    std::vector<std::string> environment{"LD_PRELOAD=" CALL_FAULTS_LIBRARY, "ASAN_OPTIONS=detect_leaks=0"};
    if (!fault_) environment.push_back("CALL_FAULTS_LOG=" + folder_ + "/calls");
    // The next start, as by systemd, is without the fault.
    else if (!has_failed()) {
      environment.push_back("CALL_FAULTS_AT=" + fault_->place + "," + std::to_string(fault_->nth) + "," +
                            fault_->fault);
      environment.push_back("CALL_FAULTS_DONE=" + folder_ + "/done");
    }
    agent_ = ::fork();
    if (agent_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = ::open(log().c_str(), O_WRONLY | O_APPEND | O_CREAT, 0644);
    ::dup2(out, STDOUT_FILENO);
    ::dup2(out, STDERR_FILENO);
    std::vector<char*> words;
    for (std::string& word : environment) words.push_back(word.data());
    words.push_back(nullptr);
    const std::string config = folder_ + "/agent.toml";
    const char* arguments[]{FABRIC_AGENTD, "--config", config.c_str(), nullptr};
    ::execve(FABRIC_AGENTD, const_cast<char**>(arguments), words.data());
    ::_exit(127);
  }

  void send(int signal) const {
    if (agent_ > 0) ::kill(agent_, signal);  // 0 and -1 are groups of processes
  }

  // Whether the agent has ended. It may end after a fault that it reports; systemd starts it again.
  bool ended() {
    int status = 0;
    if (agent_ <= 0 || ::waitpid(agent_, &status, WNOHANG) != agent_) return agent_ <= 0;
    agent_ = 0;
    if (WIFSIGNALED(status)) complain("ended by signal " + std::to_string(WTERMSIG(status)));
    else if (!has_failed() || WEXITSTATUS(status) == 0)
      complain("ended with status " + std::to_string(WEXITSTATUS(status)));
    else if (test::slurp(log()).empty()) complain("ended without a word");
    return true;
  }

  void reaches(const Values& values, const std::string& step) {
    const auto done = [&] { return is_reached(values); };
    bool settled = becomes([&] { return ended() || done() || config_error(); });
    for (int attempt = 0; attempt < 2 && settled && !done(); ++attempt) {
      if (agent_ <= 0) start();
      else send(SIGHUP);  // the configuration could not be read, and that is published
      settled = becomes([&] { return ended() || done(); });
    }
    if (!done())
      complain(step + ": " + now().text() + " instead of " + values.text() + "; published: " + state().dump());
  }

  // A program that ended before it had restored a released port does not know at its next start that it was to.
  [[nodiscard]] bool is_reached(const Values& values) const {
    Values seen = now();
    if (starts_ > 0 && seen.mtu_of_released == kFirst.mtu_of_released) seen.mtu_of_released = values.mtu_of_released;
    return seen == values;
  }

  // The originals are whole, or restored.
  void judge_files() {
    const auto originals = member(json_of(kOriginalsFile), "ports");
    if (mtu_in(originals, kPort) != kOriginal.mtu) complain("the original MTU is not saved: " + originals.dump());
    const auto released = mtu_in(originals, kReleased);
    const bool is_restored = now().mtu_of_released == kOriginal.mtu_of_released;
    if (released != kOriginal.mtu_of_released && !(released.is_null() && is_restored))
      complain("the released port: " + now().text() + ", saved: " + originals.dump());
    if (const auto host = json_of(kSysctlFile); member(member(host, "values"), kSysctl) != kOriginal.sysctl)
      complain("the original sysctl is not saved: " + test::slurp(kSysctlFile));
    if (const auto record = json_of(kConfirmFile);
        std::filesystem::exists(kConfirmFile) &&
        (member(record, "reverted").is_null() || !member(record, "before").empty() ||
         !member(record, "sysctl").empty()))
      complain("the apply is not reverted: " + test::slurp(kConfirmFile));
    // Without RDMA's netlink no port counts as idle, which the end of a self-test waits for.
    if (const auto test = json_of(kSelfTestFile);
        std::filesystem::exists(kSelfTestFile) && mtu_in(member(test, "ports"), kReleased) != kOriginal.mtu_of_released)
      complain("the settings from before the self-test are lost: " + test::slurp(kSelfTestFile));
  }

  void is_published(const std::string& subject, const std::string& key) {
    if (!becomes([&] { return ended() || published(subject, key) == "in_sync"; }))
      complain(key + " is published as " + published(subject, key).dump());
  }

  void stop() {
    if (agent_ <= 0) return;
    send(SIGTERM);
    int status = 0;
    if (!becomes([&] { return ::waitpid(agent_, &status, WNOHANG) == agent_; })) {
      complain("does not end");
      send(SIGKILL);
      ::waitpid(agent_, &status, 0);
    } else if (WIFSIGNALED(status)) {
      complain("ended by signal " + std::to_string(WTERMSIG(status)));
    } else if (WEXITSTATUS(status) != 0 && !has_failed()) {
      complain("stopped with status " + std::to_string(WEXITSTATUS(status)));
    }
    agent_ = 0;
  }

  // The files, as the agent has written them; null: there is none, or it is not JSON.
  static nlohmann::json json_of(const std::string& file) {
    auto json = nlohmann::json::parse(test::slurp(file), nullptr, false);
    if (json.is_discarded()) return nullptr;
    return json;
  }
  static nlohmann::json member(const nlohmann::json& object, const std::string& name) {
    if (!object.is_object() || !object.contains(name)) return nullptr;
    return object[name];
  }
  [[nodiscard]] static nlohmann::json state() { return json_of("/run/fabric-agent/state.json"); }
  [[nodiscard]] static bool config_error() { return !member(state(), "config_error").is_null(); }
  [[nodiscard]] static nlohmann::json published(const std::string& subject, const std::string& key) {
    return member(member(member(member(state(), "ports"), subject), key), "outcome");
  }
  static std::string key_of(const char* netdev) { return std::string("netdev:") + netdev; }
  static nlohmann::json entry(const char* netdev, unsigned mtu) {
    return {{key_of(netdev), {{"place", key_of(netdev)}, {"settings", {{"mtu", mtu}}}}}};
  }
  static nlohmann::json mtu_in(const nlohmann::json& ports, const char* netdev) {
    return member(member(member(ports, key_of(netdev)), "settings"), "mtu");
  }

  // As the kernel has them.
  [[nodiscard]] static Values now() { return {mtu(kPort), mtu(kReleased), trimmed(test::slurp(kSysctlPath))}; }
  static std::string trimmed(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    return text;
  }
  [[nodiscard]] static unsigned mtu(const char* netdev) {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strcpy(request.ifr_name, netdev);
    const bool known = ::ioctl(fd, SIOCGIFMTU, &request) == 0;
    ::close(fd);
    return known ? static_cast<unsigned>(request.ifr_mtu) : 0;
  }
  void set(const Values& values) {
    set_mtu(kPort, values.mtu);
    std::ofstream(kSysctlPath) << values.sysctl << "\n";
  }
  void set_mtu(const char* netdev, unsigned mtu) {
    const int fd = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    ifreq request{};
    std::strcpy(request.ifr_name, netdev);
    request.ifr_mtu = static_cast<int>(mtu);
    if (::ioctl(fd, SIOCSIFMTU, &request) != 0) complain("cannot set the MTU");
    ::close(fd);
  }

  std::string folder_;
  std::optional<CallFault> fault_;
  pid_t agent_ = 0;
  int starts_ = 0;  // since the reload
  std::string complaints_;
};

// Runs the scenario in a child; its complaints are read from a pipe.
std::string run_apart(const std::string& folder, const std::optional<CallFault>& fault) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return "pipe";
  const pid_t child = ::fork();
  if (child == 0) {
    std::string complaints;
    try {
      complaints = Scenario(folder, fault).run();
    } catch (const std::exception& failure) {  // must not reach the parent's destructors: /sys is mounted in the folder
      complaints = failure.what();
    }
    (void)!::write(ends[1], complaints.data(), complaints.size());
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string out;
  char text[4096];
  for (ssize_t size; (size = ::read(ends[0], text, sizeof text)) > 0;) out.append(text, static_cast<size_t>(size));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (status != 0) out += "the scenario ended with status " + std::to_string(status);
  return out;
}

class CallFaults : public testing::Test {
 protected:
  // Every place at which the run without a fault calls, once, and every fault of its function.
  std::vector<CallFault> all() {
    const std::string complaints = run_apart(folder("calls"), {});
    if (complaints.starts_with("SKIP")) return {};
    EXPECT_EQ(complaints, "");
    if (HasFailure()) return {};  // each fault would fail in the same way
    std::ifstream calls(folder("calls") + "/calls");
    std::set<std::string> seen;
    std::vector<CallFault> out;
    for (std::string place, function; calls >> place >> function;)
      if (seen.insert(place).second)
        for (const std::string& fault : faults_of(function)) out.push_back({place, function, fault});
    return out;
  }

  // A run mostly waits, so that some processes share them.
  void run(const std::vector<CallFault>& faults) {
    constexpr size_t kAtOnce = 8;
    std::vector<pid_t> workers;
    for (size_t worker = 0; worker < kAtOnce; ++worker) {
      workers.push_back(::fork());
      if (workers.back() != 0) continue;
      for (size_t i = worker; i < faults.size(); i += kAtOnce) {
        const std::string where = folder(std::to_string(i));
        const std::string complaints = run_apart(where, faults[i]);
        if (!test::slurp(where + "/done").empty()) std::ofstream(where + ".met") << "";
        if (!complaints.empty()) std::ofstream(where + ".complaints") << complaints;
        std::filesystem::remove_all(where);
      }
      ::_exit(0);
    }
    for (const pid_t worker : workers) {
      int status = 0;
      EXPECT_EQ(::waitpid(worker, &status, 0), worker);
      EXPECT_EQ(status, 0);
    }
    size_t met = 0;
    for (size_t i = 0; i < faults.size(); ++i) {
      const std::string where = tree_.path() + "/" + std::to_string(i);
      if (std::filesystem::exists(where + ".met")) ++met;
      EXPECT_EQ(test::slurp(where + ".complaints"), "")
          << faults[i].function << " fails with " << faults[i].fault << " at " << faults[i].place;
    }
    // Timing decides whether a place is reached again: by a periodic reading, or by a wait.
    EXPECT_GE(met * 3, faults.size()) << met << " of " << faults.size() << " faults have happened";
  }

  std::string folder(const std::string& name) {
    std::filesystem::create_directories(tree_.path() + "/" + name);
    return tree_.path() + "/" + name;
  }
  test::Tree tree_;
};

TEST_F(CallFaults, ASampleOfThem) {
  const auto faults = all();
  ASSERT_FALSE(HasFailure());
  if (faults.empty()) GTEST_SKIP() << "requires root, veth and iproute2";
  constexpr size_t kSample = 24;
  std::vector<CallFault> sample;
  for (size_t i = 0; i < kSample; ++i) sample.push_back(faults[i * faults.size() / kSample]);
  run(sample);
}

TEST_F(CallFaults, EachOfThemHarder) {
  const auto faults = all();
  ASSERT_FALSE(HasFailure());
  if (faults.empty()) GTEST_SKIP() << "requires root, veth and iproute2";
  run(faults);
}

}  // namespace
}  // namespace fabric
