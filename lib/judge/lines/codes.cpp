// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/codes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <utility>

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/pattern.h"
#include "nic/capabilities.h"

namespace fabric::lines {
namespace {

std::string hex(unsigned long value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  do out.insert(out.begin(), kDigits[value % 16]);
  while ((value /= 16) != 0);
  return "0x" + out;
}

// The number that the text begins with: decimal, or hexadecimal after "0x". Letters after it make it a word.
std::optional<unsigned> leading_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  size_t length = 0;
  while (length < text.size() && is_word_letter(text[length])) ++length;
  return parse_number<unsigned>(text.substr(0, length), base);
}

std::optional<unsigned> number_after(std::string_view line, std::string_view prefix) {
  for (size_t at = line.find(prefix); at != std::string_view::npos; at = line.find(prefix, at + 1))
    if (const auto number = leading_number(line.substr(at + prefix.size()))) return number;
  return std::nullopt;
}

std::optional<unsigned> number_after_any(std::string_view line, std::span<const std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes)
    if (const auto number = number_after(line, prefix)) return number;
  return std::nullopt;
}

void add(Codes& codes, std::string text) {
  if (!contains(codes.texts, text)) codes.texts.push_back(std::move(text));
}

struct Name {
  unsigned number;
  std::string_view name;
};

std::string_view name_of(std::span<const Name> names, unsigned number) {
  const Name* found = find_where(names, [&](const Name& each) { return each.number == number; });
  if (found == nullptr) return {};
  return found->name;
}

// " bad parameter" after a number; nothing for a number without a name.
std::string name_after(std::string_view prefix, std::string_view name) {
  if (name.empty()) return {};
  return " " + std::string(prefix) + std::string(name);
}

// "Xid 79: GPU has fallen off the bus"; without a name the number alone.
std::string numbered(std::string_view what, unsigned number, std::string_view name) {
  std::string text = std::string(what) + " " + std::to_string(number);
  if (!name.empty()) text.append(": ").append(name);
  return text;
}

bool has_any_of(std::string_view line, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

// ---- Work completions.

// enum ibv_wc_status by name, from 1.
constexpr std::string_view kStatusNames[] = {
    "LOC_LEN_ERR",   "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR",    "LOC_PROT_ERR",     "WR_FLUSH_ERR",
    "MW_BIND_ERR",   "BAD_RESP_ERR",  "LOC_ACCESS_ERR",    "REM_INV_REQ_ERR",  "REM_ACCESS_ERR",
    "REM_OP_ERR",    "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR", "INV_EECN_ERR",  "INV_EEC_STATE_ERR", "FATAL_ERR",        "RESP_TIMEOUT_ERR",
    "GENERAL_ERR"};

// A number of a NIC, and the ibv_wc_status that its provider makes of it; 0: none.
struct NicError {
  unsigned number, status;
  std::string_view name;
};
// enum mlx5dv_cqe_syndromes.
constexpr NicError kSyndromes[] = {{0x01, 1, "LOCAL_LENGTH"},
                                   {0x02, 2, "LOCAL_QP_OP"},
                                   {0x04, 4, "LOCAL_PROT"},
                                   {0x05, 5, "WR_FLUSH"},
                                   {0x06, 6, "MW_BIND"},
                                   {0x10, 7, "BAD_RESP"},
                                   {0x11, 8, "LOCAL_ACCESS"},
                                   {0x12, 9, "REMOTE_INVAL_REQ"},
                                   {0x13, 10, "REMOTE_ACCESS"},
                                   {0x14, 11, "REMOTE_OP"},
                                   {0x15, 12, "TRANSPORT_RETRY_EXC"},
                                   {0x16, 13, "RNR_RETRY_EXC"},
                                   {0x22, 16, "REMOTE_ABORTED"}};

// vendor_err of mlx5, from the statuses that issue threads of NCCL and UCX show with them; NVIDIA does not publish
// them.
constexpr Name kVendorErrors[] = {
    {0x51, "the key of this host's buffer does not permit the access, or GPU memory cannot be reached"},
    {0x68, "the work request does not fit its queue pair"},
    {0x81, "no acknowledgment came back"},
    {0x88, "the peer denied access to its memory"},
    {0x89, "the peer reported an error of its own"},
    {0x8a, "the peer rejected the request as invalid"},
    {0xf9, "flushed after an earlier error"}};

// enum ionic_status; the kernel prints the completion, libraries the number as the vendor's error.
constexpr NicError kIonicStatuses[] = {
    {1, 1, "LOCAL_LEN_ERR"},     {2, 2, "LOCAL_QP_OPER_ERR"},  {3, 4, "LOCAL_PROT_ERR"},
    {4, 5, "WQE_FLUSHED_ERR"},   {5, 6, "MEM_MGMT_OPER_ERR"},  {6, 7, "BAD_RESP_ERR"},
    {7, 8, "LOCAL_ACC_ERR"},     {8, 9, "REMOTE_INV_REQ_ERR"}, {9, 10, "REMOTE_ACC_ERR"},
    {10, 11, "REMOTE_OPER_ERR"}, {11, 12, "RETRY_EXCEEDED"},   {12, 13, "RNR_RETRY_EXCEEDED"},
    {13, 21, "XRC_VIO_ERR"},     {14, 2, "LOCAL_SGL_INV_ERR"}};

const NicError* add_ionic_status(Codes& codes, unsigned number) {
  const NicError* known = find_where(kIonicStatuses, [&](const NicError& each) { return each.number == number; });
  if (known != nullptr) add(codes, "status " + std::to_string(number) + " IONIC_STS_" + std::string(known->name));
  return known;
}

void add_vendor(Codes& codes, unsigned number) {
  if (number == 0 || number > 0xff) return;
  std::string text = "vendor error " + hex(number) + " (" + std::to_string(number) + ")";
  const std::string_view known = name_of(kVendorErrors, number);
  if (known.empty()) text += ": meaning not published";
  else text += ": " + std::string(known);
  if (codes.vendor_error.empty()) codes.vendor_error = text;
  add(codes, text);
}

// Storage, HTTP and others have completions and statuses too: those of RDMA come with a word of RDMA.
bool is_about_rdma(std::string_view line) {
  constexpr std::string_view kWords[] = {"NCCL", "ibv",  "IBV",  "mlx5",   "wr_id", "QP",      "queue pair", "qpair",
                                         "CQ",   "rdma", "RDMA", "vendor", "UCX",   "syndrom", "from peer "};
  return has_any_of(line, kWords);
}

// libfabric before 1.18 gives the status of an EFA completion as the errno: "completed with error. RC: 20. Error:
// unknown error", "err: 20, prov_err: Not a directory (20)". No transfer fails with the errno 20.
constexpr unsigned kResponseTimeout = 20;  // IBV_WC_RESP_TIMEOUT_ERR, and ENOTDIR

bool has_efa_timeout(std::string_view line) {
  if (line.find(". Error: unknown error") != std::string_view::npos)
    return number_after(line, "completed with error. RC: ") == kResponseTimeout;
  return line.find(", prov_err: ") != std::string_view::npos && number_after(line, "_error: err: ") == kResponseTimeout;
}

// The status of a work completion, as NCCL (old, new), perftest, mlx5_ib, SPDK and Open MPI print it. 0: none.
unsigned completion_status(std::string_view line) {
  if (has_efa_timeout(line)) return kResponseTimeout;
  constexpr std::string_view kName = "IBV_WC_";
  for (size_t at = line.find(kName); at != std::string_view::npos; at = line.find(kName, at + 1)) {
    const std::string_view name = line.substr(at + kName.size());
    for (unsigned i = 0; i < std::size(kStatusNames); ++i)
      if (name.starts_with(kStatusNames[i]) &&
          (name.size() == kStatusNames[i].size() || !is_word_letter(name[kStatusNames[i].size()])))
        return i + 1;
  }
  constexpr std::string_view kAlways[] = {"ompletion with error ",
                                          "cq completion failed status ",
                                          "cq completion failed status=",
                                          "WC error: ",
                                          "wc.status ",
                                          "wc.status=",
                                          "wc status ",
                                          "wc status -- ",
                                          "wc_status ",
                                          "> snd status=",  // GASNet, ibv-conduit
                                          "> rcv status="};
  if (const auto number = number_after_any(line, kAlways)) return *number;
  if (!is_about_rdma(line)) return 0;
  constexpr std::string_view kOfRdma[] = {"Failed status ", "failed status ", "status number "};
  if (const auto number = number_after_any(line, kOfRdma)) return *number;
  constexpr std::string_view kOfCompletion[] = {"with status=", " with error ", "(status ", "status: ", "status "};
  for (const std::string_view word : {"ompletion from peer", "completion", "wr_id", "wr id "})
    if (const size_t at = line.find(word); at != std::string_view::npos)
      if (const auto number = number_after_any(line.substr(at), kOfCompletion)) return *number;
  return 0;
}

// The last row of an error CQE, as libmlx5 (four words) and mlx5_core (16 bytes after their offset) print it: byte 54
// of the CQE is the vendor's error, 55 the syndrome, 57 to 59 the queue pair (struct mlx5_err_cqe).
std::optional<std::array<unsigned, 4>> last_row_of_cqe(std::string_view line) {
  std::array<unsigned, 4> row{};
  size_t in_words = 0, in_bytes = 16;  // words, and bytes after the offset, that were found without a gap
  for (const std::string_view word : words(line)) {
    if (word == "00000030:") {
      in_bytes = 0;
      continue;
    }
    const bool is_number = std::ranges::all_of(word, is_hex);
    if (in_bytes < 16) {
      if (!is_number || word.size() != 2) return std::nullopt;
      row[in_bytes / 4] = row[in_bytes / 4] << 8 | parse_number<unsigned>(word, 16).value_or(0);
      if (++in_bytes == 16) return row;
      continue;
    }
    if (is_number && word.size() == 8) {
      std::rotate(row.begin(), row.begin() + 1, row.end());
      row.back() = parse_number<unsigned>(word, 16).value_or(0);
      ++in_words;
    } else {
      in_words = 0;
    }
  }
  if (in_words < 4) return std::nullopt;
  return row;
}

// The status in an error completion of ionic, which the kernel prints after "cqe with error" in two rows of 16 bytes:
// bytes 24 to 27 of the completion (struct ionic_v1_cqe), if bit 1 of the last byte marks an error.
std::optional<unsigned> status_of_ionic(std::string_view line) {
  constexpr std::string_view kRow = "cqe 00000010: ";
  const size_t at = line.find(kRow);
  if (at == std::string_view::npos) return std::nullopt;
  const auto bytes = words(line.substr(at + kRow.size()));
  if (bytes.size() < 16) return std::nullopt;
  unsigned status = 0;
  for (size_t i = 8; i < 12; ++i) {
    const auto byte = parse_number<unsigned>(bytes[i], 16);
    if (!byte || bytes[i].size() != 2) return std::nullopt;
    status = status << 8 | *byte;
  }
  const auto flags = parse_number<unsigned>(bytes[15], 16);
  return flags && (*flags & 2) != 0 ? std::optional(status) : std::nullopt;
}

void read_completion(Codes& codes, std::string_view line) {
  const auto add_syndrome = [&](unsigned number) {
    const NicError* known = find_where(kSyndromes, [&](const NicError& each) { return each.number == number; });
    if (known == nullptr) return false;
    if (codes.status == 0) codes.status = known->status;
    add(codes, "syndrome " + hex(number) + " MLX5_CQE_SYNDROME_" + std::string(known->name) + "_ERR");
    return true;
  };
  codes.status = completion_status(line);
  if (codes.status > std::size(kStatusNames)) codes.status = 0;
  // "(synd 0x15 vend 0x81 hw_synd 0/0)" of UCX, "syndrome 0x5, vendor syndrome 0xf9" of mlx5_ib.
  if (line.find(" vend ") != std::string_view::npos)
    if (const auto number = number_after(line, "synd ")) add_syndrome(*number);
  if (line.find("vendor syndrome ") != std::string_view::npos)
    if (const auto number = number_after(line, "syndrome ")) add_syndrome(*number);
  // "syndrome=0x5, vendor_err_synd=0xf9" of DOCA GPUNetIO.
  if (line.find("vendor_err_synd=") != std::string_view::npos)
    if (const auto number = number_after(line, "syndrome=")) add_syndrome(*number);
  if (const auto row = last_row_of_cqe(line)) {
    const unsigned errors = (*row)[1], queue = (*row)[2] & 0xffffff;
    if (errors != 0 && add_syndrome(errors & 0xff)) {
      add_vendor(codes, errors >> 8 & 0xff);
      add(codes, "queue pair " + hex(queue));
    }
  }
  if (const auto number = status_of_ionic(line))
    if (const NicError* known = add_ionic_status(codes, *number); known != nullptr && codes.status == 0)
      codes.status = known->status;
  if (codes.status != 0) codes.texts.insert(codes.texts.begin(), completion_status_text(codes.status));
  constexpr std::string_view kVendor[] = {
      "vendor err ", "vendor_err=",      "vendor_err ", "vendor_err: ", "vendor_err:",     "vendor error ",
      " vend ",      "vendor syndrome ", "syndrom ",    "vendor_err(",  "vendor_err_synd="};
  if (const auto number = number_after_any(line, kVendor)) {
    const bool is_of_ionic = line.find("ionic") != std::string_view::npos;
    if (!is_of_ionic || add_ionic_status(codes, *number) == nullptr) add_vendor(codes, *number);
  }
}

// ---- errno and libfabric.

// enum nvshmemx_status, from 1.
constexpr std::string_view kNvshmemStatuses[] = {"INVALID_VALUE", "OUT_OF_MEMORY",    "NOT_SUPPORTED",
                                                 "SYMMETRY",      "GPU_NOT_SELECTED", "COLLECTIVE_LAUNCH_FAILED",
                                                 "INTERNAL"};
// enum cudaError.
constexpr Name kCudaErrors[] = {{1, "invalid value"},
                                {2, "out of memory"},
                                {3, "initialization error"},
                                {35, "the driver is older than the CUDA runtime needs"},
                                {46, "busy or unavailable"},
                                {100, "no GPU"},
                                {101, "no such GPU"},
                                {214, "uncorrectable ECC error"},
                                {217, "no peer access between the GPUs"},
                                {220, "uncorrectable NVLink error"},
                                {304, "a call of the operating system failed"},
                                {400, "invalid handle"},
                                {401, "illegal state: not possible in the present state"},
                                {700, "illegal address accessed by a kernel"},
                                {701, "too few resources of the GPU for the kernel"},
                                {702, "a kernel ran too long"},
                                {704, "peer access is on already"},
                                {705, "peer access is off"},
                                {709, "the context was destroyed"},
                                {710, "a kernel asserted"},
                                {711, "too many peers: the GPU maps the most GPUs that it can"},
                                {715, "illegal instruction in a kernel"},
                                {716, "misaligned address in a kernel"},
                                {719, "a kernel failed"},
                                {800, "not permitted"},
                                {801, "not supported"},
                                {802, "system not ready: fabric manager"},
                                {803, "driver and library do not fit"},
                                {804, "forward compatibility not supported by this GPU"},
                                {999, "unknown"}};

constexpr int kLastErrno = 133;  // EHWPOISON
// Error numbers inside the kernel, include/linux/errno.h: strerror(3) has no text for them ("Unknown error 524").
struct KernelErrno {
  unsigned number;
  std::string_view name, meaning;
};
constexpr KernelErrno kKernelErrnos[] = {{512, "ERESTARTSYS", "interrupted by a signal"},
                                         {513, "ERESTARTNOINTR", "interrupted by a signal"},
                                         {514, "ERESTARTNOHAND", "interrupted by a signal"},
                                         {515, "ENOIOCTLCMD", "the driver does not know this ioctl"},
                                         {516, "ERESTART_RESTARTBLOCK", "interrupted by a signal"},
                                         {517, "EPROBE_DEFER", "the driver waits for another device or driver"},
                                         {518, "EOPENSTALE", "the file was replaced while it was opened"},
                                         {519, "ENOPARAM", "the parameter is not supported"},
                                         {521, "EBADHANDLE", "illegal NFS file handle"},
                                         {522, "ENOTSYNC", "the update does not fit the state of the server"},
                                         {523, "EBADCOOKIE", "stale cookie of a directory"},
                                         {524, "ENOTSUPP", "operation not supported"},
                                         {525, "ETOOSMALL", "the buffer or the request is too small"},
                                         {526, "ESERVERFAULT", "undefined error of the server"},
                                         {527, "EBADTYPE", "the server does not support this type"},
                                         {528, "EJUKEBOX", "the server is busy and will answer later"},
                                         {529, "EIOCBQUEUED", "queued"},
                                         {530, "ERECALLCONFLICT", "conflict with a recalled state"}};
constexpr unsigned kFirstFabric = 256;
constexpr std::string_view kFabricErrors[] = {
    "EOTHER", "ETOOSMALL", "EOPBADSTATE", "EAVAIL", "EBADFLAGS", "ENOEQ", "EDOMAIN", "ENOCQ",
    "ECRC",   "ETRUNC",    "ENOKEY",      "ENOAV",  "EOVERRUN",  "ENORX", "ENOMR",   "EFIREWALLADDR"};

void add_errno(Codes& codes, std::string_view line, unsigned number) {
  const bool is_fabric =
      line.find("fi_") != std::string_view::npos || line.find("libfabric") != std::string_view::npos ||
      line.find("NET/OFI") != std::string_view::npos || line.find("prov_errno") != std::string_view::npos;
  if (number >= kFirstFabric && number < kFirstFabric + std::size(kFabricErrors)) {
    add(codes,
        "libfabric error " + std::to_string(number) + " FI_" + std::string(kFabricErrors[number - kFirstFabric]));
    return;
  }
  const KernelErrno* internal =
      find_where(kKernelErrnos, [&](const KernelErrno& each) { return each.number == number; });
  if (internal != nullptr) {
    if (codes.error.empty()) codes.error = internal->name;
    add(codes, "errno " + std::to_string(number) + " " + std::string(internal->name) + " (" +
                   std::string(internal->meaning) + "; of the kernel only)");
    return;
  }
  if (number == 0 || number > kLastErrno) return;
  const char* name = ::strerrorname_np(static_cast<int>(number));
  if (name == nullptr) return;
  if (codes.error.empty()) codes.error = name;
  std::string text = "errno " + std::to_string(number) + " " + name + " (";
  text += ::strerrordesc_np(static_cast<int>(number));
  if (is_fabric) text += std::string("; libfabric FI_") + name;
  add(codes, text + ")");
}

// The texts of all errnos, in lower case: programs in Go and kernels write them so.
const std::vector<std::pair<unsigned, std::string>>& errno_texts() {
  static const std::vector<std::pair<unsigned, std::string>> all = [] {
    std::vector<std::pair<unsigned, std::string>> out;
    for (int number = 1; number <= kLastErrno; ++number)
      if (const char* text = ::strerrordesc_np(number); text != nullptr && std::strlen(text) > 8)
        out.emplace_back(number, lower(text));
    return out;
  }();
  return all;
}

constexpr std::string_view kStatus = "non-zero status: ";  // of NVSHMEM
// The status after "non-zero status: " if the text after it names a call of CUDA: "401 cuMemMap failed to map".
std::optional<unsigned> cuda_status(std::string_view line) {
  const size_t at = line.find(kStatus);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + kStatus.size());
  for (const std::string_view word : words(rest))
    for (const std::string_view prefix : {"cuda", "cu"})
      if (word.starts_with(prefix) && word.size() > prefix.size() + 1 && word[prefix.size()] >= 'A' &&
          word[prefix.size()] <= 'Z')
        return leading_number(rest);
  return std::nullopt;
}

// The status after "non-zero status: " if it is NVSHMEM's own: only for a call of libibverbs or libmlx5 it is an errno.
std::optional<unsigned> nvshmem_status(std::string_view line) {
  const size_t at = line.find(kStatus);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at);
  if (rest.find("ibv_") != std::string_view::npos || rest.find("mlx5dv") != std::string_view::npos) return std::nullopt;
  if (cuda_status(line)) return std::nullopt;
  const auto number = leading_number(rest.substr(kStatus.size()));
  if (number && *number <= std::size(kNvshmemStatuses)) return number;
  return std::nullopt;
}

// CUDA and HIP number their errors in their own way, and use texts of errnos for some ('invalid argument').
bool is_of_gpu_runtime(std::string_view line) {
  for (const std::string_view word : {"uda failure", "CUDA failure", "CUDA error", "HIP failure", "HIP error",
                                      "cudaHostRegister with IoMemory failed"})
    if (line.find(word) != std::string_view::npos) return true;
  return false;
}

// The words before the code with which a process ended: a negative one is a signal, not an errno.
constexpr std::string_view kExitCodes[] = {"exitcode",
                                           "exit code",
                                           "exit_code",
                                           "returncode",
                                           "exit status",
                                           "exits with return code",
                                           "exited with return code"};

// ice and i40e about a virtual function: "VF 0 failed opcode 6, retval: -5".
bool is_of_virtchnl(std::string_view line) { return has_any(line, "VF * failed opcode "); }

// Intel's i40e and iavf print statuses of their own (enum i40e_status, enum virtchnl_status_code) as negative numbers,
// and ice those of its virtual functions; the functions of the kernel that they call return errnos.
bool has_own_statuses(std::string_view line) {
  if (is_of_virtchnl(line)) return true;
  constexpr std::string_view kOfIntel[] = {
      "i40e ", "i40e: ", "iavf ", "iavf: ", "I40E_ERR_", "IAVF_ERR_", "VIRTCHNL_STATUS_"};
  constexpr std::string_view kOfKernel[] = {"probe", "sriov", "SR-IOV", "SRIOV"};
  return has_any_of(line, kOfIntel) && !has_any_of(line, kOfKernel);
}

// The place at which the provider's own error of a libfabric completion begins. Its numbers and texts are not errnos,
// although a plugin may print strerror(3) of them. "completed with error. RC: 107. Error: 25 (Inappropriate ioctl for
// device)", "err: 103, flags: 2, prov_errno: 13, strerror: ...".
size_t provider_error(std::string_view small) {
  const size_t at = small.find("prov_errno");
  if (at != std::string_view::npos) return at;
  const size_t code = small.find("completed with error. rc: ");
  return code == std::string_view::npos ? code : small.find(" error: ", code);
}

// In a line of the kernel -1 is EPERM; a program prints the -1 that a call returned, whatever its errno.
bool is_of_kernel(std::string_view line) {
  if (line.find(" kernel: ") != std::string_view::npos || line.find("infiniband ") != std::string_view::npos ||
      line.starts_with("amdgpu: ") || line.find("] amdgpu: ") != std::string_view::npos)
    return true;
  return std::ranges::any_of(words(line), [](std::string_view word) {
    while (word.ends_with(':')) word.remove_suffix(1);
    return is_pci_address(word);
  });
}

// The errno beside the -1 that a call returned: "rdma_connect -1 (error 22)", "returned -1, errno=110", "ret = -1
// (111)".
std::optional<unsigned> errno_beside_result(std::string_view small) {
  for (size_t at = small.find("-1"); at != std::string_view::npos; at = small.find("-1", at + 1)) {
    if (at == 0 || std::string_view(" :=(").find(small[at - 1]) == std::string_view::npos) continue;
    std::string_view rest = small.substr(at + 2);
    const size_t separators = std::min(rest.find_first_not_of(" ,;:("), rest.size());
    const bool in_brackets = rest.substr(0, separators).ends_with('(');
    if (separators == 0) continue;
    rest.remove_prefix(separators);
    bool is_named = false;
    for (const std::string_view word : {"errno", "error", "err", "code"})
      if (!is_named && rest.starts_with(word)) {
        is_named = true;
        rest.remove_prefix(word.size());
        rest.remove_prefix(std::min(rest.find_first_not_of(" :=("), rest.size()));
      }
    if (rest.starts_with('-')) rest.remove_prefix(1);
    const auto number = leading_number(rest);
    // In brackets alone: "(22)", not "(22 ranks)".
    const size_t end = rest.find_first_not_of("0123456789");
    const bool is_alone = in_brackets && end != std::string_view::npos && rest[end] == ')';
    if (number && (is_named || is_alone) && *number > 1 && *number <= kLastErrno) return number;
  }
  return std::nullopt;
}

// The provider's own error, if it can only be an errno: the statuses of completions, of verbs and of EFA, are smaller,
// and the other errors of EFA larger. "err: 5 (Input/output error), prov_errno: Connection reset by peer (104)" of tcp.
std::optional<unsigned> errno_of_provider(std::string_view small) {
  constexpr unsigned kFirstOfNetwork = 98;  // EADDRINUSE
  const size_t at = small.find("prov_errno");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view field = small.substr(at, 128);
  for (size_t digit = field.find_first_of("0123456789"); digit != std::string_view::npos;
       digit = field.find_first_of("0123456789", field.find_first_not_of("0123456789", digit))) {
    const auto number = leading_number(field.substr(digit));
    if (number && *number >= kFirstOfNetwork && *number <= kLastErrno) return number;
  }
  return std::nullopt;
}

// Programs whose numbers are not errnos. A number is behind one of `prefixes`; `sign` is that of the named numbers.
struct NumberSpace {
  std::string_view marks, prefixes, title, sign;
  std::span<const Name> names;
  bool has_others = false;  // other numbers behind the prefixes may be errnos
};
// dcgmReturn_t of dcgm_structs.h, pmix_status_t of pmix_common.h, nvmlReturn_t of nvml.h, HcclResult of hccl_types.h,
// CUfileOpError of cufile.h, iscsi_err of Linux include/scsi/iscsi_if.h.
constexpr Name kDcgmStatuses[] = {{1, "BADPARAM"},
                                  {3, "GENERIC_ERROR"},
                                  {4, "MEMORY"},
                                  {5, "NOT_CONFIGURED"},
                                  {6, "NOT_SUPPORTED"},
                                  {7, "INIT_ERROR"},
                                  {8, "NVML_ERROR"},
                                  {10, "UNINITIALIZED"},
                                  {11, "TIMEOUT"},
                                  {12, "VER_MISMATCH"},
                                  {13, "UNKNOWN_FIELD"},
                                  {14, "NO_DATA"},
                                  {15, "STALE_DATA"},
                                  {16, "NOT_WATCHED"},
                                  {17, "NO_PERMISSION"},
                                  {18, "GPU_IS_LOST"},
                                  {19, "RESET_REQUIRED"},
                                  {21, "CONNECTION_NOT_VALID"},
                                  {22, "GPU_NOT_SUPPORTED"},
                                  {29, "REQUIRES_ROOT"},
                                  {33, "MODULE_NOT_LOADED"},
                                  {34, "IN_USE"},
                                  {36, "PROFILING_NOT_SUPPORTED"},
                                  {37, "PROFILING_LIBRARY_ERROR"},
                                  {38, "PROFILING_MULTI_PASS"},
                                  {44, "INSUFFICIENT_DRIVER_VERSION"}};
constexpr Name kPmixStatuses[] = {{1, "ERROR"},
                                  {11, "EXISTS"},
                                  {15, "ERR_WOULD_BLOCK"},
                                  {23, "ERR_NO_PERMISSIONS"},
                                  {24, "ERR_TIMEOUT"},
                                  {25, "ERR_UNREACH: a process cannot be reached (any more)"},
                                  {27, "ERR_BAD_PARAM"},
                                  {28, "ERR_RESOURCE_BUSY"},
                                  {29, "ERR_OUT_OF_RESOURCE"},
                                  {31, "ERR_INIT"},
                                  {32, "ERR_NOMEM"},
                                  {46, "ERR_NOT_FOUND"},
                                  {47, "ERR_NOT_SUPPORTED"},
                                  {49, "ERR_COMM_FAILURE"}};
constexpr Name kNvmlStatuses[] = {
    {1, "UNINITIALIZED"},      {2, "INVALID_ARGUMENT"},         {3, "NOT_SUPPORTED"},     {4, "NO_PERMISSION"},
    {6, "NOT_FOUND"},          {8, "INSUFFICIENT_POWER"},       {9, "DRIVER_NOT_LOADED"}, {10, "TIMEOUT"},
    {12, "LIBRARY_NOT_FOUND"}, {13, "FUNCTION_NOT_FOUND"},      {15, "GPU_IS_LOST"},      {16, "RESET_REQUIRED"},
    {17, "OPERATING_SYSTEM"},  {18, "LIB_RM_VERSION_MISMATCH"}, {19, "IN_USE"},           {20, "MEMORY"},
    {999, "UNKNOWN"}};
constexpr Name kHcclResults[] = {{1, "PARA"},           {2, "PTR"},          {3, "MEMORY"},        {4, "INTERNAL"},
                                 {5, "NOT_SUPPORT"},    {6, "NOT_FOUND"},    {7, "UNAVAIL"},       {8, "SYSCALL"},
                                 {9, "TIMEOUT"},        {11, "TCP_CONNECT"}, {12, "ROCE_CONNECT"}, {13, "TCP_TRANSFER"},
                                 {14, "ROCE_TRANSFER"}, {15, "RUNTIME"},     {16, "DRV"},          {19, "NETWORK"},
                                 {20, "AGAIN"},         {21, "REMOTE"}};
constexpr Name kCuFileErrors[] = {{5001, "DRIVER_NOT_INITIALIZED"},
                                  {5002, "DRIVER_INVALID_PROPS"},
                                  {5003, "DRIVER_UNSUPPORTED_LIMIT"},
                                  {5004, "DRIVER_VERSION_MISMATCH"},
                                  {5005, "DRIVER_VERSION_READ_ERROR"},
                                  {5006, "DRIVER_CLOSING"},
                                  {5007, "PLATFORM_NOT_SUPPORTED"},
                                  {5008, "IO_NOT_SUPPORTED"},
                                  {5009, "DEVICE_NOT_SUPPORTED"},
                                  {5010, "NVFS_DRIVER_ERROR"},
                                  {5011, "CUDA_DRIVER_ERROR"},
                                  {5012, "CUDA_POINTER_INVALID"},
                                  {5013, "CUDA_MEMORY_TYPE_INVALID"},
                                  {5014, "CUDA_POINTER_RANGE_ERROR"},
                                  {5015, "CUDA_CONTEXT_MISMATCH"},
                                  {5016, "INVALID_MAPPING_SIZE"},
                                  {5017, "INVALID_MAPPING_RANGE"},
                                  {5018, "INVALID_FILE_TYPE"},
                                  {5019, "INVALID_FILE_OPEN_FLAG"},
                                  {5020, "DIO_NOT_SET"},
                                  {5022, "INVALID_VALUE"},
                                  {5023, "MEMORY_ALREADY_REGISTERED"},
                                  {5024, "MEMORY_NOT_REGISTERED"},
                                  {5025, "PERMISSION_DENIED"},
                                  {5026, "DRIVER_ALREADY_OPEN"},
                                  {5027, "HANDLE_NOT_REGISTERED"},
                                  {5028, "HANDLE_ALREADY_REGISTERED"},
                                  {5029, "DEVICE_NOT_FOUND"},
                                  {5030, "INTERNAL_ERROR: cufile.log has the reason"},
                                  {5031, "GETNEWFD_FAILED"},
                                  {5033, "NVFS_SETUP_ERROR"},
                                  {5034, "IO_DISABLED"},
                                  {5035, "BATCH_SUBMIT_FAILED"},
                                  {5036, "GPU_MEMORY_PINNING_FAILED"},
                                  {5037, "BATCH_FULL"},
                                  {5038, "ASYNC_NOT_SUPPORTED"}};
constexpr Name kIscsiErrors[] = {{1001, "DATASN"},
                                 {1002, "DATA_OFFSET"},
                                 {1003, "MAX_CMDSN"},
                                 {1004, "EXP_CMDSN"},
                                 {1005, "BAD_OPCODE"},
                                 {1006, "DATALEN"},
                                 {1007, "AHSLEN"},
                                 {1008, "PROTO"},
                                 {1009, "LUN"},
                                 {1010, "BAD_ITT"},
                                 {1011, "CONN_FAILED: the connection failed"},
                                 {1012, "R2TSN"},
                                 {1013, "SESSION_FAILED"},
                                 {1014, "HDR_DGST: the checksum of a header is wrong"},
                                 {1015, "DATA_DGST: the checksum of the data is wrong"},
                                 {1016, "PARAM_NOT_FOUND"},
                                 {1017, "NO_SCSI_CMD"},
                                 {1018, "INVALID_HOST"},
                                 {1019, "XMIT_FAILED: a packet could not be sent"},
                                 {1020, "TCP_CONN_CLOSE: the target closed the TCP connection"},
                                 {1021, "SCSI_EH_SESSION_RST: the SCSI layer reset the session"},
                                 {1022, "NOP_TIMEDOUT: the target did not answer a ping (NOP-Out) in time"}};
// Linux drivers/net/ethernet/intel: enum i40e_admin_queue_err, enum libie_aq_err.
constexpr Name kAdminQueueStatuses[] = {
    {1, "EPERM"},     {2, "ENOENT"},    {3, "ESRCH"},   {4, "EINTR"},   {5, "EIO"},     {6, "ENXIO"},
    {7, "E2BIG"},     {8, "EAGAIN"},    {9, "ENOMEM"},  {10, "EACCES"}, {11, "EFAULT"}, {12, "EBUSY"},
    {13, "EEXIST"},   {14, "EINVAL"},   {15, "ENOTTY"}, {16, "ENOSPC"}, {17, "ENOSYS"}, {18, "ERANGE"},
    {19, "EFLUSHED"}, {20, "BAD_ADDR"}, {21, "EMODE"},  {22, "EFBIG"}};
// UCX src/ucs/type/status.h.
constexpr Name kUcxStatuses[] = {{1, "NO_MESSAGE"},
                                 {2, "NO_RESOURCE"},
                                 {3, "IO_ERROR"},
                                 {4, "NO_MEMORY"},
                                 {5, "INVALID_PARAM"},
                                 {6, "UNREACHABLE: no transport reaches the peer"},
                                 {7, "INVALID_ADDR"},
                                 {8, "NOT_IMPLEMENTED"},
                                 {9, "MESSAGE_TRUNCATED"},
                                 {10, "NO_PROGRESS"},
                                 {11, "BUFFER_TOO_SMALL"},
                                 {12, "NO_ELEM"},
                                 {13, "SOME_CONNECTS_FAILED"},
                                 {14, "NO_DEVICE"},
                                 {15, "BUSY"},
                                 {16, "CANCELED: after another error"},
                                 {17, "SHMEM_SEGMENT"},
                                 {18, "ALREADY_EXISTS"},
                                 {19, "OUT_OF_RANGE"},
                                 {20, "TIMED_OUT"},
                                 {21, "EXCEEDS_LIMIT"},
                                 {22, "UNSUPPORTED"},
                                 {23, "REJECTED: by the peer"},
                                 {24, "NOT_CONNECTED"},
                                 {25, "CONNECTION_RESET: the peer closed the connection"},
                                 {80, "ENDPOINT_TIMEOUT: the peer did not answer"}};
constexpr NumberSpace kNumberSpaces[] = {
    {"Endpoint timeout (-|remote peer (-|Destination is unreachable (-|Input/output error (-3)|Out of memory "
     "(-4)|Invalid parameter (-5)|^ucp_put|^ucp_get|^ucp_ep_|^ucp_tag|^ucp_am_|^ucp_worker_|^ucp_request|^ucp_mem_|"
     "^uct_ep_",
     "(|status |status: |status=|status = |failed: |returned |error: |error |ret=|ret ", "UCS_ERR_", "-", kUcxStatuses,
     true},
    {"cuFile|cufile|CUFILE|cufio", "err=|err: |err |error: |error=|error |status=|status |code |(", "CU_FILE_", "",
     kCuFileErrors, true},
    {"aq_err ", "aq_err ", "AQ_RC_", "", kAdminQueueStatuses, true},
    {"conn error (|iSCSI connection", "error (", "ISCSI_ERR_", "", kIscsiErrors, true},
    {"Dcgm|dcgm_|DCGM|nv-hostengine|fieldId = ", "returned |ret: |ret |status |status: |status = |error: |error |(",
     "DCGM_ST_", "-", kDcgmStatuses},
    {"pmixp_|mpi/pmix|PMIX|PMIx", "status = |status |status: |rc = |rc=|rc: |returned |ret: |ret = ", "PMIX_", "-",
     kPmixStatuses},
    {"HCCL(", "hcclRet -> |ret[|return[|retcode: ", "HCCL_E_", "", kHcclResults},
    {"nvml|NVML", "returned |failed with |failed: |ret: |status: ", "NVML_ERROR_", "", kNvmlStatuses}};

// Decodes the numbers of programs whose numbers are not errnos. Returns the line without them.
std::string read_number_spaces(Codes& codes, std::string_view line) {
  std::string out(line);
  const NumberSpace* space =
      find_where(kNumberSpaces, [&](const NumberSpace& each) { return has_any(line, each.marks); });
  if (space == nullptr) return out;
  for (std::string_view prefixes = space->prefixes; !prefixes.empty();) {
    const std::string prefix = std::string(cut(prefixes, '|')) + std::string(space->sign);
    for (size_t at = out.find(prefix); at != std::string::npos; at = out.find(prefix, at + 1)) {
      const size_t from = at + prefix.size();
      const auto number = leading_number(std::string_view(out).substr(from));
      if (!number) continue;
      const std::string_view name = name_of(space->names, *number);
      if (name.empty() && space->has_others) continue;
      if (!name.empty())
        add(codes, "status " + std::string(space->sign) + std::to_string(*number) + " " + std::string(space->title) +
                       std::string(name));
      const size_t end = std::min(out.find_first_not_of("0123456789", from), out.size());
      std::fill_n(out.begin() + static_cast<std::ptrdiff_t>(from - space->sign.size()), end - from + space->sign.size(),
                  ' ');
    }
  }
  return out;
}

void read_errnos(Codes& codes, std::string_view line) {
  if (has_efa_timeout(line)) return;
  std::vector<std::pair<size_t, unsigned>> found;  // place in the line, errno
  const std::string whole = lower(line), small = whole.substr(0, provider_error(whole));
  // More certain than the errno of the completion, which is EIO for most errors of a provider.
  if (const auto number = errno_of_provider(whole)) add_errno(codes, line, *number);
  for (const auto& [number, text] : errno_texts())
    if (const size_t at = small.find(text); at != std::string::npos) found.emplace_back(at, number);
  for (const std::string_view prefix :
       {"errno: ", "errno:", "errno ", "errno=", "errno = ", "non-zero status: ", "failed with ", "rc 0x0 errno ",
        "unknown error ",
        // positive, of the libfabric plugin of NCCL; of perftest
        "completed with error. rc: ", "completed with error: err: ", "allocate mr with error="})
    for (size_t at = small.find(prefix); at != std::string::npos; at = small.find(prefix, at + 1))
      if (const auto number = leading_number(std::string_view(small).substr(at + prefix.size())))
        if (!prefix.starts_with("non-zero") || (!nvshmem_status(line) && !cuda_status(line)))
          found.emplace_back(at, *number);
  // The error of a completion of libfabric, before that of its provider.
  if (small.size() < whole.size())
    for (const std::string_view prefix : {" err: ", " err=", " err ", " err:"})
      if (const auto number = number_after(small, prefix)) found.emplace_back(small.find(prefix), *number);
  if (!is_of_kernel(line))
    if (const auto number = errno_beside_result(small)) found.emplace_back(0, *number);
  // GDRCopy and verbs return errnos without a sign: "gdr_pin_buffer(addr 7f, size 64) failed: 22".
  if (small.find("gdr_") != std::string::npos || small.find("modify_qp(") != std::string::npos)
    for (const std::string_view prefix : {") failed: ", " failed: ", " code="})
      if (const auto number = number_after(small, prefix)) {
        const size_t at = small.find(prefix), end = small.find_first_not_of("0123456789", at + prefix.size());
        if (end == std::string::npos || small[end] != ' ') found.emplace_back(at, *number);  // not "2 retries left"
      }
  std::ranges::sort(found);
  for (const auto& [at, number] : found) add_errno(codes, line, number);
  found.clear();

  // A negative number is the negated errno, if the line is about a failure: not "GID index -1", nor a time or a place.
  bool is_failure = false;
  for (const std::string_view word : {"fail", "err", "couldn't", "cannot", "can't", "unable", "ret", "rc", "status",
                                      "abort", "reject", "fi_", "timeout", "timed out"})
    is_failure = is_failure || small.find(word) != std::string::npos;
  // A trace of the kernel: "xs_tcp_send_request(8320) = -32".
  is_failure = is_failure || (is_of_kernel(line) && small.find(") = -") != std::string::npos);
  // The interface of the chips of switches has statuses of its own.
  const bool is_of_sai = line.find("SAI_") != std::string_view::npos;
  const bool has_negated = is_failure && !is_of_sai && !has_own_statuses(line);
  for (size_t at = small.find('-'); has_negated && at != std::string::npos; at = small.find('-', at + 1)) {
    if (at == 0 || std::string_view(" :=([,").find(small[at - 1]) == std::string_view::npos) continue;
    size_t end = at + 1;
    while (end < small.size() && is_digit(small[end])) ++end;
    if (end == at + 1) continue;
    const auto letter = [&](size_t place) { return place < small.size() ? small[place] : ' '; };
    const bool ends_sentence = letter(end) == '.' && letter(end + 1) == ' ';
    const bool goes_on =
        is_word_letter(letter(end)) || std::string_view(".-:").find(letter(end)) != std::string_view::npos;
    if (goes_on && !ends_sentence) continue;
    std::string_view before = std::string_view(small).substr(0, at);
    for (size_t left = 4; left > 0 && !before.empty() && !is_word_letter(before.back()); --left)
      before.remove_suffix(1);
    const auto is_before = [&](std::string_view word) { return before.ends_with(word); };
    if (is_before("index") || is_before("idx") || is_before("rank") || is_before("dbm") ||
        std::ranges::any_of(kExitCodes, is_before))
      continue;
    const auto number = parse_number<unsigned>(std::string_view(small).substr(at + 1, end - at - 1));
    const bool is_named = before.ends_with("err") || before.ends_with("error") || before.ends_with("ret") ||
                          before.ends_with("rc") || end == small.size();  // "Failed to get user pages: -1"
    if (number && (*number > 1 || before.ends_with("errno") || (is_named && is_of_kernel(line))))
      found.emplace_back(at, *number);
  }
  // 32 bits of a negative number: "Free MW failed: 0xffffff92".
  if (const size_t at = small.find("0xffffff"); is_failure && !is_of_sai && at != std::string::npos)
    if (const auto number = leading_number(std::string_view(small).substr(at));
        number && -*number > 1 && -*number <= kLastErrno)
      found.emplace_back(at, -*number);
  // The same without "0x", as bnxt_en prints it: "rc: ffffffed".
  constexpr std::string_view kNegative = "ffffff";
  for (size_t at = small.find(kNegative); is_failure && at != std::string::npos; at = small.find(kNegative, at + 1)) {
    const std::string_view word = std::string_view(small).substr(at, 8);
    const bool is_whole = word.size() == 8 && (at + 8 == small.size() || !is_word_letter(small[at + 8]));
    if (at == 0 || std::string_view(" =(:").find(small[at - 1]) == std::string_view::npos || !is_whole) continue;
    if (const auto number = parse_number<unsigned>(word, 16); number && -*number > 1 && -*number <= kLastErrno)
      found.emplace_back(at, -*number);
  }
  std::ranges::sort(found);
  for (const auto& [at, number] : found) add_errno(codes, line, number);
  // libfabric prints its own errors without a sign: "error: 269, Receiver not ready".
  for (unsigned i = 0; i < std::size(kFabricErrors); ++i)
    if (small.find("fi_" + lower(kFabricErrors[i])) != std::string::npos) add_errno(codes, line, kFirstFabric + i);
  if (const auto number = number_after(line, "CQ entry as expected: ")) add_errno(codes, line, *number);
}

// ---- Commands of a driver to its firmware.

constexpr Name kMlx5Statuses[] = {
    {0x01, "internal error"}, {0x02, "bad operation"},    {0x03, "bad parameter"},    {0x04, "bad system state"},
    {0x05, "bad resource"},   {0x06, "resource busy"},    {0x08, "limits exceeded"},  {0x09, "bad resource state"},
    {0x0a, "bad index"},      {0x0f, "no resources"},     {0x10, "bad QP state"},     {0x30, "bad packet"},
    {0x40, "bad size"},       {0x50, "bad input length"}, {0x51, "bad output length"}};
constexpr Name kBnxtCommands[] = {{0x01, "CREATE_QP"},     {0x02, "DESTROY_QP"},      {0x03, "MODIFY_QP"},
                                  {0x04, "QUERY_QP"},      {0x05, "CREATE_SRQ"},      {0x06, "DESTROY_SRQ"},
                                  {0x08, "QUERY_SRQ"},     {0x09, "CREATE_CQ"},       {0x0a, "DESTROY_CQ"},
                                  {0x0c, "RESIZE_CQ"},     {0x0d, "ALLOCATE_MRW"},    {0x0e, "DEALLOCATE_KEY"},
                                  {0x0f, "REGISTER_MR"},   {0x10, "DEREGISTER_MR"},   {0x11, "ADD_GID"},
                                  {0x12, "DELETE_GID"},    {0x13, "CREATE_QP1"},      {0x14, "DESTROY_QP1"},
                                  {0x15, "CREATE_AH"},     {0x16, "DESTROY_AH"},      {0x17, "MODIFY_GID"},
                                  {0x18, "QUERY_GID"},     {0x80, "INITIALIZE_FW"},   {0x81, "DEINITIALIZE_FW"},
                                  {0x82, "STOP_FUNC"},     {0x83, "QUERY_FUNC"},      {0x84, "SET_FUNC_RESOURCES"},
                                  {0x8a, "MAP_TC_TO_COS"}, {0x8b, "QUERY_VERSION"},   {0x8c, "MODIFY_ROCE_CC"},
                                  {0x8d, "QUERY_ROCE_CC"}, {0x8e, "QUERY_ROCE_STATS"}};
constexpr Name kEfaAdmin[] = {
    {1, "RESOURCE_ALLOCATION_FAILURE"}, {2, "BAD_OPCODE"},    {3, "UNSUPPORTED_OPCODE"}, {4, "MALFORMED_REQUEST"},
    {5, "ILLEGAL_PARAMETER"},           {6, "UNKNOWN_ERROR"}, {7, "RESOURCE_BUSY"}};
constexpr Name kEfaCompletions[] = {{1, "FLUSHED"},
                                    {2, "QP_INTERNAL_ERROR"},
                                    {3, "UNSUPPORTED_OP"},
                                    {4, "INVALID_AH"},
                                    {5, "INVALID_LKEY"},
                                    {6, "BAD_LENGTH"},
                                    {7, "BAD_ADDRESS"},
                                    {8, "ABORT"},
                                    {9, "BAD_DEST_QPN"},
                                    {10, "RNR"},
                                    {11, "REMOTE_BAD_LENGTH"},
                                    {12, "BAD_STATUS"},
                                    {13, "UNRESP_REMOTE"},
                                    {14, "UNKNOWN_PEER"},
                                    {15, "UNREACH_REMOTE"},
                                    {18, "FEATURE_MISMATCH"}};
// Errors of libfabric's EFA provider itself, FI_EFA_ERR_*: prov/efa/src/efa_errno.h.
constexpr unsigned kFirstOfEfa = 4096;
constexpr std::string_view kOfEfa[] = {"OTHER",
                                       "DEPRECATED_PKT_TYPE",
                                       "INVALID_PKT_TYPE",
                                       "UNKNOWN_PKT_TYPE",
                                       "PKT_POST",
                                       "PKT_SEND",
                                       "PKT_PROC_MSGRTM",
                                       "PKT_PROC_TAGRTM",
                                       "PKT_ALREADY_PROCESSED",
                                       "OOM",
                                       "MR_DEREG",
                                       "RXE_COPY",
                                       "RXE_POOL_EXHAUSTED",
                                       "TXE_POOL_EXHAUSTED",
                                       "AV_INSERT",
                                       "RMA_ADDR",
                                       "INTERNAL_RX_BUF_POST",
                                       "PEER_HANDSHAKE",
                                       "WR_POST_SEND",
                                       "RTM_MISMATCH",
                                       "READ_POST",
                                       "RDMA_READ_POST",
                                       "INVALID_DATATYPE",
                                       "WRITE_SEND_COMP",
                                       "WRITE_RECV_COMP",
                                       "DGRAM_CQ_READ",
                                       "SHM_INTERNAL_ERROR",
                                       "WRITE_SHM_CQ_ENTRY",
                                       "ESTABLISHED_RECV_UNRESP",
                                       "INVALID_PKT_TYPE_ZCPY_RX",
                                       "UNESTABLISHED_RECV_UNRESP"};
constexpr Name kDoca[] = {{1, "UNKNOWN"},
                          {2, "NOT_PERMITTED"},
                          {3, "IN_USE"},
                          {4, "NOT_SUPPORTED"},
                          {5, "AGAIN"},
                          {6, "INVALID_VALUE"},
                          {7, "NO_MEMORY"},
                          {8, "INITIALIZATION"},
                          {9, "TIME_OUT"},
                          {10, "SHUTDOWN"},
                          {11, "CONNECTION_RESET"},
                          {12, "CONNECTION_ABORTED"},
                          {13, "CONNECTION_INPROGRESS"},
                          {14, "NOT_CONNECTED"},
                          {15, "NO_LOCK"},
                          {16, "NOT_FOUND"},
                          {17, "IO_FAILED"},
                          {18, "BAD_STATE"},
                          {19, "UNSUPPORTED_VERSION"},
                          {20, "OPERATING_SYSTEM"},
                          {21, "DRIVER"},
                          {22, "UNEXPECTED"},
                          {23, "ALREADY_EXIST"},
                          {24, "FULL"},
                          {25, "EMPTY"},
                          {26, "IN_PROGRESS"},
                          {27, "TOO_BIG"},
                          {28, "AUTHENTICATION"},
                          {29, "BAD_CONFIG"},
                          {30, "SKIPPED"},
                          {31, "DEVICE_FATAL_ERROR"}};

// Requests of a virtual function of Intel to its PF (enum virtchnl_ops), and the answers (enum virtchnl_status_code,
// with its sign changed).
constexpr Name kVirtchnlRequests[] = {{1, "VERSION"},
                                      {2, "RESET_VF"},
                                      {3, "GET_VF_RESOURCES"},
                                      {4, "CONFIG_TX_QUEUE"},
                                      {5, "CONFIG_RX_QUEUE"},
                                      {6, "CONFIG_VSI_QUEUES"},
                                      {7, "CONFIG_IRQ_MAP"},
                                      {8, "ENABLE_QUEUES"},
                                      {9, "DISABLE_QUEUES"},
                                      {10, "ADD_ETH_ADDR"},
                                      {11, "DEL_ETH_ADDR"},
                                      {12, "ADD_VLAN"},
                                      {13, "DEL_VLAN"},
                                      {14, "CONFIG_PROMISCUOUS_MODE"},
                                      {15, "GET_STATS"},
                                      {17, "EVENT"},
                                      {20, "RDMA"},
                                      {21, "CONFIG_RDMA_IRQ_MAP"},
                                      {22, "RELEASE_RDMA_IRQ_MAP"},
                                      {23, "CONFIG_RSS_KEY"},
                                      {24, "CONFIG_RSS_LUT"},
                                      {25, "GET_RSS_HASHCFG_CAPS"},
                                      {26, "SET_RSS_HASHCFG"},
                                      {27, "ENABLE_VLAN_STRIPPING"},
                                      {28, "DISABLE_VLAN_STRIPPING"},
                                      {29, "REQUEST_QUEUES"},
                                      {30, "ENABLE_CHANNELS"},
                                      {31, "DISABLE_CHANNELS"},
                                      {51, "GET_OFFLOAD_VLAN_V2_CAPS"},
                                      {52, "ADD_VLAN_V2"},
                                      {53, "DEL_VLAN_V2"},
                                      {54, "ENABLE_VLAN_STRIPPING_V2"},
                                      {55, "DISABLE_VLAN_STRIPPING_V2"},
                                      {56, "ENABLE_VLAN_INSERTION_V2"},
                                      {57, "DISABLE_VLAN_INSERTION_V2"}};
constexpr Name kVirtchnlStatuses[] = {
    {5, "ERR_PARAM"},          {18, "ERR_NO_MEMORY"},         {38, "ERR_OPCODE_MISMATCH"}, {39, "ERR_CQP_COMPL_ERROR"},
    {40, "ERR_INVALID_VF_ID"}, {53, "ERR_ADMIN_QUEUE_ERROR"}, {64, "ERR_NOT_SUPPORTED"}};
// Status codes of NVIDIA's GPU driver.
constexpr Name kNvStatuses[] = {
    {0x05, "NV_ERR_CARD_NOT_PRESENT: no GPU detected"},
    {0x0b, "NV_ERR_ECC_ERROR"},
    {0x0f, "NV_ERR_GPU_IS_LOST: the GPU is lost from the bus"},
    {0x10, "NV_ERR_GPU_IN_FULLCHIP_RESET: the GPU is in a reset"},
    {0x11, "NV_ERR_GPU_NOT_FULL_POWER: the GPU does not have its full power"},
    {0x17, "NV_ERR_IN_USE"},
    {0x1a, "NV_ERR_INSUFFICIENT_RESOURCES: a resource other than memory is used up"},
    {0x1b, "NV_ERR_INSUFFICIENT_PERMISSIONS"},
    {0x1c, "NV_ERR_INSUFFICIENT_POWER"},
    {0x1e, "NV_ERR_INVALID_ADDRESS"},
    {0x1f, "NV_ERR_INVALID_ARGUMENT"},
    {0x22, "NV_ERR_INVALID_CLASS"},
    {0x25, "NV_ERR_INVALID_DATA"},
    {0x26, "NV_ERR_INVALID_DEVICE"},
    {0x31, "NV_ERR_INVALID_OBJECT"},
    {0x38, "NV_ERR_INVALID_OPERATION"},
    {0x3b, "NV_ERR_INVALID_PARAMETER"},
    {0x3f, "NV_ERR_INVALID_REQUEST"},
    {0x40, "NV_ERR_INVALID_STATE"},
    {0x42, "NV_ERR_INVALID_READ"},
    {0x47, "NV_ERR_MEMORY_TRAINING_FAILED"},
    {0x51, "NV_ERR_NO_MEMORY: memory is used up"},
    {0x54, "NV_ERR_NOT_COMPATIBLE"},
    {0x55, "NV_ERR_NOT_READY"},
    {0x56, "NV_ERR_NOT_SUPPORTED"},
    {0x57, "NV_ERR_OBJECT_NOT_FOUND"},
    {0x59, "NV_ERR_OPERATING_SYSTEM: a call of the operating system failed"},
    {0x62, "NV_ERR_RESET_REQUIRED: the GPU needs a reset"},
    {0x65, "NV_ERR_TIMEOUT"},
    {0x66, "NV_ERR_TIMEOUT_RETRY"},
    {0x6a, "NV_ERR_LIB_RM_VERSION_MISMATCH: library and driver do not fit each other"},
    {0x6e, "NV_ERR_RESOURCE_LOST: the resource was destroyed"},
    {0x6f, "NV_ERR_PMU_NOT_READY"},
    {0x70, "NV_ERR_FLCN_ERROR: a processor of the GPU halted"},
    {0x71, "NV_ERR_FATAL_ERROR"},
    {0x72, "NV_ERR_MEMORY_ERROR"},
    {0x74, "NV_ERR_NVLINK_INIT_ERROR"},
    {0x75, "NV_ERR_NVLINK_MINION_ERROR"},
    {0x77, "NV_ERR_NVLINK_TRAINING_ERROR"},
    {0x78, "NV_ERR_NVLINK_CONFIGURATION_ERROR"},
    {0x79, "NV_ERR_RISCV_ERROR: a processor of the GPU halted"},
    {0x7a, "NV_ERR_FABRIC_MANAGER_NOT_PRESENT: the fabric manager does not run"},
    {0x7f, "NV_ERR_SECURE_BOOT_FAILED"},
    {0x81, "NV_ERR_NVLINK_FABRIC_NOT_READY: the state of the NVLink fabric is not complete"},
    {0x82, "NV_ERR_NVLINK_FABRIC_FAILURE: the probe of the NVLink fabric failed"},
    {0x87, "NV_ERR_FABRIC_STATE_OUT_OF_SYNC: the driver's state of the NVLink fabric is old"},
    {0xffff, "NV_ERR_GENERIC"}};
// The host of a MANA device answers with statuses of Windows.
constexpr Name kMicrosoftStatuses[] = {
    {0xc0000001, "STATUS_UNSUCCESSFUL"},          {0xc000000d, "STATUS_INVALID_PARAMETER"},
    {0xc000000e, "STATUS_NO_SUCH_DEVICE"},        {0xc0000022, "STATUS_ACCESS_DENIED"},
    {0xc0000034, "STATUS_OBJECT_NAME_NOT_FOUND"}, {0xc000009a, "STATUS_INSUFFICIENT_RESOURCES"},
    {0xc00000a3, "STATUS_DEVICE_NOT_READY"},      {0xc00000b5, "STATUS_IO_TIMEOUT"},
    {0xc00000bb, "STATUS_NOT_SUPPORTED"},         {0xc0000184, "STATUS_INVALID_DEVICE_STATE"},
    {0xffffffff, "GDMA_STATUS_CMD_UNSUPPORTED"}};

// enum ionic_v1_admin_op, enum ionic_v1_admin_status.
constexpr Name kIonicCommands[] = {
    {1, "CREATE_CQ"},   {2, "CREATE_QP"},      {3, "CREATE_MR"},     {4, "STATS_HDRS"}, {5, "STATS_VALS"},
    {6, "DESTROY_MR"},  {7, "RESIZE_CQ"},      {8, "DESTROY_CQ"},    {9, "MODIFY_QP"},  {10, "QUERY_QP"},
    {11, "DESTROY_QP"}, {12, "DEBUG"},         {13, "CREATE_AH"},    {14, "QUERY_AH"},  {15, "MODIFY_DCQCN"},
    {16, "DESTROY_AH"}, {17, "QP_STATS_HDRS"}, {18, "QP_STATS_VALS"}};
constexpr Name kIonicAnswers[] = {{1, "BAD_CMD"},  {2, "BAD_INDEX"}, {3, "BAD_STATE"},
                                  {4, "BAD_TYPE"}, {5, "BAD_ATTR"},  {6, "MSG_TOO_BIG"}};
// Why firmware does not read the EEPROM of a module: register MCIA of NVIDIA's NICs and switches.
constexpr Name kModuleStatuses[] = {{1, "NO_EEPROM_MODULE: the module does not answer"}, {2, "MODULE_NOT_SUPPORTED"},
                                    {3, "MODULE_NOT_CONNECTED: the cage is empty"},      {4, "MODULE_TYPE_INVALID"},
                                    {9, "I2C_ERROR: the bus to the module failed"},      {0x10, "MODULE_DISABLED"}};
// Sub-types of two events of hns_roce: a queue pair that the NIC stopped, and an access that it refused.
constexpr Name kHnsQueueErrors[] = {{1, "QPC_ERROR: the context of the queue pair"},
                                    {2, "MTU_ERROR: the path MTU is larger than that of the port"},
                                    {3, "WQE_BA_ADDR_ERROR: the address of the queue's pages"},
                                    {4, "WQE_ADDR_ERROR: the address of a request"},
                                    {5, "SQ_WQE_SHIFT_ERROR: the size of a request"},
                                    {6, "SL_ERROR: the service level"},
                                    {7, "PORT_ERROR: the port"}};
constexpr Name kHnsAccessErrors[] = {{1, "R_KEY_VIOLATION: the key is not valid"},
                                     {2, "LENGTH_ERROR: beyond the end of the region"},
                                     {3, "VA_ERROR: the address is not in the region"},
                                     {4, "PD_ERROR: the region is of another protection domain"},
                                     {5, "RW_ACC_ERROR: the region does not permit this kind of access"},
                                     {6, "KEY_STATE_ERROR: the key was freed"},
                                     {7, "MR_OPERATION_ERROR"}};

// The word that ends before `end`: capitals, digits and '_', as commands are named.
std::string_view command_before(std::string_view line, size_t end) {
  size_t begin = end;
  while (begin > 0 && is_word_letter(line[begin - 1])) --begin;
  return line.substr(begin, end - begin);
}

// Statuses that a device, its host or a PF answers with.
void read_statuses(Codes& codes, std::string_view line) {
  // iavf: "PF returned error -5 (IAVF_ERR_PARAM) to our request 6"; ice, i40e: "VF 0 failed opcode 6, retval: -5".
  const bool is_answer = is_of_virtchnl(line);
  std::optional<unsigned> request;
  if (is_answer) request = number_after(line, " failed opcode ");
  if (line.find("PF returned error") != std::string_view::npos) request = number_after(line, "to our request ");
  if (request)
    add(codes,
        "request " + std::to_string(*request) + name_after("VIRTCHNL_OP_", name_of(kVirtchnlRequests, *request)));
  if (is_answer)
    if (const auto number = number_after(line, "retval: -"))
      add(codes,
          "status -" + std::to_string(*number) + name_after("VIRTCHNL_STATUS_", name_of(kVirtchnlStatuses, *number)));
  // NVRM: "rpcSendMessage failed with status 0x0000000f for fn 76!".
  if (line.find("NVRM: ") != std::string_view::npos && line.find("Xid (") == std::string_view::npos)
    for (const std::string_view prefix : {"status 0x", "status=0x", "status: 0x", "status = 0x", "status (0x"})
      if (const size_t at = line.find(prefix); at != std::string_view::npos)
        if (const auto number = leading_number(line.substr(at + prefix.size() - 2)))
          if (const std::string_view name = name_of(kNvStatuses, *number); !name.empty()) {
            const std::string status = "NVRM status " + hex(*number) + " ";
            codes.names += " " + status + std::string(name.substr(0, name.find(':')));
            add(codes, status + std::string(name));
          }
  // mlx5_core: "query_mcia_reg failed: status: 0x3"; mlxsw and the SDK of switches name the register, too.
  if (const size_t at = lower(line).find("mcia"); at != std::string::npos)
    if (const auto number = number_after(line.substr(at), "status: "))
      if (const std::string_view name = name_of(kModuleStatuses, *number); !name.empty())
        add(codes, "module status " + hex(*number) + " " + std::string(name));
  // hns_roce: "local work queue 0x9 catast error, sub_event type is: 2". Other events have numbers of their own.
  if (line.find("hns") != std::string_view::npos && line.find("ork queue") != std::string_view::npos)
    for (const std::string_view prefix : {"sub_event type is: ", "sub_type:", "sub_event type "})
      if (const auto number = number_after(line, prefix)) {
        const bool is_access = line.find("ccess violation") != std::string_view::npos;
        const std::string_view name =
            is_access ? name_of(kHnsAccessErrors, *number) : name_of(kHnsQueueErrors, *number);
        add(codes, "sub-event " + std::to_string(*number) + name_after("", name));
        break;
      }
  // mana: "VfVerifyVersionOutput: -71, status=0xc00000bb", "HWC: Failed hw_channel req: 0xc00000bb".
  if (line.find("mana") != std::string_view::npos || line.find("HWC: ") != std::string_view::npos)
    for (const std::string_view prefix : {"status=", "status ", "status: ", "status = ", "hw_channel req: ", ", "})
      if (const auto number = number_after(line, prefix))
        if (const std::string_view name = name_of(kMicrosoftStatuses, *number); !name.empty())
          add(codes, "status " + hex(*number) + " " + std::string(name));
}

// EFA's own error of a completion: "prov_errno: Bad queue pair (QP) number (QP does not exist) (9)" of libfabric, and
// "RC: 103. Error: 4126 (...)", "prov_errno: 4124, strerror: ..." of the plugin of NCCL, which runs over other
// providers too: their small numbers mean something else.
void read_efa(Codes& codes, std::string_view line) {
  std::optional<unsigned> number;
  const std::string small = lower(line);
  bool is_of_efa = small.find("efa") != std::string::npos;
  codes.is_of_transfer = small.find("peer efa addr") != std::string::npos;
  if (const size_t at = line.find("prov_errno: "); at != std::string_view::npos) {
    number = number_after(line.substr(at), "prov_errno: ");
    for (size_t open = line.find('(', at); !number && open != std::string_view::npos; open = line.find('(', open + 1)) {
      number = leading_number(line.substr(open + 1));
      is_of_efa = is_of_efa || number;
    }
  } else if (const size_t code = line.find("completed with error. RC: "); code != std::string_view::npos) {
    number = number_after(line.substr(code), "Error: ");
  }
  if (!number) return;
  if (*number >= kFirstOfEfa && *number < kFirstOfEfa + std::size(kOfEfa))
    add(codes, "EFA error " + std::to_string(*number) + " FI_EFA_ERR_" + std::string(kOfEfa[*number - kFirstOfEfa]));
  else if (const std::string_view name = name_of(kEfaCompletions, *number); is_of_efa && !name.empty())
    add(codes, "EFA status " + std::to_string(*number) + " " + std::string(name));
}

void read_commands(Codes& codes, std::string_view line) {
  // mlx5: "RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x4bb88f), err(-22)".
  if (const size_t at = line.find(" op_mod("); at != std::string_view::npos) {
    const size_t open = line.rfind("(0x", at);
    if (open != std::string_view::npos)
      add(codes, "command " + std::string(command_before(line, open)) + " " +
                     hex(leading_number(line.substr(open + 1)).value_or(0)));
    const std::string_view rest = line.substr(at);
    if (const size_t status = rest.find("status "); status != std::string_view::npos)
      if (const auto number = number_after(rest.substr(status), "("))
        add(codes, "command status " + hex(*number) + name_after("", name_of(kMlx5Statuses, *number)));
    for (const std::string_view prefix : {"syndrome (", "syndrome("})
      if (const auto number = number_after(rest, prefix); number && *number != 0)
        add(codes, "syndrome " + hex(*number));
  }
  // mlx5_core: "Failed to query ISSI err(-5) status(3) synd(1137256)".
  if (const size_t at = line.find(" status("); at != std::string_view::npos)
    if (const size_t synd = line.find(" synd(", at); synd != std::string_view::npos) {
      const auto status = number_after(line.substr(at), " status("),
                 syndrome = number_after(line.substr(synd), " synd(");
      if (status && *status != 0)
        add(codes, "command status " + hex(*status) + name_after("", name_of(kMlx5Statuses, *status)));
      if (syndrome && *syndrome != 0) add(codes, "syndrome " + hex(*syndrome));
    }
  // NVSHMEM: "Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome 764216": hexadecimal without 0x.
  constexpr std::string_view kDevx = " with syndrome ";
  if (const size_t at = line.find(kDevx);
      at != std::string_view::npos && line.find("mlx5dv") != std::string_view::npos) {
    size_t end = at + kDevx.size();
    while (end < line.size() && (is_hex(line[end]) || line[end] == 'x')) ++end;
    if (const auto number = parse_number<unsigned>(line.substr(at + kDevx.size(), end - at - kDevx.size()), 16))
      add(codes, "command " + std::string(command_before(line, at)) + ", syndrome " + hex(*number));
  } else if (line.find("syndrome") != std::string_view::npos && lower(line).find("devx") != std::string::npos) {
    // "mlx5dv_devx_obj_create(QP) failed, syndrome 0x389aa4", "devx object with syndrome=0x5ecb3"
    for (const std::string_view prefix : {"syndrome=", "syndrome ", "syndrome: ", "syndrome ("})
      if (const auto number = number_after(line, prefix); number && *number != 0)
        add(codes, "syndrome " + hex(*number));
  }
  read_statuses(codes, line);
  // bnxt_re: "cmdq[0x4b9]=0x15 status 0x5".
  if (const size_t at = line.find("cmdq[0x"); at != std::string_view::npos)
    if (const auto number = number_after(line.substr(at), "]=")) {
      std::string text = "command " + hex(*number);
      if (const std::string_view name = name_of(kBnxtCommands, *number); !name.empty()) text += " " + std::string(name);
      if (const auto status = number_after(line.substr(at), "status ")) text += ", status " + hex(*status);
      add(codes, text);
    }
  // ionic: "opcode CREATE_QP (2) error BAD_ATTR (5)"; EFA: "command DEREG_MR (opcode 8) comp_status 7 err -22".
  if (const size_t at = line.find("opcode "); at != std::string_view::npos)
    if (const size_t error = line.find(" error ", at); error != std::string_view::npos && line.find("ionic") < at) {
      const auto opcode = words(line.substr(at + 7, error - at - 7)), status = words(line.substr(error + 7));
      const auto named = [](std::string_view word, std::span<const Name> names) {
        const auto number = parse_number<unsigned>(word);
        return std::string(word) + (number ? name_after("", name_of(names, *number)) : "");
      };
      if (!opcode.empty() && !status.empty())
        add(codes,
            "command " + named(opcode.front(), kIonicCommands) + ", error " + named(status.front(), kIonicAnswers));
    }
  // ionic: "IONIC_CMD_Q_INIT (40) failed: TIMEOUT (-110)", "error, IONIC_RC_ENOMEM (10) failed".
  for (const auto& [prefix, kind] : {std::pair("IONIC_CMD_", "command "), std::pair("IONIC_RC_", "status ")})
    if (const size_t at = line.find(prefix); at != std::string_view::npos) {
      size_t end = at;
      while (end < line.size() && is_word_letter(line[end])) ++end;
      add(codes, kind + std::string(line.substr(at, end - at)));
    }
  if (const size_t at = line.find("process command "); at != std::string_view::npos) {
    std::string text =
        "command " + std::string(words(line.substr(at + 16)).empty() ? "" : words(line.substr(at + 16)).front());
    if (const auto status = number_after(line, "comp_status "))
      text += ", status " + std::to_string(*status) + name_after("", name_of(kEfaAdmin, *status));
    add(codes, text);
  }
  read_efa(codes, line);
  for (const std::string_view prefix : {"DOCA failure ", "DOCA Error "})
    if (const auto number = number_after(line, prefix))
      add(codes, "DOCA error " + std::to_string(*number) + name_after("DOCA_ERROR_", name_of(kDoca, *number)));
  if (const auto number = nvshmem_status(line); number && *number > 0)
    add(codes,
        "NVSHMEM status " + std::to_string(*number) + " NVSHMEMX_ERROR_" + std::string(kNvshmemStatuses[*number - 1]));
  if (const auto number = cuda_status(line))
    if (const std::string_view name = name_of(kCudaErrors, *number); !name.empty())
      add(codes, numbered("CUDA error", *number, name));
  if (is_of_gpu_runtime(line)) {
    constexpr std::string_view kNumber[] = {"uda failure ", "CUDA failure ", "CUDA error ", "with error="};
    if (const auto number = number_after_any(line, kNumber))
      if (const std::string_view name = name_of(kCudaErrors, *number); !name.empty())
        add(codes, numbered("CUDA error", *number, name));
  }
}

// ---- Events and Xids.

constexpr std::pair<std::string_view, std::string_view> kEvents[] = {
    {"CQ error", "CQ_ERR"},
    {"local work queue catastrophic error", "QP_FATAL"},
    {"invalid request local work queue error", "QP_REQ_ERR"},
    {"local access violation work queue error", "QP_ACCESS_ERR"},
    {"qp event QP request error", "QP_REQ_ERR"},  // of the kernel's ib_event_msg()
    {"qp event QP access error", "QP_ACCESS_ERR"},
    {"path migration request error", "PATH_MIG_ERR"},
    {"local catastrophic error", "DEVICE_FATAL"},
    {"port active", "PORT_ACTIVE"},
    {"port error", "PORT_ERR"},
    {"LID change", "LID_CHANGE"},
    {"P_Key change", "PKEY_CHANGE"},
    {"SM change", "SM_CHANGE"},
    {"SRQ catastrophic error", "SRQ_ERR"},
    {"last WQE reached", "QP_LAST_WQE_REACHED"},
    {"client reregistration", "CLIENT_REREGISTER"},
    {"GID table change", "GID_CHANGE"}};
// enum rdma_cm_event_type.
constexpr std::string_view kCmEventNames[] = {"ADDR_RESOLVED",   "ADDR_ERROR",       "ROUTE_RESOLVED", "ROUTE_ERROR",
                                              "CONNECT_REQUEST", "CONNECT_RESPONSE", "CONNECT_ERROR",  "UNREACHABLE",
                                              "REJECTED",        "ESTABLISHED",      "DISCONNECTED",   "DEVICE_REMOVAL",
                                              "MULTICAST_JOIN",  "MULTICAST_ERROR",  "ADDR_CHANGE",    "TIMEWAIT_EXIT"};
// enum ib_cm_rej_reason.
constexpr Name kRejects[] = {
    {1, "NO_QP"},       {3, "NO_RESOURCES"}, {4, "TIMEOUT"},      {5, "UNSUPPORTED"},  {8, "INVALID_SERVICE_ID"},
    {10, "STALE_CONN"}, {12, "INVALID_GID"}, {13, "INVALID_LID"}, {26, "INVALID_MTU"}, {28, "CONSUMER_DEFINED"}};
// Bits of the AER status registers by the kernel's names (before Linux 5.0 they were whole words).
struct AerBit {
  unsigned bit;
  std::string_view names;
  Aer kind;
  std::string_view meaning;
};
constexpr AerBit kAerBits[] = {
    {0, "RxErr|Receiver Error", Aer::corrected, "receiver error"},
    {4, "DLP|Data Link Protocol", Aer::uncorrected, "data link protocol error"},
    {5, "SDES|Surprise Down", Aer::surprise_down, "surprise down: the link went down while it was in use"},
    {6, "BadTLP|Bad TLP", Aer::corrected, "bad transaction packet"},
    {7, "BadDLLP|Bad DLLP", Aer::corrected, "bad link packet"},
    {8, "Rollover|RELAY_NUM", Aer::corrected, "replay number rollover: a packet was resent four times"},
    {12, "Timeout|Replay Timer", Aer::corrected,
     "replay timer timeout: the other end of the link did not acknowledge a packet in time"},
    {12, "TLP|Poisoned TLP", Aer::uncorrected, "poisoned packet received"},
    {13, "NonFatalErr|Advisory Non-Fatal", Aer::corrected,
     "advisory: an error that is not fatal, and that the receiver handled"},
    {13, "FCP|Flow Control Protocol", Aer::uncorrected, "flow control protocol error"},
    {14, "CmpltTO|Completion Timeout", Aer::uncorrected, "completion timeout: a read of the device got no answer"},
    {15, "CmpltAbrt|Completer Abort", Aer::uncorrected, "completer abort"},
    {16, "UnxCmplt|Unexpected Completion", Aer::uncorrected, "unexpected completion"},
    {17, "RxOF|Receiver Overflow", Aer::uncorrected, "receiver overflow"},
    {18, "MalfTLP|Malformed TLP", Aer::uncorrected, "malformed packet"},
    {19, "ECRC", Aer::uncorrected, "end-to-end checksum error"},
    {20, "UnsupReq|Unsupported Request", Aer::uncorrected, "unsupported request"},
    {21, "ACSViol|ACS Violation", Aer::uncorrected, "ACS violation"},
    {22, "UncorrIntErr|Uncorrectable Internal", Aer::uncorrected, "uncorrectable internal error of the device"},
};
constexpr Name kXids[] = {{13, "exception of the graphics engine"},
                          {31, "MMU fault: the program accessed an address that is not mapped"},
                          {32, "invalid or damaged push buffer"},
                          {43, "a channel was reset"},
                          {45, "preemptive removal of a channel: a consequence of another error"},
                          {48, "double-bit ECC error"},
                          {58, "memory error"},
                          {59, "error of the internal microcontroller"},
                          {61, "breakpoint of the internal microcontroller"},
                          {62, "halt of the internal microcontroller"},
                          {63, "row remapping or page retirement recorded"},
                          {64, "row remapping or page retirement failed"},
                          {69, "exception of the graphics engine class"},
                          {74, "NVLink error"},
                          {79, "GPU has fallen off the bus"},
                          {92, "high rate of single-bit ECC errors"},
                          {93, "too many erasures of the InfoROM"},
                          {94, "contained memory error"},
                          {95, "uncontained memory error"},
                          {108, "NVLink remote translation error"},
                          {109, "context switch timeout"},
                          {110, "security fault"},
                          {119, "GSP RPC timeout"},
                          {120, "GSP error"},
                          {121, "C2C link error"},
                          {122, "flash read by the microcontroller failed"},
                          {123, "flash write by the microcontroller failed"},
                          {124, "flash erase by the microcontroller failed"},
                          {125, "error of the InfoROM file system"},
                          {136, "link training failed"},
                          {137, "NVLink privilege error: a peer accessed memory without permission"},
                          {140, "unrecovered ECC error"},
                          {143, "GPU initialization error"},
                          {144, "NVLink SAW error"},
                          {145, "NVLink RLW error"},
                          {146, "NVLink TLW error"},
                          {147, "NVLink TREX error"},
                          {148, "NVLink NVLPW error"},
                          {149, "NVLink NETIR error"},
                          {150, "NVLink MSE error"},
                          {154, "the recovery action changed: names the recovery, no fault of its own"},
                          {155, "NVLink error defined by software"},
                          {156, "resource retirement recorded"},
                          {157, "resource retirement failed"},
                          {158, "fatal timeout of the GPU"},
                          {160, "channel retirement recorded"},
                          {161, "channel retirement failed"},
                          {167, "fatal timeout of PCIe"},
                          {168, "less GPU memory than the GPU has"},
                          {171, "uncorrectable DRAM error"},
                          {172, "uncorrectable SRAM error"},
                          {173, "fatal failure of the C2C link"},
                          {175, "error of the memory subsystem"},
                          {176, "correctable PCIe errors"}};
// Error codes of NVSwitches: NVIDIA Fabric Manager user guide, appendix D.
constexpr Name kSxids[] = {{12028, "egress nonposted PRIV error"},
                           {20034, "LTSSM fault: a link went down"},
                           {22013, "Minion link DLREQ interrupt"}};
// Asynchronous events of Intel's irdma.
constexpr NicError kIrdmaEvents[] = {{0x102, 4, "AMP_UNALLOCATED_STAG"},
                                     {0x103, 4, "AMP_INVALID_STAG"},
                                     {0x104, 0, "AMP_BAD_QP"},
                                     {0x105, 4, "AMP_BAD_PD"},
                                     {0x106, 0, "AMP_BAD_STAG_KEY"},
                                     {0x107, 0, "AMP_BAD_STAG_INDEX"},
                                     {0x108, 4, "AMP_BOUNDS_VIOLATION"},
                                     {0x109, 0, "AMP_RIGHTS_VIOLATION"},
                                     {0x10a, 0, "AMP_TO_WRAP"},
                                     {0x203, 0, "CQ_OPERATION_ERROR"},
                                     {0x207, 0, "IB_RREQ_AND_Q1_FULL"},
                                     {0x208, 9, "IB_INVALID_REQUEST"},
                                     {0x20d, 10, "IB_REMOTE_ACCESS_ERROR"},
                                     {0x20e, 11, "IB_REMOTE_OP_ERROR"},
                                     {0x303, 1, "DDP_UBE_DDP_MESSAGE_TOO_LONG_FOR_AVAILABLE_BUFFER"},
                                     {0x306, 0, "DDP_UBE_INVALID_MSN_NO_BUFFER_AVAILABLE"},
                                     {0x316, 0, "ROCE_RSP_LENGTH_ERROR"},
                                     {0x318, 0, "ROCE_REQ_LENGTH_ERROR"},
                                     {0x401, 0, "INVALID_ARP_ENTRY"},
                                     {0x403, 0, "STALE_ARP_ENTRY"},
                                     {0x406, 0, "INVALID_AH_ENTRY"},
                                     {0x502, 0, "LLP_CONNECTION_RESET"},
                                     {0x509, 0, "LLP_TERMINATE_RECEIVED"},
                                     {0x50a, 12, "LLP_TOO_MANY_RETRIES"},
                                     {0x50b, 0, "LLP_TOO_MANY_KEEPALIVE_RETRIES"},
                                     {0x50c, 0, "LLP_DOUBT_REACHABILITY"},
                                     {0x50f, 13, "LLP_TOO_MANY_RNRS"},
                                     {0x520, 0, "RESOURCE_EXHAUSTION"},
                                     {0x700, 0, "LCE_QP_CATASTROPHIC"},
                                     {0x701, 0, "LCE_FUNCTION_CATASTROPHIC"}};

// The kernel prints a bit as "DRIVER PCIADDRESS:    [ n] NAME", some releases with "AER:" after the address. Numbers in
// brackets without an address before them are of others: mpiexec prints the rank so.
void read_aer(Codes& codes, std::string_view line) {
  constexpr size_t kBefore = 40;  // bytes: the address and the blanks
  for (size_t at = line.find('['); at != std::string_view::npos; at = line.find('[', at + 1)) {
    const size_t begin = at - std::min(at, kBefore);
    std::string_view before = trim(line.substr(begin, at - begin)), after = line.substr(at + 1);
    if (before.ends_with(" AER:")) before = trim(before.substr(0, before.size() - 4));
    if (!before.ends_with(':')) continue;
    before.remove_suffix(1);
    if (!is_pci_address(before.substr(before.rfind(' ') + 1))) continue;
    if (after.starts_with(' ')) after.remove_prefix(1);
    const auto number = leading_number(after);
    const size_t name = after.find("] ");
    if (!number || name == std::string_view::npos) continue;
    const AerBit* known = find_where(kAerBits, [&](const AerBit& each) {
      return each.bit == *number && std::ranges::any_of(split(each.names, '|'), [&](std::string_view one) {
               return after.substr(name + 2).starts_with(one);
             });
    });
    if (known == nullptr) continue;
    if (codes.aer == Aer::none) codes.aer = known->kind;
    add(codes, "AER " + std::string(known->meaning));
  }
}

// The status register of a root port whose accesses failed: "DPC: rp_pio_status: 0x00040000, rp_pio_mask: 0x00000000".
void read_root_port(Codes& codes, std::string_view line) {
  constexpr Name kBits[] = {{0, "configuration request: UR (unsupported request)"},
                            {1, "configuration request: CA (completer abort)"},
                            {2, "configuration request: no answer"},
                            {8, "I/O request: UR (unsupported request)"},
                            {9, "I/O request: CA (completer abort)"},
                            {10, "I/O request: no answer"},
                            {16, "memory request: UR (unsupported request)"},
                            {17, "memory request: CA (completer abort)"},
                            {18, "memory request: no answer"}};
  const unsigned status = number_after(line, "rp_pio_status: ").value_or(0);
  const unsigned mask = number_after(line, "rp_pio_mask: ").value_or(0);
  for (const Name& bit : kBits)
    if ((((status & ~mask) >> bit.number) & 1U) != 0) add(codes, "RP PIO: " + std::string(bit.name));
}

// The signal that ended a process, by its exit code: a negative one (torchrun, DeepSpeed), or 128 and the signal
// (shells, containers). 0: none.
unsigned exit_signal(std::string_view line) {
  const std::string small = lower(line);
  for (const std::string_view word : kExitCodes) {
    const size_t at = small.find(word);
    if (at == std::string::npos) continue;
    std::string_view code = std::string_view(small).substr(at + word.size());
    code.remove_prefix(std::min(code.find_first_not_of(" :="), code.size()));
    const bool is_negative = code.starts_with('-');
    if (is_negative) code.remove_prefix(1);
    const auto number = leading_number(code);
    if (number && is_negative) return *number;
    if (number && *number > 128) return *number - 128;
  }
  return 0;
}

// "8.0 GT/s PCIe x8" as "x8 at 8.0 GT/s"; empty: it is of another form.
std::string pcie_link(std::string_view text) {
  const auto parts = words(text);
  if (parts.size() < 3 || parts[1] != "GT/s") return {};
  return std::string(parts.back()) + " at " + std::string(parts.front()) + " GT/s";
}

// "63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:b2:00.0 (capable of 126.016 Gb/s
// with 8.0 GT/s PCIe x16 link)": Linux drivers/pci/pci.c, __pcie_print_link_status().
void read_bandwidth(Codes& codes, std::string_view line) {
  constexpr std::string_view kMarks[] = {" Gb/s available PCIe bandwidth, limited by ", " link at ", " (capable of ",
                                         " with ", " link)"};
  std::array<std::string_view, std::size(kMarks)> parts;  // before each mark
  for (size_t i = 0; i < std::size(kMarks); ++i) {
    const size_t at = line.find(kMarks[i]);
    if (at == std::string_view::npos) return;
    parts[i] = line.substr(0, at);
    line.remove_prefix(at + kMarks[i].size());
  }
  const auto& [before, slowest, port, most, best] = parts;
  const auto available = words(before);
  const std::string limit = pcie_link(slowest), capability = pcie_link(best);
  if (available.empty() || limit.empty() || capability.empty()) return;
  add(codes, "PCIe: " + std::string(available.back()) + " Gb/s available, by " + limit + " below " + std::string(port) +
                 "; capable of " + std::string(most) + ", by " + capability);
}

// "PCIe link speed is 8.0 GT/s PCIe, device supports 32.0 GT/s PCIe", "PCIe link width is x8, device supports x16":
// OFED's mlx5_pcie_print_link_status() prints both, also if they are equal. A virtual function has width x0.
void read_link_of_device(Codes& codes, std::string_view line) {
  constexpr std::string_view kSupports = ", device supports ";
  for (const std::string_view what : {"PCIe link speed is ", "PCIe link width is x"}) {
    const size_t at = line.find(what), middle = line.find(kSupports, at);
    if (at == std::string_view::npos || middle == std::string_view::npos) continue;
    std::string_view most = line.substr(middle + kSupports.size());
    if (most.starts_with('x')) most.remove_prefix(1);
    const auto now = leading_number(line.substr(at + what.size())), best = leading_number(most);
    if (!now || !best || *now == 0) continue;
    if (*now < *best) codes.names += " PCIe link below the device's capability";
    else if (line.find("than device's capability") == std::string_view::npos)
      codes.names += " PCIe link at the device's capability";
  }
}

void read_events(Codes& codes, std::string_view line) {
  if (line.find("event") != std::string_view::npos || line.find("GID table change") != std::string_view::npos)
    for (const auto& [text, name] : kEvents)
      if (line.find(text) != std::string_view::npos) {
        add(codes, "event IBV_EVENT_" + std::string(name));
        break;
      }
  // SPDK: "Expected RDMA_CM_EVENT_ESTABLISHED but received RDMA_CM_EVENT_REJECTED (8)".
  size_t received = line.find(" but received ");
  if (received == std::string_view::npos) received = 0;
  if (const size_t at = line.find("RDMA_CM_EVENT_", received); at != std::string_view::npos) {
    size_t end = at;
    while (end < line.size() && is_word_letter(line[end])) ++end;
    add(codes, "event " + std::string(line.substr(at, end - at)));
  }
  // "Unexpected RDMA CM event (11)", "isert np 00000000b2b7 Unexpected event 11".
  constexpr std::string_view kCmEvents[] = {"nexpected RDMA CM event (", "nrecognized RDMA CM event ",
                                            "nexpected RDMA CM event: "};
  std::optional<unsigned> event = number_after_any(line, kCmEvents);
  if (!event && line.find("isert ") != std::string_view::npos) event = number_after(line, " Unexpected event ");
  if (event && *event < std::size(kCmEventNames)) {
    const std::string text = "event RDMA_CM_EVENT_" + std::string(kCmEventNames[*event]);
    codes.names += " " + text;
    add(codes, text);
  }
  if (line.find("reject") != std::string_view::npos || line.find("REJECT") != std::string_view::npos)
    for (const std::string_view prefix : {"status ", "reason ", "status=", "reason="})
      if (const auto number = number_after(line, prefix))
        if (const std::string_view name = name_of(kRejects, *number); !name.empty())
          add(codes, "reason " + std::to_string(*number) + " IB_CM_REJ_" + std::string(name));
  read_aer(codes, line);
  read_root_port(codes, line);
  if (const size_t at = line.find("power on the PCIe slot ("); at != std::string_view::npos) {
    const std::string_view watts = line.substr(at + 24);
    add(codes, "slot power " + std::string(watts.substr(0, watts.find_first_of("W)"))) + " W");
  }
  read_bandwidth(codes, line);
  read_link_of_device(codes, line);
  // irdma: "abnormal ae_id = 0x401 bool qp=1", "qp async event qp_id = 5, ae = 0x50a (...)", "op error, AE 0x0203",
  // "Processing an iWARP related AE for CQ misc = 0x0203".
  constexpr std::string_view kIrdma[] = {"ae_id = ", ", ae = ", " op error, AE ", "AE for CQ misc = "};
  if (const auto number = number_after_any(line, kIrdma)) {
    const NicError* known = find_where(kIrdmaEvents, [&](const NicError& each) { return each.number == *number; });
    std::string text = "asynchronous event " + hex(*number);
    if (known != nullptr) text += " " + std::string(known->name);
    add(codes, text);
    if (known != nullptr && known->status != 0 && codes.status == 0) {
      codes.status = known->status;
      add(codes, completion_status_text(known->status));
    }
  }
  if (const size_t at = line.find("Xid ("); at != std::string_view::npos)
    if (const size_t close = line.find("): ", at); close != std::string_view::npos)
      if (const auto number = leading_number(line.substr(close + 3)); number && *number < 1000) {
        std::string text = numbered("Xid", *number, name_of(kXids, *number));
        // The driver says of each error of NVLink 5 (144 to 150) whether it is fatal.
        if (line.find(" Nonfatal ", close) != std::string_view::npos) codes.is_fatal = false;
        else if (line.find(" Fatal ", close) != std::string_view::npos) codes.is_fatal = true;
        if (codes.is_fatal) text += *codes.is_fatal ? ", fatal" : ", nonfatal";
        else if (*number == 145) text += ", nonfatal unless the line says otherwise";
        add(codes, text);
        // "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)": the text counts.
        const size_t to = line.find(") to 0x", close);
        const size_t open = to == std::string_view::npos ? to : line.find('(', to);
        if (*number == 154 && open != std::string_view::npos)
          add(codes, "recovery: " + std::string(line.substr(open + 1, line.find(')', open) - open - 1)));
      }
  if (const auto number = number_after(line, "XidCriticalError: Xid="))
    add(codes, numbered("Xid", *number, name_of(kXids, *number)));
  if (const size_t at = line.find("SXid ("); at != std::string_view::npos)
    if (const size_t close = line.find("): ", at); close != std::string_view::npos)
      if (const auto number = leading_number(line.substr(close + 3)))
        add(codes, numbered("SXid", *number, name_of(kSxids, *number)));
  if (const unsigned signal = exit_signal(line); signal > 0 && signal < 64)
    if (const char* name = ::sigabbrev_np(static_cast<int>(signal)); name != nullptr)
      add(codes, "signal " + std::to_string(signal) + " SIG" + name);
  if (const auto number = number_after(line, "caused by previous Xid "))
    add(codes, numbered("caused by Xid", *number, name_of(kXids, *number)));
}

// Libraries whose errors have the name PREFIX_ERROR_NAME. Other names with "_ERROR_" are functions and settings.
constexpr std::string_view kNamedErrors[] = {"CUDA_ERROR_", "NVML_ERROR_", "HSA_STATUS_ERROR_"};

// Errors that programs print by name: IAVF_ERR_PARAM, NV_ERR_RESET_REQUIRED, UCS_ERR_UNREACHABLE, DOCA_ERROR_DRIVER.
void read_names(Codes& codes, std::string_view line) {
  size_t left = 8;
  for (size_t at = 0; at < line.size() && left > 0;) {
    size_t end = at;
    while (end < line.size() && is_word_letter(line[end])) ++end;
    const std::string_view word = line.substr(at, end - at);
    at = end + 1;
    constexpr std::string_view kOfDoca = "DOCA_ERROR_";
    if (word.starts_with(kOfDoca)) {
      const Name* known = find_where(kDoca, [&](const Name& each) { return word.substr(kOfDoca.size()) == each.name; });
      if (known != nullptr) add(codes, "DOCA error " + std::to_string(known->number) + " " + std::string(word));
      continue;
    }
    // SAI saistatus.h; a suffix is the index of the attribute: SAI_STATUS_ATTR_NOT_SUPPORTED_0.
    const bool is_of_sai = word.starts_with("SAI_STATUS_") && word != "SAI_STATUS_SUCCESS";
    const bool is_named = is_of_sai || std::ranges::any_of(kNamedErrors, [&](std::string_view prefix) {
                            return word.starts_with(prefix);
                          });
    if (word.size() < 8 || word.size() > 48 || (word.find("_ERR_") == std::string_view::npos && !is_named) ||
        word.starts_with("IBV_WC_") || word.starts_with("FI_EFA_ERR_"))
      continue;
    if (std::ranges::any_of(word, [](char letter) { return letter >= 'a' && letter <= 'z'; })) continue;
    add(codes, "error " + std::string(word));
    --left;
  }
}

// ---- The call that failed; the first row that fits.

// Names of functions and events, and phrases, in small letters. The first one decides.
constexpr std::pair<std::string_view, Call> kCalls[] = {
    {"reg_dmabuf_mr|regmrdmabuf|dmabuf_reg", Call::dmabuf},
    {"^reg_mr|_reg_mr|mr_reg|registerrdmamemoryregion|mem_map|mem_reg|memory registration|failed to register address|"
     "registermem: registration",
     Call::registration},
    {"create_ah|address handle", Call::create_ah},
    {"qp to init|next state init|modify_qp(init)|qp_modify(502)|modifyrst2init|reset to init",
     Call::qp_to_init},  // 0x502: RST2INIT_QP
    {"modify_qp|qp_modify|qp to rtr|qp to rts|to rtr state|to rts state|rtr2rts|init2rtr", Call::modify_qp},
    {"create_qp|qp_create|fi_enable|create_cq|cq_create|create_srq|alloc_pd|create_comp_channel", Call::create_object},
    {"open_device|open device|get context for", Call::open_device},
    {"query_device$|query device$|query_port$|device attribute", Call::query_device},
    {"query_gid|query gid|read sgid", Call::query_gid},
    {"resolve_addr|addr_error|resolve addr|address resolution", Call::resolve_address},
    {"resolve_route|resolve route", Call::resolve_route},
    {"route_error", Call::route_error},
    {"bind_addr", Call::bind},
    {"rdma_connection", Call::none},  // a file of UCCL
    {"rdma_connect|cm_event_connect_error|cm_event_unreachable", Call::connect},
    {"post_send|post_recv|post_srq|post a send|post a recv", Call::post},
    {"sriov_numvfs|sr-iov|sriov", Call::enable_vfs}};

// A sentence of any program: the beginning of a verb, and its object.
struct Sentence {
  std::string_view verbs, objects;
  Call call;
};
constexpr Sentence kSentences[] = {
    {"regist", "mr|mrs|memory|buffer|buffers|region|regions", Call::registration},
    {"alloc", "mr", Call::registration},  // perftest, of ibv_reg_mr()
    {"creat", "ah", Call::create_ah},
    {"modif|transition", "qp|queue pair", Call::modify_qp},
    {"creat|alloc", "qp|qps|queue pair|queue pairs|cq|completion queue|srq|pd|protection domain|completion channel",
     Call::create_object},
    {"open", "rdma device|ib device|verbs device|hca", Call::open_device}};

// Whether one of the objects follows one of the verbs, with a few words between them: "create the send CQ".
bool has_sentence(std::string_view small, const Sentence& sentence) {
  constexpr size_t kNear = 24, kLongest = 24;  // bytes between the two; of an object
  for (std::string_view verbs = sentence.verbs; !verbs.empty();) {
    const std::string_view verb = cut(verbs, '|');
    for (size_t at = small.find(verb); at != std::string_view::npos; at = small.find(verb, at + 1)) {
      if (at > 0 && (is_word_letter(small[at - 1]) || small[at - 1] == '-')) continue;  // "de-register"
      if (small.substr(0, at).ends_with("using ")) continue;  // "using registered memory": it is registered already
      const std::string_view rest = small.substr(at + verb.size(), kNear + kLongest);
      for (std::string_view objects = sentence.objects; !objects.empty();) {
        const std::string_view object = cut(objects, '|');
        const size_t found = rest.find(object);
        if (found == std::string_view::npos || found > kNear || found == 0) continue;
        const size_t end = found + object.size();
        if (!is_word_letter(rest[found - 1]) && (end == rest.size() || !is_word_letter(rest[end]))) return true;
      }
    }
  }
  return false;
}

// The interfaces of RDMA and the libraries that use it, in small letters.
constexpr std::string_view kRdmaWords =
    "ibv|^ib|_ib|rdma|roce|verbs|^hca|ucx|^uct|^ucp|nccl|rccl|openib|libfabric|^ofi|^fi_|^gid|_gid|sgid|nvshmem|"
    "mscclpp|mooncake|nixl|gasnet|infiniband";
// Registered memory that is of a GPU, in small letters; the last: perftest, whose buffers of host memory are its own,
// so that only one of a GPU can have an address that the NIC does not reach.
constexpr std::string_view kGpuNames =
    "gpu|cuda|^hip|rocm|nccl|rccl|nvshmem|rocshmem|mscclpp|gdrcopy|^gdr|dmabuf|dma-buf|peermem|device memory|^vram|"
    "^hmem|fi_hmem|allocate mr with error=";

Call call_of(std::string_view small) {
  constexpr ptrdiff_t kMostSpaces = 5;
  const bool is_alone = std::ranges::count(small, ' ') <= kMostSpaces && small.find(": ") == std::string_view::npos;
  const auto is_of_device = [](Call call) { return call == Call::open_device || call == Call::query_device; };
  // A line about an RDMA device names it, its driver, its interface or a library for it. ibv_devinfo and perftest print
  // the message alone: "Failed to open device".
  const auto fits = [&](const auto& each) {
    return has_any(small, each.first) &&
           (!is_of_device(each.second) || is_alone || has_any(small, kRdmaWords) || mentions_rdma_device(small));
  };
  if (const auto* call = find_where(kCalls, fits)) return call->second;
  const Sentence* sentence = find_where(kSentences, [&](const Sentence& each) { return has_sentence(small, each); });
  return sentence != nullptr ? sentence->call : Call::none;
}

// Linux drivers/net/ethernet, drivers/infiniband.
constexpr std::string_view kDrivers[] = {"mlx5_core",  "mlx5_ib",    "mlx4_core", "bnxt_en",  "bnxt_re", "ionic",
                                         "ionic_rdma", "ice",        "irdma",     "iavf",     "i40e",    "efa",
                                         "mana",       "mana_ib",    "hns3",      "hns_roce", "cxgb4",   "qedr",
                                         "erdma",      "infiniband", "ib_core"};

// "mlx5_core 0000:17:00.0: ... failed", "bnxt_re: ... error"
bool is_failure_of_driver(std::string_view line) {
  // The library of the same name prints it: "irdma: Error from ibv_query_gid."
  if (line.find("ibv_") != std::string_view::npos) return false;
  for (const std::string_view name : kDrivers)
    for (size_t at = line.find(name); at != std::string_view::npos; at = line.find(name, at + 1)) {
      const std::string_view rest = line.substr(at + name.size());
      if ((at > 0 && is_word_letter(line[at - 1])) || (!rest.starts_with(' ') && !rest.starts_with(": "))) continue;
      for (const std::string_view word : {"ailed", "rror", "imeout"})
        if (rest.find(word) != std::string_view::npos) return true;
    }
  return false;
}

}  // namespace

const ErrorMeaning* meaning_of(std::string_view error, bool is_of_driver) {
  using enum FaultLocation;
  // No process asks, whose permissions could be checked.
  static constexpr ErrorMeaning kOfDrivers[] = {
      {"EACCES", host,
       "the firmware refused the request of this function: it has no right to it (a virtual function), or has lost it "
       "in "
       "a reset."},
      {"EPERM", host,
       "the driver or the firmware does not permit the request to this function, or not in its present mode."}};
  if (is_of_driver)
    if (const ErrorMeaning* own = find_where(kOfDrivers, [&](const ErrorMeaning& each) { return each.error == error; }))
      return own;
  static constexpr ErrorMeaning kMeanings[] = {
      {"ECONNREFUSED", peer,
       "the host of the peer answers, and nothing listens on the port: its program does not run."},
      {"ECONNRESET", peer, "the peer closed the connection: its process ended or failed before."},
      {"EPIPE", peer, "the peer closed the connection: its process ended or failed before."},
      {"EHOSTUNREACH", network, "no path to the address, no answer to ARP or neighbor discovery, or a firewall."},
      {"ENETUNREACH", network, "no route from this host to the address."},
      {"EADDRINUSE", software, "another process on this host has the port or the address."},
      {"EADDRNOTAVAIL", software, "this host does not have the local address, or has no free port."},
      {"EMFILE", host, "the process has too many open files: raise its limit (ulimit -n, LimitNOFILE=)."},
      {"ENFILE", host, "the host has too many open files, or RDMA is in another network namespace."},
      {"EACCES", host, "the process lacks a permission: the mode of a device file, a capability, or a container."},
      {"EPERM", host, "the process lacks a permission: a capability (CAP_IPC_LOCK, CAP_NET_RAW), or a container."},
      {"ENOMEM", host, "in RDMA mostly the memlock limit or a limit of the NIC; else memory of the host or cgroup."},
      {"ENOSPC", host, "a file system (/dev/shm, /tmp), a table of the NIC, or its interrupt vectors are full."},
      {"EDQUOT", host, "a quota of the file system is used up."},
      {"ENODEV", host, "the device does not exist (any more), or not in this container or network namespace."},
      {"ENXIO", host, "the device does not exist (any more), or does not answer."},
      {"ENOENT", unknown, "a file, a device or an entry of a table does not exist."},
      {"EIO", unknown,
       "a device or its firmware reports a failure; of UCX, a connection failed, for the reason in an earlier line."},
      {"EREMOTEIO", host, "the firmware of the device rejected the command."},
      {"EOPNOTSUPP", software, "the driver, the device or the library does not have this operation."},
      {"ENOTSUPP", host, "the kernel or one of its drivers does not have this operation, or not for this device."},
      {"EPROBE_DEFER", unknown, "the driver waits for another device or driver, and is tried again later."},
      {"EPROTONOSUPPORT", software, "the kernel or the driver does not have this protocol or feature."},
      {"ENOSYS", software, "the kernel or the library does not have this function."},
      {"EINVAL", unknown, "an argument or a combination that the kernel, driver or device does not accept."},
      {"EBUSY", unknown, "the object is in use, or the device is in a reset or another change."},
      {"EAGAIN", unknown, "a resource is in use at this moment: a full queue, or a limit of processes or threads."},
      {"ETIMEDOUT", unknown, "no answer in time: of the peer or the network, or of a device's firmware to its driver."},
      {"ETIME", unknown, "no answer in time: mostly of a device's firmware to its driver."},
      {"EFAULT", unknown, "an address that is not mapped, or memory that the device cannot reach."}};
  return find_where(kMeanings, [&](const ErrorMeaning& each) { return each.error == error; });
}

std::string without_errno_texts(std::string_view small) {
  std::string out(small);
  for (const auto& [number, text] : errno_texts())
    for (size_t at = out.find(text); at != std::string::npos; at = out.find(text, at + text.size()))
      out.replace(at, text.size(), text.size(), ' ');
  return out;
}

std::string completion_status_text(unsigned status) {
  if (status == 0 || status > std::size(kStatusNames)) return {};
  return "status " + std::to_string(status) + " IBV_WC_" + std::string(kStatusNames[status - 1]);
}

bool is_pci_address(std::string_view word) {
  constexpr std::string_view kForm = ":hh:hh.d";
  const size_t domain = word.find(':');  // of four digits; more behind Intel's VMD and in NVIDIA's programs
  if (domain == std::string_view::npos || domain < 4 || domain > 8) return false;
  if (!std::ranges::all_of(word.substr(0, domain), is_hex)) return false;
  word.remove_prefix(domain);
  if (word.size() != kForm.size() && word.size() != kForm.size() - 2) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    bool is_fitting = word[i] == kForm[i];
    if (kForm[i] == 'h') is_fitting = is_hex(word[i]);
    if (kForm[i] == 'd') is_fitting = is_digit(word[i]);
    if (!is_fitting) return false;
  }
  return true;
}

Codes codes_of(std::string_view line, std::string_view small, Severity severity) {
  Codes out;
  read_completion(out, line);
  if (!is_of_gpu_runtime(line)) read_errnos(out, read_number_spaces(out, line));
  read_commands(out, line);
  read_events(out, line);
  read_names(out, line);
  if (!out.error.empty() || severity >= Severity::complaint) out.call = call_of(small);
  if (out.call == Call::registration && out.error == "EFAULT" && has_any(small, kGpuNames))
    out.call = Call::gpu_registration;
  out.is_of_driver = is_failure_of_driver(line);
  return out;
}

}  // namespace fabric::lines
