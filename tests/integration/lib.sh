# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# What the tests of tests/integration share. Sourced; the current folder is the repository's.

# Installs Debian packages that are missing. None of them starts a service here: policy-rc.d says so for that time.
need_packages() {
  local package missing=() policy=/usr/sbin/policy-rc.d
  for package in "$@"; do
    [[ $(dpkg-query --showformat='${db:Status-Status}' --show "$package" 2>/dev/null) == installed ]] || missing+=("$package")
  done
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || { echo "needs root to install: ${missing[*]}"; exit 77; }
  local ours=
  [[ -e $policy ]] || { printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod 755 "$policy" && ours=yes; }
  DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600 --yes --no-install-recommends install "${missing[@]}" >/dev/null
  local status=$?
  [[ $ours ]] && rm "$policy"
  return "$status"
}

integration_root=$PWD

# page_commands NAME: the commands that fabric-NAME(7) displays, one a line. Displays of other content begin with "#" or "[".
page_commands() {
  sed -n '/^\.Bd -literal -offset indent -compact$/,/^\.Ed$/{/^\./d;s/\\e$/\\/;s/\\-/-/g;p};s/^\.Dl //p' "$integration_root/agent/ctl/fabric-$1.7" |
    sed ':a;/\\$/{N;s/ *\\\n */ /;ba}'
}

# page_command NAME PATTERN: the one command of the page that matches.
page_command() {
  local line
  line=$(page_commands "$1" | grep -E -- "$2")
  [[ $line && $line != *$'\n'* ]] || { echo "not one command of fabric-$1(7): $2: $line" >&2; return 1; }
  printf '%s' "$line"
}

# check DESCRIPTION COMMAND...: runs it and says "ok" or "FAIL".
check() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then printf 'ok %s\n' "$what"; else
    printf 'FAIL %s\n' "$what"
    failures=$((${failures:-0} + 1))
    return 1
  fi
}

# within SECONDS COMMAND...: until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < end)) || return 1
    sleep 0.3
  done
}

# An unused TCP port.
free_port() {
  local port
  for ((port = 21479; port < 21579; port++)); do
    (: <"/dev/tcp/127.0.0.1/$port") 2>/dev/null || { echo "$port"; return; }
  done
  return 1
}

# The package: build/deb's, or DEB.
need_deb() {
  deb=$(realpath "${DEB:-$(echo build/deb/fabric-agent_*_"$(dpkg --print-architecture)".deb)}")
  [[ -e $deb ]] || { echo "no package: $deb (packaging/build-deb)"; exit 1; }
  export DEB=$deb
}

# Starts the calling script again with /usr, /etc and /var as copies on write, so that dpkg changes nothing of this machine.
# No service starts in there.
in_private_files() {
  [[ ${1-} == inside ]] && return
  # shellcheck disable=SC2016 # the inner shell's
  exec unshare --mount --propagation private bash -c '
    top=$(mktemp -d) && mount -t tmpfs tmpfs "$top" || exit 2
    for folder in usr etc var; do
      mkdir -p "$top/$folder/upper" "$top/$folder/work"
      mount -t overlay overlay -o "lowerdir=/$folder,upperdir=$top/$folder/upper,workdir=$top/$folder/work" "/$folder" || exit 2
    done
    printf "#!/bin/sh\nexit 101\n" >/usr/sbin/policy-rc.d && chmod 755 /usr/sbin/policy-rc.d
    dpkg --purge fabric-agent >/dev/null 2>&1
    exec "$0" inside' "$PWD/tests/integration/$(basename "$0")"
}
