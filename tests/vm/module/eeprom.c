// SPDX-License-Identifier: GPL-2.0
/*
 * The module's memory: a CMIS optical module with four lanes of 100G (OIF-CMIS; offsets as "ethtool -m" reads them, its cmis.h).
 * Tests change bytes through the control file "eeprom".
 */
#include <linux/string.h>
#include "fabsim.h"

static void put16(u8 *at, u16 value)
{
	at[0] = value >> 8;
	at[1] = value;
}

/* Pages: 0 = lower half, then 1 + upper page number.  Offsets are those of the standard: upper pages begin at 0x80. */
u8 *fab_eeprom_byte(struct fab_nic *nic, unsigned int page, unsigned int offset)
{
	if (offset < 128)
		return &nic->eeprom[0][offset];
	if (offset > 255 || page + 1 >= FAB_EEPROM_PAGES)
		return NULL;
	return &nic->eeprom[page + 1][offset - 128];
}

static void fab_text(struct fab_nic *nic, unsigned int offset, unsigned int len, const char *text)
{
	u8 *at = fab_eeprom_byte(nic, 0, offset);

	memset(at, ' ', len);
	memcpy(at, text, min_t(size_t, strlen(text), len));
}

static void fab_threshold(struct fab_nic *nic, unsigned int offset, u16 high_alarm, u16 low_alarm, u16 high_warn, u16 low_warn)
{
	put16(fab_eeprom_byte(nic, 2, offset), high_alarm);
	put16(fab_eeprom_byte(nic, 2, offset + 2), low_alarm);
	put16(fab_eeprom_byte(nic, 2, offset + 4), high_warn);
	put16(fab_eeprom_byte(nic, 2, offset + 6), low_warn);
}

/* Versatile Diagnostics Monitoring: one observable, of a lane from 0, in the only group. */
static void fab_observable(struct fab_nic *nic, unsigned int instance, u8 lane, u8 type, u16 sample)
{
	*fab_eeprom_byte(nic, 0x20, 0x80 + 2 * instance) = lane;
	*fab_eeprom_byte(nic, 0x20, 0x81 + 2 * instance) = type;
	put16(fab_eeprom_byte(nic, 0x24, 0x80 + 2 * instance), sample);
}

/* The check byte behind first..last. */
static void fab_seal(struct fab_nic *nic, unsigned int page, unsigned int first, unsigned int last)
{
	unsigned int i;
	u8 sum = 0;

	for (i = first; i <= last; i++)
		sum += *fab_eeprom_byte(nic, page, i);
	*fab_eeprom_byte(nic, page, last + 1) = sum;
}

void fab_eeprom_defaults(struct fab_nic *nic)
{
	char serial[17];
	int lane;

	memset(nic->eeprom, 0, FAB_EEPROM_PAGES * sizeof(nic->eeprom[0]));
	*fab_eeprom_byte(nic, 0, 0x00) = 0x19;			/* OSFP */
	*fab_eeprom_byte(nic, 0, 0x01) = 0x50;			/* CMIS 5.0 */
	*fab_eeprom_byte(nic, 0, 0x03) = 0x06;			/* state: ready */
	put16(fab_eeprom_byte(nic, 0, 0x0e), 45 * 256);		/* 45 degrees C, 1/256 */
	put16(fab_eeprom_byte(nic, 0, 0x10), 33000);		/* 3.3 V, 100 uV */
	*fab_eeprom_byte(nic, 0, 0x55) = 0x02;			/* single mode fibre */
	*fab_eeprom_byte(nic, 0, 0x56) = 0x50;			/* 400GAUI-4-L C2M, on the wire 400GBASE-DR4: four lanes of each */
	*fab_eeprom_byte(nic, 0, 0x57) = 0x1c;
	*fab_eeprom_byte(nic, 0, 0x58) = 0x44;
	*fab_eeprom_byte(nic, 0, 0x59) = 0x01;
	*fab_eeprom_byte(nic, 0, 0x5a) = 0xff;			/* no other application */
	*fab_eeprom_byte(nic, 1, 0xb0) = 0x01;			/* it begins on media lane 1 */
	*fab_eeprom_byte(nic, 0, 0x80) = 0x19;
	fab_text(nic, 0x81, 16, "FABSIM");
	fab_text(nic, 0x94, 16, "FS-400G-DR4");
	fab_text(nic, 0xa4, 2, "A1");
	snprintf(serial, sizeof(serial), "FS%08u", nic->index + 1);
	fab_text(nic, 0xa6, 16, serial);
	fab_text(nic, 0xb6, 8, "240101");
	*fab_eeprom_byte(nic, 0, 0xcb) = 0x0c;			/* MPO 1x12 */
	*fab_eeprom_byte(nic, 0, 0xd4) = 0x04;			/* 1310 nm DFB */
	*fab_eeprom_byte(nic, 1, 0x9f) = 0x03;			/* monitors: temperature, voltage */
	*fab_eeprom_byte(nic, 1, 0xa0) = 0x07;			/* monitors: tx bias, tx power, rx power; bias in 2 uA */
	fab_threshold(nic, 0x80, 75 * 256, (u16)(-5 * 256), 70 * 256, 0);
	fab_threshold(nic, 0x88, 36300, 29700, 34650, 31350);
	fab_threshold(nic, 0xb0, 25000, 2500, 20000, 3500);	/* tx power, 0.1 uW */
	fab_threshold(nic, 0xb8, 50000, 5000, 45000, 7500);	/* tx bias, 2 uA */
	fab_threshold(nic, 0xc0, 25000, 1000, 20000, 1500);	/* rx power */
	for (lane = 0; lane < 4; lane++) {
		put16(fab_eeprom_byte(nic, 0x11, 0x9a + 2 * lane), 12000);	/* 1.2 mW */
		put16(fab_eeprom_byte(nic, 0x11, 0xaa + 2 * lane), 25000);	/* 50 mA */
		put16(fab_eeprom_byte(nic, 0x11, 0xba + 2 * lane), 9000);	/* 0.9 mW */
	}
	*fab_eeprom_byte(nic, 1, 0x8e) = 0x40;			/* VDM: pages 0x20 to 0x2f */
	put16(fab_eeprom_byte(nic, 0x2f, 0x81), 10000);		/* one group; an interval of 1 s */
	for (lane = 0; lane < 4; lane++) {
		fab_observable(nic, lane, lane, 5, 22 * 256);		/* SNR of the medium, 22 dB */
		fab_observable(nic, 4 + lane, lane, 6, 21 * 256);	/* SNR of the host, 21 dB */
	}
	fab_observable(nic, 8, 0, 15, 15 << 11 | 2);		/* damaged bits from the medium, 2e-9 */
	fab_observable(nic, 9, 0, 16, 15 << 11 | 1);		/* damaged bits from the host, 1e-9 */
	fab_seal(nic, 0, 0x80, 0xdd);
	fab_seal(nic, 1, 0x82, 0xfe);
	fab_seal(nic, 2, 0x80, 0xfe);
}
