# The bootable guest of one kernel: DIR/{vmlinuz,initramfs.cpio,root.ext4,release}.

# Units that no test needs and that cost time at each boot of an emulated machine.
MASKED=(
	apt-daily.timer apt-daily-upgrade.timer dev-hugepages.mount dev-mqueue.mount dpkg-db-backup.timer e2scrub_all.timer
	e2scrub_reap.service fstrim.timer getty@tty1.service kmod-static-nodes.service ldconfig.service modprobe@dm_mod.service
	modprobe@drm.service modprobe@efi_pstore.service modprobe@loop.service serial-getty@ttyS0.service
	sys-kernel-tracing.mount systemd-binfmt.service systemd-firstboot.service systemd-hwdb-update.service
	systemd-journal-flush.service systemd-logind.service systemd-machine-id-commit.service
	systemd-network-generator.service systemd-networkd-wait-online.service systemd-networkd.service systemd-networkd.socket
	systemd-pcrphase.service systemd-pstore.service systemd-random-seed.service systemd-rfkill.socket
	systemd-sysusers.service systemd-timesyncd.service systemd-update-done.service systemd-update-utmp-runlevel.service
	systemd-update-utmp.service systemd-user-sessions.service
)

make_image() {
	local out=$1 rootfs=$2 kernel=$3 modules=$4 root=$1/root release tool
	release=$(ls "$kernel/lib/modules")
	mkdir "$root"
	tar -C "$root" -xf "$rootfs/rootfs.tar"

	cp -r "$kernel/lib/modules/$release" "$root/usr/lib/modules.new"
	mkdir -p "$root/usr/lib/modules"
	mv "$root/usr/lib/modules.new" "$root/usr/lib/modules/$release"
	install -D -m 644 -t "$root/usr/lib/modules/$release/updates/fabsim" "$modules"/*.ko
	depmod -b "$root/usr" "$release"

	install -d "$root/usr/lib/fabsim"
	install -m 755 -t "$root/usr/lib/fabsim" "$VM"/guest/{start,netup,mgmtup,run-script}
	install -m 644 -t "$root/usr/lib/fabsim" "$VM"/guest/{nics,lib.sh} "$VM/topology.json"
	install -m 755 -t "$root/usr/local/bin" "$VM/guest/dcbraw"
	ln -s /usr/bin/gojq "$root/usr/local/bin/jq" # it starts in a tenth of jq's time, which counts on an emulated CPU; it sorts keys
	install -m 644 -t "$root/etc/systemd/system" "$VM"/guest/*.service
	install -m 644 -t "$root/etc/udev/rules.d" "$VM"/guest/*.rules
	ln -s /dev/null "$root/etc/tmpfiles.d/systemd-nologin.conf"
	echo 'nameserver 10.0.2.3' >"$root/etc/resolv.conf"
	chroot "$root" systemctl -q enable fabsim.service fabrun.service fabshell.service
	chroot "$root" systemctl -q disable ssh.service lldpd.service
	chroot "$root" systemctl -q set-default multi-user.target
	chroot "$root" systemctl -q mask "${MASKED[@]}"
	quietly chroot "$root" systemd-machine-id-setup

	quietly nice mke2fs -q -t ext4 -O '^has_journal,^metadata_csum' -E lazy_itable_init=1,nodiscard -m 0 -L root \
		-d "$root" "$out/root.ext4" 2000M || return 1
	rm -rf "$root"

	mkdir -p "$root"/{bin,dev,proc,sys,new,modules}
	install -m 755 "$VM/initramfs/init" "$root/init"
	install -m 755 "$(command -v busybox)" "$root/bin/busybox"
	for tool in sh mount switch_root insmod sleep; do ln -s busybox "$root/bin/$tool"; done
	cp "$kernel"/initramfs-modules/* "$root/modules/"
	(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$out/initramfs.cpio"
	rm -rf "$root"
	cp "$kernel/vmlinuz" "$out/"
	echo "$release" >"$out/release"
}
