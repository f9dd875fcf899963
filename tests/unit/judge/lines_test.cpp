// SPDX-License-Identifier: Apache-2.0
// Lines of jobs and kernels: the message, the port, the peer and the time. `explain` prints them:
// ctl/verbs_test.cpp.
#include "judge/lines.h"

#include "judge/engine.h"
#include "judge/lines/advice.h"
#include "judge/lines/condition.h"
#include "judge/lines/envelope.h"
#include "judge/lines/log.h"
#include "judge/lines/names.h"
#include "judge/lines/pattern.h"
#include "judge/lines/statement.h"
#include "judge/lines/time.h"
#include "support/healthy_node.h"
#include "support/log_examples.h"
#include "support/test.h"

namespace fabric::lines {
namespace {

using test::has;
using test::kLogExamples;

std::string id_of(std::string_view line) {
  const LineMessage* message = recognize(read_line(line));
  if (message == nullptr) return "";
  return std::string(message->id);
}

std::string codes_text(std::string_view line) {
  std::string out;
  for (const std::string& code : read_line(line).codes.texts) out += code + "\n";
  return out;
}

TEST(LogLines, EveryExampleHasItsMessage) {
  for (const auto& example : kLogExamples) EXPECT_EQ(id_of(example.line), example.id) << example.line;
}

TEST(LogLines, EveryMessageHasAnExampleAndAllItsTexts) {
  std::set<std::string_view> examples, ids;
  size_t real = 0;
  for (const auto& example : kLogExamples) {
    examples.insert(example.id);
    real += example.from != "format";
  }
  EXPECT_GE(messages().size(), 60u);
  EXPECT_GE(real, 40u) << "lines that programs have printed";
  for (const LineMessage& message : messages()) {
    const bool is_new = ids.insert(message.id).second;
    EXPECT_TRUE(is_new || message.call != Call::none) << message.id;
    EXPECT_TRUE(examples.contains(message.id)) << message.id;
    EXPECT_TRUE(message.meaning.text().ends_with('.')) << message.id;
    EXPECT_FALSE(message.next.empty() || message.source.empty()) << message.id;
    EXPECT_EQ(find_rule(message.id), nullptr) << message.id;
  }
  EXPECT_EQ(ids.size(), examples.size()) << "an example of no message";
}

TEST(LogLines, PreparedPatternsMatchTheSameLines) {
  size_t number = 0;
  for (const auto& example : kLogExamples) {
    if (number++ % 16 != 0) continue;
    const LetterGroups groups(example.line);
    for (const LineMessage& message : messages())
      EXPECT_EQ(PatternList(message.patterns).is_in(example.line, groups), has_any(example.line, message.patterns))
          << message.id << " " << example.line;
  }
}

TEST(LogLines, HarmlessLinesHaveNoCause) {
  for (const char* line :
       {"NCCL INFO TUNER/Plugin: Failed to find ncclTunerPlugin_v4 symbol.",
        "libfabric:core:core:fi_getinfo_():712<warn> fi_getinfo: provider usnic returned -61 (No data available)",
        "WARNING 06-19 06:19:29 custom_all_reduce.py:158] Custom allreduce is disabled because this process group "
        "spans "
        "across nodes.",
        "iavf 0000:18:19.0: Invalid MAC address 00:00:00:00:00:00, using random",
        "rdma_rxe: invalid max inline data = 512 > 400",
        "gd383 ERR syncd#syncd: [none] SAI_API_PORT:brcm_sai_get_port_stats:6815 port fdr stats get failed with error "
        "Feature unavailable (0xfffffff0).",
        "WARNING swss0#orchagent: :- clearCounterIdList: No counters found on object '591' in group 'PFC_WD'.",
        "WARN: IB: read failed in ib_roce_get_version_num: Invalid argument",
        "NVRM: kceIsGenXorHigherSupported_GH100: Could not get root gen speed - check for GPU gen speed!",
        "ib-vm-41:1056918:1057186 [0] transport.cc:323 NCCL WARN Cannot initialize CollNet, using point-to-point "
        "network "
        "instead",
        "nvlink warning : Skipping incompatible '/usr/lib/libcudadevrt.a'",
        // A feature that is only not used.
        "2024-02-01 14:12:01.207 ERROR [9596:9598] [[SysMon]] A runtime exception occured when creating module. Ex: "
        "Incompatible hardware vendor for sysmon. [/dcgm/modules/DcgmModule.h:146] [SafeWrapper]",
        "csmenv::warning  | GPU 0 nvlink_bandwidth_l0 version = 16781336 fieldId = 440 fieldType = 105 status = -6",
        "node-a:7:7 [1] src/misc/rocmwrap.cc:95 NCCL WARN cuMem support requires VMM RDMA support",
        "i40e 0000:19:00.0: Query for DCB configuration failed, err I40E_ERR_NOT_READY aq_err OK",
        "i40e 0000:02:00.0: DCB init failed -5, disabled",
        "nvidia-fabricmanager-wrapper: found NVSwitch LPF: device=mlx5_10 guid=0xcc40f3030027f630",
        "mlx5_core 0000:3b:00.0: mlx5_fw_tracer_handle_traces:610:(pid 9): FWTracer: Events were lost"}) {
    const LineMessage* message = recognize(read_line(line));
    ASSERT_NE(message, nullptr) << line;
    EXPECT_EQ(message->cause, FaultLocation::none) << line;
  }
  EXPECT_EQ(id_of("node-a:7:7 [1] src/misc/rocmwrap.cc:199 NCCL WARN Failed to find ROCm runtime library"),
            "rccl-runtime");
  EXPECT_EQ(id_of("i40e 0000:02:00.0: Failed to set DCB config: -5"), "ice-dcb") << "a setting that was refused";
  EXPECT_EQ(id_of("nvlink error   : Undefined reference to 'f' in 'a.o' (target: sm_90)"), "cuda-linker");
}

// A requirement of a driver to the machine is not the fault of a program.
TEST(LogConditions, OfADriverIsNoRequestOfAProgram) {
  for (const char* line : {"NVRM: This PCI I/O region is required, but the platform does not support it",
                           "acme 0000:3b:00.0: interrupt remapping is required, but not supported"}) {
    const Condition* condition = condition_of(read_line(line));
    ASSERT_NE(condition, nullptr) << line;
    EXPECT_EQ(condition->id, "says-unsupported") << line;
  }
}

TEST(LogConditions, AreNotOfAnotherErrno) {
  const Condition* condition = condition_of(read_line("foo: failed to allocate the algorithm, err -2"));
  EXPECT_TRUE(condition == nullptr || condition->id != "says-used-up");
  condition = condition_of(read_line("UCX ERROR mlx5_2: post failed: Resource temporarily unavailable"));
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->id, "says-temporary");
  EXPECT_EQ(condition->cause, FaultLocation::unknown);
  condition = condition_of(read_line("acme: the feature is unavailable, err -11"));
  EXPECT_TRUE(condition == nullptr || condition->id != "says-unsupported") << "EAGAIN is no lack of a feature";
  condition = condition_of(read_line("acme: failed to open the handle: File already exists"));
  EXPECT_TRUE(condition == nullptr || condition->id != "says-absent") << "the object is there";
  condition = condition_of(read_line("fatal: the option is deprecated and no longer known"));
  EXPECT_TRUE(condition == nullptr || condition->cause != FaultLocation::none) << "the program does not go on";
  condition = condition_of(read_line("acme: Remote I/O error, modify failed"));
  EXPECT_TRUE(condition == nullptr || condition->id != "says-peer-ended") << "EREMOTEIO is of this host's firmware";
}

// Texts that the drivers and programs of several vendors print are not of the one that printed them first.
TEST(LogLines, ATextOfSeveralDriversIsOfNone) {
  for (const auto& [line, id] : {
           // Linux ice_sriov.c, idpf_lib.c, hinic_sriov.c, mlx4/main.c; mlx5/core/sriov.c
           std::pair("ice 0000:3d:00.0: Failed to enable SR-IOV: -28", "vfs-msix"),
           std::pair("idpf 0000:3d:00.0: Failed to enable SR-IOV: -12", "vfs-resources"),
           std::pair("hinic 0000:3d:00.0: Failed to enable SR-IOV, error -12", "vfs-resources"),
           std::pair("mlx4_core 0000:3d:00.0: Failed to enable SR-IOV, continuing without SR-IOV (err = -16)",
                     "vfs-busy"),
           std::pair("mlx5_core 0000:01:00.1: mlx5_sriov_enable:195:(pid 3): pci_enable_sriov failed : -5",
                     "vfs-resources"),
           std::pair(
               "mlx5_core 0000:01:00.1: mlx5_device_enable_sriov:95:(pid 3): failed to enable eswitch SRIOV (-22)",
               "mlx5-eswitch"),
           // Linux bnxt.c, tg3.c
           std::pair("bnxt_en 0000:c1:00.0 ens3np0: PCI I/O error detected", "driver-pci-error"),
           std::pair("tg3 0000:61:00.0 lc5: PCI I/O error detected", "driver-pci-error"),
           std::pair("mlx5_core 0000:c4:00.0: print_health_info:432: PCI slot is unavailable", "mlx5-pci-error"),
       })
    EXPECT_EQ(id_of(line), id) << line;
  // SONiC's orchagent, the operator of SR-IOV, any program with a connection
  for (const char* line : {"swss#orchagent: Failed to create LAG PortChannel1 lid:0",
                           "Failed to set eswitch mode to legacy", "acme: Connection was reset by remote peer"}) {
    EXPECT_NE(id_of(line), "mlx5-eswitch") << line;
    EXPECT_NE(id_of(line), "efa-reset") << line;
  }
}

// A driver's own step is not a request of a program, and the RDMA core's messages are not of one driver.
TEST(LogLines, TheKernelsOwnStepsAreOfTheirPart) {
  for (const auto& [line, id] : {
           // Linux steering/dr_send.c, hw/mlx5/umr.c, hw/efa/efa_com_cmd.c
           std::pair("mlx5_core 0000:3b:00.0: dr_prepare_qp_to_rts:1007:(pid 81): Failed modify QP rst2init",
                     "mlx5-steering-other"),
           std::pair("infiniband mlx5_0: mlx5r_umr_recover:327:(pid 81): Couldn't modify UMR QP to RTS, err=-5, failed",
                     "mlx5-rdma-memory-other"),
           std::pair("efa 0000:3b:00.0 efa_0: Failed to modify qp-54 modify_mask[0x3be] [-5]", "efa-driver-other"),
           // core/mad.c, core/device.c
           std::pair("infiniband mlx5_0: ib_post_send failed: -12", "kernel-cm-other"),
           std::pair("infiniband mlx5_3: Couldn't rename device after namespace change", "rdma-core-other"),
           // ulp/iser, ulp/srp
           std::pair("iser: iser_connect: rdma_create_id failed: -110", "rdma-storage-local"),
           std::pair("scsi host8: ib_srp: Connection 45/32 to 10.1.0.14 failed", "rds-iser"),
       })
    EXPECT_EQ(id_of(line), id) << line;
  for (const char* line :
       {"mlx5_core 0000:3b:00.0: mlxfw: Firmware flash done",
        "mlx5_core 0000:3b:00.0: mlxfw: Flashing component type 5",
        "bond0: (slave ens1f0np0): Enslaving as an active interface with an up link", "bond0: active interface up!",
        "sfp sfp-1: module FS SFP-10G rev A sn G1 dc 220101", "iser: iser_addr_handler: T10-PI requested, continue",
        "Failed to init switchdev work", "NVRM: loading NVIDIA UNIX Open Kernel Module for x86_64  595.45.04"})
    EXPECT_EQ(id_of(line), "") << line;
}

TEST(LogLines, TheNextStepNamesChecksThatExist) {
  for (const LineMessage& message : messages()) {
    const size_t at = message.next.find("--only ");
    if (at == std::string_view::npos) continue;
    const std::string_view rest = message.next.substr(at + 7);
    std::istringstream names{std::string(rest.substr(0, rest.find(';')))};
    for (std::string name; std::getline(names, name, ',');)
      EXPECT_NE(find_rule(name), nullptr) << message.id << " " << name;
  }
}

TEST(LogLines, OrdinaryLinesAreUnknown) {
  for (const char* line :
       {"", " ", "Using network IB", "NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB ens1:10.0.0.1<0>",
        "step 12: loss 3.1", "Got completion with error 120, opcode 0", "status=12",
        "mlx5_core 0000:18:00.0 ens1: Link up", "Got completion with error 99999999999999999999999,",
        "with status=", "IBV_WC_", "IBV_WC_RETRY_EXC_ERRX"})
    EXPECT_EQ(id_of(line), "") << line;
}

// Lines of other programs and of healthy nodes that have words of a message.
TEST(LogLines, WordsOfAMessageElsewhereAreUnknown) {
  for (const char* line : {
           "[12] Timeout waiting for parameter server",
           "10.0.0.5 - - [12] TLP report",
           "worker: [ 0] RxErr",
           "bnxt_en 0000:c1:00.0: self test finished with no error",
           "ice 0000:18:00.0: firmware answered (no error)",
           "nv_peer_mem: module loaded, no error",
           "Fabric Manager: 0 errors found during topology check",
           "fabricmanager: errors: 0",
           "cilium-agent: level=info msg=\"Stale veth removed\" error=\"Link not found\"",
           "curl: (404) Link not found",
           "nginx: upstream wrong magic in header",
           "SQUASHFS error: invalid magic number",
           "VFS: wrong magic number",
           "lpfc 0000:81:00.0: 0:0120 IOCB completion status 9, retrying",
           "POST /v1/completions status: 12 tokens",
           "HTTP request failed status 12",
           "sd 0:0:0:0: Reset required",
           "mooncake: using MC_GID_INDEX=3",
       })
    EXPECT_EQ(id_of(line), "") << line;
}

// Further lines; log_examples.h has one for each row.
TEST(LogLines, SimilarLinesHaveTheirOwnMessage) {
  constexpr std::pair<std::string_view, std::string_view> kLines[] = {
      {"systemd-networkd[245]: enp0s5: Lost carrier", "link-down"},
      {"systemd-networkd[245]: gpu3rdma0: Lost carrier", "link-down"},
      {"systemd-networkd[811]: veth12ab34: Lost carrier", "other-link-down"},
      {"NetworkManager[902]: <info>  [1656064246.4961] device (wlp2s0): carrier: link disconnected", "other-link-down"},
      {"NetworkManager[902]: <info>  [1656064246.4961] device (roce0): carrier: link disconnected", "link-down"},
      {"NetworkManager[902]: <info>  [1656064246.4961] device (ens1f0np0): carrier: link disconnected", "link-down"},
      {"mlx5_core 0000:3b:00.0:    [ 4] DLP                    (First)", "aer-uncorrected"},
      {"nvidia 0000:3b:00.0: AER:    [13] FCP", "aer-uncorrected"},
      {"nvme 10000:01:00.0:    [12] Poisoned TLP", "aer-uncorrected"},
      {"mlx5_core 0000:3b:00.0:    [ 6] BadTLP", "aer-corrected"},
      {"pcieport 0000:00:03.0:    [13] NonFatalErr", "aer-corrected"},
      {"ice 0000:3b:00.0:    [ 5] Surprise Down Error    (First)", "aer-surprise-down"},
      {"rdma-shared-dp: failed to get the link eth7: Link not found", "k8s-netdev-missing"},
      {"Failed status 12: wr_id 0", "wc-retry-exceeded"},
      {"NCCL INFO socketPollConnect: connect returned Connection refused, retrying (3/34) after 300 msec",
       "nccl-retrying"},
      {"NCCL INFO socketPollConnect: connect to 10.0.0.2<1> returned Connection timed out, retrying (1/34)",
       "nccl-retrying"},
      {"NCCL INFO socketPollConnect: connect to 169.254.170.23<1> returned No route to host, retrying (1/34)",
       "nccl-link-local"},
      {"NCCL INFO socketPollConnect: connect to fe80::1%eth0<1> returned Connection refused, retrying (1/34)",
       "nccl-link-local"},
      {"NCCL WARN NET/IB : req 1/8 tag 2 peer 10.0.0.2<1> collective mismatch error, local size 4 remote size 8",
       "nccl-collective-mismatch"},
      {"NCCL WARN socketFinalizeAccept: wrong magic 6a != 6b", "nccl-socket-foreign"},
      {"srun: error: Unable to create step for job 8812: Job/step already completing or completed", "slurm-refused"},
      {"srun: error: Unable to create step for job 8812: More processors requested than permitted",
       "slurm-step-resources"},
      {"srun: error: Unable to allocate resources: Requested node configuration is not available",
       "slurm-step-resources"},
      {"srun: error: node07: task 3: Bus error (core dumped)", "slurm-task-crashed"},
      {"srun: error: node07: task 3: Killed", "slurm-cancelled"},
      {"CUDA error: CUDA-capable device(s) is/are busy or unavailable", "gpu-busy"},
      {"NVRM: nvAssertOkFailedNoLog: Assertion failed: Reset required", "gpu-lost"},
      {"NVRM: Xid (PCI:0000:3b:00): 137, pid=71, name=python3, NVLink: FLA Privilege Error", "gpu-program"},
      {"NVRM: Xid (PCI:0000:18:00): 137, RLW_RXPIPE interrupt hit on link 11 on GPU0: PRIV Error", "gpu-xid"},
      {"config.cpp:97] Ignore value from environment variable MC_GID_INDEX, value 300", "mooncake-variable"},
      {"launch.py:325:sigkill_handler] ['python', 'train.py'] exits with return code = -9", "torch-rank-killed"},
      {"pcieport 0000:00:01.0: AER: found no error details for 0000:00:01.0", "aer-no-details"},
      {"bnxt_en 0000:c1:00.0 ens3np0: port 0 error", "bnxt-other"},
      {"pcieport 0000:3a:01.0: DPC: root port still busy", "pcie-no-answer"},
      {"pcieport 0000:3a:01.0: pciehp: Power fault on slot 12", "pcie-power-fault"},
      {"pcieport 0000:3a:01.0: pciehp: Slot(12): Link Down", "pcie-link-down"},
      {"AMD-Vi: Event logged [INVALID_PPR_REQUEST device=0000:3b:00.0 pasid=0x0 address=0x0 flags=0x0 tag=0x1]",
       "iommu-fault"},
      {"AMD-Vi: Event logged [IO_PAGE_FAULT device=0000:3b:00.0 domain=0x0012 address=0x0 flags=0x0]", "iommu-fault"},
      {"nvme nvme4: Mismatching cntlid: Connect 3 vs Identify 4, rejecting", "nvmf-duplicate"},
      {"mlx5_core 0000:3b:00.0: reset reload flow aborted, PCI reads still not working", "mlx5-recovery-failed"},
      {"ib0: RX drain timing out", "ipoib-timeout"},
      {"ib0: timing out; 3 sends 128 receives not completed", "ipoib-timeout"},
      {"scsi host9: ib_srp: Already connected to target port with id_ext=200100e08b000000;dest=10.1.0.9",
       "nvmf-connected"},
      {"nvme nvme1: Unexpected RDMA CM event (11)", "rdmacm-removed"},
      {"bnxt_en 0000:a1:00.0 ens1f0np0: Discarding out of seq response: 0x4f2 for msg {0x90 0x4f3}",
       "bnxt-command-timeout"},
      {"ice 0000:17:00.0 ens1f0: Changing channel in Safe Mode is not supported", "ice-safe-mode"},
      {"[node-a:91022] mca_smsc_cma_component_query: could not select for use. insufficient ptrace permissions.",
       "ompi-cma"},
      {"node-a:1:2 [3] transport/net_ib/p2p_resiliency.cc:460 NCCL WARN NET/IB: Maximum number of probing attempts (5) "
       "reached for request 0x7f81 (id=22). Cannot post another probe.",
       "nccl-failover"},
      {"Assertion failed: /DeepEP/csrc/kernels/internode.cu:59, condition: num_ranks is not supported",
       "deepep-assertion"},
      {"W0612 08:41:07.120000 9 file_storage.cpp:1185] Promotion: BatchLoad failed for key=k, error=FILE_READ_FAIL",
       "mooncake-store-other"},
      {"E0612 08:41:07.120000 9 cxi_context.cpp:196] fi_ep_bind(av) failed: Invalid argument", "mooncake-device-other"},
      {"E0612 08:41:07.120000 9 real_client.cpp:6964] Failed to invoke batch_get, client_addr = 10.1.0.9:50052, error "
       "is: 1",
       "mooncake-control-other"},
  };
  for (const auto& [line, id] : kLines) EXPECT_EQ(id_of(line), id) << line;
}

TEST(LogLines, TheTextsOfSlurmNameWhatElseEndsATask) {
  const std::string text = recognize(read_line("srun: error: node07: task 3: Killed"))->meaning.text();
  EXPECT_TRUE(has(text, "OOM killer") && has(text, "preempted")) << text;
}

// The rows of a source file are not of a file with the same name elsewhere, and not of information.
TEST(LogComponents, OfASourceFileAreOfItsProgramOnly) {
  for (const auto& [line, id] : {
           std::pair("[1755769000.551201] [node-a:4120:0]            sock.c:46   UCX  ERROR socket create failed",
                     "ucx-tcp-other"),
           std::pair("[2026-11-29 08:14:43.123456] sock.c: 112:spdk_sock_listen: *ERROR*: listen failed on 10.0.0.7",
                     "spdk-socket-other"),
           std::pair(
               "Nov 28 09:12:01 114201 [7F21C740] 0x01 -> report_duplicated_guid: ERR 0D01: Found duplicated node "
               "GUID.",
               "opensm-fabric-other"),
           std::pair("DiscoverSriovDevices(): unsupported device 0000:01:00.0 -> class: 'Network controller'", ""),
           std::pair("rdma.c:2752:spdk_nvmf_rdma_listen: *NOTICE*: *** NVMe/RDMA Target Listening on 10.0.0.7", ""),
       })
    EXPECT_EQ(id_of(line), id) << line;
  EXPECT_EQ(recognize(read_line("mca: bml: Not using tcp btl for send to [[1,1],0] on node node-b because self btl has "
                                "higher exclusivity (65536 > 100)"))
                ->cause,
            FaultLocation::none);
}

// The words of a message of another program mean something else.
TEST(LogLines, TheProgramDecidesBeforeTheWords) {
  for (const auto& [line, id] : {
           std::pair("[588574.797113] NVRM: nvAssertOkFailedNoLog: Assertion failed: Requested object not found "
                     "[NV_ERR_OBJECT_NOT_FOUND] (0x00000057) returned from btreeSearch(pteArray[0], &pNode, "
                     "pFabricVAS->pFabricVaToGpaMap) @ fabric_vaspace.c:727",
                     "nvrm-fabric-other"),
           std::pair("[ERROR] HCCL(38011,python):2025-07-15-12:45:32.997.778 [adapter_hccp.cc:647] [38011][Init]"
                     "[RaRdma]errNo[0x0000000005000013] rdma init fail. return: ret[328004]",
                     "ascend-other"),
           std::pair("habanalabs hl0: HCL failed to open the port", "habanalabs-other"),
           // A code means the same in every program.
           std::pair("net_mlx5: ibv_reg_mr failed: Cannot allocate memory", "registration-memlock"),
       })
    EXPECT_EQ(id_of(line), id) << line;
}

// A component explains only what no message does: the components come last.
TEST(LogComponents, MessagesComeFirst) {
  const auto is_component = [](const LineMessage& message) { return message.is_component(); };
  const auto first = std::ranges::find_if(messages(), is_component);
  EXPECT_TRUE(std::all_of(first, messages().end() - 2, is_component));
  EXPECT_EQ((messages().end() - 2)->id, "driver-error");
  EXPECT_EQ(messages().back().id, "object-failed");
  for (const auto& example : kLogExamples) {
    const LineMessage* found = recognize(read_line(example.line));
    if (found == nullptr || found->is_component()) continue;
    EXPECT_FALSE(found->id.ends_with("-other")) << found->id;
  }
  constexpr std::pair<std::string_view, std::string_view> kLines[] = {
      {"node-a:1:2 [0] transport/nvls.cc:598 NCCL WARN Cuda failure 1 'invalid argument'", "nccl-nvls"},
      {"node-a:1:2 [0] transport/nvls.cc:12 NCCL WARN something else", "nccl-nvls-other"},
      {"[1613401128.440695] [node-a:11838:0] ib_mlx5_log.c:177 UCX  ERROR Transport retry count exceeded on "
       "mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)",
       "wc-retry-exceeded"},
      {"[1613401128.440695] [node-a:11838:0] ib_md.c:12 UCX  ERROR ibv_reg_mr(address=0x7f00) failed: Cannot allocate "
       "memory",
       "registration-memlock"},
      {"[1613401128.440695] [node-a:11838:0] ib_md.c:12 UCX  ERROR something else", "ucx-memory-other"},
      {"mlx5_core 0000:3b:00.0: some_new_function:12:(pid 9): something", "mlx5-other"},
      {"infiniband mlx5_0: create_qp:12:(pid 9): something", "mlx5-rdma-queue-other"},
      {"bnxt_en 0000:c1:00.0 ens3np0: hwrm_new_call failed rc:-5", "bnxt-command-other"},
      {"erdma 0000:00:06.0: something failed", "erdma-other"},
  };
  for (const auto& [line, id] : kLines) EXPECT_EQ(id_of(line), id) << line;
}

// The words of a library that refuses a call of the program above it say that the program is at fault; an errno beside
// them means something else.
TEST(LogComponents, ARefusedCallIsOfTheProgram) {
  for (const auto& [line, id] : {
           std::pair("E0612 12:00:01.123456 9 ucx_backend.cpp:400] Invalid worker_id 9 (must be < 8)",
                     "nixl-call-other"),
           std::pair(
               "E0612 12:00:01.123456 9 ucx_backend.cpp:300] read() on control pipe failed: Invalid argument [22]",
               "nixl-backend-other"),
           std::pair("E20260612 12:00:01.123456 9 rdma_endpoint.cpp:720] Invalid GID format at byte 3, peer_gid=zz",
                     "mooncake-call-other"),
           std::pair(
               "node-a:1:2 [3] write:897 NCCL WARN NET/OFI fi_write_inline failed; RC: -22, Error: Invalid argument",
               "ofi-nccl-rdma-other"),
           std::pair(
               "node-a:1:2 [3] get:738 NCCL WARN NET/OFI Error accessing endpoint. Endpoint has not been initialized.",
               "ofi-nccl-rdma-other"),
           std::pair("[ERROR node-a 1 2 write p2p/engine.cc:402] [write] Error: Invalid mr_id 7", "uccl-call-other"),
           std::pair(
               "RuntimeError: [enforce fail at /pytorch/third_party/gloo/gloo/transport/tcp/socket.cc:60] rv != -1. "
               "setsockopt: Permission denied",
               "gloo-other"),
       })
    EXPECT_EQ(id_of(line), id) << line;
}

// Names and sentences that have the words of a fault of the link, of the address space or of a call.
TEST(LogConditions, AreNotOfPartsOfOtherWords) {
  const Condition* condition = condition_of(read_line("ModuleNotFoundError: No module named 'mooncake'"));
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(condition->id, "says-not-loaded");
  condition = condition_of(read_line("MemManager: Barrier failed during resume"));
  EXPECT_TRUE(condition == nullptr || condition->id != "says-no-address-space");
  EXPECT_EQ(read_line("[ERROR node-a 1 2 f p2p/rdma/rdma_connection.cc:95] failed to post channel batch 7").codes.call,
            Call::none);
  EXPECT_EQ(read_line("NCCL WARN NET/OFI Failed call to dereg_mr").codes.call, Call::none);
  EXPECT_NE(id_of("NVSHMEM_IBGDA_DCI_MAP_BY=foo is not supported."), "ofi-hmem");
}

// OpenSM writes its level as a bit: information is no error, unless its words are those of one.
TEST(LogComponents, TheLevelOfOpensmDecides) {
  const std::string head = "Jun 12 08:41:07 123456 [F7D03700] ";
  for (const char* line : {"0x02 -> osm_ucast_ftree: FatTree leaf switch rank is 3",
                           "0x02 -> log_notice: Reporting Generic Notice type:3 num:64 (GID in service) from LID:1",
                           "0x02 -> osm_console: Console connection accepted: localhost (127.0.0.1)",
                           "0x80 -> acme: version 5.17", "0x04 -> acme: Routing LID 3 to port 3"})
    EXPECT_EQ(id_of(head + line), "") << line;
  EXPECT_EQ(id_of(head + "0x02 -> acme: Cannot find destination port with LID:3"), "opensm-other");
  EXPECT_EQ(id_of(head + "0x01 -> acme: ERR 9999: an odd switch"), "opensm-fabric-other");
  EXPECT_EQ(id_of(head + "0x81 -> acme: ERR 9999: an odd switch"), "opensm-fabric-other");
}

TEST(LogComponents, InformationalLinesAreUnknown) {
  EXPECT_GE(std::size(test::kInformationalLines), 40u);
  for (const std::string_view line : test::kInformationalLines) EXPECT_EQ(id_of(line), "") << line;
}

TEST(LogLines, TheErrnoBesideAResultOfMinusOne) {
  const std::string refused = "errno 22 EINVAL (Invalid argument)\n";
  for (const char* line : {"app: rdma_connect -1 (error 22)", "rdma_connect returned -1, errno=22",
                           "rdma_connect: ret = -1 (22)", "rdma_connect -1: error: 22"})
    EXPECT_EQ(codes_text(line), refused) << line;
  for (const char* line : {"rdma_connect returned -1", "rank -1 (22 ranks)", "GID index -1 (3 of 4)", "port -1 of 22"})
    EXPECT_EQ(codes_text(line), "") << line;
  EXPECT_EQ(id_of("app: rdma_connect -1 (error 22)"), "rdmacm-driver");
  EXPECT_EQ(id_of("app: rdma_connect -1 (error 111)"), "rdmacm-rejected");
}

// A completion of libfabric has its own error and that of its provider.
TEST(LogLines, ErrorsOfProvidersOfLibfabric) {
  EXPECT_EQ(codes_text("libfabric:9:tcp:cq: err: 5 (Input/output error), prov_errno: Connection reset by peer (104)"),
            "errno 104 ECONNRESET (Connection reset by peer; libfabric FI_ECONNRESET)\n"
            "errno 5 EIO (Input/output error; libfabric FI_EIO)\n");
  EXPECT_EQ(codes_text("fi_cq_readerr() -> err: 103 prov_errno: 4128 strerror: Unknown"),
            "errno 103 ECONNABORTED (Software caused connection abort; libfabric FI_ECONNABORTED)\n" +
                codes_text("prov_errno: 4128 strerror: Unknown"));
  EXPECT_FALSE(has(codes_text("err: 5 (Input/output error), prov_errno: 12"), "ENOMEM")) << "a status of a completion";
}

// Words that other programs print as well are a message only in a line of their program.
TEST(LogLines, OfAnotherProgramAreNotTaken) {
  for (const char* line :
       {"scheduler: timed out while waiting for a slot", "recv index 5 invalid", "acme: bad cqe type",
        "acme: Failed to query CC mode", "multipathd: Skipping unavailable device sdb",
        "hns_roce_hw_v2 0000:bd:00.0: strong type of check", "acme: type for congestion selection: cubic",
        "hipMemAddressReserve: 0x7f0000000000 reserved",
        "libdoca_gpunetio.so.2 => /opt/mellanox/lib/libdoca_gpunetio.so.2"})
    EXPECT_EQ(id_of(line), "") << line;
  EXPECT_EQ(id_of("rping: Expected RDMA_CM_EVENT_ESTABLISHED but received RDMA_CM_EVENT_TIMEWAIT_EXIT (15)"),
            "rdmacm-disconnected")
      << "in place of the event that was expected";
}

TEST(LogComponents, OfDocaAreKnownByTheirErrors) {
  EXPECT_EQ(id_of("DOCA_ERROR_DRIVER: Low level driver failure"), "doca-driver");
  EXPECT_EQ(id_of("[DOCA][ERR][FLOW][flow.c:12] Failed to start: DOCA_ERROR_NO_MEMORY"), "doca-other");
  EXPECT_EQ(id_of("[DOCA][INF][FLOW][flow.c:12] started"), "");
}

// Work at the machine is marked, and left out where the operator cannot do it.
TEST(LogLines, WorkAtTheMachineIsMarked) {
  for (const LineMessage& message : messages())
    for (const StepRow& step : message.meaning)
      EXPECT_TRUE(has_any(step.work, Work::at_machine) || !has(std::string(step.text), "cold reboot")) << message.id;
}

// A consequence is shown with a cause of its families. None would be found if a cause were renamed.
TEST(LogLines, EveryConsequenceHasCausesInTheTables) {
  std::set<std::string_view> causes;
  for (const LineMessage& message : messages())
    if (message.role == Role::cause && message.cause != FaultLocation::none) causes.insert(message.family());
  for (const LineMessage& message : messages()) {
    if (message.role != Role::consequence) continue;
    std::vector<std::string_view> families{message.family()};
    if (!message.follows.empty()) families = split(message.follows, '|');
    for (const std::string_view family : families)
      EXPECT_TRUE(causes.contains(family)) << message.id << " follows " << family;
  }
}

// Work that ends the jobs of the node is marked, so that a warning comes before it.
TEST(LogLines, WorkThatEndsJobsIsMarked) {
  for (const LineMessage& message : messages())
    for (const StepRow& step : message.meaning)
      for (const char* order : {". Reset the ", ". Reload ", ". Reboot", "ower-cycle the node", "or reboot"})
        EXPECT_TRUE(has_any(step.work, Work::ends_jobs) || !has(". " + std::string(step.text), order))
            << message.id << ": " << order;
}

TEST(LogLines, StatusNumbersMatchAsAWhole) {
  EXPECT_EQ(recognize(read_line("Got completion with error 1, opcode 0"))->id, "wc-local-length");
  EXPECT_EQ(recognize(read_line("Got completion with error 12, opcode 0"))->id, "wc-retry-exceeded");
  EXPECT_EQ(codes_text("vendor err 129"), "vendor error 0x81 (129): no acknowledgment came back\n");
  EXPECT_EQ(codes_text("vendor err 1290"), "");
}

// The same code in the notation of several programs.
TEST(LogCodes, EveryNotationIsDecoded) {
  const std::string retry = "status 12 IBV_WC_RETRY_EXC_ERR\n",
                    acknowledgment = "vendor error 0x81 (129): no acknowledgment came back\n";
  for (const char* line :
       {"Got completion with error 12, opcode 0, len 0, vendor err 129",
        "Got completion from peer 10.0.0.2<1> with status=IBV_WC_RETRY_EXC_ERR(12) opcode=1 vendor_err=129",
        "Failed status 12: wr_id 0 syndrom 0x81"})
    EXPECT_EQ(codes_text(line), retry + acknowledgment) << line;
  EXPECT_EQ(codes_text("Transport retry count exceeded on mlx5_0:1/RoCE (synd 0x15 vend 0x81 hw_synd 0/0)"),
            retry + "syndrome 0x15 MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR\n" + acknowledgment);
  EXPECT_EQ(codes_text("mlx5_poll_one:530:(pid 0): syndrome 0x5, vendor syndrome 0xf9"),
            "status 5 IBV_WC_WR_FLUSH_ERR\nsyndrome 0x5 MLX5_CQE_SYNDROME_WR_FLUSH_ERR\n"
            "vendor error 0xf9 (249): flushed after an earlier error\n");
  EXPECT_TRUE(has(codes_text("00000000 02005104 09000ac5 0000bfd2"), "queue pair 0xac5")) << "an error CQE";
  EXPECT_EQ(
      codes_text("mlx5_0:dump_cqe:272:(pid 709): dump error cqe 00000020: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 "
                 "00 [561889.199061] 00000030: 00 00 00 00 00 00 88 13 08 00 01 13 07 47 67 d2"),
      "status 10 IBV_WC_REM_ACCESS_ERR\nsyndrome 0x13 MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR\n"
      "vendor error 0x88 (136): the peer denied access to its memory\nqueue pair 0x113\n");
  for (const char* line :
       {"dump 00000030: 00 00 00 00 00 00 88 13", "dump 00000030: 00 00 00 00 00 00 88 13 at 10.0.0.1",
        "00000040: 00 00 00 00 00 00 88 13 08 00 01 13 07 47 67 d2"})
    EXPECT_EQ(codes_text(line), "") << line;
  EXPECT_EQ(codes_text("Got completion from peer 10.0.0.2<1> with error 4, opcode 32601, len 32600, vendor err 0"),
            "status 4 IBV_WC_LOC_PROT_ERR\n")
      << "opcode and length of a failed completion are not defined";
  const std::string timeout = "errno 110 ETIMEDOUT (Connection timed out)\n";
  for (const char* line :
       {"ibv_modify_qp failed with 110 Connection timed out", "Failed to modify QP to RTR: connection timed out [110]",
        "errno: 110", "Couldn't change QP1 state to INIT: -110", "Free MW failed: 0xffffff92",
        "bnxt_en 0000:23:00.1 eth0: SP task can't update link (rc: ffffff92)", "RDMA_CM failed, error -110"})
    EXPECT_EQ(codes_text(line), timeout) << line;
  for (const char* line : {"failed on dev mlx5_5:1, local GID index -1", "error at -3.2 dBm", "rank -2 failed",
                           "2026-11-12 error", "failed at address ffffff921a2b", "failed (mac ffffffff)"})
    EXPECT_EQ(codes_text(line), "") << line;
  EXPECT_EQ(codes_text("RTR2RTS_QP(0x504) op_mod(0x0) failed, status bad parameter(0x3), syndrome (0x4bb88f)"),
            "command RTR2RTS_QP 0x504\ncommand status 0x3 bad parameter\nsyndrome 0x4bb88f\n");
  EXPECT_EQ(codes_text("Error in mlx5dv_devx_obj_modify for INIT2RTR_QP with syndrome 764216"),
            "command INIT2RTR_QP, syndrome 0x764216\n");
  EXPECT_EQ(codes_text("QPLIB: cmdq[0x4b9]=0x15 status 0x5"), "command 0x15 CREATE_AH, status 0x5\n");
  EXPECT_EQ(codes_text("efa: Failed to process command DEREG_MR (opcode 8) comp_status 7 err -22"),
            "errno 22 EINVAL (Invalid argument)\ncommand DEREG_MR, status 7 RESOURCE_BUSY\n");
  EXPECT_EQ(codes_text("infiniband irdma0: abnormal ae_id = 0x108 bool qp=1 qp_id = 311"),
            "asynchronous event 0x108 AMP_BOUNDS_VIOLATION\nstatus 4 IBV_WC_LOC_PROT_ERR\n");
  // ionic: an error completion in the kernel's log, the vendor's error of a library, an answer by numbers.
  EXPECT_EQ(codes_text("cqe 00000010: 00 00 00 00 00 00 00 00 00 00 00 0b 00 00 58 42  ..............XB"),
            "status 12 IBV_WC_RETRY_EXC_ERR\nstatus 11 IONIC_STS_RETRY_EXCEEDED\n");
  EXPECT_EQ(codes_text("cqe 00000010: 00 00 00 00 00 00 00 00 00 00 00 0b 00 00 58 40  ..............X@"), "")
      << "no error";
  EXPECT_EQ(codes_text("cqe 00000010: 00 00 00"), "");
  EXPECT_TRUE(has(codes_text("NCCL WARN NET/IB: Got completion from peer 10.0.0.2<1> with status=12 opcode=0 len=0 "
                             "vendor err 11 (Send) hca ionic_0"),
                  "status 11 IONIC_STS_RETRY_EXCEEDED"));
  EXPECT_EQ(codes_text("infiniband ionic_0: opcode 9 error 3"), "command 9 MODIFY_QP, error 3 BAD_STATE\n");
  EXPECT_EQ(codes_text("mlx5_core 0000:3b:00.0: query_mcia_reg failed: status: 0x9"),
            "module status 0x9 I2C_ERROR: the bus to the module failed\n");
  EXPECT_EQ(codes_text("infiniband hns_0: local access violation work queue 0x21 error, sub_event type is: 1"),
            "sub-event 1 R_KEY_VIOLATION: the key is not valid\n");
  EXPECT_EQ(codes_text("infiniband hns_1: local work queue 0x9 catast error, sub_event type is: 2"),
            "sub-event 2 MTU_ERROR: the path MTU is larger than that of the port\n");
  EXPECT_EQ(codes_text("iavf 0000:ec:01.1: PF returned error -64 to our request 53"),
            "request 53 VIRTCHNL_OP_DEL_VLAN_V2\n");
  EXPECT_EQ(codes_text("cm_handler msg: rejected (8) status 28"), "reason 28 IB_CM_REJ_CONSUMER_DEFINED\n");
  EXPECT_EQ(codes_text("PF returned error -5 (IAVF_ERR_PARAM)"), "error IAVF_ERR_PARAM\n") << "not EIO";
  EXPECT_EQ(codes_text("infiniband irdma0: Processing an iWARP related AE for CQ misc = 0x0203"),
            "asynchronous event 0x203 CQ_OPERATION_ERROR\n");
  EXPECT_EQ(codes_text("mlx5_core 0000:3b:00.0: mlx5_core_set_issi:989:(pid 1): Failed to query ISSI err(-5) status(3) "
                       "synd(1137256)"),
            "errno 5 EIO (Input/output error)\ncommand status 0x3 bad parameter\nsyndrome 0x115a68\n");
  // The number of an event of the connection manager; one by name has none.
  EXPECT_EQ(codes_text("nvme nvme1: Unexpected RDMA CM event (11)"), "event RDMA_CM_EVENT_DEVICE_REMOVAL\n");
  EXPECT_EQ(codes_text("isert: isert_np_cma_handler: isert np 00000000b2b7 Unexpected event 3"),
            "event RDMA_CM_EVENT_ROUTE_ERROR\n");
  EXPECT_EQ(codes_text("nvme nvme1: Unexpected RDMA CM event (99)"), "");
  EXPECT_EQ(codes_text("acme: Unexpected event 11"), "") << "of another program";
  // The bits of a root port, without the masked ones.
  EXPECT_EQ(codes_text("pcieport 0000:3a:01.0: DPC: rp_pio_status: 0x00050000, rp_pio_mask: 0x00010000"),
            "RP PIO: memory request: no answer\n");
  EXPECT_EQ(codes_text("pcieport 0000:3a:01.0: DPC: rp_pio_status: 0x00000002, rp_pio_mask: 0x00000000"),
            "RP PIO: configuration request: CA (completer abort)\n");
}

// Programs with numbers of their own, and numbers that are errnos of the kernel.
TEST(LogCodes, NumbersAreOfTheirProgram) {
  EXPECT_EQ(codes_text("ERROR [658373:658384] EnableMetrics returned -37 [/dcgm/modules/profiling/"
                       "DcgmModuleProfiling.cpp:828] [DcgmModuleProfiling::ProcessWatchFieldsGpu]"),
            "status -37 DCGM_ST_PROFILING_LIBRARY_ERROR\n");
  EXPECT_EQ(codes_text("pmixp_client_v2.c:210 [_errhandler] mpi/pmix: ERROR: Error handler invoked: status = -25"),
            "status -25 PMIX_ERR_UNREACH: a process cannot be reached (any more)\n");
  EXPECT_EQ(
      codes_text("[ERROR] HCCL(7,python3):t [hccl_socket_manager.cc:54] [7][ServerInit]call trace: hcclRet -> 19"),
      "status 19 HCCL_E_NETWORK\n");
  EXPECT_EQ(codes_text("pmixp_server.c:1: mpi/pmix: ERROR: status = -1"), "status -1 PMIX_ERROR\n");
  EXPECT_EQ(codes_text("nvmlDeviceGetHandleByIndex failed with 15"), "status 15 NVML_ERROR_GPU_IS_LOST\n");
  EXPECT_EQ(codes_text("slurmd: error: gpu/nvml: open /dev/nvidiactl failed, error: 13 (Permission denied)"),
            "errno 13 EACCES (Permission denied)\n")
      << "not NVML_ERROR_FUNCTION_NOT_FOUND";
  EXPECT_EQ(
      codes_text("ERR syncd#syncd: [none] SAI_API_PORT:brcm_sai_get_port_stats:6815 port fdr stats get failed with "
                 "error 0xfffffff0"),
      "")
      << "not EBUSY";
  EXPECT_EQ(codes_text("Jan 22 00:26:16 node-a kernel: RPC:       xs_tcp_send_request(8320) = -32"),
            "errno 32 EPIPE (Broken pipe)\n");
  EXPECT_EQ(codes_text("amdgpu: init_user_pages: Failed to get user pages: -1"),
            "errno 1 EPERM (Operation not permitted)\n");
  EXPECT_EQ(codes_text("ra hdc message process failed ret(-67) phy_id(0)"),
            "errno 67 ENOLINK (Link has been severed)\n");
  for (const char* line : {"HCCL(7,python3): is failed. ret[99]", "Dcgm: Foo returned -99", "f(8320) = -32"})
    EXPECT_EQ(codes_text(line), "") << line;
}

TEST(LogCodes, ErrnosOfTheKernelOnly) {
  for (const char* line : {"ibv_reg_dmabuf_mr() failed: Unknown error 524", "mlx5_core: attach failed: -524"})
    EXPECT_EQ(codes_text(line), "errno 524 ENOTSUPP (operation not supported; of the kernel only)\n") << line;
  EXPECT_EQ(codes_text("bnxt_re: probe failed, err -517"),
            "errno 517 EPROBE_DEFER (the driver waits for another device or driver; of the kernel only)\n");
  for (const char* line : {"failed to write 512 bytes", "Unknown error 520", "size 524 is too large: error"})
    EXPECT_EQ(codes_text(line), "") << line;
  EXPECT_EQ(meaning_of("ENOTSUPP")->cause, FaultLocation::host);
}

TEST(LogCodes, BandwidthOfASlot) {
  const std::string slot = "PCIe: 63.008 Gb/s available, by x8 at 8";
  EXPECT_EQ(codes_text("mlx5_core 0000:b3:00.1: 63.008 Gb/s available PCIe bandwidth, limited by 8 GT/s x8 link at "
                       "0000:b2:00.0 (capable of 252.048 Gb/s with 16 GT/s x16 link)"),
            slot + " GT/s below 0000:b2:00.0; capable of 252.048 Gb/s, by x16 at 16 GT/s\n");
  EXPECT_EQ(codes_text("pci 0000:01:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at "
                       "0000:00:01.0 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)"),
            slot + ".0 GT/s below 0000:00:01.0; capable of 126.016 Gb/s, by x16 at 8.0 GT/s\n");
  for (const char* line : {" Gb/s available PCIe bandwidth, limited by ",
                           "1 Gb/s available PCIe bandwidth, limited by 8 GT/s x8 link at 0000:00:01.0",
                           "1 Gb/s available PCIe bandwidth, limited by  link at  (capable of  with  link)"})
    EXPECT_EQ(codes_text(line), "") << line;
  EXPECT_EQ(codes_text("pci 0000:01:00.0: 63.008 Gb/s available PCIe bandwidth (8.0 GT/s PCIe x8 link)"), "");
}

// Statuses that a device, its host or its PF answers with.
TEST(LogCodes, StatusesOfDevices) {
  EXPECT_EQ(codes_text("NVRM: _issueRpcAndWait: rpcSendMessage failed with status 0x0000000f for fn 76!"),
            "NVRM status 0xf NV_ERR_GPU_IS_LOST: the GPU is lost from the bus\n");
  EXPECT_EQ(id_of("NVRM: _issueRpcAndWait: rpcSendMessage failed with status 0x0000000f for fn 76!"),
            "nvrm-attached-check");
  EXPECT_EQ(id_of("NVRM: rpcSendMessage failed with status 0x00000065 for fn 76!"), "nvrm-timeout");
  EXPECT_EQ(id_of("NVRM: allocation failed with status=0x87"), "gpu-fabric-state");
  for (const char* line : {"NVRM: some call failed with status 0x000000ff", "other: failed with status 0x0000000f",
                           "NVRM: failed, status 15"})
    EXPECT_EQ(codes_text(line), "") << line;
  EXPECT_EQ(codes_text("ice 0000:88:00.0: VF 0 failed opcode 6, retval: -5"),
            "request 6 VIRTCHNL_OP_CONFIG_VSI_QUEUES\nstatus -5 VIRTCHNL_STATUS_ERR_PARAM\n")
      << "not EIO";
  EXPECT_EQ(codes_text("iavf 0000:41:01.0: PF returned error -5 (IAVF_ERR_PARAM) to our request 10"),
            "request 10 VIRTCHNL_OP_ADD_ETH_ADDR\nerror IAVF_ERR_PARAM\n");
  EXPECT_EQ(codes_text("mana 7870:00:00.0: VfVerifyVersionOutput: -71, status=0xc00000bb"),
            "errno 71 EPROTO (Protocol error)\nstatus 0xc00000bb STATUS_NOT_SUPPORTED\n");
  EXPECT_EQ(codes_text("Failed to create devx object with syndrome=0x5ecb3"), "syndrome 0x5ecb3\n");
  EXPECT_EQ(codes_text("CQ 5: Failed to create CQ DevX object. Fail syndrome=388275"), "syndrome 0x5ecb3\n");
  EXPECT_EQ(codes_text("a patient with syndrome=5"), "");
  EXPECT_EQ(codes_text("team_internal_nvls.cpp:254: non-zero status: 401 cuMemMap failed to map"),
            "CUDA error 401: illegal state: not possible in the present state\n");
  EXPECT_EQ(codes_text("mem.cpp:10: non-zero status: 2 cudaMalloc failed"), "CUDA error 2: out of memory\n")
      << "neither NVSHMEM's status nor an errno";
  EXPECT_EQ(codes_text("mem.cpp:10: non-zero status: 7 custom setup failed"),
            "NVSHMEM status 7 NVSHMEMX_ERROR_INTERNAL\n");
}

// libfabric's completions: the errno is libfabric's, the other number is the provider's.
TEST(LogCodes, ErrorsOfLibfabric) {
  const std::string not_connected = "errno 107 ENOTCONN (Transport endpoint is not connected; libfabric FI_ENOTCONN)\n";
  EXPECT_EQ(codes_text("NET/OFI Request completed with error. RC: 107. Error: Inappropriate ioctl for device."),
            not_connected)
      << "strerror(3) of the number of another provider";
  EXPECT_EQ(
      codes_text("NET/OFI Request 0x7f (send) completed with error: err: 107, flags: 2, prov_errno: 13, strerror: "
                 "Permission denied, len: 8"),
      not_connected)
      << "13 is not EACCES";
  EXPECT_TRUE(has(codes_text("NET/OFI Request 0x7f completed with error. RC: 103. Error: 4126 (x)"),
                  "EFA error 4126 FI_EFA_ERR_UNESTABLISHED_RECV_UNRESP\n"));
  EXPECT_TRUE(has(codes_text("NET/OFI Request 0x7f (send) completed with error: err: 103, flags: 2, prov_errno: 4124"),
                  "EFA error 4124 FI_EFA_ERR_ESTABLISHED_RECV_UNRESP\n"));
  EXPECT_TRUE(has(codes_text("efa: err: Connection aborted (103), prov_errno: Bad queue pair (QP) number (QP does not "
                             "exist or is in error state) (9)"),
                  "EFA status 9 BAD_DEST_QPN\n"));
  for (const char* line :
       {"NET/OFI Request 0x7f completed with error. RC: 20. Error: unknown error. Completed length: 0",
        "libfabric:35:1668017255::efa:cq:rxr_cq_write_tx_error():243<warn> rxr_cq_write_tx_error: "
        "err: 20, prov_err: Not a directory (20)"}) {
    EXPECT_EQ(codes_text(line), "status 20 IBV_WC_RESP_TIMEOUT_ERR\n") << "the status of the completion is no errno";
    EXPECT_EQ(id_of(line), "wc-response-timeout");
  }
  EXPECT_EQ(id_of("NET/OFI Request 0x7f completed with error. RC: 103. Error: 4126 (x)"), "efa-unresponsive-handshake");
  EXPECT_EQ(id_of("NET/OFI Request 0x7f completed with error: err: 103, flags: 2, prov_errno: 4124, strerror: x"),
            "efa-unresponsive");
}

TEST(LogCodes, NamesAndNumbersOfTestPrograms) {
  EXPECT_EQ(codes_text("cq completion failed status 12"), "status 12 IBV_WC_RETRY_EXC_ERR\n");
  EXPECT_EQ(id_of("cq completion failed status 12"), "wc-retry-exceeded");
  EXPECT_EQ(codes_text("doca_rdma_start() failed: DOCA_ERROR_NO_MEMORY"), "DOCA error 7 DOCA_ERROR_NO_MEMORY\n");
  EXPECT_EQ(codes_text("cuMemCreate failed: CUDA_ERROR_NOT_PERMITTED"), "error CUDA_ERROR_NOT_PERMITTED\n");
  for (const char* line : {"NCCL_ASYNC_ERROR_HANDLING is deprecated", "DOCA_ERROR_OF_NO_TABLE"})
    EXPECT_EQ(codes_text(line), "") << line;
  // -1 is what a call returned; only the kernel returns EPERM so.
  for (const char* line : {"connect error -1", "rdma_connect error -1", "setup_qp failed: -1"})
    EXPECT_EQ(codes_text(line), "") << line;
  EXPECT_EQ(id_of("connect error -1"), "rdmacm-step");
  EXPECT_EQ(codes_text("mlx5_core 0000:01:00.0: probe with driver mlx5_core failed with error -1"),
            "errno 1 EPERM (Operation not permitted)\n");
  for (const char* line : {" Did not detect devices ", " If device exists, check if driver is up"})
    EXPECT_EQ(id_of(line), "perftest-no-devices") << line;
  EXPECT_EQ(id_of("Couldn't allocate MR"), "registration-failed");
  EXPECT_EQ(id_of("Couldn't allocate MR with error=12"), "registration-memlock");
}

// Numbers and texts that look like errnos, and are those of something else.
TEST(LogCodes, ANumberBelongsToWhatPrintsIt) {
  const std::string timeout = "errno 110 ETIMEDOUT (Connection timed out)\n",
                    invalid = "errno 22 EINVAL (Invalid argument)\n";
  EXPECT_EQ(codes_text("api.py:833] failed (exitcode: -9) local_rank: 3 (pid: 9295)"), "signal 9 SIGKILL\n");
  EXPECT_EQ(codes_text("command terminated with exit code 137"), "signal 9 SIGKILL\n");
  EXPECT_EQ(codes_text("failed (exitcode: 1) local_rank: 0"), "");
  EXPECT_EQ(codes_text("ibrc.cpp:1433: non-zero status: 7 ep_connect failed"),
            "NVSHMEM status 7 NVSHMEMX_ERROR_INTERNAL\n");
  EXPECT_EQ(codes_text("ibrc.cpp:418: non-zero status: 110 ibv_modify_qp failed"), timeout);
  EXPECT_EQ(codes_text("nvls.cc:598 NCCL WARN Cuda failure 1 'invalid argument'"), "CUDA error 1: invalid value\n");
  EXPECT_EQ(codes_text("i40e 0000:05:00.1: Unable to send the message to VF 49 aq_err 12"), "status 12 AQ_RC_EBUSY\n");
  EXPECT_EQ(codes_text("cudaHostRegister with IoMemory failed with error=800."), "CUDA error 800: not permitted\n");
  EXPECT_EQ(codes_text("gdr_pin_buffer_v2(addr 7f2a40000000, size 65536, flags 1) failed: 22"), invalid);
  EXPECT_EQ(codes_text("error in gdr_pin_buffer with code=22"), invalid);
  EXPECT_EQ(codes_text("IONIC_CMD_Q_INIT (40) failed: TIMEOUT (-110)"), timeout + "command IONIC_CMD_Q_INIT\n");
  EXPECT_EQ(codes_text("DEV_CMD IONIC_CMD_RDMA_CREATE_ADMINQ (53) error, IONIC_RC_ENOMEM (10) failed"),
            "command IONIC_CMD_RDMA_CREATE_ADMINQ\nstatus IONIC_RC_ENOMEM\n");
  EXPECT_EQ(codes_text("qp async event qp_id = 214, ae = 0x50a (text), qp_cnt = 12"),
            "asynchronous event 0x50a LLP_TOO_MANY_RETRIES\nstatus 12 IBV_WC_RETRY_EXC_ERR\n");
  EXPECT_EQ(codes_text("Processing CQ[0x1f] op error, AE 0x0203"), "asynchronous event 0x203 CQ_OPERATION_ERROR\n");
  EXPECT_EQ(codes_text("Bad wc status -- 12 -- 0"), "status 12 IBV_WC_RETRY_EXC_ERR\n");
  EXPECT_EQ(codes_text("launch.py:325:sigkill_handler] ['python'] exits with return code = -9"), "signal 9 SIGKILL\n");
  EXPECT_EQ(codes_text("worker 3 failed with exit code -6"), "signal 6 SIGABRT\n");
  EXPECT_EQ(codes_text("CalledProcessError: failed, returncode=-11"), "signal 11 SIGSEGV\n");
  EXPECT_EQ(codes_text("failed: exit status 137"), "signal 9 SIGKILL\n");
  EXPECT_EQ(codes_text("qp modify failed with return code -110"), timeout) << "of a function, not of a process";
  EXPECT_EQ(codes_text("i40e 0000:01:00.0: DCB init failed -53, disabled"), "");
  EXPECT_EQ(codes_text("iavf 0000:01:01.0: Failed to init adminq: -54"), "");
  EXPECT_EQ(codes_text("i40e 0000:01:00.0: probe with driver i40e failed with error -22"), invalid);
  EXPECT_EQ(codes_text("i40e 0000:01:00.0: Failed to enable PCI sriov: -22"), invalid);
  EXPECT_EQ(codes_text("CUDA error 46"), "CUDA error 46: busy or unavailable\n");
  EXPECT_EQ(codes_text("NCCL WARN DOCA Error 99"), "DOCA error 99\n") << "a number without a name";
  EXPECT_EQ(codes_text("SOME_CMD(0x504) op_mod(0x0) failed, status other(0x77)"),
            "command SOME_CMD 0x504\ncommand status 0x77\n");
  EXPECT_EQ(codes_text("process command X (opcode 8) comp_status 77"), "command X, status 77\n");
  EXPECT_EQ(codes_text("DMA mask 0xffffff80"), "") << "no failure";
  for (const char* line :
       {"pcieport 0000:00:03.0:    [ 5] SDES", "pcieport 0000:00:03.0:    [ 5] Surprise Down Error    (First)"})
    EXPECT_EQ(codes_text(line), "AER surprise down: the link went down while it was in use\n") << line;
  EXPECT_EQ(codes_text("SXid (PCI:0000:84:00.0): 12028, Data {0x1}"), "SXid 12028: egress nonposted PRIV error\n");
  EXPECT_EQ(codes_text("XidCriticalError: Xid=69 on Device=GPU-1"), "Xid 69: exception of the graphics engine class\n");
}

// Faults that the words distinguish, and that had one rule before.
TEST(LogLines, TheWordsOfALineTellItsFault) {
  for (const auto& [line, id, cause] : {
           std::tuple("(o2iblnd_cb.c:2719:kiblnd_rejected()) 10.0.0.5@o2ib rejected: o2iblnd no resources",
                      "lnet-rejected", FaultLocation::peer),
           std::tuple("(o2iblnd_cb.c:2544:kiblnd_rejected()) 10.0.0.5@o2ib rejected: incompatible message queue "
                      "depth 8, 63",
                      "lnet-settings-differ", FaultLocation::host),
           std::tuple("(o2iblnd.c:2770:kiblnd_create_dev()) Can't query IPoIB interface ib0: it's down",
                      "lnet-interface", FaultLocation::host),
           std::tuple("(o2iblnd_cb.c:3211:kiblnd_cm_callback()) 10.1.0.5@o2ib: ADDR ERROR -110 cm_id 0", "lnet-path",
                      FaultLocation::network),
           std::tuple("UCX  ERROR mlx5_1: ibv_modify_qp(UMR QP 0x2c5c) failed to modify to RTR: No such device",
                      "modify-qp-netdev", FaultLocation::host),
           std::tuple("acme: ibv_modify_qp to RTR failed: No such device", "modify-qp-no-device",
                      FaultLocation::software),
           std::tuple("RDMAConnectedSocketImpl activate failed to transition to RTR state: (110) Connection timed out",
                      "modify-qp-timeout", FaultLocation::network),
           std::tuple("RDMAConnectedSocketImpl try_connect failed", "ceph-rdma-connection", FaultLocation::unknown),
           std::tuple("FAILED ceph_assert(socket.fd() >= 0)", "ceph-rdma", FaultLocation::host),
           std::tuple("create_vni_context(2253): OFI endpoint open failed (ofi_init.c:2253:x:Input/output error)",
                      "mpich-ofi-open", FaultLocation::host),
           std::tuple("MPIDI_OFI_handle_cq_error(1059): OFI poll failed (x:Message too long)", "mpich-ofi",
                      FaultLocation::unknown),
           std::tuple("iavf 0000:41:01.0: Reset never finished (0)", "iavf-reset", FaultLocation::host),
           std::tuple("iavf 0000:41:01.0: PF returned error -5 (IAVF_ERR_PARAM) to our request 6", "iavf-pf",
                      FaultLocation::host),
           std::tuple("ibv_reg_dmabuf_mr failed: Unknown error 524", "dmabuf-mapping", FaultLocation::host),
           std::tuple("ibv_reg_dmabuf_mr failed: Operation not supported", "dmabuf-registration", FaultLocation::host),
           std::tuple("Failed to create AH", "ah-failed", FaultLocation::unknown),
           std::tuple("Failed to create AH: Connection timed out", "ah-unresolved", FaultLocation::network),
           std::tuple(
               "ib_device.c:1332 UCX  ERROR   ibv_create_ah(dlid=49152 sl=0 port=1 dgid=fe80::5aa2:e1ff:fefe:c130 "
               "sgid_index=0) for UD mlx5 connect on mlx5_0 failed: No such device",
               "ah-no-netdev", FaultLocation::host),
           std::tuple("sys.c:619  UCX  ERROR shmget(size=2097152 flags=0xfb0) for mm_recv_desc failed: Operation not "
                      "permitted, please check shared memory limits by 'ipcs -l'",
                      "sysv-shm-huge-pages", FaultLocation::host),
           std::tuple(
               "sys.c:619  UCX  ERROR shmget(size=2097152 flags=0xfb0) for mm_recv_desc failed: No space left on "
               "device",
               "sysv-shm-limit", FaultLocation::host),
       }) {
    const LineMessage* message = recognize(read_line(line));
    ASSERT_NE(message, nullptr) << line;
    EXPECT_EQ(message->id, id) << line;
    EXPECT_EQ(message->cause, cause) << line;
  }
}

// A driver's own step is of this host; of what others ask it for, the cause is not known.
TEST(LogComponents, ADriverIsAtFaultForItsOwnStepsOnly) {
  for (const auto& [line, id] : {
           std::pair("bnxt_en 0000:c1:00.0 ens3np0: interrupt test failed", "bnxt-step-other"),
           std::pair("ice 0000:18:00.0: failed to start the control queue", "ice-step-other"),
           std::pair("iavf 0000:18:01.0: Unable to allocate memory for queues", "iavf-step-other"),
           std::pair("ionic 0000:0a:00.0 enp10s0np0: Failed to start queues: -22", "ionic-step-other"),
           std::pair("hns3 0000:fd:00.1: firmware version query failed -11", "hns-step-other"),
       }) {
    EXPECT_EQ(id_of(line), id) << line;
    EXPECT_EQ(recognize(read_line(line))->cause, FaultLocation::host) << line;
  }
  for (const auto& [line, id] : {
           std::pair("bnxt_en 0000:c1:00.0 ens3np0: SP task can't update link (rc: 3)", "bnxt-other"),
           std::pair("ice 0000:18:00.0 ens1f0: Invalid max rate 3 specified for the queue 3", "ice-other"),
           std::pair("iavf 0000:18:01.0 ens1f0v0: Descriptors requested (Tx: 3 / Rx: 3) out of range", "iavf-other"),
           std::pair("ionic 0000:0a:00.0 enp10s0np0: FEC request not allowed while autoneg is enabled", "ionic-other"),
           std::pair("hns3 0000:3b:00.0 ens1f0np0: there are offloaded TC filters active, cannot disable HW TC offload",
                     "hns-other"),
       }) {
    EXPECT_EQ(id_of(line), id) << line;
    EXPECT_EQ(recognize(read_line(line))->cause, FaultLocation::unknown) << line;
  }
}

// One row of a call and an errno covers the words of every library.
TEST(LogCodes, ACallIsRecognizedInAnyLibrary) {
  for (const char* line :
       {"Call to ibv_modify_qp failed with 110 Connection timed out, next state RTR",
        "[Handshake] Failed to modify QP to RTR, check mtu: Connection timed out [110]",
        "UCX  ERROR error modifying QP to RTR: Connection timed out", "some_new_library: qp_modify: -110 error"})
    EXPECT_EQ(id_of(line), "modify-qp-timeout") << line;
  EXPECT_EQ(id_of("acme_modify_qp(INIT) failed: 22"), "modify-qp-init");
  EXPECT_EQ(id_of("acme_modify_qp(INIT2RTR) failed: 22"), "modify-qp-invalid");
  EXPECT_NE(id_of("ibv_modify_qp() failed: 2 retries left"), "modify-qp-no-gid") << "a count, not an errno";
  // Words of a fault in lines of something else.
  EXPECT_NE(id_of("node1:123:456 [0] NCCL INFO GPUDirect RDMA with CUDA VMM supported: Yes"), "deepep-gpudirect");
  EXPECT_NE(id_of("Device mlx5_0: GID table not available"), "mooncake-gid-index");
  EXPECT_NE(id_of("        Physical state: LinkUp"), "states-port");
  EXPECT_EQ(id_of("Call to ibv_modify_qp failed with 22 Invalid argument, curr state RTR, next state RTS"),
            "modify-qp-rts");
  EXPECT_EQ(id_of("Failed to modify QP to RTS: Connection timed out"), "modify-qp-timeout");
  EXPECT_EQ(id_of("rdma_resolve_addr: Cannot assign requested address (-99)"), "rdmacm-local-address");
  EXPECT_EQ(id_of("rdma_resolve_addr failed: No such device"), "rdmacm-no-device") << "not the network";
  EXPECT_EQ(id_of("write /sys/bus/pci/devices/0000:c1:00.0/sriov_numvfs: no space left on device"), "vfs-msix");
  for (const char* line : {"rdma_resolve_route failed", "rdma_resolve_route failed: Invalid argument"})
    EXPECT_EQ(id_of(line), "rdmacm-route-local") << "RoCE sends nothing for it: not the network";
  for (const char* line :
       {"cma event RDMA_CM_EVENT_ROUTE_ERROR, error -22", "rdma_resolve_route: Connection timed out"})
    EXPECT_EQ(id_of(line), "rdmacm-route") << line;
  EXPECT_EQ(id_of("Failed to post a send for the qpair 0xd10160 with errno -22"), "post-invalid");
  EXPECT_EQ(id_of("ibv_reg_mr succeeded"), "");
}

// EFAULT at a registration: the line shows whether the memory is that of a GPU, or does not.
TEST(LogCodes, ARegisteredAddressIsOfAGpuIfTheLineNamesOne) {
  for (const char* line : {"ibv_reg_mr failed in firehose_move_callback errno=14 (Bad address)",
                           "gasnet_ofi.c:1502: fi_mr_reg for rdma failed: -14(Bad address)",
                           "rdma_van.h:679] Failed to register the memory region: Bad address, sa.size()=32768"})
    EXPECT_EQ(id_of(line), "registration-address") << line;
  for (const char* line :
       {"Failed to register the GPU buffer: Bad address", "NCCL WARN Call to ibv_reg_mr failed with error Bad address",
        "mscclpp: ibv_reg_mr failed (errno 14)", "ibv_reg_mr of CUDA memory failed: Bad address"})
    EXPECT_EQ(id_of(line), "gpudirect-registration") << line;
}

TEST(LogCodes, ACallOfADeviceNeedsANameOfRdma) {
  EXPECT_EQ(id_of("mlx5_0: query device failed"), "query-device");
  EXPECT_EQ(id_of("ibv_query_port() failed: error"), "query-device");
  EXPECT_EQ(id_of("Couldn't get device attribute."), "query-device") << "perftest";
  EXPECT_EQ(id_of("acme: query device attributes failed"), "") << "a device of any kind";
  EXPECT_EQ(id_of("E [client-handshake.c:1449:client_query_portmap_cbk] 0-ib-client-9: failed to get the port number "
                  "for remote subvolume."),
            "")
      << "inside an identifier";
}

// The table of codes is that of the program.
TEST(LogCodes, OfStorageAndSwitchesAreNotErrnos) {
  EXPECT_EQ(codes_text("cuFileHandleRegister failed (cuFile err=5030, cuda_err=0)"),
            "status 5030 CU_FILE_INTERNAL_ERROR: cufile.log has the reason\n");
  EXPECT_EQ(codes_text("cuFileRead failed: error -22"), "errno 22 EINVAL (Invalid argument)\n");
  EXPECT_EQ(codes_text("connection1:0: detected conn error (1011)"),
            "status 1011 ISCSI_ERR_CONN_FAILED: the connection failed\n");
  EXPECT_EQ(id_of("connection1:0: detected conn error (1011)"), "iscsi-connection") << "not RDMA";
  EXPECT_EQ(codes_text("GPU 0 nvlink_bandwidth_l0 fieldId = 440 fieldType = 105 status = -6"),
            "status -6 DCGM_ST_NOT_SUPPORTED\n");
  EXPECT_EQ(codes_text("failed to execute api: set, key: SAI_OBJECT_TYPE_PORT:oid:0x1, status: "
                       "SAI_STATUS_ATTR_NOT_SUPPORTED_0"),
            "error SAI_STATUS_ATTR_NOT_SUPPORTED_0\n");
  EXPECT_EQ(codes_text("api set: SAI_STATUS_SUCCESS"), "");
  EXPECT_EQ(codes_text("@ 0> snd status=10 opcode=2 dst_node=1 dst_qp=0"), "status 10 IBV_WC_REM_ACCESS_ERR\n");
}

TEST(LogCodes, ACallIsRecognizedInAnyWords) {
  for (const auto& [line, call] : {
           std::pair("0-gvol0-client-0: could not create QP", Call::create_object),
           std::pair("acme: failed to allocate a protection domain", Call::create_object),
           std::pair("acme: cannot register 64 memory regions", Call::registration),
           std::pair("acme: unable to modify the UD queue pair", Call::modify_qp),
           std::pair("acme: error opening IB device", Call::open_device),
           std::pair("acme: while the job starts: failed to open device bnxt_re0", Call::open_device),
           std::pair("acme: while the manager starts: failed to open device tty0", Call::none),
           std::pair("acme: failed to create the table of requests", Call::none),
           std::pair("acme: failed to create a socket, so that the many queues have no qp", Call::none),
           std::pair("acme: recreate cqueue failed", Call::none),
           std::pair("acme: created QP 17", Call::none),
       })
    EXPECT_EQ(read_line(line).codes.call, call) << line;
}

// The rest of a long line is not read, and parts of patterns without a match do not multiply the time.
TEST(LogLines, LongAndHostileLines) {
  const std::string megabyte(1 << 20, 'a');
  EXPECT_EQ(recognize(read_line(megabyte)), nullptr);
  EXPECT_EQ(recognize(read_line(megabyte + "Got completion with error 12, ")), nullptr);
  EXPECT_NE(recognize(read_line("Got completion with error 12, " + megabyte)), nullptr);
  std::string parts;
  while (parts.size() < (1 << 20)) parts += "ibv_reg_mr ibv_reg_mr failed status number async event ";
  EXPECT_EQ(id_of(parts), "registration-failed");
  EXPECT_TRUE(names_in(parts, Node()).ports.empty());
  std::string dashes;
  while (dashes.size() < kMaxLine) dashes += "failed -1 - ";
  EXPECT_LE(read_line(dashes).codes.texts.size(), 2u);
}

TEST(LogNames, PortsAreFoundByDeviceGidNetdevAndPci) {
  test::Healthy healthy;
  Port& port = healthy.now.ports[1];
  port.gids = {{3, "0000:0000:0000:0000:0000:ffff:1d57:04dd", "RoCE v2", port.netdev}};
  const auto only = [&](const std::string& line) {
    const Named named = names_in(line, healthy.now);
    return named.ports.size() == 1 && named.ports.front() == &port ? named.by.front() : "none";
  };
  EXPECT_EQ(only("localGid ::ffff:29.87.4.221 remoteGids::ffff:29.87.88.182"), "GID ::ffff:29.87.4.221");
  EXPECT_EQ(only("localGid 0000:0000:0000:0000:0000:ffff:1d57:04dd"), "GID 0000:0000:0000:0000:0000:ffff:1d57:04dd");
  EXPECT_EQ(only("NET/IB : " + port.rdma + ":1 Got async event : port error"), "device " + port.rdma + ":1");
  EXPECT_EQ(only("exceeded on " + port.rdma + ":1/RoCE (synd 0x15"), "device " + port.rdma + ":1/RoCE");
  EXPECT_EQ(only("IB Async event on " + port.rdma + ": port error on port 1"), "device " + port.rdma);
  EXPECT_EQ(only("mlx5_core " + port.pci + ": poll_health:739"), "PCI address " + port.pci);
  EXPECT_EQ(only("DMAR: [DMA Read NO_PASID] Request device [" + port.pci.substr(5) + "] fault addr 0xf000"),
            "PCI address " + port.pci.substr(5));
  EXPECT_EQ(only("NETDEV WATCHDOG: " + port.netdev + " (mlx5_core): transmit"), "netdev " + port.netdev);
  EXPECT_EQ(only("mlx5_core " + port.pci + " " + port.netdev + ": Link down"), "PCI address " + port.pci);
  EXPECT_EQ(only(port.rdma + "0:1 Got async event"), "none");
}

TEST(LogNames, PeersAreNotPortsOfThisNode) {
  test::Healthy healthy;
  healthy.now.ports[0].gids = {{3, "0000:0000:0000:0000:0000:ffff:0a00:0001", "RoCE v2", ""}};
  const Named named =
      names_in("Got completion from peer 10.1.2.3<33057> with status=12 remoteGids::ffff:10.0.0.1", healthy.now);
  EXPECT_TRUE(named.ports.empty());
  EXPECT_EQ(named.peer, "10.0.0.1") << "the GID is the address on the rail";
  for (const char* line : {"connect to 10.99.91.49<58525> returned", "Couldn't connect to 10.99.91.49:18515",
                           "Call to recv from 10.99.91.49<52035> failed", "status = 2. Peer: 10.99.91.49:45601."})
    EXPECT_EQ(names_in(line, healthy.now).peer, "10.99.91.49") << line;
  EXPECT_EQ(names_in("message from 10.99.91.49", healthy.now).peer, "");
  // The address of this host comes second, or after "bind to".
  for (const char* line :
       {"kiblnd_check_conns()) Timed out tx for 10.99.91.49@o2ib: 3 seconds",
        "Can't accept conn from 10.99.91.49@o2ib on NA (ib0:0:10.9.9.9): bad dst nid 10.9.9.9@o2ib",
        "Refusing connection from 10.99.91.49 for 10.9.9.9@o2ib: No matching NI",
        "Failed to resolve the address of 10.99.91.49@o2ib", "failed to bind, connect to 10.99.91.49:7174"})
    EXPECT_EQ(names_in(line, healthy.now).peer, "10.99.91.49") << line;
  for (const char* line : {"nvmet_rdma: binding CM ID to 10.9.9.9:4420 failed (-19)",
                           "nvmet_rdma: listening to 10.9.9.9:4420 failed (-98)",
                           "rping: failed to bind to 10.9.9.9:7174 (rdma_bind_addr -99)"})
    EXPECT_EQ(names_in(line, healthy.now).peer, "") << line;
  const std::string gids =
      "failed with 110 Connection timed out, on dev mlx5_77:1, next state RTR, local GID index 3, ";
  EXPECT_EQ(names_in(gids + "local GID ::ffff:10.9.9.9, remote GID ::ffff:10.0.0.1", healthy.now).peer, "10.0.0.1");
  EXPECT_EQ(names_in(gids + "local GID ::ffff:10.0.0.1, remote GID N/A", healthy.now).by,
            std::vector<std::string>{"GID ::ffff:10.0.0.1"});
  EXPECT_EQ(names_in("connect to fe80::1:1234", healthy.now).peer, "fe80::1:1234") << "no port";
  EXPECT_EQ(names_in("connect to node.example:18515", healthy.now).peer, "");
  EXPECT_EQ(names_in("dgid=fe80::9876:34ff:fee9:b3fc flow_label", healthy.now).peer, "fe80::9876:34ff:fee9:b3fc");
  EXPECT_EQ(names_in("localGid ::ffff:10.9.9.9", healthy.now).elsewhere,
            std::vector<std::string>{"GID ::ffff:10.9.9.9"});
  EXPECT_TRUE(names_in("localGid ::ffff:10.9.9.9", healthy.now).devices_elsewhere.empty());
  EXPECT_EQ(names_in("on mlx5_77:1/RoCE (synd", healthy.now).elsewhere,
            std::vector<std::string>{"device mlx5_77:1/RoCE"});
  EXPECT_EQ(names_in("on mlx5_77:1/RoCE (synd", healthy.now).devices_elsewhere,
            std::vector<std::string>{"mlx5_77:1/RoCE"});
  EXPECT_TRUE(names_in("mlx5_core 0000:ff:00.0: mlx5_cmd_out_err:838", healthy.now).elsewhere.empty());
  EXPECT_EQ(names_in("NET/IB : Unable to open device erdma_1", healthy.now).elsewhere,
            std::vector<std::string>{"device erdma_1"});
  EXPECT_EQ(names_in("NET/IB : Unable to open device ibp24s0", healthy.now).elsewhere,
            std::vector<std::string>{"device ibp24s0"});
  EXPECT_TRUE(names_in("efa_rdm_txe_handle_error():737", healthy.now).elsewhere.empty());
}

// The NIC of the peer is not one of this node, though it may have the name of one.
TEST(LogNames, TheNicOfAPeerIsNotOfThisNode) {
  test::Healthy healthy;
  for (const std::string peer : {"peer_nic: 10.0.0.2:15428@", "local.peer_nic_path: 10.0.0.2:16339@"}) {
    const Named named =
        names_in("failed (local_nic: mlx5_77, " + peer + healthy.now.ports[0].rdma + ", retry_cnt: 0)", healthy.now);
    EXPECT_EQ(named.peer, "10.0.0.2") << peer;
    EXPECT_TRUE(named.ports.empty()) << peer;
    EXPECT_EQ(named.devices_elsewhere, std::vector<std::string>{"mlx5_77"}) << peer;
  }
}

TEST(LogNames, LidsAreOfAPortOrOfAnotherNode) {
  test::Healthy healthy;
  const PortsByLid lids{{12, &healthy.now.ports[0]}};
  for (const char* line : {"slid=12 sl=0", "local LID 0x000c QPN 0x1", "lid: 12", "dlid 12"}) {
    const Named named = names_in(line, healthy.now, lids);
    ASSERT_EQ(named.ports.size(), 1u) << line;
    EXPECT_EQ(named.by.front(), "LID 12") << line;
    EXPECT_TRUE(named.peer_lid.empty() && named.elsewhere.empty()) << line;
  }
  EXPECT_EQ(names_in("dlid=13 sl=0", healthy.now, lids).peer_lid, "LID 13");
  EXPECT_EQ(names_in("[rqpn 0xa66 rlid 13] [inl len 18]", healthy.now, lids).peer_lid, "LID 13");
  EXPECT_EQ(names_in("slid=13 sl=0", healthy.now, lids).elsewhere, std::vector<std::string>{"LID 13"});
  for (const char* line : {"dlid=49152 sl=0", "lid 0", "lid x", "valid 13", "lid"}) {
    const Named named = names_in(line, healthy.now, lids);
    EXPECT_TRUE(named.ports.empty() && named.peer_lid.empty() && named.elsewhere.empty()) << line;
  }
}

constexpr int64_t kNow = 1'795'996'800;  // 2026-11-30 00:00:00 UTC

TEST(LogNames, FilesLibrariesAndModules) {
  const auto text = [](std::string_view line) {
    std::string out;
    for (const std::string& object : objects_in(line)) out += object + "; ";
    return out;
  };
  EXPECT_EQ(text("slurmd: error: Waiting for gres.conf file /dev/nvidia0"), "the device file /dev/nvidia0; ");
  EXPECT_EQ(
      text("Unable to open the file '/lib/modules/3.10.0-862.el7.x86_64/proc/version' (No such file or directory)."),
      "the file /lib/modules/3.10.0-862.el7.x86_64/proc/version; ");
  EXPECT_EQ(text("net_mlx5: cannot load glue library: librte_pmd_mlx5_glue.so.19.08.0: cannot open shared object"),
            "the library librte_pmd_mlx5_glue.so.19.08.0; ");
  EXPECT_EQ(text("modprobe: FATAL: Module rdma_rxe not found."), "the kernel module rdma_rxe; ");
  EXPECT_EQ(text("UCX  ERROR open(file_name=/proc/2019618/fd/20 flags=0x0) failed"), "the file /proc/2019618/fd/20; ");
  EXPECT_EQ(text("openibd.service: Failed with result 'exit-code'"), "the unit openibd.service; ");
  EXPECT_EQ(text("hns3 0000:35:00.1: acme found, vf_id(3), queue_id(17)"), "virtual function 3; queue 17; ");
  EXPECT_EQ(text("acme: VF 3: rejected"), "virtual function 3; ");
  EXPECT_EQ(text("NVRM: GPU2 kgspAcme: x"), "GPU 2; ");
  EXPECT_EQ(text("timeout, rank 3, expert 2, src_rank 11"), "rank 3; rank 11; ");
  for (const char* line : {"rank", "ranks 3", "vf=x", "GPU-1b2c", "gpu 2b", "queue 12345678", "(3)"})
    EXPECT_EQ(text(line), "") << line;
  for (const char* line : {"transport/net_ib.cc:139 NCCL WARN x", "node 10.0.0.1/24", "http://host/file", "a / b",
                           "src/topo/topo.cpp:61: x", "/home/user/mercury/src/na/na_ofi.c:3754", "4096/8192 bytes"})
    EXPECT_EQ(text(line), "") << line;
}

TEST(LogTime, EveryFormIsRead) {
  const auto at = [](const char* line) { return time_of(line, kNow, 1000).value_or(-1) - kNow; };
  setenv("TZ", "UTC0", 1), tzset();
  EXPECT_EQ(at("2026-11-29T23:59:50Z node1 x"), -10);
  EXPECT_EQ(at("2026-11-29T23:59:50.123456+01:00 node1 x"), -3610);
  EXPECT_EQ(at("2026-11-29T18:59:50-0500"), -10);
  EXPECT_EQ(at("[2026-11-29 23:59:50] h100-28:238:1313 [0] NCCL WARN"), -10);
  EXPECT_EQ(at("2026/11/29 23:59:50 rdma-shared-dev-plugin: x"), -10);
  EXPECT_EQ(at("Nov 29 23:59:50 node1 kernel: mlx5_core"), -10);
  EXPECT_EQ(at("Nov  1 00:00:00 node1 kernel: mlx5_core"), -29 * 86400);
  EXPECT_EQ(at("[Sun Nov 29 23:59:50 2026] mlx5_core"), -10);
  EXPECT_EQ(at("E1129 23:59:50.119704 2179433 worker_pool.cpp:291]"), -10);
  EXPECT_EQ(at("Dec 31 23:59:50 node1 kernel: the year before"), -(365 - 32) * 86400 - 10);
  EXPECT_EQ(at("[  990.000001] infiniband mlx5_0: mlx5_handle_error_cqe"), -10);
  EXPECT_EQ(at("[1795996790.123456] [node1:1:0] ib_device.c:468  UCX  WARN"), -10);
  setenv("TZ", "XXX-2", 1), tzset();
  EXPECT_EQ(at("2026-11-30 01:59:50 node1 x"), -10) << "without a zone it is local time";
  EXPECT_EQ(at("2026-11-29T23:59:50Z node1 x"), -10);
  setenv("TZ", "UTC0", 1), tzset();
}

TEST(LogTime, OtherFormsAreNone) {
  for (const char* line : {"", "node1:10:11 [0] NCCL WARN NET/IB : Got completion", "[0]", "[12.5]", "[1.2.345678]",
                           "2026-13-29T23:59:50Z", "2026-11-29T24:00:00Z", "x2026-11-29T23:59:50Z", "Foo 29 23:59:50",
                           "synd 0x15 [999999999999999999999999999999.123456", "1129 23:59:50"})
    EXPECT_FALSE(time_of(line, kNow, 1000)) << line;
  EXPECT_FALSE(time_of(std::string(1000, ' ') + "2026-11-29T23:59:50Z", kNow, 1000)) << "far into the line";
}

TEST(LogNames, TheHostThatWroteTheLine) {
  EXPECT_EQ(host_of("[2026-06-12 08:41:07] node-a:91022:91310 [3] misc/ibvwrap.cc:376 NCCL WARN x"), "node-a");
  EXPECT_EQ(host_of("[1613401128.440695] [node-a:11838:0] ib_md.c:325 UCX ERROR x"), "node-a");
  EXPECT_EQ(host_of("[1621652400.123456] [node-a:2211 :0]      libperf.c:1510 UCX  ERROR x"), "node-a");
  EXPECT_EQ(host_of("Nov 29 13:04:29 node-b kernel: bnxt_en 0000:12:00.0: x"), "node-b");
  EXPECT_EQ(host_of("[  476.320742] bnxt_en 0000:19:00.0: QPLIB: cmdq[0x4b9]=0x15 status 0x5"), "");
  EXPECT_EQ(host_of("mana 7870:00:00.0: EQ 5: overflow"), "") << "an address is no time of day";
  EXPECT_EQ(host_of("nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12028, Data {0x1}"), "") << "a PCI address";
  EXPECT_EQ(host_of("NVRM: Xid (PCI:0000:3b:00): 79, x"), "");
  EXPECT_EQ(host_of("[12] 2026-11-20 08:10:10 SomeTransport ERROR: x"), "") << "a program and its level";
  EXPECT_EQ(host_of("2026-11-20 08:10:10 WARNING trainer: x"), "");
  EXPECT_EQ(host_of("libfabric:4411:1731999999::efa:ep_ctrl:x():588<warn> x"), "") << "a time, not a thread";
  EXPECT_EQ(process_of("mlx5_cmd_check:795:(pid 9993): RTR2RTS_QP"), "9993");
}

// A log of one machine without ports.
std::vector<Found> found_in(std::string_view text) {
  static const Node node;
  static const PortsByLid lids;
  Log log(node, lids, kNow, 1000);
  for (const std::string_view line : split(text, '\n')) log.add(line);
  log.finish();
  return log.found();
}

std::string names(const std::vector<Counted>& list) {
  std::string out;
  for (const Counted& each : list) out += each.text + "=" + std::to_string(each.count) + " ";
  return out;
}

TEST(LogOfManyLines, EveryPeerAndEveryCodeIsKept) {
  const auto line = [](const std::string& gid, const std::string& vendor) {
    return "w0:984:1357 [4] NCCL WARN NET/IB : Got completion from peer 172.16.0.9<44> with status=12 opcode=0 len=0 "
           "vendor err " +
           vendor + " (Recv) localGid ::ffff:10.1.0.1 remoteGids::ffff:" + gid + "\n";
  };
  const auto found = found_in(line("10.2.0.1", "129") + line("10.2.0.2", "249") + line("10.2.0.1", "129"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(names(found[0].peers), "10.2.0.1=2 10.2.0.2=1 ");
  EXPECT_TRUE(has(names(found[0].codes), "vendor error 0xf9 (249): flushed after an earlier error=1"))
      << names(found[0].codes);
  EXPECT_EQ(names(found[0].elsewhere), "GID ::ffff:10.1.0.1=3 ");
  EXPECT_EQ(names(found[0].hosts), "w0=3 ");
}

TEST(LogOfManyLines, EveryDeviceOfAnUnknownErrorIsKept) {
  const auto found = found_in("acme 0000:17:00.0: error 5 (pid 7)\nacme 0000:18:00.0: error 6 (pid 8)\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, nullptr);
  EXPECT_EQ(found[0].count, 2u);
  EXPECT_EQ(names(found[0].pci), "0000:17:00.0=1 0000:18:00.0=1 ");
  EXPECT_EQ(names(found[0].processes), "7=1 8=1 ");
}

TEST(LogOfManyLines, ThePeersOfFailedRequestsAreThoseOfTheError) {
  const auto pair = [](const std::string& gid) {
    return "[1763.1] [n17:88:0] ib_mlx5_log.c:179 UCX  ERROR Transport retry count exceeded on mlx5_1:1/RoCE (synd "
           "0x15 "
           "vend 0x81 hw_synd 0/0)\n[1763.1] [n17:88:0] ib_mlx5_log.c:179 UCX  ERROR RC QP 0x2a1 wqe[44]: SEND --e "
           "[rqpn 0x99 dlid=0 sl=0 port=1 src_path_bits=0 dgid=::ffff:" +
           gid + " sgid_index=3 traffic_class=106]\n";
  };
  const auto found = found_in(pair("10.3.3.3") + pair("10.3.3.4") + pair("10.3.3.3"));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message->id, "wc-retry-exceeded");
  EXPECT_EQ(names(found[0].peers), "10.3.3.3=2 10.3.3.4=1 ");
}

TEST(LogOfManyLines, OnInfinibandTheLidOfThePeerIsNamed) {
  const std::string log =
      "[n17:88:0] ib_mlx5_log.c:177  Transport retry count exceeded on mlx5_0:1/IB (synd 0x15 vend 0x81 hw_synd 0/0)\n"
      "[n17:88:0] ib_mlx5_log.c:177  DCI QP 0xd16 wqe[6168]: SEND s-e [rqpn 0x17de rlid 1037] [inl len 61]\n";
  const auto found = found_in(log + log);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message->id, "wc-retry-exceeded-infiniband");
  EXPECT_EQ(names(found[0].peers), "LID 1037=2 ");
  EXPECT_FALSE(has(found[0].message->meaning.text(), "GID")) << found[0].message->meaning.text();
}

// NCCL names the other process by its host, also if that is its own.
TEST(LogOfManyLines, AProcessOfTheSameHostIsNoPeer) {
  const auto closed = [](const std::string& peer) {
    return "node-a:12:34 [0] misc/socket.cc:49 NCCL WARN socketProgress: Connection closed by remote peer " + peer +
           "<41109>\n";
  };
  const auto cause = [](const std::string& log) {
    const auto found = found_in(log);
    return found.size() == 1 ? cause_of(found[0]) : FaultLocation::none;
  };
  EXPECT_EQ(cause(closed("node-a")), FaultLocation::host);
  EXPECT_EQ(cause(closed("node-a.cluster.example")), FaultLocation::host);
  EXPECT_EQ(cause(closed("node-b")), FaultLocation::peer);
  EXPECT_EQ(cause(closed("node-a2")), FaultLocation::peer);
  EXPECT_EQ(cause(closed("node-a") + closed("node-b")), FaultLocation::peer);
  EXPECT_EQ(cause(closed("10.0.0.2")), FaultLocation::peer);
}

// The status of the completion decides which side failed, not the end of the test after it.
TEST(LogOfManyLines, TheEndOfATestFollowsFromItsCompletion) {
  const auto found = found_in(
      "Completion with error at client\n  Failed status 4: wr_id 0 syndrom 0x51\nscnt=828, ccnt=700\n  Failed to "
      "complete run_iter_bw function successfully\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message->id, "wc-local-protection");
  ASSERT_EQ(found[0].consequences.size(), 1u);
  EXPECT_EQ(found[0].consequences[0].message->id, "perftest-run-failed");
}

TEST(LogOfManyLines, AConsequenceIsShownWithItsCause) {
  for (const char* log :
       {"NVRM: Xid (PCI:0000:dc:00): 149, NETIR_LINK_EVT Fatal\nNVRM: Xid (PCI:0000:ed:00): 45, pid=1, Ch 1\n",
        "NVRM: Xid (PCI:0000:ed:00): 45, pid=1, Ch 1\nNVRM: Xid (PCI:0000:dc:00): 149, NETIR_LINK_EVT Fatal\n"}) {
    const auto found = found_in(log);
    ASSERT_EQ(found.size(), 1u) << log;
    EXPECT_EQ(found[0].message->id, "gpu-nvlink");
    ASSERT_EQ(found[0].consequences.size(), 1u);
    EXPECT_EQ(found[0].consequences[0].message->id, "gpu-channel-removed");
  }
  EXPECT_EQ(found_in("NVRM: Xid (PCI:0000:ed:00): 45, pid=1, Ch 1\n").size(), 1u) << "without its cause";
}

TEST(LogOfManyLines, AFatalErrorOfNvlinkIsShownBeforeThoseThatAreNot) {
  const auto found = found_in(
      "NVRM: Xid (PCI:0000:c1:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 5 (0x11)\n"
      "NVRM: Xid (PCI:0000:c1:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 5 (0x4)\n"
      "NVRM: Xid (PCI:0000:c1:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, 2u);
  EXPECT_EQ(found[0].count, 2u);
  EXPECT_EQ(names(found[0].codes), "Xid 149: NVLink NETIR error, fatal=1 Xid 145: NVLink RLW error, nonfatal=1 ");
  ASSERT_EQ(found[0].consequences.size(), 1u);
  EXPECT_TRUE(has(names(found[0].consequences[0].codes), "recovery: Node Reboot Required"))
      << names(found[0].consequences[0].codes);
}

// The names of the fatal line come first: fixes and commands take the first address.
TEST(LogOfManyLines, AFatalErrorOfNvlinkBringsItsOwnNames) {
  const auto found = found_in(
      "node-a kernel: NVRM: Xid (PCI:0000:1a:00): 145, RLW_CTRL Nonfatal XC0 i0 Link 05 (0x4)\n"
      "node-a kernel: NVRM: Xid (PCI:0000:3b:00): 145, RLW_CTRL Nonfatal XC0 i0 Link 06 (0x4)\n"
      "node-a kernel: NVRM: Xid (PCI:0000:1a:00): 145, RLW_CTRL Nonfatal XC0 i0 Link 05 (0x4)\n"
      "node-a kernel: NVRM: Xid (PCI:0000:5d:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 07 (0x4)\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].first, 4u);
  EXPECT_EQ(found[0].count, 4u);
  EXPECT_EQ(names(found[0].pci), "0000:5d:00=1 0000:1a:00=2 0000:3b:00=1 ");
  EXPECT_EQ(names(found[0].codes), "Xid 149: NVLink NETIR error, fatal=1 Xid 145: NVLink RLW error, nonfatal=3 ");
  EXPECT_EQ(found[0].named.pci, (std::vector<std::string>{"0000:5d:00"}));
}

TEST(Codes, ThePcieLinkOfMlx5IsComparedWithThatOfTheDevice) {
  const auto id_of = [](const char* line) {
    const LineMessage* message = recognize(read_line(line));
    return message == nullptr ? std::string_view() : message->id;
  };
  EXPECT_EQ(id_of("mlx5_core 0000:5e:00.0: PCIe link speed is 2.5 GT/s PCIe, device supports 5.0 GT/s PCIe"),
            "mlx5-pcie-slow");
  EXPECT_EQ(id_of("mlx5_core 0000:5e:00.0: PCIe link speed is 5.0 GT/s PCIe, device supports 5.0 GT/s PCIe"),
            "mlx5-pcie-full");
  EXPECT_EQ(id_of("mlx5_core 0000:5e:00.0: PCIe link width is x8, device supports x16"), "mlx5-pcie-slow");
  EXPECT_EQ(id_of("mlx5_core 0000:5e:00.1: PCIe link width is x0, device supports x16"), "mlx5-vf-link");
  // The warning comes first, and the values after it are joined to it.
  const auto found = found_in(
      "mlx5_core 0000:5e:00.0: PCIe width is lower than device's capability\n"
      "mlx5_core 0000:5e:00.0: PCIe link speed is 16.0 GT/s PCIe, device supports 16.0 GT/s PCIe\n"
      "mlx5_core 0000:5e:00.0: PCIe link width is x8, device supports x16\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message->id, "mlx5-pcie-slow");
}

// The words of other lines are not those of NVIDIA's driver.
TEST(Codes, OnlyAnXidSaysThatItIsFatal) {
  EXPECT_EQ(read_line("NVRM: Xid (PCI:0000:c1:00): 149, NETIR_LINK_EVT Fatal XC0 i0 Link 5 (0x4)").codes.is_fatal,
            true);
  EXPECT_EQ(read_line("NVRM: Xid (PCI:0000:c1:00): 145, RLW_REMAP Nonfatal XC0 i0 Link 5").codes.is_fatal, false);
  EXPECT_EQ(read_line("NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus.").codes.is_fatal, std::nullopt);
  EXPECT_EQ(read_line("bnxt_en 0000:3b:00.0: a Fatal error").codes.is_fatal, std::nullopt);
}

TEST(LogOfManyLines, UnknownErrorLinesAreShownAndDecoded) {
  const auto found = found_in(
      "a:1:2 [0] some_new.cc:1 new call failed in device mlx5_9: Invalid argument\n"
      "a:1:2 [0] NCCL INFO x.cc:1 -> 2\n"
      "a:1:2 [0] proxy.cc:1 NCCL WARN [Proxy Service 2] Failed to execute operation Connect from rank 2\n"
      "something else is wrong: Error\nall is well\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].message->id, "nccl-proxy");
  EXPECT_EQ(found[0].before_number, 1u);
  EXPECT_EQ(found[1].message, nullptr);
  EXPECT_EQ(names(found[1].codes), "errno 22 EINVAL (Invalid argument)=1 ");
  EXPECT_EQ(names(found[1].elsewhere), "device mlx5_9=1 ");
  EXPECT_EQ(found[2].line, "something else is wrong: Error") << "beside a known line";
}

TEST(LogComponents, CodesPeersAndDevicesAreDecoded) {
  const auto found = found_in(
      "node-a:1:2 [0] misc/socket.cc:44 NCCL WARN new call to 10.0.0.2<4500> on mlx5_9 broke: Invalid argument\n"
      "node-a:1:2 [0] misc/socket.cc:71 NCCL WARN some other call broke: 5\n"
      "node-a:1:2 [0] misc/socket.cc:71 NCCL WARN some other call broke: 6\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message->id, "nccl-socket-other");
  EXPECT_EQ(found[0].message->cause, FaultLocation::unknown);
  EXPECT_EQ(found[0].count, 3u);
  EXPECT_EQ(names(found[0].codes), "errno 22 EINVAL (Invalid argument)=1 ");
  EXPECT_EQ(found[0].error, "EINVAL");
  EXPECT_EQ(names(found[0].peers), "10.0.0.2=1 ");
  EXPECT_EQ(names(found[0].elsewhere), "device mlx5_9=1 ");
  EXPECT_EQ(names(found[0].hosts), "node-a=3 ");
  ASSERT_EQ(found[0].others.size(), 1u) << "its other message";
  EXPECT_EQ(found[0].others[0].first, 2u);
  EXPECT_EQ(found[0].others[0].count, 2u);
  const auto command = found_in(
      "mlx5_core 0000:3b:00.0: mlx5_cmd_new:12:(pid 9): ENABLE_HCA(0x104) op_mod(0x0) refused, status bad "
      "parameter(0x3), syndrome (0x4bb88f)\n");
  ASSERT_EQ(command.size(), 1u);
  EXPECT_TRUE(has(names(command[0].codes), "command status 0x3 bad parameter=1")) << names(command[0].codes);
}

TEST(LogComponents, AnErrnoHasAMeaning) {
  EXPECT_EQ(meaning_of("ECONNREFUSED")->cause, FaultLocation::peer);
  EXPECT_EQ(meaning_of("ENETUNREACH")->cause, FaultLocation::network);
  EXPECT_EQ(meaning_of("ETIMEDOUT")->cause, FaultLocation::unknown) << "the peer, or the firmware of a device";
  EXPECT_EQ(meaning_of(""), nullptr);
  EXPECT_EQ(meaning_of("E2BIG"), nullptr);
  EXPECT_TRUE(has(meaning_of("EACCES")->text, "process"));
  EXPECT_FALSE(has(meaning_of("EACCES", true)->text, "process")) << "a driver has the permissions of the kernel";
  EXPECT_EQ(meaning_of("ENODEV", true), meaning_of("ENODEV"));
  EXPECT_EQ(found_in("NCCL WARN NET/IB : Duplicate GPU detected : Connection refused\n").at(0).error, "")
      << "a message of its own";
}

// An earlier line with a reason is the cause of messages of layers above it, and of the same program around it.
TEST(LogOfManyLines, TheLineWithTheReasonComesFirst) {
  const auto spdk = found_in(
      "nvme_rdma.c: 949:nvme_rdma_connect: *ERROR*: RDMA connect error\n"
      "nvme_rdma.c:1179:_nvme_rdma_ctrlr_connect_qpair: *ERROR*: Unable to connect the rqpair\n"
      "nvme_rdma.c: 423:nvme_rdma_validate_cm_event: *ERROR*: Expected RDMA_CM_EVENT_ESTABLISHED but received "
      "RDMA_CM_EVENT_REJECTED (8) from CM event channel (status = 8)\n"
      "nvme_rdma.c: 949:nvme_rdma_connect: *ERROR*: RDMA connect error\n");
  ASSERT_EQ(spdk.size(), 1u);
  EXPECT_EQ(spdk[0].message->id, "rdmacm-rejected");
  EXPECT_EQ(names(spdk[0].codes), "event RDMA_CM_EVENT_REJECTED=1 ");
  ASSERT_EQ(spdk[0].consequences.size(), 2u);
  EXPECT_EQ(spdk[0].consequences[0].message->id, "rdmacm-connect-failed");
  EXPECT_EQ(found_in("nvme_rdma.c: 949:nvme_rdma_connect: *ERROR*: RDMA connect error\n").at(0).message->cause,
            FaultLocation::unknown)
      << "without an event or an errno";

  const auto dpdk = found_in(
      "EAL: Probe PCI driver: net_mlx4 (15b3:1004) device: 6b7d:00:02.0 (socket 0)\n"
      "net_mlx4: cannot list devices, is ib_uverbs loaded?\n"
      "EAL: Requested device 6b7d:00:02.0 cannot be used\nEAL: Bus (pci) probe failed.\n");
  ASSERT_EQ(dpdk.size(), 2u);
  EXPECT_EQ(dpdk[0].message->id, "dpdk-verbs-other");
  EXPECT_EQ(dpdk[1].message->id, "dpdk-device-other") << "which says that an earlier error is nearer to the cause";
  EXPECT_EQ(found_in("mlx5_pci: probe of PCI device 0000:18:00.0 aborted after encountering an error: Operation not "
                     "supported\nEAL: Requested device 0000:3b:00.1 cannot be used\n")
                .size(),
            2u)
      << "another device";

  const auto psm = found_in(
      "opening remote shared memory object in shm_open: No such file or directory (err=9)\n"
      "MPIDI_NM_mpi_init_hook(1202): OFI get address vector map failed\n");
  ASSERT_EQ(psm.size(), 2u);
  EXPECT_EQ(psm[0].first, 1u);
  EXPECT_EQ(cause_of(psm[0]), FaultLocation::host);
  const auto later = found_in(
      "MPIDI_NM_mpi_init_hook(1202): OFI get address vector map failed\n"
      "acme: open of the log failed: No such file or directory\n");
  EXPECT_EQ(later.at(0).message->id, "mpich-ofi") << "a later line is not the reason of a known message";

  const auto kasan = found_in(
      "[   7.345365] rdma_rxe: qp#17 moved to error state\n"
      "[   8.861048] BUG: KASAN: stack-out-of-bounds in\nacme_post_send+0x12f3/0x1880 [acme] at addr "
      "ffff88001f787838\n");
  EXPECT_EQ(kasan.at(0).message->id, "kernel-warning-other");
}

// SPDK prints each layer that gives up.
TEST(LogOfManyLines, TheStepsOfSpdkAfterAReasonAreShownWithIt) {
  const auto found = found_in(
      "[1.1] nvme_rdma.c:2196:nvme_rdma_ctrlr_construct: *ERROR*: rdma_get_devices() failed: No such device (19)\n"
      "[1.2] nvme.c: 677:nvme_ctrlr_probe: *ERROR*: Failed to construct NVMe controller for SSD: 192.168.56.2\n"
      "[1.3] nvme.c: 815:nvme_probe_internal: *ERROR*: NVMe ctrlr scan failed\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message->id, "spdk-no-device");
}

// Help that a program prints with every error.
TEST(LogOfManyLines, HelpIsNoFinding) {
  const auto found = found_in(
      "RuntimeError: CUDA error: uncorrectable ECC error encountered\n"
      "CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be "
      "incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1.\n"
      "Compile with `TORCH_USE_CUDA_DSA` to enable device-side assertions.\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message->id, "gpu-cuda-memory");
}

// A message that is known is the better cause of a consequence, and comes first.
TEST(LogComponents, AKnownCauseComesFirst) {
  const std::string component = "a:1:2 [0] some_new.cc:1 NCCL WARN new call broke\n",
                    consequence =
                        "a:1:2 [0] proxy.cc:1 NCCL WARN [Proxy Service 2] Failed to execute operation Connect from "
                        "rank 2\n",
                    cause = "a:1:2 [0] x.cc:1 NCCL WARN Duplicate GPU detected : rank 1 and rank 0\n";
  const auto found = found_in(component + consequence + cause);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].message->id, "nccl-duplicate-gpu");
  ASSERT_EQ(found[0].consequences.size(), 1u);
  EXPECT_EQ(found[1].message->id, "nccl-other");
  const auto alone = found_in(component + consequence);
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].message->id, "nccl-other");
  EXPECT_EQ(alone[0].consequences.size(), 1u);
}

TEST(LogOfManyLines, OneMessageOverSeveralLines) {
  const auto found = found_in(
      "[ 1843.308145] NVRM: The NVIDIA GPU 0000:b3:00.0\n               NVRM: (PCI ID: 10de:26b5) installed in "
      "this system has\n               NVRM: fallen off the bus and is not responding to commands.\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message->id, "gpu-off-bus");
  EXPECT_EQ(names(found[0].pci), "0000:b3:00.0=1 ");
  const auto dump = found_in(
      "[5.198889] infiniband mlx5_0: dump_cqe:272:(pid 709): dump error cqe\n"
      "[5.198945] 00000000: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
      "[5.198984] 00000010: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
      "[5.199023] 00000020: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n"
      "[5.199061] 00000030: 00 00 00 00 00 00 88 13 08 00 01 13 07 47 67 d2\n"
      "[5.199100] ice 0000:18:00.0 ens1f0: firmware is up\n");
  ASSERT_EQ(dump.size(), 1u);
  EXPECT_EQ(dump[0].message->id, "wc-remote-access");
  EXPECT_TRUE(has(names(dump[0].codes), "queue pair 0x113=1")) << names(dump[0].codes);
  const auto functions = found_in(
      "root@node-a:~# echo 2 > /sys/devices/pci0000:00/0000:00:02.0/sriov_numvfs\n"
      "-bash: echo: write error: Cannot allocate memory\n");
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].message->id, "vfs-resources");
  EXPECT_EQ(found_in("Failed to modify QP to RTR\nerrno: 110\n").at(0).message->id, "modify-qp-timeout");
  const auto mercury = found_in(
      "12/18-16:55:36.66 node-a DAOS[57603/57628] hg   ERR  # NA -- Error -- /src/mercury/src/na/na_ofi.c:3754\n"
      " # na_ofi_msg_send_unexpected(): fi_tsend() unexpected failed, rc: -113(No route to host)\n");
  ASSERT_EQ(mercury.size(), 1u);
  EXPECT_EQ(mercury[0].message->id, "mercury-unreachable");
  const auto fork = found_in(
      "A process has executed an operation involving a call\nto the fork() system call to create a child process.\n");
  ASSERT_EQ(fork.size(), 1u);
  EXPECT_EQ(fork[0].message->id, "library-fork");
  const auto last = found_in(
      "[rank0]: ncclUnhandledCudaError: Call to CUDA function failed. \n[rank0]: Last error: \n[rank0]: Failed to bind "
      "NVLink SHARP (NVLS) Multicast memory of size 2097152 : CUDA error 401 'the operation cannot be performed in the "
      "present state'.\n");
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].message->id, "nccl-nvls");
  const auto address = found_in(
      "ncclInternalError: Internal check failed.\nLast error:\nncclSocketInit: connecting to address  with family "
      "59936 "
      "is neither AF_INET(2) nor AF_INET6(10)\n");
  ASSERT_EQ(address.size(), 1u);
  EXPECT_EQ(address[0].message->id, "nccl-no-socket");
  const auto memory = found_in(
      "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.\nLast "
      "error:\nError while creating shared memory segment /dev/shm/nccl-x (size 9637888)\n");
  ASSERT_EQ(memory.size(), 1u);
  EXPECT_EQ(memory[0].message->id, "nccl-shm") << "the text of NCCL says more than the result";
  const auto other = found_in("mlx5_77: Last error: transport retry counter exceeded\n");
  ASSERT_EQ(other.size(), 1u);
  EXPECT_EQ(names(other[0].devices_elsewhere), "mlx5_77=1 ") << "the names before it are not lost";
  const auto fabric = [](const std::string& reason) {
    const std::string start = "Sep 18 03:19:01 node-a nvidia-fabricmanager-start.sh[4753]: ";
    return found_in(start + "Detected Pre-NVL5 system\n" + start + reason + "\n" + start +
                    "\"/usr/bin/nv-fabricmanager -c fabricmanager.cfg\" failed! Exit code: 1\n"
                    "Sep 18 03:19:01 node-a systemd[1]: nvidia-fabricmanager.service: Control process exited, "
                    "code=exited, status=1/FAILURE\n");
  };
  const auto needless = fabric("request to query NVSwitch device information failed [NV_WARN_NOTHING_TO_DO]");
  ASSERT_EQ(needless.size(), 1u) << "that it ended follows from the reason";
  EXPECT_EQ(needless[0].message->id, "gpu-no-nvswitch");
  const auto version = fabric("fabric manager version 570.1 does not match");
  ASSERT_EQ(version.size(), 1u);
  EXPECT_EQ(version[0].message->id, "gpu-fabric-version");
  const auto rping = found_in(
      "created cm_id 0x559e199b8f70\n"
      "cma_event type RDMA_CM_EVENT_ADDR_ERROR cma_id 0x559e199b8f70 (parent)\n"
      "cma event RDMA_CM_EVENT_ADDR_ERROR, error -19\n");
  ASSERT_EQ(rping.size(), 1u) << "the event is printed twice, and its error once";
  EXPECT_EQ(rping[0].message->id, "rdmacm-no-device");
  const auto perror = found_in("rconnect failed\n: Invalid argument\n");
  ASSERT_EQ(perror.size(), 1u);
  EXPECT_TRUE(has(names(perror[0].codes), "EINVAL")) << names(perror[0].codes);
  EXPECT_EQ(found_in("rconnect failed\n: Invalid argument of the option\n").at(0).codes.size(), 0u)
      << "more than the text of an errno";
  const auto thrown = found_in(
      "terminate called after throwing an instance of 'mscclpp::IbError'\n  what():  ibv_reg_mr failed (errno 14) (Ib "
      "failure: Bad address)\n");
  ASSERT_EQ(thrown.size(), 1u);
  EXPECT_EQ(thrown[0].message->id, "gpudirect-registration");
}

// The frame with a text is the error of MPICH's error stack.
TEST(LogOfManyLines, TheErrorStackOfMpichIsOneFinding) {
  for (const char* frames :
       {"Abort(740939663): Fatal error in internal_Init: Other MPI error, error stack:\ninternal_Init(67).: "
        "MPI_Init(argc=(nil), argv=(nil)) failed\nMPID_Init(516).............: \nMPIDI_OFI_find_provider(84): \n",
        "Abort(1094799) on node 0 (rank 0 in comm 0): Fatal error in PMPI_Init_thread: Other MPI error, error "
        "stack:\nMPIR_Init_thread(666)......: \n"}) {
    const auto found = found_in(std::string(frames) + "find_provider(170).........: OFI fi_getinfo() failure\n");
    ASSERT_EQ(found.size(), 1u) << frames;
    EXPECT_EQ(found[0].message->id, "ofi-no-provider");
    ASSERT_EQ(found[0].consequences.size(), 1u) << frames;
    EXPECT_EQ(found[0].consequences[0].message->id, "mpi-abort");
  }
  // Without the head of the stack it is all that is known.
  EXPECT_EQ(found_in("PMPI_Send(174): MPI_Send(buf=0x1, count=1, MPI_INT, dest=1, tag=0, comm=0x1) failed\n").size(),
            1u);
}

// Lines of programs that no rule knows. Each condition has one.
TEST(LogConditions, AreNamedByTheWordsOfALine) {
  constexpr std::pair<std::string_view, std::string_view> kLines[] = {
      {"{359}[Hardware Error]: It has been corrected by h/w and requires no further action", "says-corrected"},
      {"error: dial unix /run/acme/acme.sock: connect: connection refused", "says-local-service"},
      {"acme: allocation with big pages failed, retrying with default pages", "says-goes-on"},
      {"mlx5_core 0000:5e:00.0 ens3: Disabling hw_tls_tx, not supported in switchdev mode", "says-feature-off"},
      {"acme: timed out in a graceful shutdown, forcing destruction", "says-teardown"},
      {"acme: read failed, error msg: Operation aborted", "says-canceled"},
      // A fault is none of a clean-up only because it is found then.
      {"GPU 3: uncorrectable ECC error during cleanup", "says-hardware"},
      {"acme: data corruption detected during shutdown", "says-corruption"},
      {"rank 3: NVLink error, operation aborted", "says-hardware"},
      {"acme: failed to add the range, data corruption may occur", "says-corruption"},
      {"acme: remote agent was re-registered after the request", "says-peer-restarted"},
      {"acme: upstream link speed: 64 Gbps, expecting 128 Gbps", "says-slower-link"},
      {"mlx5_3: speed 100 Gb/s is lower than expected", "says-slower-link"},
      {"acme: error: busbw 42 GB/s is lower than expected 180 GB/s", "says-below-expected"},
      {"acme: error: fan speed lower than expected", "says-below-expected"},
      {"[APPLICATION] [warning] CPU affinity: sched_setaffinity for GPU 3 failed: Invalid argument", "says-affinity"},
      {"acme 0000:18:00.0: Failed to get stats type-2 [-95]", "says-no-counter"},
      {"acme: Team index already in use", "says-object-in-use"},
      {"acmectl: command not found", "says-no-command"},
      {"acme.sh: line 7: ACME_PATH: unbound variable", "says-script"},
      {"acme: error: exceeds the maximum of 16 queues", "says-over-limit"},
      {"acme: no active primary CUDA context on any device", "says-no-context"},
      {"acme: Failed to create the progress thread", "says-threads"},
      {"bash: ulimit: max locked memory: cannot modify limit: Operation not permitted", "says-limit-fixed"},
      {"acme 0000:18:00.0: Failed FW reset, rc=-5", "says-not-reset"},
      {"acme: Unable to find reachable pairing between local and remote interfaces", "says-no-path"},
      {"RuntimeError: CUDA error: uncorrectable ECC error encountered", "says-hardware"},
      {"acme 0000:18:00.0 ens1: a parallel fault was detected", "says-link-partner"},
      {"acme: failed to allocate the pool: Input/output error", "says-not-made"},
      {"acme: failed to find connection 5", "says-no-object"},
      {"pmon#xcvrd: Ethernet504: temperature status change from high warning to high alarm", "says-module-hot"},
      {"acme 0000:18:00.0: board temperature is critical", "says-hot"},
      {"[TensorRT-LLM][WARNING] Device 4 peer access Device 1 is not available.", "says-no-peer-access"},
      {"acme 0000:18:00.0: chunk[3] dma_map_failed", "says-dma-map"},
      {"acme: strong signals are required, but the plugin does not support them", "says-asked-unsupported"},
      {"acme: failed to get listen fd worker 3", "says-listen"},
      {"acme 0000:18:00.0: Failed to setup remaining IRQs: -28", "says-interrupts"},
      {"daemon.go:350] error syncing: exit status 3, requeuing", "says-command-failed"},
      {"net_mlx4: cannot list devices, is ib_uverbs loaded?", "says-not-loaded"},
      {"Error opening remote shared memory object in shm_open: No such file or directory (err=9)",
       "says-shared-memory"},
      {"Recommendation                     : Bad signal integrity", "says-signal"},
      {"interface stopped distributing possible flapping", "says-lacp"},
      {"%LINEPROTO-5-UPDOWN: Line protocol on Interface Ethernet47, changed state to down", "says-link-down"},
      {"Et23   errdisabled   link-flap", "says-disabled"},
      {"report_duplicated_guid: ERR 0D01: Found duplicated node GUID.", "says-duplicate"},
      {"curl: (6) Could not resolve host: mirror.example", "says-name-lookup"},
      {"bind() failed: Address already in use", "says-in-use"},
      {"eth1: Failed to rename network interface 4: Device or resource busy", "says-busy"},
      {"Remote device is incompatible with the local one", "says-peer-differs"},
      {"ImportError: libacme.so.1: undefined symbol: acme_open", "says-two-libraries"},
      {"no device found matching exactly mlx5_9, verify NCCL_OOB_NET_IFNAME", "says-variable"},
      {"[qed_slowpath_start:1257()]Failed to find fw file - /lib/firmware/qed/acme.bin", "says-firmware-file"},
      {"acme: Can't load firmware file \"acme/acme.fw\"", "says-firmware-file"},
      {"cxgb4 0000:01:00.4: could not connect to FW, error -6", "says-firmware-dead"},
      {"systemd[2512]: rdma-ndd.service: Failed at step EXEC spawning /usr/sbin/rdma-ndd: No such file or directory",
       "says-no-program"},
      {"nvml error: driver/library version mismatch", "says-not-fitting"},
      {"ERROR  cufio-drv:716 nvidia-fs.ko driver not loaded", "says-not-loaded"},
      {"pci 0000:06:00.0: bridge window [mem size 0x00200000]: can't assign; no space", "says-no-address-space"},
      {"acme: CUDA out of memory. Tried to allocate 2 GiB", "says-gpu-memory"},
      {"acme: cannot allocate the rings", "says-used-up"},
      {"worker exits with return code = -7", "says-killed"},
      {"An MPI communication peer process has unexpectedly disconnected.", "says-peer-ended"},
      {"acme: worker 3 is not responding", "says-no-answer"},
      {"acme: GPU 0000:1a:00.0 is not responding", "says-part-silent"},
      {"acme: the request was rejected", "says-rejected"},
      {"connect(fd=51) failed: Network is unreachable", "says-unreachable"},
      {"open /dev/infiniband/uverbs0: Permission denied", "says-permission"},
      {"both GID_INDEX and ROCE_SUBNET_LIST are specified, please select only one of them", "says-configuration"},
      {"acme: GPU 3 is far from the NIC, performance may be reduced", "says-speed"},
      {"There are not enough slots available in the system to satisfy the 16 slots", "says-slots"},
      {"error: the option ACME_DEPTH has no effect since 2.0", "says-old-option"},
      {"acmed: cannot parse line 7 of the config file", "says-configuration-file"},
      {"acme: Resource temporarily unavailable", "says-temporary"},
      {"acme: tagged traffic is not supported", "says-unsupported"},
      {"acme: no suitable device", "says-absent"},
      {"acme: handshake timed out", "says-timeout"},
      {"acme: error: eager array full after overflow", "says-queue-full"},
      {"acmed: the clock of node-b is not synchronized with this host", "says-clock"},
      {"acme 0000:18:00.0: Device is ineligible for assignment due to platform RMRR requirement",
       "says-platform-refuses"},
      {"acme 0000:18:00.0 ens1: PCIe link lost, device now detached", "says-pci-frozen"},
      {"[   71.2] BUG: kernel NULL pointer dereference, address: 0000000000000010", "says-kernel-bug"},
      {"[   71.3] Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1] SMP NOPTI",
       "says-kernel-bug"},
      {"[   12.2] Kernel panic - not syncing: Fatal exception", "says-kernel-bug"},
      {"[    8.8] BUG: KASAN: stack-out-of-bounds in acme_post_send+0x12f3/0x1880 [acme]", "says-kernel-bug"},
      {"Link to 10.1.0.6 changed state 14 times in the last hour", "says-link-down"},
      {"port 3: error accessing module 0, SCL is held", "says-module-access"},
      {"  12 | 11/30/2026 | 06:20:30 | Processor #0xc9 | IERR | Asserted", "says-sensor"},
      {"BGP: neighbor 10.0.3.1 BFD state Up -> Down", "says-neighbor-lost"},
      {"acme 0000:18:00.0 ens1: unknown private ioctl cmd 17", "says-asks-unknown"},
      {"acme: mount error: open /sys/fs/cgroup/devices/devices.allow: permission denied", "says-path-permission"},
      {"acme: failed to connect to the store at tcp://10.1.0.3:2379", "says-service-address"},
      {"Command 'ssh node-b hostname' returned non-zero exit status 255.", "says-ssh"},
      {"acme 0000:18:00.0: mailbox command timed out", "says-device-silent"},
      {"Get \"https://10.1.0.1:443/api\": dial tcp 10.1.0.1:443: i/o timeout", "says-unanswered"},
  };
  std::set<std::string_view> named;
  for (const auto& [line, id] : kLines) {
    const Condition* condition = condition_of(read_line(line));
    ASSERT_NE(condition, nullptr) << line;
    EXPECT_EQ(condition->id, id) << line;
    named.insert(condition->id);
  }
  // A statistic that cannot be read for another reason is no missing one.
  const Condition* statistic = condition_of(read_line("acme: Failed to get stats [-110]"));
  EXPECT_TRUE(statistic == nullptr || statistic->id != "says-no-counter");
  // The same words of another part.
  for (const char* line :
       {"acme: error: the firmware of the NIC has restarted", "acme: error: switch leaf-3 has restarted",
        "acme: error: no connection for 30 seconds to 10.1.0.3"}) {
    const Condition* condition = condition_of(read_line(line));
    EXPECT_TRUE(condition == nullptr || (condition->id != "says-peer-restarted" && condition->id != "says-no-object"))
        << line;
  }
  for (const Condition& each : conditions()) {
    EXPECT_TRUE(named.contains(each.id)) << each.id << " has no example";
    EXPECT_EQ(lower(each.words), each.words) << each.id;
  }
}

// A step of a library that failed, by its verb: who is to look where.
TEST(LogConditions, StepsOfALibraryAreNamedByTheirVerb) {
  for (const auto& [line, id, cause] : {
           // The verb after the mark of the program decides, not the name of the source file.
           std::tuple("node-a:1:2 [0] transport/net_ib/connect.cc:443 NCCL WARN NET/IB : Unable to query port_num 1",
                      "step-prepares", FaultLocation::host),
           std::tuple("[node-a:1] pml_ucx.c:175  Error: Open MPI couldn't distribute EP connection details",
                      "step-connects", FaultLocation::unknown),
           std::tuple("libfabric:1:2::ofi_rxm:ep_ctrl:rxm_ep_close():921<warn> Unable to close msg CQ", "step-frees",
                      FaultLocation::unknown),
           std::tuple("libfabric:1:2::efa:cq:efa_rdm_cq_open():1319<warn> Unable to open shm cq", "step-prepares",
                      FaultLocation::host),
           // The text of an errno has words of an excluded state, and is none.
           std::tuple("node-a:1:2 [0] transport/net_ib/connect.cc:443 NCCL WARN NET/IB : Unable to query port_num 1: "
                      "Operation already in progress",
                      "step-prepares", FaultLocation::host),
           std::tuple("node-a:1:2 [0] int iput(void):844 NCCL WARN NET/OFI Metadata send failed for seq_num 1",
                      "step-transfers", FaultLocation::unknown),
           std::tuple("[node-a:1] pml_ucx.c:827  Error: bsend: failed to pack user datatype", "step-internal-data",
                      FaultLocation::software),
           // A state that is excluded needs no verb, and is one wherever it is in the line.
           std::tuple(
               "node-a:1:2 [0] transport/net_ib/connect.cc:818 NCCL WARN Error: trying to connect already connected "
               "sendComm",
               "step-internal", FaultLocation::software),
           std::tuple(
               "E1129 04:19:33.392587  43093 libfabric_rail.cpp:936] No request found for the context on rail 40",
               "step-internal", FaultLocation::software),
           // A step that frees something and fails is a consequence, also in a component that has one cause.
           std::tuple("node-a:1:2 [0] NCCL WARN NET/OFI GDRCopy segment deregister failed: -22", "step-frees",
                      FaultLocation::unknown),
           std::tuple("[node-a:1:0:1] mm_xpmem.c:309  UCX  WARN  xpmem_release(apid=0x20) failed: Invalid argument",
                      "step-frees", FaultLocation::unknown),
           std::tuple("libfabric:1:2::efa:av:efa_conn_release():331<warn> While processing previous failure, "
                      "ofi_av_remove_addr failed for fi_addr 12: Invalid argument",
                      "says-teardown", FaultLocation::unknown),
           // An object that was not made before is a consequence, whatever the verb.
           std::tuple("doca_verbs.cpp:812 Failed to set dlid: parameter verbs_ah is NULL", "step-without-object",
                      FaultLocation::unknown),
           // "request: ADDRESS" and "request completed" are no verb of a preparation.
           std::tuple("node-a:1:2 [0] NCCL WARN NET/OFI Request completed with error. RC: 21. Error: unknown error",
                      "step-transfers", FaultLocation::unknown),
           // Drivers of NICs.
           std::tuple("[ 5208.126704] ice 0000:2a:00.0: Invalid num_queues requested: 15", "step-refused",
                      FaultLocation::host),
           std::tuple("[ 5117.071271] bnxt_en 0000:23:00.1 ens2f0np0: Unable to get driver name for device ens2f0np0",
                      "step-of-driver", FaultLocation::host),
           std::tuple("[ 6105.673115] ice 0000:2f:00.1: Error setting SWID in port params -110", "driver-says-timeout",
                      FaultLocation::host),
       }) {
    const auto found = found_in(std::string(line) + "\n");
    ASSERT_EQ(found.size(), 1u) << line;
    ASSERT_NE(found[0].condition, nullptr) << line;
    EXPECT_EQ(found[0].condition->id, id) << line;
    EXPECT_EQ(cause_of(found[0]), cause) << line;
  }
  // The errno is more than the step; a message about a peer is none of this host, nor is what the network calculates;
  // a try that the library handles is no failed step.
  for (const char* line :
       {"node-a:1:2 [0] coll_net.cc:443 NCCL WARN Unable to query port_num 1",
        "[1764385099.2] [node-a:1:0] ib_iface.c:1991 UCX  DIAG  failed to query mlx5_2",
        "libfabric:1:2::efa:cq:efa_txe():737<warn> err: 5, message: Invalid address My EFA addr: x Peer "
        "EFA addr: y (7)",
        "[Mon Feb 15 14:58:48 2021] [unknown] [node-a] - Abort(6) (rank 1): Fatal error in PMPI_Isend: "
        "Other MPI error, error stack:"})
    for (const Found& each : found_in(std::string(line) + "\n")) EXPECT_EQ(each.condition, nullptr) << line;
}

// The program goes on: its words of a failure are no finding, unless another host or a slower way is named.
TEST(LogConditions, RetriesAndDefaultsAreNoFault) {
  for (const char* line :
       {"[ 2232.120015] ionic 0000:61:00.0: DEV_CMD IONIC_CMD_LIF_INIT (22) error, IONIC_RC_EAGAIN (9) retrying...",
        "NVRM: GspMsgQueuesInit: Allocation failed with big page size, retrying with default page size",
        "NVRM: kgspGetFwHeapSize_IMPL: Firmware heap size clamped to maximum (164MB)",
        "infiniband mlx5_6: init_driver_cnak:1494:(pid 42): Can't set DC CNAK QP size to 2429. Set to default 256",
        "libfabric:1:2::verbs:fabric:attr():9<warn> Ignoring provider default value as it is greater than that of "
        "mlx5_0",
        "W1129 04:17:33.079 1 libfabric_rail_manager.cpp:1657] Could not find additional data for device efa_0, "
        "skipping",
        "[1764385099.2] [node-a:1:0] ib_iface.c:1991 UCX  DIAG  unknown active_speed on mlx5_2:1: 33, fallback to SDR",
        "mlx5_core 0000:5e:00.0 ens3: Disabling hw_tls_tx, not supported in switchdev mode",
        "nvmet_rdma: offload_srq_size 4096 cannot be supported by device mlx5_0. Reducing to 1024.",
        "nvme nvme4: ctrl sqsize 1024 > max queue size 128, clamping down",
        "[node-a:1] osc_ucx_component.c:379  Error: OSC UCX component priority set inside component query failed"})
    for (const Found& each : found_in(std::string(line) + "\n")) EXPECT_EQ(cause_of(each), FaultLocation::none) << line;
  for (const char* line : {"acme: cannot connect to 10.1.0.2, retrying", "acme: RDMA failed, falling back to TCP",
                           "Module mlx5_core does not exist, skipping...               [FAILED]",
                           "mlx5_core 0000:5e:00.0: Disabling RoCE, not supported by this firmware",
                           "node-a:1:2 [0] NCCL WARN Disabling GPU Direct RDMA, DMA-BUF not supported"})
    for (const Found& each : found_in(std::string(line) + "\n")) EXPECT_NE(cause_of(each), FaultLocation::none) << line;
  // Information, and the diagnostic output of UCX, are no errors.
  for (const char* line : {"node-a:1:2 [0] NCCL INFO NET/IB : Unable to query the port, using the other one",
                           "I1129 04:17:33.079 1 ucx_backend.cpp:12] Failed to find a cached endpoint, creating one",
                           "libfabric:1:2::efa:core:efa_init():9<info> Unable to open the cq of the shm provider"})
    for (const Found& each : found_in(std::string(line) + "\n")) EXPECT_EQ(cause_of(each), FaultLocation::none) << line;
}

// rdma-core prints "NAME: FUNCTION:LINE: ", the kernel's drivers the PCI address.
TEST(LogComponents, ProvidersOfRdmaCoreAreNoDrivers) {
  EXPECT_EQ(id_of("efa: efa_create_qp_ex:2300: Unsupported QP type"), "verbs-provider-call");
  EXPECT_EQ(id_of("hns: verify_cq_create_attr:365: unsupported cq depth 2."), "verbs-provider-call");
  EXPECT_EQ(id_of("efa: efa_dereg_mr:448: Failed to deregister MR"), "verbs-provider-step-other");
  EXPECT_EQ(id_of("infiniband efa_2: Failed to de-register mr(lkey-32) [-19]"), "efa-driver-other");
  // UCX's source file decides, not the device that it names.
  EXPECT_EQ(id_of("[1.2] [node-a:1:0]  ib_iface.c:2259 UCX  ERROR ibv_req_notify_cq(rc_mlx5/mlx5_2:1, 6) failed: x"),
            "ucx-device-other");
  EXPECT_EQ(id_of("[1.2] [node-a:1:0]  wireup_cm.c:82   UCX  ERROR failed to create a uct endpoint on mlx5_2:1"),
            "ucx-wireup-other");
}

TEST(LineSeverity, FollowsTheMarkAndTheWords) {
  const std::pair<const char*, Severity> kLines[] = {
      {"node-a:1:1 [0] NCCL INFO the request failed", Severity::informational},
      {"I1129 13:04:29.119704 1 x.cc:5] dropped 3", Severity::informational},
      {"level=debug msg=\"cannot open\"", Severity::informational},
      {"slurmd: debug2: Unable to find gres gpu in cache", Severity::informational},
      {"[2026-06-12T08:41:07.120] debug:  gres/gpu: init: failed to load AutoDetect", Severity::informational},
      {"ERST: Error Record Serialization Table (ERST) support is initialized.", Severity::informational},
      {"ens1: link becomes ready", Severity::plain},
      {"W1129 13:04:29.119704 1 x.cc:5] slow", Severity::plain},
      {"acme: feature is not supported", Severity::complaint},
      {"E1129 13:04:29.119704 1 x.cc:5] slow", Severity::failure},
      {"F20261129 13:04:29.119704 1 x.cc:5] slow", Severity::failure},
      {"acme: request FAILED", Severity::failure},
      {"acme: link active not cleared in 1000 msec", Severity::failure},
      {"hns3 0000:35:00.1: ACME_ABNORMAL_INT_ST found", Severity::failure},
      {"E0914 08:07:49.852630 2039018 daemon.go:350] step 3, requeuing", Severity::failure},
      {"time=\"2023-08-01T02:47:46Z\" level=fatal msg=\"watching fields\"", Severity::failure},
      {"topo.cpp:61: [GPU 1] Peer GPU 0 is not accessible, exiting ...", Severity::failure},
      {"node-a kernel: RPC: xs_tcp_send_request(8320) = -32", Severity::failure},
      // The level of a supervisor is not that of the program under it.
      {"sonic INFO pmon#/supervisord: xcvrd Error: no access to the file", Severity::failure},
      // Nor is the level of a logger that of the record or of the failure that it prints.
      {"level=info msg=\"RecordId=1:1 Severity=CPER_SEVERITY_FATAL CreatorId=amdgpu\"", Severity::failure},
      {"level=info msg=\"gpuid[0] is set to unhealthy\"", Severity::failure},
      {"acmed: debug:  failed to connect to the socket", Severity::failure},
      {"I1129 13:04:29.119704 1 x.cc:5] aborting the job", Severity::failure},
      {"level=info msg=\"Severity=CPER_SEVERITY_NON_FATAL_CORRECTED\"", Severity::informational},
      {"level=info msg=\"0 unhealthy, errors abort the rank\"", Severity::informational},
      {"sonic INFO pmon#/supervisord: 2026-08-11 11:33:46,171 INFO success: xcvrd entered RUNNING state",
       Severity::informational},
  };
  for (const auto& [line, severity] : kLines) EXPECT_EQ(read_line(line).severity, severity) << line;
}

// Advice in a line is not what it reports: neither a success nor a step.
TEST(LineAdvice, IsFoundAndIsNoStatement) {
  constexpr std::pair<std::string_view, std::string_view> kLines[] = {
      {"acme: no device found. Are RDMA modules loaded?", "Are RDMA modules loaded?"},
      {"acme: segment of 458752 is too small. You may need to adjust OS shared memory limits.",
       "You may need to adjust OS shared memory limits."},
      {"WARN acme: cannot connect, please check that the server started successfully",
       "please check that the server started successfully"},
      {"acme requested but cannot run.\nMost likely cause is ranks on more than one node.",
       "Most likely cause is ranks on more than one node."},
      {"acme fell back to TCP, to force RDMA set ACME_NET=ib", "to force RDMA set ACME_NET=ib"},
      {"mlx5_core 0000:5e:00.0: Port module event: module 0, Cable unplugged", ""},
      {"acme: 3 of 8 ranks are connected", ""},
      {"acme: perhaps", ""},  // says nothing
  };
  for (const auto& [line, advice] : kLines) EXPECT_EQ(advice_in(line), advice) << line;
  EXPECT_EQ(without_advice("a. Are modules loaded? b"), "a.                     b");
  for (const char* line :
       {"2026-11-30 10:48:19,492 WARNING utils.py:1445 -- Unable to reach the head node. Check that it started "
        "successfully at this address",
        "acme: no rail is usable. Make sure that all links are established"})
    for (const Found& each : found_in(std::string(line) + "\n")) EXPECT_NE(cause_of(each), FaultLocation::none) << line;
}

// The level of a line outweighs a word of success or of going on.
TEST(LineSeverity, ALevelOutweighsTheWordsOfSuccess) {
  EXPECT_EQ(read_line("IBDevice.cc:441 CRITICAL] the zone is not set, fallback to UNKNOWN").severity,
            Severity::failure);
  EXPECT_NE(read_line("|WARN|acme: reconnected successfully after 3 losses").severity, Severity::informational);
  EXPECT_EQ(read_line("acme: connected successfully").severity, Severity::informational);
  for (const char* line : {"12:00:01.2|00011|dpif(handler1)|ERR|flow_put: sharing of it", "[WARN] acme: slow",
                           "x.cc:5 CRITICAL] acme", "ERROR: acme"})
    EXPECT_TRUE(has_problem_level(line)) << line;
  for (const char* line : {"acme: no WARNINGS", "I1129 13:04:29.119704 1 x.cc:5] errors", "ERRORS=0"})
    EXPECT_FALSE(has_problem_level(line)) << line;
}

TEST(LineSeverity, DoesNotCountWhatDidNotHappen) {
  for (const char* line : {"0 errors", "errors: 0 retries 3", "errors=0x0", "finished without error"})
    EXPECT_EQ(read_line(line).severity, Severity::plain) << line;
  EXPECT_EQ(read_line("errors: 07 of 9").severity, Severity::failure);
}

// An empty alternative would be in every line.
TEST(LogConditions, HaveNoEmptyPattern) {
  const auto expect_none = [](std::string_view patterns, std::string_view id) {
    EXPECT_EQ(patterns.find("||"), std::string_view::npos) << id;
    EXPECT_FALSE(patterns.starts_with('|') || patterns.ends_with('|')) << id;
    while (!patterns.empty()) EXPECT_NE(trim(cut(patterns, '|')), "") << id;
  };
  for (const Condition& each : conditions()) {
    expect_none(each.words, each.id);
    expect_none(each.denied.words, each.id);
  }
  for (const Condition& each : statements()) expect_none(each.words, each.id);
  for (const LineMessage& each : messages()) {
    expect_none(each.patterns, each.id);
    expect_none(each.printer, each.id);
  }
}

// Settings and notes of a healthy start have words of faults; the EEPROM of a NIC is not that of its module.
TEST(LogConditions, AreNotOfSettingsAndOfOtherParts) {
  for (const char* line : {"[    0.2] [Firmware Bug]: TSC_DEADLINE disabled due to errata; please update microcode",
                           "storm control is enabled on Ethernet1/7", "acme: BFD is enabled on the session"}) {
    const LogLine read = read_line(line);
    const Condition* condition = condition_of(read);
    EXPECT_TRUE(condition == nullptr || condition->cause == FaultLocation::none) << line << ": " << condition->id;
  }
  const Condition* eeprom = condition_of(read_line("acme 0000:18:00.0: failed to read the EEPROM: -5"));
  EXPECT_TRUE(eeprom == nullptr || eeprom->cause != FaultLocation::cable) << eeprom->id;
}

// Words that mean another thing beside others.
TEST(LogConditions, AreNotOfTheSameWordsElsewhere) {
  for (const auto& [line, id, other] :
       {std::tuple("acme: BatchLoad failed for key=k", "", "says-not-loaded"),
        std::tuple("acme: the model: load failed", "says-not-loaded", ""),
        std::tuple("acme: error: remote memory is unreachable", "", "says-unreachable"),
        std::tuple("acme: error: the host is unreachable", "says-unreachable", ""),
        std::tuple("bnxt_en 0000:a1:00.0: QPLIB: CMD mismatch resp->cookie = 0x12, evnt->cookie = 0x14", "",
                   "says-configuration"),
        std::tuple("acme: error: the sizes mismatch", "says-configuration", ""),
        std::tuple("acme: error: duplicate call of disconnect on a disconnected endpoint", "says-object-in-use", ""),
        std::tuple("acme: error: index already connected", "", "says-object-in-use"),
        std::tuple("Error: mlx5_core: SF already exist. Choose different sfnum.", "says-object-in-use", ""),
        std::tuple("kernel: cgroup: fork rejected by pids controller in /acme", "says-threads", ""),
        std::tuple("acme: priority is out of range", "says-over-limit", ""),
        std::tuple("acme: the voltage is out of range", "", "says-over-limit"),
        std::tuple("acme 1.18 is less than 1.19", "", "says-not-fitting"),
        std::tuple("acme: the UCX version is 1.18 which is less than 1.19", "says-not-fitting", "")}) {
    const Condition* condition = condition_of(read_line(line));
    const std::string_view found = condition == nullptr ? "" : condition->id;
    if (*id != '\0') EXPECT_EQ(found, id) << line;
    if (*other != '\0') EXPECT_NE(found, other) << line;
  }
}

TEST(LogConditions, AreNotFoundInsideWords) {
  for (const char* line : {"error callback is installed", "he studied the log", "step 12: loss 3.1",
                           "handled 3 requests", "ens1: link becomes ready", "quotation", "changed state to up",
                           "link to leaf1 changed state to up", "ignore_routes_with_linkdown = 1",
                           // of programs, not of the kernel
                           "traps: python3[195] general protection fault ip:7f1 sp:7ff error:0 in libfoo.so[7f0+1000]",
                           "oops: something went wrong while reading the config"})
    EXPECT_EQ(condition_of(read_line(line)), nullptr) << line << ": " << condition_of(read_line(line))->id;
}

// Lines of healthy hosts: a start, a service of another kind, a setting, a word with another meaning.
TEST(LogConditions, AreNotOfOtherProgramsOrOfAHealthyStart) {
  for (const std::string line : {
           "[    1.2] Intel machine check reporting enabled on CPU#0.",
           "Jul 27 14:41:58 node-a kernel: Intel machine check architecture supported.",
           "[    0.9] ata9: SATA link down (SStatus 0 SControl 300)",
           "[    5.2] ice: module verification failed: signature and/or required key missing - tainting kernel",
           "[    8.3] nvme nvme0: Shutdown timeout set to 10 seconds",
           "[    7.7] HEST: Enabling Firmware First mode for corrected errors.",
           "[  232.9]          res 40/00:01:01:4f:c2/00:00:00:00:00/00 Emask 0x10 (ATA bus error)",
           "[    0.5] platform eisa.0: Cannot allocate resource for EISA slot 1",
           "Nov 28 10:00:01 node-a systemd[1]: user@1000.service: Killing process 1234 (sleep) with signal SIGKILL.",
           "Nov 28 10:00:01 node-a systemd[1]: logrotate.service: Main process exited, code=exited, status=1/FAILURE",
           "Nov 28 10:00:01 node-a sshd[123]: error: kex_exchange_identification: Connection closed by remote host",
           "Nov 28 10:00:01 node-a sshd[9]: fatal: Timeout before authentication for 10.1.2.3 port 51234",
           "Nov 28 10:00:01 node-a smartd[33]: Device: /dev/sda [SAT], can't monitor Offline_Uncorrectable count",
           "Nov 28 10:00:01 node-a dbus-daemon[9]: [system] Rejected send message, 2 matched rules; type=\"error\"",
           "Nov 28 10:00:01 node-a snapd[33]: error: cannot refresh: dial tcp: i/o timeout",
           "Nov 28 10:00:01 node-a irqbalance[33]: Cannot change IRQ 145 affinity: Operation not permitted",
           "Nov 28 10:00:01 node-a kubelet[4]: I1128 10:00:01.1 44 prober.go:107] Probe failed: connection refused",
           "2026/11/28 10:00:01 [error] 12#12: *5 upstream timed out (110: Connection timed out), client: 10.1.2.3",
           "[Mon Dec 05 01:04:31 2026] [error] [client 10.1.2.3] Directory index forbidden by rule: /var/www/html/",
           "2026-11-28 10:00:01 UTC [99] ERROR:  duplicate key value violates unique constraint \"machines_pkey\"",
           "wandb: Network error (ConnectionError), entering retry loop.",
           "Error: the user refused the offer, and the contract was rejected",
           "JS WARNING: [appIcons.js 1090]: unreachable code after return statement",
           "[    2.0] akm8963: probe of 0-000c failed with error -5",
           "R11-M0 RAS APP FATAL ciod: LOGIN chdir(/p/x) failed: wrong folder",
       })
    for (const Found& found : found_in(line + "\n")) {
      EXPECT_EQ(found.message, nullptr) << line << ": " << found.message->id;
      EXPECT_EQ(found.condition, nullptr) << line << ": " << found.condition->id;
      EXPECT_TRUE(found.error.empty()) << line << ": " << found.error;
    }
  for (const std::string line : {
           "[    4.2] IPv6: ADDRCONF(NETDEV_UP): eno1: link is not ready",
           "[    7.5] pci 0000:01:00.0: BAR 7: failed to assign [io  size 0x0020]",
           "node-a:1:1 [0] NCCL INFO dlvsym failed on ibv_reg_mr_iova2 - /usr/lib/libibverbs.so.1: undefined symbol",
           "dockerd[44]: level=warning msg=\"Your kernel does not support swap memory limit\"",
       })
    for (const Found& found : found_in(line + "\n")) {
      ASSERT_NE(found.message, nullptr) << line;
      EXPECT_EQ(found.message->cause, FaultLocation::none) << line << ": " << found.message->id;
    }
}

// Lines of the same programs about a port, a GPU or a job are shown.
TEST(LogConditions, AreOfOtherProgramsThatNameThePart) {
  for (const auto& [line, id] : {
           std::pair("acmed[49841]: eth1: cannot change the rings: Device or resource busy", "says-busy"),
           std::pair("[ 5372.3] pci 0000:06:00.0: bridge window [mem size 0x00200000]: can't assign; no space",
                     "says-no-address-space"),
           std::pair("[ 6166.0] mlxsw_spectrum 0000:01:00.0 swp1: link down", "says-link-down"),
           std::pair("[   71.2] BUG: kernel NULL pointer dereference, address: 0000000000000010", "says-kernel-bug"),
           std::pair("[   71.2] BUG: unable to handle page fault for address: ffffc90000000010", "says-kernel-bug"),
           std::pair(
               "[   71.3] Oops: general protection fault, probably for non-canonical address 0xdead: 0000 [#1] SMP",
               "says-kernel-bug"),
           std::pair("[   71.3] kernel BUG at mm/slub.c:307!", "says-kernel-bug"),
           std::pair("Nov 30 10:00:00 node-a kernel: Kernel panic - not syncing: Fatal exception", "says-kernel-bug"),
           std::pair("[2024-01-03 14:05:36,716] [ERROR] [launch.py:321:sigkill_handler] exits with return code = -7",
                     "says-killed"),
       }) {
    const auto found = found_in(std::string(line) + "\n");
    ASSERT_EQ(found.size(), 1u) << line;
    ASSERT_NE(found[0].condition, nullptr) << line;
    EXPECT_EQ(found[0].condition->id, id) << line;
  }
}

// With the component that prints the line; another condition is another finding.
TEST(LogConditions, AreOfAComponentToo) {
  const auto found = found_in(
      "node-a:1:2 [0] misc/socket.cc:44 NCCL WARN some call broke: Connection refused\n"
      "node-a:1:2 [0] misc/socket.cc:71 NCCL WARN some other call: Network is unreachable\n"
      "node-a:1:2 [0] proxy.cc:1 NCCL WARN Cuda failure 'out of memory'\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].message->id, "nccl-gpu-memory");
  EXPECT_EQ(found[0].condition, nullptr) << "a known message says it itself";
  EXPECT_EQ(found[1].condition->id, "says-rejected");
  EXPECT_EQ(found[2].condition->id, "says-unreachable");
}

// The same words name another place if another component prints them.
TEST(LogConditions, OfSomeComponentsHaveTheirOwnCause) {
  const std::tuple<const char*, const char*, FaultLocation> kLines[] = {
      {"ionic 0000:0a:00.0 enp10s0np0: acme request timed out", "driver-says-timeout", FaultLocation::host},
      {"amdgpu 0000:03:00.0: amdgpu: failed to wait for the firmware: timed out", "gpu-says-timeout",
       FaultLocation::host},
      {"mount.nfs: Connection timed out", "storage-says-timeout", FaultLocation::unknown},
      {"mount.nfs: Connection refused", "storage-says-refused", FaultLocation::peer},
      {"Sep 20 10:11:12 123456 [7F00A700] 0x01 -> acme_send: the request timed out", "fabric-says-timeout",
       FaultLocation::network},
      {"Jan  1 00:00:00 leaf01 ERR syncd#syncd: the object is not found", "switch-says", FaultLocation::network},
      {"kubelet[1234]: E1112 10:11:12.345678 1234 x.go:176] acme failed: context deadline exceeded",
       "node-says-timeout", FaultLocation::host},
      {"[E1112 10:11:12.345678 socket.cpp:924] [c10d] acme failed: timed out", "ranks-say-timeout",
       FaultLocation::peer},
      {"ice 0000:8a:00.0 ens5: Failed to open VSI 0x0008 on switch 0x0001", "driver-says-absent", FaultLocation::host},
      {"slurmd: error: acme: library not found", "slurm-says-absent", FaultLocation::host},
      {"nvidia-container-cli: acme error: file not found", "container-says-absent", FaultLocation::host},
      {"EAL: Cannot allocate memory", "dpdk-says-used-up", FaultLocation::host},
  };
  std::set<std::string_view> named;
  for (const auto& [line, id, cause] : kLines) {
    const auto found = found_in(std::string(line) + "\n");
    ASSERT_EQ(found.size(), 1u) << line;
    ASSERT_NE(found[0].condition, nullptr) << line;
    EXPECT_EQ(found[0].condition->id, id) << line << (found[0].message ? found[0].message->id : "");
    EXPECT_EQ(found[0].condition->cause, cause) << line;
    named.insert(found[0].condition->id);
  }
  for (const Combination& each : combinations())
    EXPECT_TRUE(named.contains(each.condition.id)) << each.condition.id << " has no example";
}

TEST(LogCodes, EventsOfTheKernelAreDecoded) {
  EXPECT_TRUE(has(codes_text("iser: iser_qp_event_callback: qp event QP request error (2)"), "QP_REQ_ERR"));
}

// Silence is no proof of a place; a refusal, a reset or a status is an answer of the other end.
TEST(LogLines, OnlyAnAnswerOfTheOtherEndNamesIt) {
  const auto place_of = [](const char* line) {
    const auto found = found_in(std::string(line) + "\n");
    return found.size() == 1 ? cause_of(found[0]) : FaultLocation::none;
  };
  for (const char* line :
       {"libfabric:34420:psm2:av:psmx2_epid_to_epaddr():230<warn> psm2_ep_connect retured error Operation timed out, "
        "remote epid=1f0302",
        "libfabric:99:opx:ep_data:fi_opx_reliability_ping():200<warn> the endpoint is not responding",
        "Couldn't connect to node-b (and 3 others). Time elapsed 00:00:35. Still trying...",
        "nvme nvme0: failed nvme_keep_alive_end_io error=10", "nvme nvme0: rdma connection establishment failed (-110)",
        "nvmet: ctrl 1 keep-alive timer (15 seconds) expired!",
        "iscsiadm: initiator reported error (8 - connection "
        "timed out)",
        "isert: isert_cma_handler: connect_error: conn 0xffff88 cma event connect error",
        "kernel: iSCSI Login timeout on Network Portal 10.74.67.11:3260",
        "slurmctld: error: Nodes node[07-08] not responding, setting DOWN", "rpcrdma: server not responding",
        "nfs: server 10.1.0.9 not responding, still trying", "acme: rank 5 is not responding",
        "CIFS: VFS: \\\\10.1.1.1 has not responded in 180 seconds. Reconnecting...",
        "acmed: server 10.1.1.1:49152 has not responded in the last 42 seconds, disconnecting.",
        "[rank2]:[E822 06:33:42.472676771 ProcessGroupNCCL.cpp:607] [Rank 2] Watchdog caught collective operation "
        "timeout: "
        "WorkNCCL(SeqNum=4554, OpType=GATHER, Timeout(ms)=600000) ran for 600089 milliseconds before timing out."})
    EXPECT_EQ(place_of(line), FaultLocation::unknown) << line;
  for (const char* line : {"nvme nvme1: Connect rejected: status 8 (invalid service ID).",
                           "nvme nvme34: Connect command failed, error wo/DNR bit: 2",
                           "Failed to write to /dev/nvme-fabrics: Connection refused",
                           "iscsiadm: initiator reported error (24 - iSCSI login failed due to authorization failure)",
                           "acme: lost the heartbeat of rank 3: connection reset by peer",
                           "rpcrdma: connection to 10.1.0.9:20049 closed "
                           "(-104)"})
    EXPECT_EQ(place_of(line), FaultLocation::peer) << line;
  // The noun alone is no event at the peer.
  EXPECT_EQ(condition_of(read_line("acme: no local address fits the remote peer")), nullptr);
  // A part of this machine, and a step on this host.
  for (const char* line :
       {"pcieport 0000:16:00.0: device 0000:17:00.0 is not responding", "IPMI message handler: BMC not responding",
        "acme: GPU 0000:1a:00.0 is not responding", "nvme nvme1: rdma connection establishment failed (-22)",
        "iser: iser_connect: rdma_resolve_addr failed: -99",
        "nvmet_rdma: binding CM ID to 10.0.0.185:4420 failed (-19)"})
    EXPECT_EQ(place_of(line), FaultLocation::host) << line;
}

// Each combination applies to conditions and components, and a component that has one cause keeps it.
TEST(LogConditions, CombinationsAreOfConditionsAndComponents) {
  for (const Combination& each : combinations()) {
    const std::string_view id = each.condition.id;
    EXPECT_TRUE(std::ranges::any_of(conditions(), [&](const Condition& one) { return has_any(one.says, each.says); }))
        << id;
    size_t count = 0;
    for (const LineMessage& one : messages()) {
      if (!has_any(one.kind, each.kind)) continue;
      ++count;
      EXPECT_TRUE(one.cause == FaultLocation::unknown || one.cause == each.condition.cause) << id << ": " << one.id;
    }
    EXPECT_GT(count, 0u) << id;
  }
}

// The columns of components are set on components only, and the rows of a NIC's driver that stand for any line are of a
// driver.
TEST(LogComponents, ColumnsFitTheirRows) {
  for (const LineMessage& each : messages()) {
    EXPECT_TRUE(each.is_component() || each.kind == Printer::other) << each.id;
    EXPECT_TRUE(has_any(each.kind, Printer::nic_driver) || !has_any(each.kind, Printer::driver_rest)) << each.id;
    EXPECT_FALSE(each.is_component() && (each.is_link_down || each.is_nic_stall || !each.resets_netdev_after.empty()))
        << each.id;
    EXPECT_FALSE(each.is_nic_failure && (each.is_component() || each.cause != FaultLocation::host)) << each.id;
    // Its patterns require the text that its netdev follows.
    EXPECT_TRUE(has(each.patterns, each.resets_netdev_after)) << each.id;
  }
}

// A driver that is reset on the host removes the clock of its netdev before the link goes down: not the cable.
TEST(LogLines, ALinkThatItsOwnHostResetIsNotACable) {
  const auto cause_in = [](const std::string& text) { return found_in(text).at(0).message->id; };
  const std::string reset = "[1.5] i40e 0000:07:00.0: i40e_ptp_stop: removed PHC on ens7f0\n";
  EXPECT_EQ(cause_in(reset + "[2.5] bond1: (slave ens7f0): link status definitely down, disabling slave\n"),
            "link-reset-by-host");
  EXPECT_EQ(cause_in(reset + "[2.5] i40e 0000:07:00.0 ens7f0: NIC Link is Down\n"), "link-reset-by-host");
  EXPECT_EQ(cause_in(reset + "[2.5] bond1: (slave ens7f01): link status definitely down, disabling slave\n"),
            "bond-link-down");
  EXPECT_EQ(cause_in("[1.0] bond1: (slave ens7f0): link status definitely down, disabling slave\n" + reset),
            "bond-link-down");
}

// A driver says "link down" before the link is up for the first time.
TEST(LogOfManyLines, ALinkThatWasNotUpYetIsNoFault) {
  const auto line = [](const std::string& text, const std::string& pci = "0000:9d:00.0") {
    return "[6.1] mlx5_core " + pci + " ens1np0: " + text + "\n";
  };
  const auto id = [](const std::string& text) { return found_in(text).at(0).message->id; };
  const std::string start = line("renamed from eth0"), down = line("Link down"), up = line("Link up");
  EXPECT_EQ(id(start + down + up), "link-starts");
  EXPECT_EQ(found_in(start + down + up).at(0).message->cause, FaultLocation::none);
  EXPECT_EQ(id(start + down + down + up), "link-starts");
  EXPECT_EQ(id(start + down), "link-down") << "it never came up";
  EXPECT_EQ(id(start + down + up + down), "link-down") << "it was up, and went down";
  EXPECT_EQ(id(down + up), "link-down") << "no start of the driver in the log";
  EXPECT_EQ(id(start + down + line("Link up", "0000:9d:00.1")), "link-down") << "the link of another function";
  const std::string other = line("renamed from eth1", "0000:9e:00.0") + line("Link down", "0000:9e:00.0");
  EXPECT_EQ(id(start + down + up + other), "link-down") << "one of two came up";
  const std::string at_a = "Nov 28 03:14:09 node-a kernel: ", at_b = "Nov 28 03:14:10 node-b kernel: ";
  EXPECT_EQ(id(at_a + start + at_a + down + at_a + up), "link-starts");
  EXPECT_EQ(id(at_a + start + at_b + down + at_b + up), "link-down") << "of another host";
}

// The firmware of a NIC fails: its link, and the storage that the host reaches through it, are gone for a moment.
TEST(LogOfManyLines, WhatAFailedNicTakesDownIsShownWithIt) {
  const std::string reset =
      "[520.5] bnxt_en 0000:99:00.0 gpu5_eth: Fatal firmware reset event, data1: 0x1, data2: 0x0\n";
  const auto down = [](const std::string& pci) { return "[527.1] bnxt_en " + pci + " eth5: NIC Link is Down\n"; };
  const auto ids = [](const std::string& text) {
    std::string out;
    for (const Found& each : found_in(text)) {
      out += std::string(each.message->id) + " ";
      for (const Consequence& lost : each.consequences)
        out.append(lost.may_be_own ? "? " : "> ").append(lost.message->id).append(" ");
    }
    return out;
  };
  EXPECT_EQ(ids(reset + down("0000:99:00.0")), "bnxt-firmware-fatal > link-down ");
  EXPECT_EQ(ids(reset + down("0000:9a:00.0")), "bnxt-firmware-fatal link-down ") << "another NIC";
  EXPECT_EQ(ids(down("0000:99:00.0") + reset), "link-down bnxt-firmware-fatal ") << "before it";
  const auto stall = [](const std::string& pci) {
    return "[525.1] bnxt_en " + pci + " eth5: TX timeout detected, starting reset task!\n";
  };
  EXPECT_EQ(ids(reset + stall("0000:99:00.1")), "bnxt-firmware-fatal > tx-timeout ") << "the other port of the card";
  EXPECT_EQ(ids(reset + stall("0000:9a:00.0")), "bnxt-firmware-fatal tx-timeout ") << "another NIC";
  EXPECT_EQ(ids(reset + stall("0000:99:00.0") + stall("0000:9a:00.0")), "bnxt-firmware-fatal tx-timeout ")
      << "two NICs, and one of them has not failed";
  EXPECT_EQ(ids(stall("0000:99:00.0") + reset), "tx-timeout bnxt-firmware-fatal ") << "before it";
  EXPECT_EQ(ids(reset + "[526.1] bnxt_en 0000:99:00.1 eth6: hwrm stat ctx alloc failure rc: fffffff3\n"),
            "bnxt-firmware-fatal ? bnxt-command-other ");
  EXPECT_EQ(ids(reset + down("0000:99:00.1")), "bnxt-firmware-fatal link-down ") << "a link of another port";
  const std::string nvme = "nvme nvme3: starting error recovery\n";
  EXPECT_EQ(ids(reset + nvme), "bnxt-firmware-fatal ? nvmf-rdma ");
  EXPECT_EQ(ids(nvme + reset), "nvmf-rdma bnxt-firmware-fatal ");
  const std::string at_a = "Nov 28 03:14:09 node-a kernel: ", at_b = "Nov 28 03:14:10 node-b kernel: ";
  EXPECT_EQ(ids(at_a + reset + at_a + nvme), "bnxt-firmware-fatal ? nvmf-rdma ");
  EXPECT_EQ(ids(at_a + reset + at_b + nvme), "bnxt-firmware-fatal nvmf-rdma ") << "of another host";
  EXPECT_EQ(ids(at_a + reset + at_a + down("0000:99:00.0")), "bnxt-firmware-fatal > link-down ");
  EXPECT_EQ(ids(at_a + reset + at_b + down("0000:99:00.0")), "bnxt-firmware-fatal link-down ") << "of another host";
  EXPECT_EQ(ids(reset + std::string(31, '\n') + nvme), "bnxt-firmware-fatal nvmf-rdma ") << "long after it";
  EXPECT_EQ(ids(reset + "mount.nfs: Connection timed out\n"), "bnxt-firmware-fatal ? storage-mount-other ");
  EXPECT_EQ(ids(reset + "iscsiadm: initiator reported error (8 - connection timed out)\n"),
            "bnxt-firmware-fatal ? iscsi-login ");
}

// A second fault is a finding of its own, also right after a known one.
TEST(LogComponents, OfAnotherFaultAreNotShownWithTheCauseBeforeThem) {
  const std::string cause = "node-a:1:2 [0] proxy.cc:1 NCCL WARN Cuda failure 'out of memory'\n";
  const auto count = [&](const std::string& line) { return found_in(cause + line).size(); };
  EXPECT_EQ(count("node-a:1:2 [0] misc/socket.cc:44 NCCL WARN some call broke\n"), 1u);
  EXPECT_EQ(count("node-a:1:2 [0] misc/socket.cc:44 NCCL WARN some call broke on mlx5_9\n"), 2u);
  EXPECT_EQ(count("node-a:1:2 [0] misc/socket.cc:44 NCCL WARN some call broke: Network is unreachable\n"), 2u);
}

// Words that are enough for an error, without a mark of severity; not in lines that are marked as informational.
TEST(LogConditions, SomeAreErrorsWithoutAMark) {
  const auto found = found_in("acme: operation status DOWN of Ethernet164\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message, nullptr);
  EXPECT_EQ(found[0].condition->id, "says-link-down");
  EXPECT_TRUE(found_in("level=info msg=\"link down\" interface=veth1\n").empty());
  EXPECT_TRUE(found_in("acme: the file was not found\n").empty());
}

// A log of one line has an answer, if the line is no error. With more lines, what reports no error is not shown.
TEST(LogOfOneLine, ThatNoRuleKnows) {
  const auto id_in = [](std::string_view line) -> std::string_view {
    const auto found = found_in(line);
    if (found.size() != 1 || found[0].message == nullptr) return "";
    return found[0].message->id;
  };
  EXPECT_EQ(id_in("I0801 15:40:04.429156 1049 agent.cpp:92] such a feature is off"), "information");
  EXPECT_EQ(id_in("ice 0000:ca:00.0: VF 3 is now trusted"), "no-error");
  EXPECT_EQ(id_in("NCCL INFO NCCL_ACME set by environment to 300."), "no-error") << "the value is not judged";
  EXPECT_EQ(id_in("switch-a INFO syncd#syncd: Port 37 link down event"), "no-error")
      << "a mark of information proves little";
  EXPECT_EQ(id_in("acme: the file was not found"), "no-error") << "a complaint is no error";
  for (const char* line : {"", " ", "step 1\nstep 2"}) EXPECT_EQ(id_in(line), "");
  const auto found = found_in("acme_open(): 173, -19 (No such device)");
  ASSERT_EQ(found.size(), 1u) << "an errno proves more than a complaint";
  EXPECT_EQ(found[0].condition->id, "says-absent");
  // Some words are an error without the mark of one: in the lines of a NIC's driver, which have no mark, or in any.
  EXPECT_EQ(id_in("acme: the feature is not supported"), "no-error");
  const auto of_driver = found_in("ice 0000:3b:00.0: the feature is not supported");
  ASSERT_TRUE(of_driver.size() == 1 && of_driver[0].condition != nullptr);
  EXPECT_EQ(of_driver[0].condition->id, "says-unsupported");
  const auto of_any = found_in("acme: missing required option");
  ASSERT_TRUE(of_any.size() == 1 && of_any[0].condition != nullptr);
  EXPECT_EQ(of_any[0].condition->id, "says-configuration");
}

// The statement of a line without an error, and the program that prints it. Each statement has a line.
TEST(LogOfOneLine, StatesAStep) {
  constexpr std::pair<std::string_view, std::string_view> kLines[] = {
      {"mlx5_core 0000:5e:00.0: starting recovery flow", "states-recovery"},
      {"link mlx5_0/1 state DOWN physical_state POLLING netdev ens1f0", "states-port"},
      {"ice 0000:8a:00.0: The fw.acme component has a pending update", "states-later"},
      {"bnxt_en 0000:bd:00.0 ens9: Able to reserve only 32 out of 64 requested RX rings", "states-fewer"},
      {"acme: module uses symbols of proprietary module nvidia, inheriting taint.", "states-taint"},
      {"pcieport 0000:15:01.0: DPC: error containment capabilities: Int Msg #0, RPExt+", "states-capabilities"},
      {"mana 7870:00:00.0: adapter protocol version: 0.1.1", "states-version"},
      {"nvme nvme0: established (9): status 0 id 000000002ea79baa", "states-connected"},
      {"nvidia: the core is being initialized, major device number 511", "states-start"},
  };
  std::set<std::string_view> named;
  for (const auto& [line, id] : kLines) {
    const auto found = found_in(line);
    ASSERT_EQ(found.size(), 1u) << line;
    ASSERT_NE(found[0].condition, nullptr) << line;
    EXPECT_EQ(found[0].condition->id, id) << line;
    const bool is_open = id == "states-recovery" || id == "states-port";
    EXPECT_EQ(cause_of(found[0]), is_open ? FaultLocation::unknown : FaultLocation::none) << line;
    named.insert(id);
  }
  for (const Condition& each : statements()) {
    EXPECT_TRUE(named.contains(each.id)) << each.id << " has no example";
    EXPECT_EQ(lower(each.words), each.words) << each.id;
  }
  EXPECT_EQ(found_in("infiniband mlx5_1: acme:595:(pid 1333): polled a software completion").at(0).condition->id,
            "states-start")
      << "the debug output of a driver";
  const auto found = found_in("ice 0000:8a:00.0: VF 3 is now trusted");
  ASSERT_TRUE(found.size() == 1 && found[0].printer != nullptr);
  EXPECT_EQ(found[0].printer->family(), "ice");
  // A part that is off, missing or slow may be the fault; a mark of information says more than a reset.
  for (const char* line : {"acme: enabled without RDMA", "node-a:1:2 [0] NCCL INFO resetting the counters"})
    for (const Found& each : found_in(line)) EXPECT_EQ(each.condition, nullptr) << line;
  // Words of a fault are not harmless beside those of a step, with or without a mark of information.
  for (const char* line :
       {"node-a:1:2 [0] NCCL INFO comm 0x7f rank 3 nranks 8 cudaDev 3 busId 5d000 - Abort COMPLETE",
        "node-a:1:2 [0] NCCL INFO Using network Socket", "level=info msg=\"found GPU lost\" gpu=3",
        "level=info msg=\"component unhealthy\" reason=\"found xid 79 on GPU 3\"",
        "INFO 11-29 rank 3 loss is NaN after loading", "rank 3 crashed while reading the dataset",
        "mlx5_core 0000:5e:00.0: Firmware assert at 0000:5e:00.0 ext_synd 0x8a.", "GPU 3: Node Reboot Required",
        "GPU 3: pending retirement takes effect after reboot", "only 7 of the 8 GPUs are visible",
        "Only 16 out of 18 NVLinks are up", "only 3 of the 4 NVSwitches detected", "Only 6 out of 8 ranks joined",
        "GPU 0000:3b:00.0: clocks reduced to 345 MHz by thermal slowdown", "PCIe link is running at reduced speed",
        "efa 0000:18:00.0: device keep alive watchdog, resuming", "hns3 0000:35:00.0: prepare reset(2) wait done",
        "bnxt_en 0000:3b:00.0 ens1f0np0: Firmware reset completed"})
    for (const Found& each : found_in(line)) EXPECT_NE(cause_of(each), FaultLocation::none) << line;
  EXPECT_TRUE(found_in("acme: initialized\nacme: started\n").empty()) << "shown in a log of one line only";
}

// A step that succeeded, and a result that may be the fault.
TEST(LogOfOneLine, ResultsOfAStepMayBeTheFault) {
  for (const char* line :
       {"mlx5_core 0000:3b:00.0: firmware version 28.39.1002 is older than minimum 28.40.1000",
        "bnxt_en 0000:3b:00.0: Driver version 1.10.2 needs firmware 218.0.67 or newer",
        "[info] worker: NCCL version 2.18.1 on rank 0 differs from 2.19.3 on rank 5",
        "ice 0000:3b:00.0: read 0xffffffff from register 0x10", "node-a:1:2 [0] NCCL INFO NET/IB : Using 0 devices",
        "UCX INFO found 0 active IB ports", "configured 7 of 8 rails", "[info] found 6 out of 8 NICs",
        "acme: read 0 bytes from peer 10.1.2.3", "ens1f0: set to 10 Gb/s, was 200 Gb/s", "step 77 took 412 s",
        "acme: read 12 bytes instead of 4096",
        "ice 0000:17:00.0: the rate limit may not take effect because the maximum rate of VF-3 is 3",
        "acme: ignoring NIC 3 due to an unhealthy switch",
        "ice 0000:31:00.0: VF-3 trying to configure more than allocated queues",
        "I1129 13:04:29.119704 4411 topology.cpp:200] Topology discovery complete. Found 0 HCAs."})
    for (const Found& each : found_in(line)) EXPECT_NE(cause_of(each), FaultLocation::none) << line;
  for (const char* line :
       {"acme: created rank 0 of 8", "acme: driver version 1.2.3 loaded, version 1.2.3", "acme: found 8 of 8 NICs",
        "bnxt_en 0000:bd:00.0 ens9: Able to reserve only 32 out of 64 "
        "requested RX rings"})
    for (const Found& each : found_in(line)) EXPECT_EQ(cause_of(each), FaultLocation::none) << line;
}

// The level around a line, or that of glog, marks a line that has no word of a fault.
TEST(LogOfOneLine, TheLevelMarksALine) {
  const std::string text = "mlx5_core 0000:3b:00.0: the frobnicator is odd today";
  const auto journal = [&](const char* priority, const char* more) {
    return R"({"PRIORITY":")" + std::string(priority) + R"(",)" + more + R"("MESSAGE":")" + text + "\"}";
  };
  const auto only = [](const std::string& line) { return std::string(found_in(line).at(0).message->id); };
  EXPECT_EQ(only(journal("4", "")), "unknown-warning");
  EXPECT_EQ(only(journal("6", R"("_TRANSPORT":"kernel",)")), "information");
  EXPECT_EQ(only(journal("6", "")), "no-error") << "services print errors with it";
  EXPECT_EQ(only(journal("3", R"("CONTAINER_ID":"0a",)")), "no-error") << "each line of stderr has it";
  EXPECT_EQ(only("<3>[   12.3] " + text), "unknown-warning");
  EXPECT_EQ(only("<30>1 2026-11-29T23:59:50Z node-a x - - - " + text), "no-error");
  EXPECT_EQ(only("kern  :warn  : [   12.3] " + text), "unknown-warning");
  EXPECT_EQ(only("kern  :info  : [   12.3] " + text), "information");
  EXPECT_EQ(only(R"({"level":"WARN","msg":")" + text + "\"}"), "unknown-warning");
  EXPECT_EQ(only("W1129 13:04:29.119704 4411 foo.cc:5] the queue is odd today"), "unknown-warning");
  // Next to a line that is known it is shown as it is.
  const std::string known = "NCCL WARN NET/IB: Got completion from peer 10.2.0.11<5> with status=12 vendor_err=129\n";
  for (const std::string& line : {std::string("[rank1]:[W1129 07:39:53.723537752 Foo.cpp:15] an odd moon"),
                                  journal("3", ""), "<4>[   12.3] " + text}) {
    const auto found = found_in(known + line + "\n");
    ASSERT_EQ(found.size(), 2u) << line;
    EXPECT_EQ(found[1].message, nullptr) << line;
  }
  EXPECT_EQ(found_in(known + "<6>[   12.3] " + text + "\n").size(), 1u);
  EXPECT_EQ(found_in(known + "<4>[   12.3] usb 1-1: odd today\n").size(), 1u) << "nothing of a GPU, a NIC or a job";
}

TEST(Log, FramesOfAStackAreNoFindings) {
  const auto found = found_in(
      "[node-a:12796:1:13303] Caught signal 11 (Segmentation fault: invalid permissions for mapped object at address "
      "0x7fbd60001400)\n==== backtrace (tid:  13303) ====\n"
      " 0  /usr/lib/.nixl.libs/libucs-97f10f8d.so.0.0.0(ucs_handle_error+0x294) [0x7fbec008fba4]\n"
      "[node-a:08519] [ 0] /lib64/libpthread.so.0(+0x16910)[0x14f3c3]\nframe #0: c10::Error::Error(x) + 0x96\n");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].message->id, "ucx-memory-type");
}

// A test that cannot make its objects refers to the step before it, which says more.
TEST(Log, AMessageIsShownWithTheStepItRefersTo) {
  const auto found = found_in("Unable to create QP.\nFailed to create QP.\n Couldn't create IB resources\n");
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].consequences.size(), 1u);
  EXPECT_EQ(found[0].consequences[0].message->id, "perftest-resources-missing");
  EXPECT_EQ(cause_of(found[0]), FaultLocation::host);
}

TEST(Log, ConsequencesKeepTheirPeers) {
  const std::string lost = "NCCL WARN NET/IB: Got completion from peer 10.2.0.11<5> with status=12 vendor_err=129\n";
  const std::string flushed = "NCCL WARN NET/IB: Got completion from peer 10.2.0.77<5> with status=5 vendor_err=249\n";
  const auto found = found_in(lost + flushed);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].consequences.size(), 1u);
  EXPECT_EQ(names(found[0].consequences[0].peers), "10.2.0.77=1 ");
}

TEST(LogCodes, OfDocaOfUcxAndOfARegistrationThatIsTooLarge) {
  const Codes codes = read_line("got completion with err: syndrome=0x15, vendor_err_synd=0x81, hw_err_synd=0").codes;
  EXPECT_EQ(codes.status, 12u);
  EXPECT_TRUE(codes.vendor_error.starts_with("vendor error 0x81")) << codes.vendor_error;
  // Statuses of UCX are no errnos.
  for (const char* line : {"UCX ERROR uct_ep_am_zcopy() failed: Endpoint timeout (-80)",
                           "E1129 13:04:29.119704 1 ucx_utils.cpp:300] ucp_put_nbx failed with status -25"}) {
    EXPECT_TRUE(has(codes_text(line), "UCS_ERR_")) << codes_text(line);
    EXPECT_TRUE(read_line(line).codes.error.empty()) << read_line(line).codes.error;
  }
  EXPECT_EQ(id_of("E0605 17:54:16.878770 1 rdma_context.cpp:198] Failed to register memory 0x7f56e6600000: Numerical "
                  "result out of range [34]"),
            "registration-size");
  EXPECT_EQ(id_of("ibpanic: [4411] main: stat of IB device 'mlx5_0' failed: No such file or directory"),
            "ibstat-no-device");
}

// Lines as the programs that keep logs write them.
TEST(LogEnvelope, EveryFormIsUnwrapped) {
  const std::string plain = "Connect to 10.0.0.4<56849> failed : \"x\"";
  const auto text = [](std::string_view line) { return unwrap(line).text; };
  const char* docker =
      R"({"log":"Connect to 10.0.0.4\u003c56849\u003e failed : \"x\"\n","stream":"stderr","time":"2026-11-29T23:59:50.1Z"})";
  EXPECT_EQ(text(docker), plain);
  EXPECT_EQ(unwrap(docker).time, kNow - 10);
  EXPECT_EQ(text("2026-11-29T23:59:50.120331Z stderr F " + plain), plain);
  EXPECT_EQ(unwrap("2026-11-29T23:59:50.120331Z stderr F x").time, kNow - 10);
  EXPECT_TRUE(unwrap("2026-11-29T23:59:50.120331Z stderr P x").is_part);
  const char* journal =
      R"({"__REALTIME_TIMESTAMP":"1795996790000000","MESSAGE":[27,91,51,49,109,120,27,91,48,109],"PRIORITY":"6"})";
  EXPECT_EQ(text(journal), "x") << "MESSAGE as bytes, with colors";
  EXPECT_EQ(unwrap(journal).time, kNow - 10);
  EXPECT_EQ(text("<3>1 2026-11-29T23:59:50Z node-a kernel - - - x"), "2026-11-29T23:59:50Z node-a kernel - - - x");
  EXPECT_EQ(text("<4>mlx5_core x"), "mlx5_core x");
  for (const char* colored :
       {"\x1b[31mred\x1b[0m", "^[[31mred^[[0m", "#033[31mred#033[0m", "[31mred[0m", "\x1b]0;title\ared", "red\r"})
    EXPECT_EQ(text(colored), "red") << colored;
  for (const char* line :
       {"[0] NCCL", "cmdq[0x4b9]=0x15", "rate(x[5m])", "{not json}", "{\"a\": 1}", "<b>", "[12] Timeout"})
    EXPECT_EQ(text(line), line);
  const auto joined =
      found_in("2026-11-29T23:59:50Z stderr P NVRM: Xid (PCI:0000:18:\n2026-11-29T23:59:50Z stderr F 00): 79, x\n");
  ASSERT_EQ(joined.size(), 1u);
  EXPECT_EQ(joined[0].message->id, "gpu-off-bus");
}

TEST(LogEnvelope, FilesThatAreNoText) {
  using namespace std::string_view_literals;
  EXPECT_TRUE(not_text("\x1f\x8b\x08").starts_with("compressed (gzip): zcat FILE"));
  EXPECT_TRUE(not_text("\xff\xfeN\0C\0"sv).starts_with("UTF-16: iconv"));
  EXPECT_TRUE(has(not_text("N\0C\0C\0L\0 \0W\0A\0"sv), "UTF-16LE"));
  EXPECT_EQ(not_text("NCCL WARN"), "");
  EXPECT_EQ(not_text(""), "");
}

}  // namespace
}  // namespace fabric::lines
