# Shared by tests/vm/build and the steps under tests/vm/scripts: where things are cached, how a step is made once, how
# packages are found. Sourced, never run.

VM=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${FABRIC_VM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/fabric-agent/vm}
LANES=(6.12 6.1)

say() { [[ ${QUIET:-0} = 1 ]] || printf 'vm: %s\n' "$*" >&2; }
die() { printf 'vm: error: %s\n' "$*" >&2; exit 1; }

# Runs a command whose output is shown only when it fails, with addresses of package mirrors taken out.
quietly() {
	local log rc=0
	log=$(mktemp)
	"$@" >"$log" 2>&1 || rc=$?
	if ((rc)); then
		printf 'vm: failed (%d): %s\n' "$rc" "$(mirrorless <<<"$*")" >&2
		tail -n 30 "$log" | mirrorless >&2
	fi
	rm -f "$log"
	return "$rc"
}

mirrorless() { sed -E 's#[a-z+]+://[^ ]+#(mirror)#g; s#(Could not resolve|connect to) .*#\1 (mirror)#'; }

# Prints one hash of the given files' contents and of the words after "--".
hash_of() {
	local files=()
	while (($#)) && [[ $1 != -- ]]; do files+=("$1"); shift; done
	{ ((${#files[@]})) && cat -- "${files[@]}"; printf '%s\n' "$@"; } | sha256sum | cut -c1-16
}

# Makes folder DIR once: "cached DIR LABEL FUNCTION ARG..." calls FUNCTION DIR.new ARG... and renames DIR.new into place, so
# that a folder that exists is complete. What each step cost is noted for the summary at the end of the build.
cached() {
	local dir=$1 label=$2 start=$SECONDS
	shift 2
	if [[ -d $dir ]]; then
		touch "$dir"
		return
	fi
	say "$label ..."
	rm -rf "$dir.new"
	mkdir -p "$dir.new"
	"$1" "$dir.new" "${@:2}" || { rm -rf "$dir.new"; die "$label failed"; }
	mv "$dir.new" "$dir"
	say "$label: $((SECONDS - start)) s"
	[[ -z ${TIMES:-} ]] || printf '%5d s  %s\n' $((SECONDS - start)) "$label" >>"$TIMES"
}

# Installs the packages that are missing: "need COMMAND-OR-FILE:PACKAGE..."
need() {
	local pair missing=()
	for pair in "$@"; do
		[[ $pair = /* && -e ${pair%%:*} ]] || command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
	done
	((${#missing[@]})) || return 0
	((EUID == 0)) || die "missing packages: ${missing[*]} (install them, or run this as root)"
	say "installing ${missing[*]}"
	install_packages "${missing[@]}" || { mend_dpkg; refresh_index && install_packages "${missing[@]}"; }
}

install_packages() { quietly apt-get -qy -o DPkg::Lock::Timeout=300 install --no-install-recommends "$@"; }

# An installation that was killed half-way keeps apt from any other until this has run. Where another process is at it, the
# next apt-get waits for that one.
mend_dpkg() { DEBIAN_FRONTEND=noninteractive quietly dpkg --configure -a || :; }

refresh_index() {
	((EUID == 0)) || die "the package index must be refreshed: run this as root"
	say "refreshing the package index"
	quietly apt-get -q -o DPkg::Lock::Timeout=300 update
}

# Downloads "NAME=VERSION" packages of the machine's own apt sources into folder $1.
fetch() {
	local dir=$1
	shift
	(cd "$dir" && quietly apt-get -q -o APT::Sandbox::User=root download "$@") ||
		die "could not download $*: when the mirror has moved on, run build --refresh"
}

# Names and versions of the packages of one kernel lane, resolved once and kept until --refresh: RELEASE (as uname -r says),
# KERNEL (image, unpacked for booting), HEADERS (to build modules), SOURCE (for rxe).
resolve_lane() {
	local lane=$1 file=$CACHE/resolved-$1
	if [[ ! -e $file ]]; then
		newest_kernel "$lane" >"$file.new" || { refresh_index; newest_kernel "$lane" >"$file.new"; } ||
			die "no linux-image-$lane*-amd64 in this machine's apt sources"
		mv "$file.new" "$file"
	fi
	# shellcheck disable=SC1090
	. "$file"
}

newest_kernel() {
	local lane=$1 image release headers
	image=$(apt-cache pkgnames "linux-image-$lane" | grep -E "^linux-image-${lane//./\\.}\.[0-9]+(-[0-9]+|\+deb[0-9]+)?-amd64$" |
		while read -r p; do [[ -n $(candidate "$p") ]] && echo "$p"; done | sort -V | tail -n 1)
	[[ -n $image && -n $(candidate "linux-source-$lane") ]] || return 1
	release=${image#linux-image-}
	headers=$(apt-cache depends "linux-headers-$release" | sed -n 's/^ *Depends: \(linux-[a-z0-9.+-]*\)$/\1/p' |
		grep -E '^linux-(headers|kbuild|compiler)-' | sort -u)
	echo "RELEASE=$release"
	echo "KERNEL=$image=$(candidate "$image")"
	printf 'HEADERS="'
	for p in "linux-headers-$release" $headers; do printf '%s=%s ' "$p" "$(candidate "$p")"; done
	printf '"\nSOURCE=linux-source-%s=%s\n' "$lane" "$(candidate "linux-source-$lane")"
}

candidate() { apt-cache policy "$1" | sed -n 's/^  Candidate: \([^(].*\)$/\1/p'; }
