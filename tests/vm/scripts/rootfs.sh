# The guest's Debian 12, as a tar file: every package the bed and the product need, no kernel, nothing of this project.

ROOTFS_PACKAGES=(
	# a server: init, devices, users, the operator's usual tools
	systemd systemd-sysv dbus udev kmod libpam-systemd adduser sudo procps psmisc less curl gojq strace tcpdump python3
	iproute2 iputils-ping pciutils ethtool openssh-server
	# RDMA and locality as on a GPU node
	rdma-core ibverbs-providers ibverbs-utils rdmacm-utils perftest hwloc-nox lldpd
	# shared libraries that the product's packages depend on: "dpkg -i" works without a network
	libfmt9 libhwloc15 libibverbs1 libmicrohttpd12 libnl-3-200 libnl-genl-3-200 libnl-route-3-200 libprometheus-cpp-core1.0
	libnss-systemd librdmacm1 libsmartcols1 libyaml-0-2 libstdc++6 libsystemd0 libtomlplusplus3
)

# What the mirror would give today; asked once and kept until --refresh, so that a warm build needs no index.
resolve_rootfs() {
	local file p
	file=$CACHE/resolved-rootfs-$(printf '%s' "${ROOTFS_PACKAGES[*]}" | sha256sum | cut -c1-8)
	if [[ ! -e $file ]]; then
		for p in "${ROOTFS_PACKAGES[@]}"; do
			if [[ -z $(candidate "$p") ]]; then refresh_index; break; fi
		done
		for p in "${ROOTFS_PACKAGES[@]}"; do printf '%s=%s\n' "$p" "$(candidate "$p")"; done >"$file.new"
		mv "$file.new" "$file"
	fi
	cat "$file"
}

make_rootfs() {
	local out=$1 sources include
	sources=$(mktemp --suffix=.list)
	chmod 644 "$sources"
	"$VM/scripts/apt-sources" >"$sources" || return 1
	include=$(IFS=,; echo "${ROOTFS_PACKAGES[*]}")
	# The mirror's name must not stay in the image: sources, lists and logs are removed, and what is left is searched for it.
	quietly nice mmdebstrap --mode=root --variant=apt --format=tar \
		--aptopt='Apt::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/i18n/*' \
		--include="$include" \
		--customize-hook='chroot "$1" passwd -d root' \
		--customize-hook='echo fabric-vm >"$1/etc/hostname"; echo "127.0.0.1 localhost fabric-vm" >"$1/etc/hosts"' \
		--customize-hook='rm -rf "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/* "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin' \
		--customize-hook='rm -rf "$1"/var/log/*.log "$1"/var/log/apt "$1"/etc/resolv.conf' \
		--customize-hook="sed -nE 's#^deb (\\[.*\\] )?[a-z+]+://([^/ ]+).*#\\2#p' $sources | while read -r h; do ! grep -rqF \"\$h\" \"\$1/etc\" \"\$1/var\" || exit 1; done" \
		bookworm "$out/rootfs.tar" "$sources" || { rm -f "$sources"; return 1; }
	rm -f "$sources"
}
