// SPDX-License-Identifier: GPL-2.0
/*
 * PCI configuration space overlay.  QEMU's devices have no 400G link and no ACS on switch ports; what lspci, sysfs and the product
 * read is overlaid byte by byte: reads are answered from here, writes go to the writable bits here and to the device otherwise.
 */
#include <linux/delay.h>
#include <linux/list.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include "fabsim.h"

struct fab_byte {
	struct list_head list;
	unsigned int devfn;
	u16 offset;
	u8 value, write_mask;
};

struct fab_bus {
	struct list_head list;
	struct pci_bus *bus;
	struct pci_ops *orig, ops;
	struct list_head bytes;
};

static LIST_HEAD(fab_buses);
static DEFINE_MUTEX(fab_cfg_lock);	/* writers; readers run with interrupts off under the PCI core's lock */

static struct fab_byte *fab_find(struct fab_bus *b, unsigned int devfn, int offset)
{
	struct fab_byte *byte;

	list_for_each_entry_rcu(byte, &b->bytes, list, true)
		if (byte->devfn == devfn && byte->offset == offset)
			return byte;
	return NULL;
}

static int fab_cfg_read(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 *value)
{
	struct fab_bus *b = container_of(bus->ops, struct fab_bus, ops);
	struct fab_byte *byte;
	int i, err = b->orig->read(bus, devfn, where, size, value);

	for (i = 0; !err && i < size; i++) {
		byte = fab_find(b, devfn, where + i);
		if (byte)
			*value = (*value & ~(0xffu << (8 * i))) | ((u32)byte->value << (8 * i));
	}
	return err;
}

static int fab_cfg_write(struct pci_bus *bus, unsigned int devfn, int where, int size, u32 value)
{
	struct fab_bus *b = container_of(bus->ops, struct fab_bus, ops);
	struct fab_byte *byte;
	int i, overlaid = 0;

	for (i = 0; i < size; i++) {
		byte = fab_find(b, devfn, where + i);
		if (!byte)
			continue;
		overlaid++;
		byte->value = (byte->value & ~byte->write_mask) | ((value >> (8 * i)) & byte->write_mask);
	}
	return overlaid == size ? 0 : b->orig->write(bus, devfn, where, size, value);
}

static struct fab_bus *fab_hook(struct pci_bus *bus)
{
	struct fab_bus *b;

	list_for_each_entry(b, &fab_buses, list)
		if (b->bus == bus)
			return b;
	b = kzalloc(sizeof(*b), GFP_KERNEL);
	if (!b)
		return NULL;
	INIT_LIST_HEAD(&b->bytes);
	b->bus = bus;
	b->orig = bus->ops;
	b->ops = *b->orig;
	b->ops.read = fab_cfg_read;
	b->ops.write = fab_cfg_write;
	list_add(&b->list, &fab_buses);
	pci_bus_set_ops(bus, &b->ops);
	return b;
}

/* Overlays "size" bytes at "offset". */
int fab_cfg_set(struct pci_dev *pdev, int offset, int size, u32 value, u32 write_mask)
{
	struct fab_byte *byte;
	struct fab_bus *b;
	int i, err = 0;

	mutex_lock(&fab_cfg_lock);
	b = fab_hook(pdev->bus);
	for (i = 0; b && i < size; i++) {
		byte = fab_find(b, pdev->devfn, offset + i);
		if (byte) {
			byte->value = value >> (8 * i);
			byte->write_mask = write_mask >> (8 * i);
			continue;
		}
		byte = kzalloc(sizeof(*byte), GFP_KERNEL);
		if (!byte)
			break;
		byte->devfn = pdev->devfn;
		byte->offset = offset + i;
		byte->value = value >> (8 * i);
		byte->write_mask = write_mask >> (8 * i);
		list_add_tail_rcu(&byte->list, &b->bytes);
	}
	if (!b || i < size)
		err = -ENOMEM;
	mutex_unlock(&fab_cfg_lock);
	return err;
}

/* Link speed as the registers code it: 1..6 = 2.5, 5, 8, 16, 32, 64 GT/s. */
int fab_cfg_link(struct pci_dev *pdev, unsigned int speed, unsigned int width, unsigned int max_speed, unsigned int max_width)
{
	u32 cap, status, header, speeds = ((1u << max_speed) - 1) << 1;
	int at = pdev->pcie_cap;

	if (!at || speed < 1 || speed > 6 || max_speed < 1 || max_speed > 6)
		return -EINVAL;
	pci_read_config_dword(pdev, at, &header);
	pci_read_config_dword(pdev, at + PCI_EXP_LNKCAP, &cap);
	pci_read_config_dword(pdev, at + PCI_EXP_LNKCTL, &status);
	status >>= 16;
#ifdef FABSIM_HAVE_SUPPORTED_SPEEDS
	pdev->supported_speeds = speeds;	/* the kernel's cached copy of LNKCAP2 */
#endif
	/* capability version 2, which has LNKCAP2 */
	pdev->pcie_flags_reg = (pdev->pcie_flags_reg & ~PCI_EXP_FLAGS_VERS) | 2;
	return fab_cfg_set(pdev, at, 4, (header & ~0xf0000u) | 0x20000, 0) ?:
	       fab_cfg_set(pdev, at + PCI_EXP_LNKCAP, 4, (cap & ~0x3ffu) | max_speed | max_width << 4, 0) ?:
	       fab_cfg_set(pdev, at + PCI_EXP_LNKSTA, 2, (status & ~0x3ffu) | speed | width << 4, 0) ?:
	       fab_cfg_set(pdev, at + PCI_EXP_LNKCAP2, 4, speeds, 0);
}

/*
 * Makes the settings in the upper byte of the device control register writable, which QEMU ignores: read request size (512 at
 * first), extended tags, no snoop.
 */
void fab_cfg_mrrs(struct pci_dev *pdev)
{
	if (pdev->pcie_cap)
		fab_cfg_set(pdev, pdev->pcie_cap + PCI_EXP_DEVCTL + 1, 1,
			    (PCI_EXP_DEVCTL_READRQ_512B | PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_EXT_TAG) >> 8,
			    (PCI_EXP_DEVCTL_READRQ | PCI_EXP_DEVCTL_NOSNOOP_EN | PCI_EXP_DEVCTL_EXT_TAG) >> 8);
}

/* What a function says it is, both to the kernel (sysfs) and in its config space. */
int fab_cfg_identity(struct pci_dev *pdev, u16 vendor, u16 device, u32 class)
{
	pdev->vendor = vendor;
	pdev->device = device;
	pdev->class = class;
	return fab_cfg_set(pdev, PCI_VENDOR_ID, 4, (u32)device << 16 | vendor, 0) ?:
	       fab_cfg_set(pdev, PCI_CLASS_PROG, 3, class, 0);
}

/* "BDF link SPEED WIDTH MAXSPEED MAXWIDTH" (decimal) or "BDF OFFSET SIZE VALUE [WRITEMASK]" (hexadecimal) */
ssize_t fab_cfg_command(const char *text)
{
	unsigned int domain, bus, slot, fn, a, b, c, d = 0;
	struct pci_dev *pdev;
	int rest = 0, err = -EINVAL;

	if (sscanf(text, "%x:%x:%x.%x%n", &domain, &bus, &slot, &fn, &rest) < 4)
		return -EINVAL;
	pdev = pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, fn));
	if (!pdev)
		return -ENODEV;
	if (sscanf(text + rest, " link %u %u %u %u", &a, &b, &c, &d) == 4)
		err = fab_cfg_link(pdev, a, b, c, d);
	else if (sscanf(text + rest, " %x %x %x %x", &a, &b, &c, &d) >= 3 && b >= 1 && b <= 4 && a + b <= 4096)
		err = fab_cfg_set(pdev, a, b, c, d);
	pci_dev_put(pdev);
	return err;
}

void fab_cfg_exit(void)
{
	struct fab_byte *byte, *next_byte;
	struct fab_bus *b, *next;

	list_for_each_entry(b, &fab_buses, list)
		pci_bus_set_ops(b->bus, b->orig);
	synchronize_rcu();
	msleep(50);	/* a reader that took our ops from the bus before */
	list_for_each_entry_safe(b, next, &fab_buses, list) {
		list_for_each_entry_safe(byte, next_byte, &b->bytes, list)
			kfree(byte);
		kfree(b);
	}
}
