# shellcheck shell=bash disable=SC2154 # the variables are those of check/run
# Another build of the same commit: in another directory, by another user, in another time zone and language, with another umask, on one
# core, with an empty cache, and later.

# check_reproduce RELEASE
check_reproduce() {
	local release=$1 home=$work/elsewhere name
	say "the same commit again: clone, user 12345, Pacific/Kiritimati, tr_TR, umask 077, one core, no cache"
	mkdir -p "$home" && git clone -q --no-local .. "$home/another name"
	chown -R 12345:12345 "$home"
	(
		umask 077
		cd "$home/another name/release" || exit
		quiet taskset -c 0 setpriv --reuid=12345 --regid=12345 --clear-groups env -i PATH="$PATH" HOME="$home" TMPDIR="$home" TZ=Pacific/Kiritimati \
			LANG=tr_TR.UTF-8 LC_ALL=tr_TR.UTF-8 GOMODCACHE="$(go env GOMODCACHE)" GOFLAGS=-modcacherw GOPROXY="$(go env GOPROXY)" \
			bash -c "go build -o '$home/release' ./cmd/release && '$home/release' make --source .. --version '$version' --out '$home/out'"
	)
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
