# Sourced by scripts that build kernels.

# install_missing WHAT STATUS PACKAGE...: installs Debian's packages as root; else says that WHAT needs them, and exits with STATUS.
install_missing() {
  local what=$1 status=$2
  shift 2
  [ $# -gt 0 ] || return 0
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "installing $*"
    # one at a time: apt-get update does not wait for another
    DEBIAN_FRONTEND=noninteractive flock /var/lib/apt/lists sh -c \
      'apt-get update -qq && apt-get install -y -qq --no-install-recommends "$@"' sh "$@"
  else
    echo "$what needs: $*" >&2
    echo "  sudo apt-get install $*" >&2
    exit "$status"
  fi
}
