# shellcheck shell=bash disable=SC2154 # the variables are those of check/run
# Another build of the same commit: in another directory, by another user, in another time zone and language, with another umask, on one
# core, with an empty cache, and later.

# check_reproduce RELEASE
check_reproduce() {
	local release=$1 home=$work/elsewhere
	say "the same commit again: clone, user nobody, Pacific/Kiritimati, tr_TR, umask 077, one core, no cache"
	mkdir -p "$home/modules" "$home/compiler" "$home/locales"
	git clone -q --no-local .. "$home/another name"
	[ -e /usr/share/i18n/locales/tr_TR ] || { apt-get update -qq && apt-get install -y -qq --no-install-recommends locales >/dev/null; }
	quiet localedef -i tr_TR -f UTF-8 "$home/locales/tr_TR.UTF-8"
	chown -R nobody:nogroup "$home"
	# Only root may read root's modules and, where it was downloaded, root's compiler: the other user sees both in directories of that user.
	# shellcheck disable=SC2016 # the inner shell expands its own variables
	home=$home version=$version modules=$(go env GOMODCACHE) go=$(go env GOROOT) quiet unshare --mount --propagation private bash -euc '
		mount --bind -o ro "$modules" "$home/modules"
		mount --bind -o ro "$go" "$home/compiler"
		umask 077
		cd "$home/another name/release"
		exec taskset -c 0 setpriv --reuid=nobody --regid=nogroup --clear-groups env -i PATH="$home/compiler/bin:/usr/bin:/bin" HOME="$home" TMPDIR="$home" \
			TZ=Pacific/Kiritimati LOCPATH="$home/locales" LC_ALL=tr_TR.UTF-8 GOMODCACHE="$home/modules" GOPROXY=off GOFLAGS= version="$version" bash -euc "
				go build -o ~/release ./cmd/release
				~/release make --source .. --version \"\$version\" --out ~/out"'
	compare "$release" "$home/out"
}

files() { find "$1" -type f -printf '%f\n' | sort; }

# compare RELEASE ANOTHER explains each difference.
compare() {
	local name different=0
	same "names of the files" "$(files "$1")" "$(files "$2")"
	while read -r name; do
		if ! cmp -s "$1/$name" "$2/$name"; then
			different=1
			say "$name differs:"
			diffoscope --text - "$1/$name" "$2/$name" | head -60 || true
		fi
	done < <(files "$1")
	[ "$different" = 0 ] || die "another build of the same commit makes other files"
	say "all $(files "$1" | wc -l) files are the same"
}
