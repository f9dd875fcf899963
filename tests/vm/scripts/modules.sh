# The simulated NICs and the extended soft-RoCE driver, built for one kernel: DIR/*.ko.

make_modules() {
	local out=$1 kernel=$2 rxe=$3 build=$1/build headers
	headers=$(echo "$kernel"/headers/usr/src/linux-headers-*-amd64)
	mkdir -p "$build/rxe"
	cp "$VM"/module/*.[ch] "$VM/module/Makefile" "$build/"
	cp "$rxe"/* "$build/rxe/"
	quietly "$VM/module/rxe-extend.py" "$build/rxe" || return 1
	# CONFIG_DEBUG_INFO_BTF_MODULES: no BTF, which would need the kernel's own vmlinux
	local dir
	for dir in "$build" "$build/rxe"; do
		quietly nice make -s -j"$(nproc)" -C "$headers" M="$dir" KERNEL_ROOT="$kernel/headers" CONFIG_DEBUG_INFO_BTF_MODULES= \
			CONFIG_RDMA_RXE=m modules || return 1
	done
	mv "$build"/*.ko "$build"/rxe/*.ko "$out/"
	strip --strip-debug "$out"/*.ko
	rm -rf "$build"
}
