// SPDX-License-Identifier: GPL-2.0
/*
 * The netdev of a simulated NIC, its link, and the wire: what one of a pair transmits the other receives.  Packets are counted
 * under the priority that each end gives them, so a wrong DSCP map is seen in the counters, as on a real port.
 */
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/rtnetlink.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include "fabsim.h"

#define ROCE_V2_UDP_DPORT	4791
#define FAB_HEADERS		(ETH_HLEN + sizeof(struct ipv6hdr) + sizeof(struct udphdr))

struct fab_priv {
	struct fab_nic *nic;
};

struct fab_nic *fab_nic(struct net_device *nd)
{
	return ((struct fab_priv *)netdev_priv(nd))->nic;
}

struct net_device *fab_netdev(struct fab_nic *nic)
{
	return rtnl_dereference(nic->nd);
}

static bool fab_wants_link(struct fab_nic *nic)
{
	struct net_device *nd = nic ? fab_netdev(nic) : NULL;

	return nd && netif_running(nd) && nic->want_carrier && !nic->flapping;
}

static void fab_set_link(struct fab_nic *nic, bool up)
{
	struct net_device *nd = nic ? fab_netdev(nic) : NULL;

	if (!nd || up == netif_carrier_ok(nd))
		return;
	if (up) {
		netif_carrier_on(nd);
	} else {
		netif_carrier_off(nd);
		atomic64_inc(fab_stat(nic, FAB_LINK_DOWN, 0));
	}
}

/* The link is up when both ends want it.  Under RTNL. */
void fab_update_link(struct fab_nic *nic)
{
	struct fab_nic *peer = rtnl_dereference(nic->peer);
	bool up = fab_wants_link(nic) && fab_wants_link(peer);

	fab_set_link(nic, up);
	fab_set_link(peer, up);
}

/* Link goes down now and comes back after ms, as after mlx5_toggle_port_link() or the reopening of a NIC.  Under RTNL. */
void fab_flap(struct fab_nic *nic, unsigned int ms)
{
	struct net_device *nd = fab_netdev(nic);

	if (!ms || !nd || !netif_running(nd))
		return;
	nic->flapping = 1;
	fab_update_link(nic);
	mod_delayed_work(system_wq, &nic->flap_work, msecs_to_jiffies(ms));
}

void fab_flap_work(struct work_struct *work)
{
	struct fab_nic *nic = container_of(to_delayed_work(work), struct fab_nic, flap_work);

	rtnl_lock();
	nic->flapping = 0;
	fab_update_link(nic);
	rtnl_unlock();
}

static int fab_classify(struct fab_nic *nic, struct sk_buff *skb)
{
	const void *header = skb->data + ETH_HLEN;
	int dscp = -1, pcp = -1;

	if (skb->protocol == htons(ETH_P_IP))
		dscp = ipv4_get_dsfield(header) >> 2;
	else if (skb->protocol == htons(ETH_P_IPV6))
		dscp = ipv6_get_dsfield(header) >> 2;
	if (skb_vlan_tag_present(skb))
		pcp = skb_vlan_tag_get(skb) >> VLAN_PRIO_SHIFT;
	return nic->pers->classify(nic, dscp, pcp) & 7;
}

static bool fab_is_roce(struct sk_buff *skb)
{
	const void *header = skb->data + ETH_HLEN;
	const struct udphdr *udp;

	if (skb->protocol == htons(ETH_P_IP) && ((const struct iphdr *)header)->protocol == IPPROTO_UDP)
		udp = header + ((const struct iphdr *)header)->ihl * 4;
	else if (skb->protocol == htons(ETH_P_IPV6) && ((const struct ipv6hdr *)header)->nexthdr == IPPROTO_UDP)
		udp = header + sizeof(struct ipv6hdr);
	else
		return false;
	return (void *)(udp + 1) <= (void *)(skb->data + skb_headlen(skb)) && udp->dest == htons(ROCE_V2_UDP_DPORT);
}

/* Each role of packets is followed by that of their bytes. */
static void fab_count(struct fab_nic *nic, enum fab_role packets, enum fab_role prio_packets, int prio, bool roce, unsigned int len)
{
	enum fab_role rdma = packets == FAB_RX_PACKETS ? FAB_RX_RDMA_PACKETS : FAB_TX_RDMA_PACKETS;

	if (roce) {
		atomic64_inc(fab_stat(nic, rdma, 0));
		atomic64_add(len, fab_stat(nic, rdma + 1, 0));
	}
	atomic64_inc(fab_stat(nic, packets, 0));
	atomic64_add(len, fab_stat(nic, packets + 1, 0));
	atomic64_inc(fab_stat(nic, prio_packets, prio));
	atomic64_add(len, fab_stat(nic, prio_packets + 1, prio));
}

static netdev_tx_t fab_xmit(struct sk_buff *skb, struct net_device *nd)
{
	struct fab_nic *nic = fab_nic(nd), *peer;
	struct net_device *peer_nd;
	unsigned int len = skb->len;
	int tx_prio, rx_prio;
	bool roce;

	rcu_read_lock();
	peer = rcu_dereference(nic->peer);
	peer_nd = peer ? rcu_dereference(peer->nd) : NULL;
	if (!peer_nd || !netif_carrier_ok(nd) || !pskb_may_pull(skb, min_t(unsigned int, len, FAB_HEADERS))) {
		atomic64_inc(fab_stat(nic, FAB_TX_DROPPED, 0));
		kfree_skb(skb);
		goto out;
	}
	tx_prio = fab_classify(nic, skb);
	rx_prio = fab_classify(peer, skb);
	roce = fab_is_roce(skb);
	fab_count(nic, FAB_TX_PACKETS, FAB_PRIO_TX_PACKETS, tx_prio, roce, len);
	skb_tx_timestamp(skb);
	if (!skb_is_gso(skb) && len > peer_nd->mtu + peer_nd->hard_header_len + VLAN_HLEN) {
		atomic64_inc(fab_stat(peer, FAB_RX_OVERSIZE, 0));
		kfree_skb(skb);
	} else if (dev_forward_skb(peer_nd, skb) == NET_RX_SUCCESS) {
		fab_count(peer, FAB_RX_PACKETS, FAB_PRIO_RX_PACKETS, rx_prio, roce, len);
	} else {
		atomic64_inc(fab_stat(peer, FAB_RX_DROPPED, 0));
	}
out:
	rcu_read_unlock();
	return NETDEV_TX_OK;
}

static int fab_open(struct net_device *nd)
{
	netif_tx_start_all_queues(nd);
	fab_update_link(fab_nic(nd));
	return 0;
}

static int fab_stop(struct net_device *nd)
{
	netif_tx_stop_all_queues(nd);
	fab_update_link(fab_nic(nd));
	if (netif_carrier_ok(nd))
		netif_carrier_off(nd);
	return 0;
}

static void fab_get_stats64(struct net_device *nd, struct rtnl_link_stats64 *s)
{
	struct fab_nic *nic = fab_nic(nd);

	s->rx_packets = atomic64_read(fab_stat(nic, FAB_RX_PACKETS, 0));
	s->rx_bytes = atomic64_read(fab_stat(nic, FAB_RX_BYTES, 0));
	s->tx_packets = atomic64_read(fab_stat(nic, FAB_TX_PACKETS, 0));
	s->tx_bytes = atomic64_read(fab_stat(nic, FAB_TX_BYTES, 0));
	s->rx_dropped = atomic64_read(fab_stat(nic, FAB_RX_DROPPED, 0));
	s->tx_dropped = atomic64_read(fab_stat(nic, FAB_TX_DROPPED, 0));
	s->rx_crc_errors = atomic64_read(fab_stat(nic, FAB_RX_CRC, 0));
}

static int fab_change_mtu(struct net_device *nd, int mtu)
{
	struct fab_call call;

	if (fab_begin(&call, fab_nic(nd), FAB_SETMTU, "mtu=%d", mtu))
		nd->mtu = mtu;
	return fab_end(&call, 0);
}

static int fab_phys_port_name(struct net_device *nd, char *name, size_t len)
{
	return snprintf(name, len, "p0") >= len ? -EINVAL : 0;
}

static const struct net_device_ops fab_netdev_ops = {
	.ndo_open = fab_open,
	.ndo_stop = fab_stop,
	.ndo_start_xmit = fab_xmit,
	.ndo_get_stats64 = fab_get_stats64,
	.ndo_change_mtu = fab_change_mtu,
	.ndo_set_mac_address = eth_mac_addr,
	.ndo_validate_addr = eth_validate_addr,
	.ndo_get_phys_port_name = fab_phys_port_name,
};

bool fabsim_owns(struct net_device *nd)
{
	return nd && nd->netdev_ops == &fab_netdev_ops;
}
EXPORT_SYMBOL_GPL(fabsim_owns);

/* The netdev of NIC "index" with a reference on it, or NULL. */
struct net_device *fabsim_get_netdev(int index)
{
	struct net_device *nd;

	if (index < 0 || index >= fab_n_nics)
		return NULL;
	spin_lock(&fab_nics[index]->nd_lock);
	nd = rcu_dereference_protected(fab_nics[index]->nd, lockdep_is_held(&fab_nics[index]->nd_lock));
	if (nd)
		dev_hold(nd);
	spin_unlock(&fab_nics[index]->nd_lock);
	return nd;
}
EXPORT_SYMBOL_GPL(fabsim_get_netdev);

static void fab_set_netdev(struct fab_nic *nic, struct net_device *nd)
{
	spin_lock(&nic->nd_lock);
	rcu_assign_pointer(nic->nd, nd);
	spin_unlock(&nic->nd_lock);
}

int fab_netdev_create(struct fab_nic *nic)
{
	struct net_device *nd = alloc_etherdev_mqs(sizeof(struct fab_priv), FAB_QUEUES, FAB_QUEUES);
	int err;

	if (!nd)
		return -ENOMEM;
	((struct fab_priv *)netdev_priv(nd))->nic = nic;
	SET_NETDEV_DEV(nd, &nic->pdev->dev);
	nd->netdev_ops = &fab_netdev_ops;
	nd->ethtool_ops = &fab_ethtool_ops;
	nd->dcbnl_ops = nic->pers->dcbnl;
	nd->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_RXCSUM | NETIF_F_HIGHDMA;
	nd->features = nd->hw_features;
	nd->min_mtu = ETH_MIN_MTU;
	nd->max_mtu = 9978;
	eth_hw_addr_set(nd, nic->mac);
	netif_carrier_off(nd);

	rtnl_lock();
	if (nic->want_fw_reset)
		nic->pers->fw_reset(nic);
	nic->want_fw_reset = false;
	nic->rx_ring = nic->pers->ring_default;
	nic->tx_ring = nic->pers->ring_default;
	nic->pfc_watchdog = nic->pers->pfc_watchdog;
	nic->channels = FAB_QUEUES;
	nic->flapping = 0;
	nic->pers->driver_init(nic);
	err = register_netdevice(nd);
	if (!err) {
		fab_set_netdev(nic, nd);
		if (nic->pers->registered)
			nic->pers->registered(nic);
		if (nic->pers->attach)
			nic->pers->attach(nic);
	}
	rtnl_unlock();
	if (err)
		free_netdev(nd);
	return err;
}

void fab_netdev_destroy(struct fab_nic *nic)
{
	struct net_device *nd;

	rtnl_lock();
	nd = fab_netdev(nic);
	fab_set_netdev(nic, NULL);
	fab_update_link(nic);
	rtnl_unlock();
	cancel_delayed_work_sync(&nic->flap_work);
	fab_cc_detach(nic);
	if (!nd)
		return;
	unregister_netdev(nd);
	free_netdev(nd);
}
