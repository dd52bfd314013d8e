# shellcheck shell=bash disable=SC2154 # the variables are those of check/run
# What the checks of a release share. The caller has set -euo pipefail.

# say prints a line with the time since the beginning.
say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

# die ends the checks.
die() {
	say "FAILED: $*" >&2
	exit 1
}

# same requires two texts to be the same.
same() {
	[ "$2" = "$3" ] || die "$1:"$'\n'"$(diff <(printf '%s\n' "$2") <(printf '%s\n' "$3"))"
}

# quiet runs a command and prints its output only if it fails.
quiet() {
	"$@" >"$work/log" 2>&1 || { cat "$work/log" >&2; die "$*"; }
}

# need installs Debian's packages of programs that are missing: need PROGRAM PACKAGE ...
need() {
	local missing=()
	while [ $# -gt 0 ]; do
		command -v "$1" >/dev/null || missing+=("$2")
		shift 2
	done
	[ ${#missing[@]} -eq 0 ] || { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; }
}
