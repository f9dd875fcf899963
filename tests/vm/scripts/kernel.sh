# A kernel of Debian: unpacked, not installed. Makes DIR/{vmlinuz,lib/modules/RELEASE,headers}.

make_kernel() {
	local out=$1 packages=$2 deb release
	mkdir "$out/debs" "$out/tree"
	# shellcheck disable=SC2086
	fetch "$out/debs" $packages
	for deb in "$out"/debs/*.deb; do dpkg-deb -x "$deb" "$out/tree"; done
	release=$(basename "$out"/tree/boot/vmlinuz-*)
	release=${release#vmlinuz-}
	mv "$out/tree/boot/vmlinuz-$release" "$out/vmlinuz"
	[[ -d $out/tree/usr/lib/modules ]] && { mkdir -p "$out/tree/lib"; mv "$out/tree/usr/lib/modules" "$out/tree/lib/"; }
	depmod -b "$out/tree" "$release"
	"$VM/scripts/copy-modules" "$out/tree/lib/modules/$release" "$out/lib/modules/$release" guest
	"$VM/scripts/copy-modules" "$out/tree/lib/modules/$release" "$out/initramfs-modules" initramfs
	mkdir "$out/headers"
	mv "$out"/tree/usr "$out/headers/"
	rm -rf "$out/debs" "$out/tree"
	# The headers name one another by absolute path. KERNEL_ROOT stands for where this folder is when modules are built.
	sed -Ei 's#([ =])/usr/src/#\1$(KERNEL_ROOT)/usr/src/#g; s#([ =])/usr/lib/#\1$(KERNEL_ROOT)/usr/lib/#g' \
		"$out"/headers/usr/src/linux-headers-*/Makefile
}

# The soft-RoCE driver's source, and nothing else of the kernel's.
make_rxe_source() {
	local out=$1 package=$2 name=${2%%=*}
	fetch "$out" "$package"
	dpkg-deb --fsys-tarfile "$out/$name"_*.deb | tar -xO "./usr/src/$name.tar.xz" | nice xz -dc -T0 |
		tar -x -C "$out" --strip-components=5 "$name/drivers/infiniband/sw/rxe" || return 1
	rm "$out"/*.deb
}
