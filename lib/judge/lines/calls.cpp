// SPDX-License-Identifier: Apache-2.0
// A call of libibverbs, librdmacm, libfabric or the kernel that failed, by its errno: whichever library prints it.
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

using enum FaultLocation;

constexpr std::string_view kVerbs =
    "ibv_reg_mr(3), ibv_create_qp(3), ibv_modify_qp(3); Linux drivers/infiniband/core/uverbs_cmd.c, umem.c";
constexpr std::string_view kCm = "rdma_resolve_addr(3), rdma_connect(3); Linux drivers/infiniband/core/cma.c, addr.c";

// A row of a call: the errnos that it is for; none: any other.
constexpr LineMessage of(Call call, std::string_view errors, std::string_view id, FaultLocation cause,
                         const FixRow& meaning, std::string_view next, std::string_view source) {
  return {id, cause, "", meaning, next, source, 0, Role::cause, call, errors};
}

constexpr LineMessage kCallRows[] = {
    // Registration of memory.
    of(Call::registration, "ENOMEM|EAGAIN", "registration-memlock", host,
       "Memory could not be locked for RDMA. This is not a lack of RAM: the memlock limit of the process is too low "
       "(services ignore limits.conf: LimitMEMLOCK=infinity in the unit of slurmd, sshd or containerd), or the NIC, "
       "the GPU's BAR or vm.max_map_count has no room for another region.",
       "ulimit -l; fabric-agentctl check --only memlock", kVerbs),
    of(Call::registration, "EFAULT", "registration-address", unknown,
       "The memory could not be registered with the NIC, because its driver cannot reach the address. The line does "
       "not show which of two causes it is: the memory is not mapped in the process (freed, a wrong address or "
       "length), an error of the program or its library; or it is memory of a GPU, and no peer memory module is loaded "
       "(nvidia-peermem; for AMD that of the RDMA stack), or the memory needs DMA-BUF.",
       "fabric-agentctl check --only gpudirect", kVerbs),
    of(Call::gpu_registration, "EFAULT", "gpudirect-registration", host,
       "The NIC could not map GPU memory by its address: no peer memory module is loaded (nvidia-peermem; for AMD that "
       "of the RDMA stack), it does not fit the driver, or this memory needs DMA-BUF.",
       "fabric-agentctl check --only gpudirect", kVerbs),
    of(Call::registration, "EINVAL", "registration-invalid", host,
       "The NIC's driver rejects this kind of memory or access. GPU memory by its address needs a peer memory module "
       "(nvidia_peermem, amdgpu_peermem) or DMA-BUF; access flags with REMOTE_ATOMIC (8) need a NIC with atomics. "
       "Test: host memory with the same flags. If it can be registered, peer memory is missing, else atomics.",
       "ibv_devinfo -v -d {rdma} | grep atomic_cap; fabric-agentctl check --only gpudirect", kVerbs),
    of(Call::registration, "ENOKEY|EKEYREJECTED", "registration-key", software,
       "Memory could not be registered, because of its key: the program or its library asks for a key that is in use "
       "already (a region that was not freed, or one that is registered twice), or that the provider does not accept "
       "(FI_MR_PROV_KEY). No limit of memory and no device is at fault.",
       "fi_info -v | grep mr_mode", "fi_mr(3)"),
    of(Call::registration, "ERANGE|EOVERFLOW|EMSGSIZE|E2BIG", "registration-size", host,
       "The memory region is larger than the NIC or its driver can register in one piece, or lies outside of the "
       "addresses that they reach. Let the program register smaller pieces, and compare its size with max_mr_size; "
       "update the driver if the size is within it.",
       "ibv_devinfo -v -d {rdma} | grep max_mr_size", kVerbs),
    of(Call::registration, "EIO|EPERM|EACCES", "registration-refused", host,
       "Memory could not be registered for RDMA: a limit (memlock, memory regions, BAR of the GPU), no peer memory "
       "module for GPU memory, or a container without IPC_LOCK.",
       "ulimit -l; fabric-agentctl check --only memlock,gpudirect", kVerbs),
    of(Call::registration, "EOPNOTSUPP|ENOTSUPP|ENOSYS|EPROTONOSUPPORT", "registration-unsupported", host,
       "The RDMA driver or its library cannot register this kind of memory: a newer kernel, driver or rdma-core is "
       "needed, or another way to register it.",
       "uname -r; ibv_devinfo -d {rdma} | grep fw_ver; fabric-agentctl check --only gpudirect", kVerbs),
    of(Call::dmabuf, "ENOTSUPP", "dmabuf-mapping", host,
       "The driver that exports the memory, mostly that of the GPU, does not map it for this NIC: 524 is ENOTSUPP, an "
       "errno of the kernel only. The export has a mapping type (forced PCIe, data direct) that the PCIe topology "
       "between the GPU and this NIC does not allow; the kernel log has NVRM's reason. Use a newer driver of the GPU "
       "or its option for the topology (NVreg_GrdmaPciTopoCheckOverride), the NIC below the same switch, or a peer "
       "memory module (nvidia_peermem).",
       "journalctl -k -g 'dma-buf attach'; nvidia-smi topo -m; lsmod | grep peermem",
       "NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv-dmabuf.c nv_dma_buf_attach()"),
    of(Call::dmabuf, "ENOMEM|ENOSPC|EAGAIN", "dmabuf-memory", host,
       "The GPU memory did not fit: the BAR of the GPU has no room for another mapping, or the NIC has none for "
       "another memory region. It is not a lack of RAM, and the memlock limit does not count this memory. Register "
       "less: the default of NCCL_BUFFSIZE, fewer channels, fewer processes on a GPU.",
       "nvidia-smi -q -d MEMORY | grep -A 3 BAR1; rdma resource show; env | grep NCCL_BUFFSIZE",
       "Linux drivers/infiniband/core/umem_dmabuf.c, NVIDIA open-gpu-kernel-modules kernel-open/nvidia/nv-dmabuf.c"),
    of(Call::dmabuf, "", "dmabuf-registration", host,
       "GPU memory could not be registered through DMA-BUF: kernel, RDMA driver, rdma-core or GPU driver do not "
       "support it (EOPNOTSUPP), or not for this memory. NCCL_DMABUF_ENABLE=0 with a peer memory module is the other "
       "way.",
       "uname -r; ibv_devinfo -d {rdma} | grep fw_ver", "NCCL src/misc/ibvwrap.cc, rdma-core libibverbs/verbs.c"),
    of(Call::registration, "", "registration-failed", host,
       "Memory could not be registered for RDMA: memlock, peer memory for GPU memory, or limits of the NIC.",
       "fabric-agentctl check --only memlock,gpudirect", kVerbs),

    // Queue pairs, completion queues and other objects.
    of(Call::create_object, "ENOMEM|ENOSPC|EAGAIN", "object-memory", host,
       "A queue pair, completion queue or other object could not be created. ENOMEM does not mean RAM here: locked "
       "memory (the memlock limit of the process; services ignore limits.conf: LimitMEMLOCK=infinity in the unit of "
       "slurmd, sshd or containerd), or the queue pairs of the NIC or of its virtual function are used up. Harmless if "
       "the job does not use this NIC and goes on: UCX tries every NIC.",
       "rdma resource show; fabric-agentctl check --only memlock", kVerbs),
    of(Call::create_object, "ETIMEDOUT|EIO|ENODEV|EBUSY", "object-firmware", host,
       "The NIC did not create a queue pair or completion queue: its firmware does not answer, or the device is gone "
       "or in reset.",
       "journalctl -k -g {pci}; devlink health show pci/{pci}", kVerbs),
    of(Call::create_object, "EFAULT", "object-library", software,
       "A queue pair or completion queue could not be created, because the kernel could not read the request or the "
       "queue of the library: the RDMA library of the program or container (rdma-core's provider, libbnxt_re) and the "
       "kernel's driver are of different releases, or the library is at fault. Use those of one release. A queue in "
       "GPU memory, as IBGDA makes it, also needs a peer memory module or DMA-BUF.",
       "ethtool -i {netdev}; dpkg -l | grep -E 'ibverbs|rdma'", kVerbs),
    of(Call::create_object, "EPERM|EACCES", "object-permission", host,
       "A queue pair or other object needs a privilege that the process lacks: raw packets need CAP_NET_RAW.",
       "grep Cap /proc/PID/status", kVerbs),
    of(Call::create_object, "EINVAL|EOPNOTSUPP|ENOTSUPP|ENOSYS|EPROTONOSUPPORT|ENOPROTOOPT", "object-unsupported",
       software,
       "The device does not have this kind of queue pair or completion queue, or not of this size: the program asks "
       "for more than the device offers (UD, XRC, inline data, queue depth), or library and driver are too old.",
       "ibv_devinfo -v -d {rdma}", kVerbs),

    // Address handles.
    of(Call::create_ah, "ENOMEM|ENOSPC|EAGAIN", "ah-resources", host,
       "The device has no address handle left: too many peers for each process, or a leak in the driver.",
       "rdma resource show; ethtool -i {netdev}", kVerbs),
    of(Call::create_ah, "ENETUNREACH", "modify-qp-unreachable", network,
       "This host has no route from the local GID to the GID of the peer.", "ip route get {peer}", kVerbs),
    of(Call::create_ah, "ETIMEDOUT|EHOSTUNREACH", "ah-unresolved", network,
       "The peer could not be addressed: no ARP or neighbor discovery answer for its address on this rail, or no route "
       "to it. If this port or the address is of another network (a bond for management), name the ports of the "
       "fabric: UCX_NET_DEVICES, NCCL_IB_HCA.",
       "ip route get {peer}; ip neigh show dev {netdev}", kVerbs),
    of(Call::create_ah, "EINVAL", "ah-invalid", software,
       "The address of the peer or the GID index of this host is not valid for this port: the index has no entry, or a "
       "RoCE port was addressed by LID.",
       "fabric-agentctl check --only gid", kVerbs),

    of(Call::create_ah, "ENODEV", "ah-no-netdev", host,
       "The GID of this host that the program chose (sgid_index) has no netdev, or one that is down or in another "
       "network namespace: the port of this host is at fault, not the peer. Set the netdev up, or choose the GID index "
       "of a RoCE v2 GID with the IP address of the network (UCX_IB_GID_INDEX, NCCL_IB_GID_INDEX; show_gids).",
       "fabric-agentctl check --only gid; show_gids; ip -br link",
       "Linux drivers/infiniband/core/cache.c rdma_read_gid_attr_ndev_rcu()"),

    of(Call::create_ah, "", "ah-failed", unknown,
       "An address handle for the peer could not be created; no packet was sent to it. On RoCE it needs a GID index of "
       "this host with an entry (option -g, the GID index of the program; show_gids), and the MAC address of the peer: "
       "no route to it, or no ARP or neighbor answer, also end here. The errno, or a ping from this interface, "
       "decides: EINVAL is the index or a LID on RoCE, ETIMEDOUT the neighbor, ENOMEM a limit of the device.",
       "fabric-agentctl check --only gid; ip route get {peer}; ip neigh show dev {netdev}",
       "ibv_create_ah(3); Linux drivers/infiniband/core/verbs.c rdma_create_user_ah()"),

    // Transitions of a queue pair.
    of(Call::qp_to_init, "", "modify-qp-init", host,
       "A queue pair could not be bound to its port: the port number, the partition (P_Key) or the GID of this host is "
       "not valid, or the port or its netdev is gone or in another network namespace; with EINVAL also a change of "
       "state or access flags that the driver does not accept: try a newer library. The peer is not involved yet.",
       "rdma link show; fabric-agentctl check --only gid", kVerbs),
    // NCCL names both GIDs. One of them alone is link-local: that host is at fault, whatever the errno.
    {"modify-qp-link-local", host, "modify_qp failed*local GID fe80:*remote GID ::ffff:",
     "The GID of this host is link-local (fe80::), and that of its peer has an IPv4 address: from a link-local GID no "
     "packet gets there. The job uses the index of the link-local GID, or the netdev of this host has lost its "
     "address. Give the netdev its address, and choose the index of the RoCE v2 GID with it (NCCL_IB_GID_INDEX; or "
     "none, and NCCL chooses).",
     "show_gids; ip -br addr; fabric-agentctl check --only gid,gid-index,address", kVerbs},
    {"modify-qp-peer-link-local", peer, "modify_qp failed*local GID ::ffff:*remote GID fe80:",
     "The GID of the peer is link-local (fe80::), and that of this host has an IPv4 address: no packet gets from one "
     "to the other. At the peer, the job uses the index of the link-local GID, or its netdev has lost its address.",
     "on the peer: show_gids; ip -br addr; fabric-agentctl check --only gid,gid-index,address", kVerbs},
    // To RTS nothing of the peer's address is set.
    {"modify-qp-rts", software, "QP to RTS*nvalid argument|nvalid argument*next state RTS|QP to RTS*EINVAL",
     "The last step of a connection, to RTS, was not accepted by the library or driver of this host: a timeout, a "
     "number of retries or of outstanding reads (max_rd_atomic, compare max_qp_init_rd_atom) that the device does not "
     "have, or the queue pair is not in RTR because the step before failed. GID and MTU are of the step to RTR; the "
     "peer and the network are not at fault.",
     "ibv_devinfo -v -d {rdma} | grep -E 'rd_atom|transport'", kVerbs},
    of(Call::modify_qp, "ETIMEDOUT|EHOSTUNREACH", "modify-qp-timeout", network,
       "The address of the peer could not be resolved to a MAC address: no ARP or neighbor discovery answer on this "
       "rail, or no route from this GID to the peer's. No RDMA packet has been sent yet. With GIDs of two subnets the "
       "rails need routes, or the job must connect equal rails only (NCCL_CROSS_NIC=0); an external net plugin "
       "(NET/Plugin in the log) may pair the planes of a NIC wrongly: NCCL_NET_PLUGIN=none as a test. A link-local GID "
       "(fe80::) reaches its own segment only: choose the GID index of the IPv4 address (NCCL_IB_GID_INDEX, "
       "MC_GID_INDEX).",
       "ip route get {peer}; ip neigh show dev {netdev}", kVerbs),
    of(Call::modify_qp, "ENETUNREACH", "modify-qp-unreachable", network,
       "This host has no route from the local GID to the GID of the peer: add the route, or connect equal rails only "
       "(NCCL_CROSS_NIC=0).",
       "ip route get {peer}", kVerbs),
    of(Call::modify_qp, "EINVAL", "modify-qp-invalid", software,
       "The connection could not be set up: the peers use GIDs of different kinds or indexes (NCCL_IB_GID_INDEX, RoCE "
       "v1 and v2, IPv4 and IPv6), the GID index is empty here, the program fills in no GID (GRH) on a RoCE port, or "
       "the MTUs differ. If the job uses InfiniBand and RoCE ports together (NCCL lists them: NET/IB : Using), name "
       "those of one kind (NCCL_IB_HCA).",
       "fabric-agentctl check --only gid", kVerbs),
    of(Call::modify_qp, "ENODEV", "modify-qp-no-device", software,
       "No device for the address: on a RoCE port the program fills in a LID instead of a GID (GRH, GID index), or the "
       "netdev of the GID is gone or in another network namespace.",
       "rdma link show; fabric-agentctl check --only gid", kVerbs),
    of(Call::modify_qp, "ENODATA|ENOENT|EADDRNOTAVAIL", "modify-qp-no-gid", host,
       "The GID index has no entry: the address or its netdev is gone, or moved to another index after a link flap.",
       "grep . /sys/class/infiniband/{rdma}/ports/*/gids/* | grep -v :0000:0000:0000:0000$", kVerbs),
    of(Call::modify_qp, "EREMOTEIO", "modify-qp-rejected", software,
       "The firmware rejected a parameter of the transition, and works: an attribute that does not fit the port, such "
       "as a traffic class on InfiniBand (NVSHMEM_IB_TRAFFIC_CLASS, NCCL_IB_TC), or an impossible timeout or retry "
       "count.",
       "env | grep -E 'TRAFFIC_CLASS|_TC='; rdma link show", kVerbs),
    of(Call::modify_qp, "", "modify-qp-failed", software,
       "The connection could not be set up; the errno of the step, beside this line, decides: 110 is an address that "
       "was not resolved, 22 a GID of another kind or an empty index, 19 a missing GID (GRH) or netdev.",
       "rdma link show; fabric-agentctl check --only gid", kVerbs),
    of(Call::query_gid, "", "gid-entry", software,
       "The GID index that the program gives does not exist on this port, or has no entry. Use the index of the RoCE "
       "v2 address (show_gids, rdma link; NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX, -x of perftest), or let the library "
       "choose. If the table is empty, give the interface an address.",
       "grep . /sys/class/infiniband/{rdma}/ports/*/gids/* | grep -v :0000:0000:0000:0000$", kVerbs),

    // Opening of a device.
    of(Call::open_device, "ENOMEM", "open-device-memory", host,
       {"The device could not be opened for another process: the doorbell pages (UAR) in the NIC's BAR, or locked "
        "memory, are used up. The kernel log has \"ALLOC_UAR ... limits exceeded\" in the first case: fewer processes "
        "on this NIC",
        {Work::in_machine, ", or a larger BAR (mlxconfig PF_LOG_BAR_SIZE, then a cold reboot)"},
        "."},
       "journalctl -k -g ALLOC_UAR; ulimit -l", kVerbs),
    of(Call::open_device, "EOPNOTSUPP|ENOTSUPP|EPROTONOSUPPORT|ENOSYS", "open-device-library", software,
       "The library does not fit the kernel's driver, or an old library does not know the device (the openib BTL of "
       "Open MPI: use UCX).",
       "ibv_devinfo -l; uname -r", kVerbs),
    of(Call::open_device, "", "open-device", host,
       "The RDMA device is visible and cannot be opened: /dev/infiniband/uverbs of this device is not in the container "
       "(sysfs shows the devices of the whole host; those that were not given to the container cannot be opened, as "
       "expected), its permissions, another network namespace, or the NIC is in a fatal state.",
       "ls -l /dev/infiniband; rdma system show; ibv_devinfo -d {rdma}", kVerbs),

    of(Call::query_device, "EINVAL|ENOTTY|EOPNOTSUPP|EPROTONOSUPPORT|ENOSYS", "query-device-library", host,
       {"The kernel's driver does not know this query of an open device: library (rdma-core, OFED, or that of the "
        "container) and kernel modules are of different releases, often after an update of one of them; or an old "
        "library does not know the device (the openib BTL of Open MPI: use UCX). Install the same release for the "
        "running kernel",
        {Work::ends_jobs, ", and reload the driver or reboot into the kernel it was built for"},
        "."},
       "ibv_devinfo -d {rdma}; uname -r; modinfo -F version mlx5_core; ofed_info -s", kVerbs),
    of(Call::query_device, "", "query-device", host,
       "The RDMA device was opened, or listed, and does not answer a query of its attributes: the NIC is in a fatal "
       "state or was removed, /dev/infiniband/uverbs of this device is not in the container, or library and kernel "
       "modules are of different releases.",
       "ibv_devinfo -d {rdma}; rdma system show; journalctl -k -g {rdma}", kVerbs),

    // librdmacm and the kernel's connection manager.
    of(Call::resolve_address, "ENODEV", "rdmacm-no-device", host,
       "No RDMA device belongs to the local address: the netdev has none, it is in another network namespace, or its "
       "link is down. The network was not asked.",
       "rdma link show; ip -br addr", kCm),
    of(Call::resolve_address, "EADDRNOTAVAIL|EINVAL", "rdmacm-local-address", software,
       "The local address that the program was given is not on this host, or is of another family than the peer's.",
       "ip -br addr", kCm),
    of(Call::resolve_address, "ETIMEDOUT|EHOSTUNREACH|ENETUNREACH", "rdmacm-address", network,
       "librdmacm could not resolve the address of the peer: no route, or no answer to ARP or neighbor discovery.",
       "ip route get {peer}; ip neigh show dev {netdev}", kCm),
    of(Call::resolve_address, "", "rdmacm-address", network,
       "librdmacm could not resolve the address of the peer: no route, or no answer to ARP or neighbor discovery.",
       "ip route get {peer}", kCm),
    of(Call::resolve_route, "ENODEV", "rdmacm-no-device", host,
       "No RDMA device belongs to the local address: the netdev has none, or it is in another network namespace.",
       "rdma link show; ip -br addr", kCm),
    of(Call::resolve_route, "ETIMEDOUT", "rdmacm-route", network,
       "librdmacm got no path to the peer: the subnet manager of InfiniBand does not answer or has no path (partition, "
       "P_Key). RoCE does not ask for one.",
       "sminfo; ip route get {peer}", kCm),
    // Linux drivers/infiniband/core/cma.c: cma_resolve_iboe_route() fills in the path from the netdev and sends
    // nothing.
    of(Call::resolve_route, "", "rdmacm-route-local", host,
       "librdmacm could not take the step after the address was resolved. On RoCE and iWARP it sends no packet: the "
       "network and the peer are not at fault. Look at this host: the RDMA device belongs to another network namespace "
       "or pod, its netdev is gone or has a too small MTU, or the connection is not in the state for this step "
       "(EINVAL). On InfiniBand the subnet manager is asked for a path.",
       "rdma link show; rdma system show; ip -br addr", kCm),
    of(Call::route_error, "", "rdmacm-route", network,
       "librdmacm got no path to the peer: the subnet manager of InfiniBand does not answer or has no path (partition, "
       "P_Key). RoCE does not ask for one.",
       "sminfo; ip route get {peer}", kCm),
    of(Call::bind, "", "rdmacm-bind", host,
       "The program cannot use the local address: it is not on the netdev of an RDMA device, its port is in use, or "
       "its name does not resolve.",
       "ip -br addr; rdma link show", kCm),
    of(Call::connect, "EFAULT", "rdmacm-driver", host,
       "The driver of this host's NIC could not prepare the connection: EFAULT of bnxt_re is a command that its "
       "firmware refused. The lines before this one name the command.",
       "journalctl -k -g {rdma}", kCm),
    of(Call::connect, "ECONNREFUSED|ECONNRESET", "rdmacm-rejected", peer,
       "The peer rejected the connection: nothing listens on this port there, or its process ended.",
       "ping -c 3 {peer}", kCm),
    of(Call::connect, "ENODEV", "rdmacm-no-device", host,
       "No RDMA device belongs to the local address: the netdev has none, or it is in another network namespace.",
       "rdma link show; ip -br addr", kCm),
    of(Call::connect, "EINVAL|EOPNOTSUPP|ENOMEM|EPERM", "rdmacm-driver", host,
       "This host could not prepare the connection: its driver, resources or parameters; the kernel log has the "
       "reason.",
       "journalctl -k -g {rdma}", kCm),
    of(Call::connect, "ETIMEDOUT|EHOSTUNREACH|ENETUNREACH", "rdmacm-unreachable", network,
       "The peer did not answer the connection request: no path for its answer, a firewall, or its node is down.",
       "ping -c 3 {peer}", kCm),
    consequence(
        of(Call::connect, "", "rdmacm-connect-failed", unknown,
           "An RDMA connection could not be established; the line has no event, and its errno, if it has one, does not "
           "decide. The event of librdmacm in another line decides: REJECTED is of the peer's program (its log), "
           "UNREACHABLE of a peer or path that does not answer, ADDR_ERROR of the route or the local address. Look at "
           "the target (does it listen at this address and port), the local address and the route.",
           "ip -br addr; ip route get {peer}; ping -c 3 {peer}", kCm)),

    // Work requests.
    of(Call::post, "ENOMEM|EAGAIN|ENOBUFS", "post-full", software,
       "The send or receive queue is full: the program posts more requests than its queue depth before it polls for "
       "completions.",
       "rdma resource show qp link {port}", "ibv_post_send(3)"),
    of(Call::post, "EINVAL|EFAULT|EOPNOTSUPP", "post-invalid", software,
       "The work request is invalid: more elements or inline data than the queue pair has, or an operation that it "
       "does not support.",
       "ibv_devinfo -v -d {rdma}", "ibv_post_send(3)"),

    // Virtual functions.
    of(Call::enable_vfs, "EBUSY", "vfs-busy", host,
       "The kernel refuses to change the number of virtual functions: some exist already (write 0 first), or the "
       "driver is in a reset or a mode change. The errno is all that is known; the kernel log has the driver's reason.",
       "cat /sys/class/net/{netdev}/device/sriov_numvfs; journalctl -k -g {pci}", "Linux drivers/pci/iov.c"),
    of(Call::enable_vfs, "ENOSPC", "vfs-msix", host,
       "The function has no MSI-X vectors left for virtual functions; ENOSPC is not about a disk. On machines with "
       "many CPUs the driver of the PF and its RDMA driver (irdma) take all of them: lower msix_vec_per_pf_max with "
       "devlink before the driver loads, or do not load irdma where RDMA is not used.",
       "devlink dev param show; grep {pci} /proc/interrupts", "Linux drivers/net/ethernet/intel/ice/ice_sriov.c"),
    of(Call::enable_vfs, "ENOMEM|EIO", "vfs-resources", host,
       {"The virtual functions could not be made: the BIOS left too little MMIO space or too few bus numbers for their "
        "BARs. ENOMEM is not about RAM. The kernel log has the reason (not enough MMIO resources for SR-IOV, bus "
        "number out of range). ",
        {Work::in_machine,
         "Enable SR-IOV, ARI and 'Above 4G decoding' in the BIOS, or boot with pci=realloc (bus numbers: "
         "pci=assign-busses); "},
        "fewer virtual functions need less."},
       "lspci -vv -s {pci} | grep -A 8 SR-IOV; journalctl -k -g {pci}", "Linux drivers/pci/iov.c"),
    of(Call::enable_vfs, "ENOENT|EINVAL|ERANGE|EOPNOTSUPP|ENOTSUPP|EPERM|EACCES|EROFS", "vfs-refused", host,
       "The function offers fewer virtual functions, or none: SR-IOV is off in the NIC's firmware, the number exceeds "
       "sriov_totalvfs, or the process may not write to sysfs.",
       "cat /sys/class/net/{netdev}/device/sriov_totalvfs; journalctl -k -g {pci}", "Linux drivers/pci/iov.c"),
};

}  // namespace

const std::span<const LineMessage> kCallMessages = kCallRows;

}  // namespace fabric::lines
