// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/condition.h"

#include <algorithm>
#include <vector>

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/pattern.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr Condition consequence(Condition row) {
  row.is_consequence = true;
  return row;
}

// The narrow ones first: "connection refused: no such device" is about the device.
constexpr Condition kConditions[] = {
    {"says-dma-map",
     host,
     "dma_map*fail|dma map*fail|dma-map*fail|dma mapping error|dma_mapping_error|map*for dma*fail|fail*to map "
     "dma|fail*to dma map|fail*to dma-map|fail*map dma address|failed to map scatterlist",
     {"The message says that memory could not be mapped for DMA, the access of the device: the address space of the "
      "IOMMU or the bounce buffers (swiotlb) are used up, or the device cannot reach the address. Register less memory "
      "at a time, look for the reason in the kernel log (IOMMU, swiotlb), and try iommu=pt."},
     true},

    {"says-local-service",
     host,
     "dial unix*refused|dial unix*no such file|.sock: no such file|.sock: connect: no such file|.sock* connection "
     "refused|.sock\"*connection refused|unix:/*connection refused|unix domain socket*refused|.socket: no such file",
     {"The message says that the program could not connect to a local socket of this host: the daemon of the socket is "
      "stopped or restarts, or the socket is at another path or not mounted in the container. Look at the state and "
      "the journal of this daemon: systemctl status; journalctl -u."}},

    {"says-corrected",
     none,
     "requires no further action|has been corrected|was corrected|corrected by h/w|changing it to|is harmless|can be "
     "ignored|can safely be ignored|successfully recovered",
     {"The message itself says that no action is needed: the program has corrected the value or the error, and goes "
      "on. Many such lines in a short time are worth a look at the part that they name."}},

    // "retrying" and the like.
    {"says-goes-on",
     none,
     "falling back|falls back|fall back to|^fallback|proceeding with|retrying|will retry|try again|, skipping|skipping "
     "it|clamped to|clamping to|may be ignored|will be ignored|reducing to |^ignoring |set to default|using "
     "default|use "
     "default|continue without|continuing with|^set*continuing anyway|test continues|, switch to |, switching to |. "
     "trying ",
     {"The message itself says that the program goes on: it tries again, or takes another value or another way, which "
      "the line names. That is no fault by itself. Look at it only if the omitted part is needed, if the job is slow, "
      "or if the line repeats without end."},
     false,
     // Another end that does not answer, or a way without RDMA, is worth a look although the program goes on.
     {.words = "connect|peer|remote|refused|unreach|timed out|timeout|^link|^tcp|socket|^host "
               "memory|^slow|performance|corrupt|abort|fatal|giving up|gave up|exceeded|not "
               "exist|[failed]|unhealthy|uncorrect|^ecc|^xid|fallen off|hardware|^critical|unauthorized"}},

    {"says-affinity",
     none,
     "cpu affinity|setaffinity|local cpu set|^cpu mask|bind*to core|bind*to cpu|pin*thread to|set_mempolicy|memory "
     "policy",
     {"The message says that the program could not place its threads or its memory on the CPUs or the NUMA node that "
      "it wanted: the container or the job has other CPUs (cpuset), or may not choose (CAP_SYS_NICE). It goes on. "
      "Harmless for the function; no action if the speed is right."},
     false,
     {.words = "cgroup|fatal|abort|kubelet|runc|isolat"}},

    {"says-no-counter",
     none,
     "get stats|get*statistic|read*statistic|query*statistic|get*counter|read*counter|query*counter",
     {"The message says that the device or its driver does not have these statistics. Only their values are missing. "
      "Harmless; no action."},
     false,
     {.only_errors = "EOPNOTSUPP|ENOTSUPP"}},

    // An offload of a netdev. A feature that RDMA needs is worth a look.
    {"says-feature-off",
     none,
     "^disabling *not supported|^disabling *unsupported|^dropping *feature",
     {"The message says that a feature is switched off, because the device, its mode or another feature does not allow "
      "it. That is no fault by itself. Look at it only if the feature is needed."},
     false,
     {.words = "rdma|^roce|gpudirect|gpu direct|^gdr|dma-buf|dmabuf|nvlink|sharp|^pfc|^ecn|^dcb|^ats|peer|^link|sr-iov|"
               "performance|fail|error"}},

    {"says-corruption",
     unknown,
     "data corruption|data may be corrupt|data might be corrupt|data can be corrupt|corrupted data|silent corruption|"
     "wrong results|results may be wrong|results may be incorrect|incorrect results",
     {"The message says that data may be wrong from now on, also without another error. End the job, and do not use "
      "its results and checkpoints since this line; the rest of the line has the reason."},
     true},

    {"says-clock",
     host,
     "^clock*not*synchron|moved backwards|clock skew|^clock*went back|clocksource*unstable|clocks differ|^clock*not in "
     "sync|time*in the future",
     {"The message says that a clock is wrong or not steady: the clocks of two hosts differ, time went back, or the "
      "kernel has to take a slower source of time. Compare the hosts that the line names: chronyc tracking, "
      "timedatectl; for a clock source of the kernel: cat /sys/devices/system/clocksource/*/current_clocksource."},
     true},

    {"says-platform-refuses",
     host,
     "ineligible*rmrr|platform rmrr|contact your platform vendor|contact your*vendor*bios",
     {"The message says that the firmware of the machine (BIOS, ACPI, IOMMU tables) does not allow what the kernel or "
      "a driver wants of the device. Update the BIOS, or change its setting for this device; the cable and the network "
      "take no part."},
     true},

    {"says-kernel-bug",
     host,
     "bug: kernel null|bug: unable to handle|bug: kasan: |general protection fault*[#|^oops: *[#|kernel bug at |kernel "
     "panic*fatal "
     "exception",
     {"The message says that the kernel itself, or one of its modules, failed: the function after RIP, and the module "
      "in brackets, are the place. The network and other hosts take no part. ",
      {Work::ends_jobs, "Reboot the node; "},
      "update the kernel or the driver, and report the whole trace if it comes again."},
     true},

    {"says-pci-frozen",
     host,
     "^eeh: *frozen|frozen pe|^eeh: *detected|fenced phb|pcie link lost|device now detached|^failed to read reg|"
     "surprise removal|surprise down",
     {"The message says that a PCIe device is cut off: it does not answer, or the platform froze its slot after an "
      "error. The first line of this device in the kernel log is nearest to the cause. ",
      {Work::ends_jobs, "Reset it or reboot; "},
      {Work::at_machine, "reseat or replace the card if it comes again."}},
     true},

    {"says-module-access",
     cable,
     "accessing module|module stretched|^scl too "
     "long|qsfp*communication|module*eeprom*fail|sfp*eeprom*fail|fail*read*module "
     "eeprom|sfp*i2c|i2c*sfp|module*i2c|i2c*module",
     {"The message says that the module in a cage does not answer on its management bus (I2C): module or cable are "
      "faulty or badly seated, or the bus of the cage is. ",
      {Work::at_link, "Reseat the module, then try it in another port and another module in this port."}},
     true},

    {"says-hardware",
     host,
     "uncorrectable|uncorrected|^ecc error|hardware error|hardware issue|hardware failure|hardware problem|parity "
     "error|nvlink error|over nvlink|nvlink*is down|nvlink*currently down|nvlink*inactive|cper_severity_fatal|machine "
     "check exception|machine check event|machine check error|fallen off|row remap|^ras error|catastrophic|lane "
     "error|needs to be replaced|bad block|^cmci storm|link has been reset|doca_error_device_fatal_error",
     {"The message says that a part of this host reports an error of its hardware: a GPU, its memory or NVLink, a NIC, "
      "a memory module or PCIe. The kernel log names the part (Xid, AER, EDAC). ",
      {Work::ends_jobs, "Reset the GPU or NIC, or reboot; "},
      "replace the part if the error comes again."},
     true,
     {.words = "nvlink error*not find|c2c error*not find|transceiver|^module |^sfp|qsfp"}},

    // The event log of a BMC has forms of its own: "| Processor #0xc9 | IERR | Asserted".
    {"says-sensor",
     host,
     "#0x*^asserted$|sel entry|^assertion event|^sel: |dimm*high temp|voltage*inadequate|pci perr|fatal bus "
     "error|server recovery timer|critical interrupt|voltage*non_recoverable|^ierr$",
     {"The message is an event of a sensor of the server, of its management controller (BMC): voltage, temperature, "
      "power, fan, memory or processor. The line names the part. Read the events around it (ipmitool sel elist); ",
      {Work::in_machine, "replace the part if it comes again."}},
     true},

    {"says-module-hot",
     cable,
     "xcvr*temperature|transceiver*temperature|^module*temperature*alarm|^module*overheat|optic*temperature|"
     "sfp*temperature*alarm|sfp*high temp",
     {"The message says that the module in the cage is too hot, and its link may fail. Look at fans, air flow, dust "
      "and filters; ",
      {Work::at_link, "replace the module if its neighbors are cool."}},
     true},
    {"says-hot",
     host,
     "overheat|over temperature|over-temperature|overtemp|high temperature|temperature*alarm|temperature is critical|"
     "temperature critical|thermal shutdown|temperature above|too hot|critical temperature|^high temp|temp*too high",
     {"The message says that a part of this host is too hot: it slows down, or switches off. Look at fans, air flow "
      "and dust, and at the temperature of the other parts."},
     true},

    // The end of a program or a connection. Objects that are left are freed with the process.
    consequence({"says-teardown",
                 unknown,
                 "graceful shutdown|during shutdown|at shutdown|on shutdown|during teardown|during finaliz|during "
                 "cleanup|during destruct|in destructor|while closing|while shutting down|processing previous failure",
                 {"The message says that an object could not be freed in order at the end of a connection or of the "
                  "process. After another error it is a consequence: look at the first error of this process. Without "
                  "one it is harmless; no action."},
                 false,
                 {.words = "^node|^host |server|machine|^system"}}),

    consequence({"says-canceled",
                 unknown,
                 "operation aborted|operation canceled|operation cancelled|operation was canceled|operation was "
                 "cancelled|request canceled|request cancelled|request was canceled|request was cancelled|was canceled "
                 "by|was cancelled by",
                 {"The message says that an operation was cancelled while it waited: its time ran out, its connection "
                  "was closed, or the program ends. This is a consequence: the timeout, or the error of the other end, "
                  "is in another line, also shortly after this one."},
                 false,
                 {.words = "^user|^job"}}),

    {"says-no-peer-access",
     host,
     "peer gpu * not accessible|peer access * not available|peer access*is not supported|p2p access*not|peer-to-peer "
     "access*not",
     {"The message says that one GPU of this host cannot access the memory of another GPU: no NVLink or PCIe path "
      "between the two allows it (another CPU socket, IOMMU or ACS, a virtual machine, a mixed set of GPUs). Most "
      "programs go on through memory of the host, slower, and some end. nvidia-smi topo -p2p rw shows the pairs; "
      "between hosts a program needs a remote transport (InfiniBand, RoCE; nvidia-peermem or DMA-BUF)."}},

    {"says-signal",
     cable,
     "loss of signal|signal integrity|no signal|signal lost|low light|no light|rx power low|rx power too low|low "
     "optical power|cable is not connected|cable not connected|no cable|not plugged|unplugged|no module in |no module "
     "is |no module present|no module inserted|no module detected|no module plugged|xcvr*not present|transceiver*not "
     "present|module not present in port|bad cable|cable error|signal detect",
     {"The message says that there is no signal on the link, or a bad one: cable, module, connector, or the "
      "transmitter at the other end. ",
      {Work::at_link, "Insert or reseat the cable, clean the connectors, then try another cable or module."}},
     true},
    {"says-lacp",
     unknown,
     "stopped distributing|stopped collecting|not distributing|lacp*expired|lacp*defaulted|lacp*timeout|lacp*timed "
     "out|lacp*churn",
     {"The message says that a member of a link aggregation (LACP, 802.3ad) carries no traffic, because the partner at "
      "the other end does not send or accept LACP packets: the port of the switch is in another group or not in active "
      "mode, or the link of the member flaps. Compare the LACP settings of both ends (cat /proc/net/bonding/BOND), "
      "then look at the cable and the link of the member."},
     true},
    {"says-link-partner",
     cable,
     "parallel fault|parallel detection|remote fault|local fault|link partner|topology conflict|media conflict|"
     "unsupported media",
     {"The message says that the two ends of the link do not agree, or one of them reports a fault: the settings of "
      "the other end (speed, autonegotiation, FEC, breakout), cable or module. Compare them with the port of the "
      "switch or the host at the other end. ",
      {Work::at_link, "Then try another cable or module."}}},

    {"says-link-down",
     cable,
     "link is down|link down|^linkdown|link change*is down|link * changed state * times|link is not up|changed state "
     "to down|operation status down|^port is down|port down|no carrier|lost carrier|carrier lost|link failure|link "
     "lost|link went down|link not ready|link is not ready|port state is down|port is not active|port not active|link "
     "flap|link_flap|^flapping|no link detected|no link on|no link,",
     {"The message says that a link is down: cable, module, or the port at the other end, which may be switched off or "
      "restart. ",
      {Work::at_link, "Check the cable and the module of this port, "},
      "and the state of the port at the other end."},
     true,
     {.words = "^pci link|^pcie link|^pci-e link"}},

    {"says-disabled",
     network,
     "errdisabled|err-disabled|error-disabled|errdisable detected|error-down|errdown",
     {"The message says that the switch has disabled the port, for the reason beside it: a speed or a breakout that "
      "does not fit the module, a loop, or a link that went down too often (then the cable or the module). Correct "
      "that, and enable the port again."},
     true},

    {"says-neighbor-lost",
     network,
     "^bfd*^down|lost adjacency|adjacency*down|adjacency*lost|neighbor*^down|neighbour*^down|^bgp*^down|session*up -> "
     "down|^ospf*^down",
     {"The message says that a switch or router lost its neighbor: the link between them, its port, or the neighbor "
      "itself went down. Look at the port and the state of the neighbor at this time, on both ends."},
     true,
     {.words = "shutdown|netdev"}},

    {"says-duplicate",
     network,
     "duplicate*guid|duplicate*address|duplicate ^ip |address conflict|conflicting address|duplicate*^lid "
     "|duplicate*^mac ",
     {"The message says that two nodes of the network have the same address or GUID: a cloned host, a NIC with the "
      "GUID of another one, or a loop in the cabling. The line, or the next one, names the two."},
     true},

    {"says-name-lookup",
     host,
     "resolve host|resolve the host|name or service not known|in name resolution|name resolution fail|no address "
     "associated with|nodename nor servname|no such host|^getaddrinfo|^gethostbyname|control machine address|unknown "
     "host",
     {"The message says that the name of a host cannot be resolved on this host, or in this container: an entry in "
      "/etc/hosts or the DNS is missing, the DNS server of /etc/resolv.conf does not answer, or a proxy is needed. "
      "Test: getent hosts NAME."},
     true},

    {"says-object-in-use",
     software,
     "index already|^id already|^id is already|key already|^tag already|handle already|window already|entry already|"
     "team*already|communicator already|^error: *already exist|duplicate call",
     {"The message says that an object of the program, such as an index, a key or a group of ranks, was made twice, or "
      "the former one was not destroyed: calls of the program or of the library above in the wrong order. No device, "
      "port or other process is at fault."},
     false,
     {.words = "address|^port |^pci|^connected"}},

    {"says-in-use",
     software,
     "already in use|already running|already registered|same gpu|same "
     "device|doca_error_in_use|doca_error_already_exist",
     {"The message says that something is used twice: a port or a socket of a process that still runs, or a GPU or a "
      "NIC that two processes of the host were given. Look for processes that an earlier job left, and at the number "
      "of processes and the devices that each of them was given."},
     false,
     {.words = "of the same device|on the same device"}},

    {"says-busy",
     host,
     "resource busy|is busy|device busy|non-zero usage count|driver is in use|^module*is in use|group is not "
     "viable|still bound to",
     {"The message says that a device, an interface or a module is in use, and cannot be changed or removed: it is up, "
      "a bond, a bridge or a virtual machine has it, or a process has it open."}},

    {"says-peer-restarted",
     peer,
     "re-registered|reregistered|stale-generation|stale generation|has restarted|restarted since|new incarnation|old "
     "incarnation|stale incarnation|newer generation|older generation|different incarnation",
     {"The message says that the other end has restarted or registered again, and the addresses, keys and requests "
      "that this process has of it are not valid any more. Make the connection or the request again, and look in the "
      "log of the other end why it restarted."},
     false,
     // Not an end of a connection.
     {.words = "firmware|^fw |^switch|^nic|gpu|service|driver|container|^pod"}},

    {"says-peer-differs",
     peer,
     "remote*incompatible|remote*different|different number of*remote|remote*does not match|remote*do not "
     "match|peer*incompatible|mismatch*with peer|mismatch*with remote|peer*different",
     {"The message says that the other end has something else than this host: another link type, number of ports, "
      "version or setting. Compare the two hosts; one of them may have lost a port."}},

    {"says-no-command",
     host,
     "command not found",
     {"The shell found no program of this name: its package is not installed on this host or in the image of the "
      "container, or its folder is not in PATH. Nothing was run, and nothing is known of what it would have shown."},
     true},

    {"says-script",
     software,
     "unbound variable|bad substitution|integer expression expected|syntax error near unexpected",
     {"The message is of a shell, and says that a script has a fault, or that a variable that it needs is not set. The "
      "rest of the script was not run. The line names the script: if it is of a package or an image, use a release for "
      "this operating system; no device is at fault."},
     true},

    // A driver at its start, and a service without its program.
    {"says-firmware-file",
     host,
     "find fw file|missing firmware|find firmware file|fw file*not found|firmware file*not found|direct firmware "
     "load|load firmware image|firmware image not found|no firmware image|request_firmware|^request firmware|firmware "
     "file failed|firmware: failed to load|failed to load firmware|could not load firmware|cannot load firmware|n't "
     "load firmware|unable "
     "to load firmware|firmware load failed",
     {"The message says that the driver did not find, or could not load, the file of the firmware of its device: the "
      "package with it (linux-firmware, or that of the driver) is not installed, is of another release, or is not in "
      "the initramfs. Install it, and write the initramfs again",
      {Work::ends_jobs, "; then reload the driver or reboot"},
      "."}},
    {"says-firmware-dead",
     host,
     "could not connect to fw|could not connect to firmware|firmware*not respond|firmware*not responsive|firmware*is "
     "dead|firmware*not running|^fw *not responding|^fw *not running|firmware*hung|firmware hang|firmware*did not "
     "start|firmware*not ready|firmware*has crashed|firmware crash|firmware*assert",
     {"The message says that the firmware of a device of this host does not run, or does not answer its driver. ",
      {Work::in_machine, "Power-cycle the node. "},
      {Work::ends_jobs, "Write its firmware again, or update it. "},
      "Have the device replaced if it recurs."}},
    {"says-no-program",
     host,
     "failed at step exec|failed to locate executable|unable to locate executable|status=203/exec|exec format "
     "error|executable file not found",
     {"The message says that a service or launcher found no program at this path, or cannot run it: its package is not "
      "installed or broken, or the initramfs or image has the unit without the program. Install or update the package, "
      "and write the initramfs again. A unit that fails only in the initramfs, and runs later, does no harm."},
     true},
    {"says-two-libraries",
     software,
     "corrupted comm|undefined symbol|symbol lookup|version*not found (required by|multiple copies of|loaded twice",
     {"The message says that the process has two copies, or the wrong release, of a library: one of the container or "
      "the Python environment, and one of the host. Look at LD_LIBRARY_PATH and ldd; keep one."}},

    {"says-variable",
     software,
     "verify nccl_|verify ucx_|check nccl_|check the value of|check your|verify that*is set|verify your|is not set "
     "correctly|wrong value|variable is not|variable not",
     {"The message says that a variable of the environment or an option is wrong for this host. Correct the one that "
      "the line names; compare it with the devices and netdevs of this host."}},

    {"says-not-fitting",
     host,
     "version mismatch|versions mismatch|version does not match|versions do not "
     "match|mismatch*version|incompatible|abi version|unsupported version|wrong version|is too old|too new|newer "
     "version|requires version|requires driver|driver/library|version should be|version must be|version*is less "
     "than|version*not supported|version*don't "
     "match|version*doesn't match|different version|doca_error_unsupported_version",
     {"The message says that two parts do not fit each other: kernel module and library, driver and firmware, or the "
      "programs of two hosts. After an update, ",
      {Work::ends_jobs, "reload the driver or reboot"},
      "; in a container, compare its libraries with the driver of the host; if a program has another release of a "
      "library than it was built for, see which file is loaded (ldd, LD_LIBRARY_PATH); on several hosts, the "
      "versions."},
     false,
     {},
     Says::not_fitting},

    {"says-asks-unknown",
     software,
     "unknown*ioctl|unsupported ioctl|unknown private|invalid ioctl",
     {"The message says that a program asks the driver for an operation that this driver does not have: the program "
      "or tool is of another release or for another driver. The process at that time is the cause; the device reports "
      "no fault."},
     true},

    {"says-not-loaded",
     host,
     "not loaded|not installed|failed loading|error loading|failed to insert|unable to insert|could not load|cannot "
     "load|can't load|couldn't load|failed to load|unable to load|^load failed|failed to dlopen|dlopen failed|cannot "
     "dlopen|unable to dlopen|cannot open shared object|no module named|not registered with|is * loaded?|no "
     "driver|driver is not|driver not|module not found|library not found|could not be loaded",
     {"The message says that a kernel module, a driver or a library is not loaded or not installed on this host, or is "
      "absent from the container. Load or install it: lsmod, modprobe, ldconfig -p; in a container, the runtime and "
      "its mounts."},
     false,
     {},
     Says::not_loaded},

    {"says-no-address-space",
     host,
     "no space for [mem|[mem*can't assign|can't assign mem|[mem*failed to assign|failed to assign [mem|^bar *failed|no "
     "mmio|mmio*exhausted|no memory region found in bar|bar-usage|bar1*full|no space for bar",
     {"The message says that there is too little address space for the memory of a device (BAR). ",
      {Work::at_machine, "Enable Above 4G Decoding and Resizable BAR in the firmware setup, with a large MMIO window"},
      "; for BAR1 of a GPU, register fewer or smaller buffers."},
     true},

    {"says-gpu-memory",
     software,
     "cuda*out of memory|cuda_error_out_of_memory|gpu*out of memory|hip*out of memory|out of memory on "
     "device|outofmemory|^oom*gpu",
     {"The message says that the memory of a GPU is used up: the program needs more than is left. Use a smaller batch "
      "or memory fraction; look for another process on the GPU."}},
    {"says-speed",
     unknown,
     "performance may|performance might|performance will|performance is degraded|may be impacted|reduced performance|"
     "suboptimal|sub-optimal|for best performance|for better performance",
     {"The message says that the program goes on, slower than it could be: advice, not a failure. Follow it if the job "
      "is slow: the line names the setting, the placement on CPUs or the path that is missing."}},

    {"says-slower-link",
     host,
     "speed*expecting|speed*but expected|speed*instead of|width*expecting|width*but expected|width*instead "
     "of|^speed*lower than expected|^speed*below the expected|^speed*below expected|^width*lower than "
     "expected|^width*below the expected|^width*below expected|^link*lower than expected|^link*below the "
     "expected|^link*below expected|^lanes*than expected|gt/s*lower than expected|gt/s*below the expected|gt/s*below "
     "expected|non-uniform nic",
     {"The message says that a part runs at a lower speed or width than the others, or than it was built for: mostly "
      "the PCIe link of the NIC or GPU (slot, riser, a retrained link), else the speed of the port. Compare it with "
      "the same part of another host: fabric-agentctl check --only pcie; lspci -vv shows LnkSta. ",
      {Work::at_machine, "Reseat the card if only this one is slow."}},
     true,
     {.words = "^fan|^clock|^temperature|^voltage|^mtu|^test speed|^download|^disk|^read speed|^write speed"}},

    // A measured result, or any other value: the line does not name the slow or wrong part.
    {"says-below-expected",
     unknown,
     "lower than expected|below the expected|below expected|less than expected",
     {"The message says that a value is lower than the program expects, and does not say why. If it is a result of a "
      "test or of a job, compare this host and its ports with others that have the expected one: link speed, PCIe, "
      "lost packets, the NUMA node (fabric-agentctl check; fabric-agentctl counters). If it is a setting, the line "
      "names it."}},

    {"says-over-limit",
     software,
     "exceeded max|exceeds max|exceed max|exceeds the max|exceed the max|exceeded the max|more than allocated|more "
     "than the allocated|more than the max|more than max|larger than the max|larger than max|greater than the "
     "max|greater than max|above the maximum|over the maximum|unsupported*depth|unsupported*size|priority is out of "
     "range|max*vector =|exceeds "
     "device|exceeds the device",
     {"The message says that the program asks for more than the device, the library or the function has: a number of "
      "queues, GPUs or entries, a depth, or a size. The line names the value or the limit. Ask for less (an option or "
      "a variable of the program), or give the function more; the device itself reports no fault."},
     false,
     {.words =
          "retr|attempt|temperature|timeout|^time|power|^rate|thermal|^errors|error count|open files|memlock|locked"}},

    {"says-no-context",
     software,
     "no active*cuda context|no cuda context|no*primary context|no current context|without a cuda context|no*hip "
     "context",
     {"The message says that the program called a library before it chose a GPU and made its context (CUDA, HIP), so "
      "that memory or network functions of the GPU are not available there. Let the program choose its GPU first "
      "(cudaSetDevice, and a call that makes the context); a variable that the line names may help meanwhile."}},

    {"says-slots",
     software,
     "not enough slots|slots available|more processes than|more ranks than|oversubscrib",
     {"The message says that the launcher was asked for more processes than the hosts of the job have slots. Compare "
      "the number of processes with the allocation and the host file."}},
    {"says-threads",
     host,
     "fork rejected by|fail*create*thread|unable*create*thread|could not create*thread|cannot create*thread|can't "
     "create*thread|couldn't create*thread|creating*thread*fail|create*thread*fail|fail*start*thread|start new "
     "thread|cannot start*thread|fail*spawn*thread|thread creation failed|pthread_create",
     {"The message says that the process could not start another thread: a limit of processes and threads is reached "
      "(ulimit -u, pids.max of the cgroup of the container or job, kernel.threads-max), or memory is used up. Raise "
      "the limit, or find the process that has the threads."},
     false,
     {.words = "thread-safe|thread safe|thread level|threadpool_size"}},

    {"says-limit-fixed",
     host,
     "cannot modify limit|can't modify limit|setrlimit",
     {"The message says that a process may not raise a limit of its own, such as that of locked memory (ulimit -l), "
      "over the hard limit: it goes on with the lower one, and registration of RDMA memory fails later. Raise it where "
      "the process is started: LimitMEMLOCK=infinity in the unit (slurmd, sshd, containerd), --ulimit memlock=-1 of "
      "the container, limits.conf for logins."}},

    {"says-used-up",
     host,
     "out of memory|cannot allocate|can't allocate|could not allocate|failed to allocate|failed to alloc |couldn't "
     "alloc|unable to alloc |cannot alloc |open more|maximum is|unable to allocate|allocation failed|allocation "
     "failure|alloc failed|no memory|enomem|too many open files|no space left|quota exceeded|over quota|resources "
     "exhausted|resource exhausted|out of resources|insufficient resources|not enough|insufficient memory|insufficient "
     "space|insufficient buffer|insufficient credit|limit reached|limit exceeded|exceeds the limit|exceeds limit|no "
     "more memory|no more space|no more resources|no more entries|no more room|no free|ring is full|out of * space|out "
     "of * memory|out of * entries|limit * is too small|shared memory limit|resource pressure|memory "
     "pressure|oom-kill|oom kill|max_map_count|doca_error_no_memory|doca_error_full",
     {"The message says that a resource of this host is used up or limited: memory, locked memory (ulimit -l), open "
      "files, queue pairs or memory keys of the NIC, disk, or /dev/shm of the container (--shm-size, --ipc=host). "
      "Raise the limit or find the process that uses it."},
     false,
     // "failed to allocate the algorithm: -2" (ENOENT) is no lack of resources.
     {.other_errors = "ENOMEM|ENOSPC|EAGAIN|EMFILE|ENFILE|ENOBUFS|EDQUOT|EINVAL|EPERM"},
     Says::used_up},

    {"says-queue-full",
     software,
     "array full|buffer full|queue full",
     {"The message says that a queue or buffer of a program is full: more arrives than it takes out. The program or "
      "its host is too slow or stopped (its CPUs, its other threads), or the queue is too short for the sender. No "
      "device reports a fault."}},

    // An errno of a device, not of a lack of memory.
    {"says-not-made",
     unknown,
     "failed to allocate|failed to alloc |cannot allocate|can't allocate|could not allocate|couldn't alloc|unable to "
     "alloc|allocation failed",
     {"The message says that an object was not made, but its errno is that of a device or a connection, not of a lack "
      "of memory. This is a consequence: a step of it failed, which an earlier line of this process names."},
     false,
     {.only_errors = "EIO|ECANCELED|ECONNRESET|EPIPE|ENODEV|ENXIO"}},

    {"says-shared-memory",
     host,
     "shm_open*no such file|shm_open*permission|shm_open*failed|shm_open*not permitted|shared memory*no such file|"
     "shared memory*permission denied|/dev/shm*no such file|/dev/shm*permission denied",
     {"The message says that a segment of shared memory (a file in /dev/shm) of another process of this host cannot be "
      "opened: the process has ended, or has not made it yet; something removed the file (clean-up scripts, RemoveIPC= "
      "of systemd); or the processes are in containers or of users that do not share it (--ipc=host). Look whether "
      "another rank of this host died before, then at space and mount of /dev/shm."}},

    {"says-killed",
     software,
     "sigkill|sigbus|sigsegv|sigabrt|signal 9|signal 7|signal 11|signal 6|segmentation fault|core dumped|bus error "
     "(core|error: bus error|(bus error)|bus error:|was killed|return code = -|exit code -|exitcode: -|exit code: -",
     {"The message says that a process ended by a signal: 7 (bus error) if /dev/shm of the container is full, 9 if "
      "memory is used up or the launcher ended it, 11 and 6 by a fault of the program. The kernel log, and the first "
      "error of this process, say which."},
     true},

    // A part of this host, or of the machine, that its driver or a service asks: no other host takes part.
    {"says-part-silent",
     host,
     "device*not respond|card*not respond|adapter*not respond|^gpu*not respond|^nic*not respond|^hca*not respond|"
     "firmware*not respond|nvswitch*not respond|^bmc*not respond|drive*not respond|disk*not respond|module*not "
     "respond|transceiver*not respond|sensor*not respond|eeprom*not respond|^cpld*not respond|^psu*not respond|"
     "pcieport*not respond|processor*not respond|^cpu*not respond|irisc*not respond|^gsp*not respond",
     {"The message says that a part of this machine does not answer: the device, firmware or driver that the line "
      "names. No other host takes part. Look in the kernel log for the first error of this part, and for errors of "
      "PCIe (AER) before it. ",
      {Work::in_machine, "If a reset of the part does not bring it back, power-cycle the node; "},
      "update its firmware if it recurs."},
     false,
     // A node or a peer that has the part.
     {.words = "^node*not respond|^host*not respond|^peer*not respond|remote*not respond|server*not respond|worker*not "
               "respond|^rank*not respond"},
     Says::timeout},

    // Silence is no proof of a place. An end that closes, refuses or reports is one: the next conditions.
    {"says-no-answer",
     unknown,
     "not respond|no response|no reply|unresponsive|heartbeat|keep alive timeout|keep-alive timeout|keepalive "
     "timeout|hold timer expired|marked dead|marked*as dead|^evicting client|lost connection|connection "
     "lost|connection was lost",
     {"The message says that the other end did not answer, or was not heard, in time. That does not show the place: "
      "the process or host at the other end ended or hangs, the path between loses packets, or this host does not "
      "send or receive. An error in the log of the other end before this time decides for that end. Without one, "
      "compare: if other hosts reach the other end, look at the port of this host; if this host reaches others, look "
      "at that of the other end; if both, at the path between them."},
     false,
     {.errors = "EREMOTEIO|ECONNRESET|ECONNREFUSED|EPIPE",
      .words = "firmware|^fw |admin response|adminq|mailbox|^hwrm|by remote|by peer|^crashed|^exited|^died|broken "
               "pipe|was killed"},
     Says::unanswered},

    {"says-peer-ended",
     peer,
     "connection reset|reset by peer|connection closed|closed by peer|closed the connection|closed by remote|socket "
     "closed|broken pipe|unexpected eof|^eof,|reading from server: eof|unexpectedly closed|unexpectedly exited|has "
     "unexpectedly|disconnected|lost connection|connection lost|connection was lost|heartbeat|marked dead|marked*as "
     "dead|peer failed|peer failure|remote *crashed|remote *failed|remote *exited|node failure|is dead|^died|not "
     "connected|transport endpoint|doca_error_connection_|doca_error_not_connected|doca_error_shutdown",
     {"The message says that another process or host ended, or closed the connection. Look first at its own log, at "
      "the place that the line names: its first error, memory and exit code; then at the path to it."},
     false,
     // "Remote I/O error" is of the firmware of a device, as an answer to an administration queue is.
     {.errors = "EREMOTEIO", .words = "firmware|^fw |admin response|adminq|mailbox|^hwrm"},
     Says::peer_ended},

    {"says-rejected",
     peer,
     "connection refused|connection was refused|connections refused|refused by|refused the connection|refused the "
     "request|refused the login|refused connection|request refused|access refused|connection*rejected|connection "
     "reject|request*rejected|rejected by|rejected*request by|rejected request|rejected the request|rejected "
     "connect|rejected the connection|rejected:|login rejected",
     {"The message says that the other end refused the request: nothing listens there, its program is not ready, or it "
      "does not accept these parameters. Look at its log and at the address and port."},
     false,
     {},
     Says::rejected},

    {"says-unreachable",
     network,
     "host unreachable|is unreachable|are unreachable|destination unreachable|unreachable host|host is down|no "
     "route|hostunreach|network error|cannot reach|could not reach|not reachable",
     {"The message says that there is no path to the other end: no route or gateway on this host, a link that is down, "
      "or a host that is off. ip route get ADDRESS, then ping."},
     false,
     {.words = "memory is unreachable"},  // by the transports of the program
     Says::unreachable},

    {"says-path-permission",
     host,
     "cgroup*permission denied|cgroup*not permitted|cgroup*read-only|mount*permission denied|mount*not "
     "permitted|permission denied*mount|/home/*permission denied|/tmp*permission denied|/var/*permission "
     "denied|/sys/fs*permission denied",
     {"The message says that the process may not use this path: mode and owner of the file or of a folder above it; on "
      "a network file system, root of another host has no rights (root_squash); below /sys/fs/cgroup, a container or a "
      "job that is started without root may not change the cgroup of the job. It reports no fault of a device."}},

    {"says-permission",
     host,
     "permission denied|not permitted|access denied|unauthorized|no permission|insufficient "
     "privilege|insufficient*permission|requires root|"
     "must be root|not authorized|forbidden|doca_error_not_permitted|doca_error_authentication",
     {"The message says that the process or user lacks a permission. If the line names a file, its mode and owner; for "
      "RDMA and GPUs: the mode or cgroup of a device file in /dev/infiniband or of a GPU, a capability of the "
      "container (IPC_LOCK); else a security policy, or a user or credential that the other program does not accept."}},

    {"says-old-option",
     none,
     "is deprecated|are deprecated|replaced by|is defunct|please remove it from|is obsolete|are obsolete|has no "
     "effect|have no effect",
     {"The message says that an option or a variable is old, and is ignored or has a new name: the program goes on. "
      "Harmless; remove it, or use the new name."},
     false,
     {.words = "fatal|fail|abort|cannot|no longer|not support"}},
    {"says-configuration-file",
     host,
     "configuration error|config error|config file|configuration file|misconfigur|syntax error|parse error|parsing "
     "error|unrecognized key|unknown key|cannot parse|could not parse|failed to parse|invalid syntax",
     {"The message says that a configuration file of this host has an error, or a value that the program does not "
      "accept. The line, or the one before it, names the file and the entry. Correct it and restart the service."}},
    {"says-configuration",
     software,
     "both*are specified|both*are set|mutually exclusive|cannot be used with|can't be used with|cannot be used "
     "together|cannot be combined|can't be combined|only supported with|only supported for|supported only "
     "for|supported only with|is only supported|are only supported|not supported with|not supported in *mode|must be "
     "enabled|unknown connection type|unsupported transport|conflicts with|you have chosen|you chose|please "
     "select|please set|please specify|invalid value|invalid option|invalid configuration|invalid number of|invalid "
     "parameter|bad * parameter '|illegal "
     "value|bad value|unknown option|unknown argument|unknown parameter|unrecognized|must be set|must be "
     "specified|must be a|must be one of|must be the same|must be identical|is not valid|not a valid|missing "
     "required|environment variable is|environment "
     "variable*not set|environment variable*invalid|wrong environment variable|bad environment variable|^usage:|across "
     "ranks|between ranks|all ranks|do not match|does not match|mismatch|inconsistent|truncated|different "
     "number|number of*must|disabled or failed|doca_error_invalid_value|doca_error_bad_config|doca_error_too_big",
     {"The message says that something was asked for that does not fit: an option, a variable of the environment, a "
      "value of a configuration file, or settings and sizes that differ between the ranks. The line names it. Compare "
      "it on all hosts and ranks, and correct it."},
     false,
     {.words = "cookie"},  // the answer of a firmware
     Says::other,
     Complaint::any},

    // EAGAIN; also a service behind HTTP (503).
    {"says-temporary",
     unknown,
     "temporarily unavailable|try again later|doca_error_again",
     {"The message says that something was full or in use at this moment: a queue, a lock, a limit of processes or "
      "threads, or a service that restarts. Most programs try again. If the line repeats, find what does not get done: "
      "completions that are not polled, a peer or a service that hangs, or a limit (ulimit -u, pids.max of the "
      "cgroup)."}},

    // The subject is the program, or a part of it that lacks what another one requires: the device is as it should be.
    // A driver that requires something of a device or a kernel is another case.
    {"says-asked-unsupported",
     software,
     "application*requested*not support|application*used*not support|application*asked*not support|user requested*not "
     "support|requested*but*does not support|requested*but*not supported|requested*but*doesn't "
     "support|requested*but*supports only|required, "
     "but*^plugin*not support|required, but*^provider*not support|required, but*^library*not support|communicator does "
     "not support|^fi_* is not supported|flag*not supported|unsupported flag|unsupported*flags|unsupported "
     "attribute|in init attr",
     {"The message says that the program, or a variable of its environment, asks for something that this device, "
      "plugin or library does not offer. Remove the request, or use a device, plugin or release that has it; the "
      "device itself reports no fault."}},

    {"says-listen",
     software,
     "failed to listen|fail*to get listen|cannot listen|can't listen|could not listen|unable to listen|fail*to start "
     "listening|listen failed|listen() failed|fail*to start*server on port",
     {"The message says that the program cannot listen on its port: another process of this host has it (an earlier "
      "job that did not end), the address is not of this host, or it may open no more files (ulimit -n). ss -ltnp "
      "shows who has the port; end that process or use another port."},
     false,
     {.words = "unix|.sock"}},
    {"says-not-reset",
     host,
     "fail*fw reset|failed to reset|reset failed|unable to reset|could not reset|cannot reset|cannot be reset|reset "
     "was unsuccessful|reset*not successful",
     {"The message says that a device or its firmware could not be reset: it stays as it was, mostly unusable. The "
      "lines before this one have the reason for the reset. ",
      {Work::ends_jobs, "Reload its driver; "},
      {Work::in_machine, "power-cycle the node if that does not help, "},
      "and update its firmware."},
     false,
     {.words = "connection|counter|statistic|inform|notify|^qp|queue pair|password|endpoint|stats|job|state"}},

    {"says-interrupts",
     host,
     "enable msi|setup irq|setup remaining irq|setup msi|set up msi|set up irq|re-start irq|restart irq|allocate "
     "irq|alloc*irq vector|irq vectors*fail|msix vectors*fail|msi-x vectors*fail|request_irq*fail|request irq*fail",
     {"The message says that a device got no interrupt vectors (MSI-X), or not all: they are used up by other devices, "
      "many queues or virtual functions, or the platform or hypervisor gives the device too few. Reduce queues or "
      "functions",
      {Work::ends_jobs, "; then reload the driver or reboot"},
      "."}},

    {"says-unsupported",
     host,
     "not supported|unsupported|does not support|doesn't support|no support|not implemented|not capable|only "
     "supports|not available|unavailable|not enabled|is disabled|provider is supported|doca_error_not_supported",
     {"The message says that this hardware, driver, firmware or kernel does not offer what the program asks for, or it "
      "is switched off. Compare the versions with what the program requires; a newer driver or firmware, or an option "
      "of the program that does without it."},
     false,
     {.errors = "EAGAIN"},  // "Resource temporarily unavailable"
     Says::unsupported,
     Complaint::of_nic_driver},

    // An object of the program or the library, not a device or a file.
    {"says-no-object",
     software,
     "find connection|find the connection|find a connection|find endpoint|find the endpoint|find communicator|find "
     "request|find the request|find handle|find the handle|find mapping|find the mapping|find a mapping|find window|"
     "find matching request|connection not found|endpoint not found|request not found|handle not found|no connection "
     "for|no endpoint for|unknown handle|unknown request|no such request",
     {"The message says that the library has no record of an object that it was asked for: a connection, a peer, a "
      "request or a handle that was never made, or was removed before. Usual causes: calls of the program in the wrong "
      "order, or a peer that left; the line reports no fault of a device. Look at earlier errors of this process."},
     false,
     {.words = "connection for * sec|connection for * min|connection for * ms"}},  // a time

    {"says-no-path",
     network,
     "find*reachable|no reachable interface|reachable pairing|no common subnet|no common network|no shared subnet|no "
     "shared network",
     {"The message says that no address of this host and of the other end reach each other: the program took "
      "interfaces of other subnets, or of containers and virtual machines (docker0, virbr0), or there is no route. "
      "Name the interface of the network that all hosts have (btl_tcp_if_include, NCCL_SOCKET_IFNAME, "
      "UCX_NET_DEVICES); ip route get ADDRESS."}},

    {"says-absent",
     host,
     "no such device|no such file|no device|not found|does not exist|doesn't exist|could not find|couldn't find|cannot "
     "find|can't find|unable to find|failed to find|missing|nothing found|_not_found|no usable|no suitable|no "
     "active|no valid|no available|could not open|cannot open|unable to open|failed to open",
     {"The message says that a device, file, address or library is absent: it is not in the container, its driver or "
      "package is not loaded or installed, or the name is wrong. If the line names a path, look there first; for RDMA "
      "and GPUs compare with the host: ls -l /dev/infiniband, ibv_devices, nvidia-smi."},
     false,
     // A queue, endpoint or counter that cannot be opened is made, not found.
     {.words =
          "invalidarg|invalid arg|already exist|open*^cq|open*completion queue|open*^eq |open*event queue|open*^ep "
          "|open*^endpoint|open*^domain|open*^counter|open*^cntr|open*^av |open*^srx|open*address vector"},
     Says::absent},

    {"says-service-address",
     peer,
     "fail*to connect*://|unable to connect*://|could not connect*://|cannot connect*://|can't connect*://",
     {"The message says that nothing answered at the address in the line. If it is of this host (localhost, "
      "127.0.0.1), the program that should listen does not run here, or at another port (ss -ltnp); else look at the "
      "other host and its log, then at names, proxies and firewalls between."}},

    {"says-ssh",
     host,
     "ssh *status 255|ssh *returned 255",
     {"The message says that ssh itself failed (255), not the command on the other host: no key or permission for "
      "this user, an unknown name or host key, or nothing answers at its port. Run the same ssh command by hand from "
      "this host."},
     true},

    {"says-command-failed",
     unknown,
     "exit status 1|exit status 2|exit status 3|exit status 4|exit status 5|non-zero exit|nonzero exit|exited with "
     "status",
     {"The message says that a command or program that was started ended with an error, and the line has only its exit "
      "status. Its own output, in the lines before this one or in its log, has the reason: read which command failed, "
      "and run it by hand on this node."}},

    {"says-device-silent",
     host,
     "fw went bad|firmware went bad|hwrm*timeout|hwrm*timed out|firmware*timeout|firmware*timed out|^fw *timeout|admin "
     "queue*timeout|adminq*timeout|mailbox*timeout|mailbox*timed out|admin response|tx timestamp|admin queue*timed out",
     {"The message says that a device of this host, or its firmware, did not answer its driver in time. The first such "
      "line of the kernel log, and PCIe errors (AER) before it, are nearest to the cause. ",
      {Work::ends_jobs, "Reset the device or reload its driver; "},
      "update its firmware if it recurs."},
     false,
     {},
     Says::timeout},

    {"says-unanswered",
     network,
     "dial tcp*i/o timeout|dial tcp*timed out",
     {"The message says that an address did not answer at all: packets to it, or back, are dropped by a firewall or a "
      "route, the rules of a service address are absent (kube-proxy, CNI), or the host is off. Test the address and "
      "port from this host; a program that is down would refuse the connection instead."},
     true},

    {"says-timeout",
     unknown,
     "timed out|timeout|time out|deadline exceeded|^stalled|^hang|^hung|stuck|not making progress|no progress|"
     "exceeded retries|exceeded error retry|retries exceeded|retry count exceeded|retry attempts|waiting for "
     "remainder|more than 60 seconds|did not complete|retry limit|too many retries|doca_error_time_out",
     {"The message says that something did not end in time: another rank or host that ended, hangs or is slow, a path "
      "that loses packets, or a call of the driver that hangs. Look first at the place that the line names, and at "
      "errors before this line."},
     false,
     {},
     Says::timeout,
     Complaint::with_errno,
     "ETIMEDOUT"},
};

// By words and component. The first that applies.
constexpr Combination kCombinations[] = {
    {Says::timeout | Says::peer_ended | Says::unanswered,
     Printer::nic_driver,
     {"driver-says-timeout",
      host,
      "",
      {"The message says that the firmware of the NIC, or the PF driver of a virtual function, did not answer the "
       "driver. The first such line of the kernel log is nearest to the cause; look at devlink health and PCIe errors "
       "(AER). ",
       {Work::ends_jobs, "Reset the NIC or reload its driver; "},
       "update the firmware if it recurs."}}},
    {Says::timeout | Says::peer_ended | Says::unanswered,
     Printer::gpu,
     {"gpu-says-timeout",
      host,
      "",
      {"The message says that the GPU or its firmware did not answer the driver: it hangs or has failed. The first "
       "such line of the kernel log is nearest to the cause (Xid, RAS, PCIe). ",
       {Work::ends_jobs, "Reset the GPU or reboot; "},
       "update driver and firmware, or replace the GPU, if it recurs."}}},
    {Says::timeout | Says::unanswered,
     Printer::storage,
     {"storage-says-timeout",
      unknown,
      "",
      {"The message says that the other end of a storage connection (the server or target, for a server its client) "
       "did not answer in time. That does not show the place. If other hosts use the same server, look at the RDMA "
       "port and link of this host; if this host uses other servers over the same port, look at the state, load and "
       "log of this server; if both are true, look at the path between them."},
      false,
      {},
      Says::unanswered}},
    {Says::peer_ended | Says::rejected,
     Printer::storage,
     {"storage-says-refused",
      peer,
      "",
      {"The message says that the storage server or target refused or ended the connection: it can be reached. Look at "
       "its state and log at this time, at its address and port, and at what it permits this host."}}},
    {Says::timeout | Says::peer_ended | Says::unanswered | Says::unreachable,
     Printer::fabric,
     {"fabric-says-timeout",
      network,
      "",
      {"The message says that a node or switch did not answer the management packets of the fabric (MAD): it is down "
       "or restarts, or a link or route to it is bad. Compare iblinkinfo and ibqueryerrors with the address in the "
       "line."}}},
    {Says::timeout | Says::peer_ended | Says::unanswered | Says::absent | Says::unsupported | Says::used_up |
         Says::not_loaded | Says::not_fitting,
     Printer::switch_software,
     {"switch-says",
      network,
      "",
      {"The message says that a service of the switch did not find or reach what it needs, or the switch does not "
       "offer it. Look at the switch: show logging, show interfaces status, and its last change of the "
       "configuration."}}},
    {Says::timeout | Says::peer_ended | Says::unanswered | Says::rejected,
     Printer::node_service,
     {"node-says-timeout",
      host,
      "",
      {"The message says that a service of this node did not answer: the container runtime, a device or network "
       "plugin, a driver container, or the API server. Look at the state of the one that the line names: systemctl "
       "status, kubectl get pods -A -o wide, journalctl -u kubelet -u containerd."}}},
    {Says::timeout,
     Printer::ranks,
     {"ranks-say-timeout",
      peer,
      "",
      {"The message says that the other end of a TCP connection (a daemon, rank, store or master) did not answer in "
       "time: it did not start, ended or hangs, or a firewall or a wrong interface is between. Look at its own log "
       "first, then at its address and port."}}},
    {Says::absent | Says::not_loaded,
     Printer::slurm,
     {"slurm-says-absent",
      host,
      "",
      {"The message says that a plugin, library, file or directory of Slurm is absent on this node: its package is not "
       "installed, this Slurm was built without the library (munge, PMIx, NVML, hwloc, D-Bus for cgroup/v2), or the "
       "path of the configuration is wrong. Compare with a node that works: PluginDir and SlurmdSpoolDir of scontrol "
       "show config, and ldd of the plugin."}}},
    {Says::absent | Says::not_loaded,
     Printer::node_service,
     {"container-says-absent",
      host,
      "",
      {"The message says that a file, device or program that the container needs is absent on this node: the driver or "
       "its libraries (nvidia-smi on the host), a device file of /dev, a CDI or CNI file (/etc/cdi, /etc/cni/net.d, "
       "/opt/cni/bin), a netdev, or a driver container that is not ready."}}},
    {Says::absent,
     Printer::nic_driver,
     {"driver-says-absent",
      host,
      "",
      {"The message says that the driver did not find or could not open a part of the NIC: an interface, a function, a "
       "table or a queue of its firmware. Usual causes: an error or a reset before it, resources that are used up, or "
       "a firmware that does not fit the driver. The port or the feature does not start. The first line of this NIC in "
       "the kernel log is nearest to the cause."}}},
    {Says::used_up,
     Printer::dpdk,
     {"dpdk-says-used-up",
      host,
      "",
      {"The message says that DPDK has no memory left: too few huge pages on the NUMA node of the NIC, or a pool of "
       "buffers (mbufs) that is smaller than the rings of all queues. Reserve more huge pages, give the program more "
       "memory (--socket-mem, dpdk-socket-mem, more mbufs), or use fewer and shorter queues."}}},
};

// The meaning of a failed step of any library, by the first verb of its message after the mark of the program and the
// source file. Only for components whose cause is not known otherwise.
struct FailedStep {
  std::string_view verbs;
  Condition condition;
};
constexpr FailedStep kSteps[] = {
    {"destroy|^close|^free |^freeing|_free |dealloc|dereg|de-reg|unregist|unmap|munmap|unbind|unpin|^release|detach|"
     "finaliz|teardown|tear down|shut down|shutdown|cleanup|clean up|roll "
     "back|disconnect|fi_close|_release|^purge|^abort",
     consequence({"step-frees",
                  unknown,
                  "",
                  {"The message says that an object could not be freed at the end of a connection or of the process. "
                   "After another error it is a consequence: look at the first error of this process. Without one it "
                   "is harmless, because the kernel frees the RDMA objects of a process that ends; only in a process "
                   "that runs on, objects are used up in time."}})},
    {"^parse|parsing|^decod|^encod|^pack |^packing|^unpack|serializ|^convert",
     {"step-internal-data",
      software,
      "",
      {"The message says that a value or a message could not be read or written: it is not in the form that the "
       "library expects. Usual causes: releases of the two ends that do not fit each other, an argument of the "
       "program, or a variable or name in another form. The line reports no error of the network or of a device."}}},
    {"^open|^create|creating|creation|^init|initiali|^query|^queried|^bind|binding|^enabl|^map|mapping|^regist|"
     "registration|^alloc|allocat|_alloc|^retriev|^read |^load|^set "
     "|^setting|^determin|^discover|^detect|^poll|^arm|^re-arm|^requesting|to request|n't "
     "request|^notify|^modify|^modif|^set up|^setup|^start|^find|^get "
     "|^getting|ibv_create|ibv_query|mlx5dv_|_devx_|ibv_alloc|ibv_req|ibv_open|ibv_get|fi_fabric|fi_domain|fi_getinfo|"
     "fi_endpoint|fi_mr|fi_cq_open|fi_av|cumem|^cuda|^cu_|^copying|^build|^construct|^attach|modex "
     "send|^publish|^rename|^resize|^listen|^pin |^export|^import|^add |^adding|^insert",
     {"step-prepares",
      host,
      "",
      {"The message says that a step on this host failed: something of its RDMA device, GPU or memory could not be "
       "opened, made or read. Usual causes: a device that is not in the container, in reset or gone, a limit (memlock, "
       "queue pairs, memory of the GPU), libraries and a driver that do not fit, or a value that the device does not "
       "have. The errno or the line before has the reason."}}},
    {"^send|^sent|_send|^recv|_recv|receiv|^post|_post|repost|^write request|^writev|progress|^flush|^put |^get "
     "request|request completed|^gfd|transfer|^submit|completed with error|during rma|^amo|during "
     "amo|notification|^credit|completion|_fence|^fence|^quiet|flow-control",
     {"step-transfers",
      unknown,
      "",
      {"The message says that a transfer on an open connection failed, and the line does not show why: the connection "
       "had failed before (the other process ended, or packets were lost), or the library rejects the request. Look at "
       "the first error of this process and of the process at the other end: a completion with a status, or the errno "
       "of the request."}}},
    {"connect|accept|handshake|exchange|distribut|modex|resolve|^join|rendezvous",
     {"step-connects",
      unknown,
      "",
      {"The message says that a connection between two processes was not made. Both ends take part: see whether the "
       "other process runs and what it reports, then whether its address can be reached from here (interface, "
       "firewall, GID). If no address of this host is named either, look at the devices of this host first."}}},
};
// A state that the library excludes, or a call in the wrong order: it needs no verb of a step. The first ones decide
// wherever they are in the line; the others only before the verb.
constexpr std::string_view kExcludedStates =
    "uninitiali|been initialized|not initialized|not been set|has not been|out of "
    "bounds|non-existent|nonexistent|no "
    "request found|before connection|called when|called get|unsupported type|unsupported request|unsupported "
    "completion|unsupported opcode|already connected|already in |in unknown state|<= 0|already released|no rkey|not "
    "registered|not compiled|bogus|incomplete|not configured with|built without|out of range|not power of|not a power "
    "of|was invalidated|^was incorrect|not have valid|can't be gr|cannot be gr|is not connected|in wrong state|in "
    "state ";
constexpr std::string_view kInternalWords =
    "unexpected|^unknown |^unkown|unrecogni|^invalid|null |nullptr|^wrong|not empty|inconsistent|mismatch|is not "
    "ready|exceeds|larger than|greater than|bigger than|is zero|^no lane|no valid|^no transport|is "
    "neither|^neither|^insufficient|^called|^trying to|^attempt";
// Names of programs that have one of these verbs or words.
constexpr std::string_view kNamesWithVerbs[] = {"open mpi"};
constexpr Condition kInternal{
    "step-internal",
    software,
    "",
    {"The message says that the library found a state, a value or an order of calls that it excludes. The line reports "
     "no error of the network or of a device. Usual causes: a call or an argument of the program above, releases of "
     "the two ends or of two libraries that do not fit each other, or an earlier error of this process, after which "
     "its state is not valid: look at its first error."}};
// An object that the call needs is absent, because it was not made.
constexpr std::string_view kWithoutObject = "is null|null pointer|null argument";
constexpr Condition kNoObject =
    consequence({"step-without-object",
                 unknown,
                 "",
                 {"The message says that the library was given an empty pointer in place of an object that it needs: "
                  "the object was not made before. This is a consequence of an earlier error of this process, which "
                  "its first error line names; without one, it is a fault of the program or the library."}});
constexpr std::string_view kRefusedWords =
    "request|invalid|not support|unsupported|^already|must |only |cannot be|can't be|cannot change|can't change|cannot "
    "set|can't set|cannot enable|can't enable|not allowed|exceed|out of range|in use|too many|too large|too "
    "small|limit";
constexpr std::string_view kAtLink = "^link|module|^sfp|cable|speed|^fec|autoneg|transceiver";
constexpr Condition kDriverRefuses{
    "step-refused",
    host,
    "",
    {"The message says that the driver refuses something that was asked for on this host: a setting, a number of "
     "queues, a filter, a request of a virtual function. The NIC does not have it, or not in its present mode; the "
     "former value stays. Find the program that asks for it (ethtool, tc, a service, a virtual machine)."}};
constexpr Condition kDriverFails{
    "step-of-driver",
    host,
    "",
    {"The message says that a step of the driver on this host failed: mostly the firmware rejected or did not answer a "
     "command, the NIC was in a reset, or its resources or memory of the host are used up. The first line of this NIC "
     "in the kernel log is nearest to the cause; the network and other hosts take no part in it."}};
// Without the mark of the program and the source file: "... UCX  ERROR ", "E1129 ... ucx_utils.cpp:212] ".
std::string_view message_of(std::string_view small) {
  constexpr std::string_view kMarks[] = {"nccl warn ", "nccl error ", "<warn> ",   "<critical> ",       "ucx  error ",
                                         "ucx  warn ", "ucx  fatal ", "  error: ", "non-zero status: ", "null value "};
  for (const std::string_view mark : kMarks)
    if (const size_t at = small.find(mark); at != std::string_view::npos) return small.substr(at + mark.size());
  constexpr std::string_view kFiles[] = {".cpp:", ".cc:", ".c:", ".cu:", ".hpp:", ".h:"};
  for (const std::string_view file : kFiles)
    if (const size_t at = small.find(file); at != std::string_view::npos)
      if (const size_t end = small.find_first_of(" ]", at); end != std::string_view::npos) return small.substr(end);
  return small;
}

// The position of the first of these, npos without one.
size_t first_of(std::string_view text, std::string_view words) {
  size_t first = std::string_view::npos;
  while (!words.empty()) {
    std::string_view word = cut(words, '|');
    const bool is_begin = word.starts_with('^');
    if (is_begin) word.remove_prefix(1);
    for (size_t at = text.find(word); at < first; at = text.find(word, at + 1))
      if (!is_begin || at == 0 || !is_word_letter(text[at - 1])) {
        first = at;
        break;
      }
  }
  return first;
}

// A line of the kernel or of another service must name one of these, so that its words mean a GPU, a NIC, the network
// or a job.
constexpr std::string_view kSubjects =
    "gpu|cuda|nvidia|nvrm|nvlink|nvswitch|nvlsm|^imex|rocm|^hip|^xid|nccl|rccl|rdma|^roce|infiniband|^ib_|^ib "
    "|^ib0|ibv_|verbs|mlx|bnxt|^ice "
    "|^ice:|^ice_|ionic|^efa|^hns|i40e|ixgbe|^qed|cxgb|^mana|^ucx|^ucp|^uct|^mpi|openmpi|pmix|^prte|^orte|slurm|^srun|"
    "torch|^rank|collective|^job|^aer:|^dpc:|^mce:|^edac|hardware error|^thermal |^thermal_zone|^pci|^0000:|cpu "
    "temperature|throttl|^eth|^ens|^enp|^eno|^bond|netdev|^nic|^swp|^po1|portchannel|interface|^gid|^guid|^lid|^vf|"
    "sriov|sr-iov|xcvr|^sfp|qsfp|optic|transceiver|switchdev|swss|syncd|orchagent|lldp|^bgp|lacp|^%|lustre|^lnet|"
    "networkd|network connectivity|nvme-fabrics|nvmf|^rpc:|gpfs|mmfs|^gdr|peermem|^dma-buf|iommu|numa|memlock|cmci|"
    "^bug: kernel|^bug: unable|^oops: *[#|general protection fault*[#|kernel bug at |kernel panic - ";
// Services and tools whose lines have no "NAME[PID]:".
constexpr std::string_view kOtherPrograms =
    "[error] *#*: |[error] [client|[error] jk2|[warn] *#*: |[crit] *#*: |\" http/1.|\" http/2|utc [*] error:|utc [*] "
    "fatal:|[*] error:  |^wandb:|^pip:|error: pip|^git:|^fatal: "
    "|huggingface|keyerror:|valueerror:|typeerror:|indexerror:|attributeerror:|filenotfounderror:|quorumcnxmanager|"
    "gnome|dbus|rsyslogd:";
// Lines of a healthy start, or settings, although a word of them is one of errors.
constexpr std::string_view kOrdinary =
    "module verification failed|timeout set to|startup timeout|socket timeout:|idle timeout|s timeout @|"
    "omp_num_threads environment variable|machine check architecture supported|machine check reporting enabled|"
    "firmware first mode";

// Whether it has the beginning of a line of the kernel or of a service: "[   12.345] ", " kernel: ", "NAME[PID]: ".
bool has_program(std::string_view line) {
  if (line.starts_with('[')) {
    const std::string_view time = trim(line.substr(1, line.substr(1).find(']')));
    if (!time.empty() && time.find('.') != std::string_view::npos &&
        time.find_first_not_of("0123456789.") == std::string_view::npos)
      return true;
  }
  if (line.find(" kernel: ") != std::string_view::npos) return true;
  for (size_t end = line.find("]: "); end != std::string_view::npos; end = line.find("]: ", end + 1)) {
    size_t at = end;
    while (at > 0 && is_digit(line[at - 1])) --at;
    if (at == end || at < 2 || line[at - 1] != '[') continue;
    const char before = line[at - 2];
    if (is_digit(before) || (before >= 'a' && before <= 'z') || before == ')') return true;
  }
  return false;
}

// By the condition's OtherMeaning.
bool is_denied(const Condition& condition, const LogLine& line) {
  const OtherMeaning& denied = condition.denied;
  const std::string_view error = line.codes.error;
  if (!denied.only_errors.empty() && !has_word(denied.only_errors, error)) return true;
  if (!error.empty() && has_word(denied.errors, error)) return true;
  if (!error.empty() && !denied.other_errors.empty() && !has_word(denied.other_errors, error)) return true;
  return !denied.words.empty() && has_any(line.small, denied.words);
}

// The meaning of the failed step of a driver, or of a library by its verb. If the component has one cause, only that of
// a consequence. nullptr: no step is named.
const Condition* step_of(const LogLine& line, const LineMessage* component) {
  if (component == nullptr || !component->is_component()) return nullptr;
  const bool is_open = component->cause == unknown;
  if (is_open && has_any(component->kind, Printer::driver_rest)) {
    if (has_any(line.small, kAtLink) && line.codes.error.empty()) return nullptr;
    return has_any(line.small, kRefusedWords) ? &kDriverRefuses : &kDriverFails;
  }
  if (!has_any(component->kind, Printer::library) || line.codes.is_of_transfer) return nullptr;
  std::string message = without_errno_texts(message_of(line.small));
  for (const std::string_view name : kNamesWithVerbs)
    for (size_t at = message.find(name); at != std::string::npos; at = message.find(name, at))
      message.replace(at, name.size(), name.size(), ' ');
  if (is_open && first_of(message, kWithoutObject) != std::string_view::npos) return &kNoObject;
  if (is_open && first_of(message, kExcludedStates) != std::string_view::npos) return &kInternal;
  const FailedStep* found = nullptr;
  size_t first = std::string_view::npos;
  for (const FailedStep& each : kSteps)
    if (const size_t at = first_of(message, each.verbs); at < first) {
      first = at;
      found = &each;
    }
  if (const size_t at = first_of(message, kInternalWords); at < first) return is_open ? &kInternal : nullptr;
  const bool is_failure =
      first_of(message, "fail|unable|couldn't|could not|cannot|can't|^error") != std::string_view::npos;
  if (found == nullptr || !is_failure) return nullptr;
  // A component that has one cause says more than the verb, but not of a consequence.
  return is_open || found->condition.is_consequence ? &found->condition : nullptr;
}

}  // namespace

std::span<const Condition> conditions() { return kConditions; }
std::span<const Combination> combinations() { return kCombinations; }

const Condition* condition_of_error(const LogLine& line, const LineMessage* component) {
  const auto combined = [&](const Condition& condition) -> const Condition* {
    if (component == nullptr) return nullptr;
    const Combination* found = find_where(kCombinations, [&](const Combination& each) {
      return has_any(each.says, condition.says) && has_any(each.kind, component->kind);
    });
    return found == nullptr ? nullptr : &found->condition;
  };
  if (const Condition* by_words = condition_of(line); by_words != nullptr) {
    const Condition* narrower = combined(*by_words);
    return narrower != nullptr ? narrower : by_words;
  }
  if (const std::string_view error = line.codes.error; !error.empty())
    if (const Condition* same = find_where(kConditions, [&](const Condition& each) { return each.error == error; }))
      if (const Condition* by_errno = combined(*same); by_errno != nullptr) return by_errno;
  return step_of(line, component);
}

bool names_subject(const LogLine& line) {
  static const PatternList subjects(kSubjects);
  return subjects.is_in(line.small, line.small_groups);
}

bool is_of_other_program(const LogLine& line) {
  static const PatternList others(kOtherPrograms);
  return (others.is_in(line.small, line.small_groups) || has_program(line.small)) && !names_subject(line);
}

bool is_of_environment(const LogLine& line) { return line.small.find("set by environment") != std::string::npos; }

bool is_ordinary(const LogLine& line) {
  static const PatternList ordinary(kOrdinary);
  return ordinary.is_in(line.small, line.small_groups);
}

const Condition* condition_of(const LogLine& line) {
  static const std::vector<PatternList> words = [] {
    std::vector<PatternList> out;
    for (const Condition& each : kConditions) out.emplace_back(each.words);
    return out;
  }();
  for (size_t at = 0; at < words.size(); ++at)
    if (words[at].is_in(line.small, line.small_groups) && !is_denied(kConditions[at], line)) return &kConditions[at];
  return nullptr;
}

}  // namespace fabric::lines
