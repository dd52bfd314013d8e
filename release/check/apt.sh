# shellcheck shell=bash disable=SC2154 # the variables are those of check/run
# The deb in fresh trees of Debian, by apt, from a repository that this makes and signs.

# make_repository RELEASE UPGRADE
make_repository() {
	export GNUPGHOME=$work/gnupg
	[ -d "$work/repository" ] && return
	mkdir -m 700 "$GNUPGHOME"
	quiet gpg --batch --pinentry-mode loopback --passphrase '' --quick-generate-key 'Test of a release <test@slipway.invalid>' ed25519 sign
	gpg --export >"$work/repository.gpg"
	mkdir -p "$work/repository/conf"
	printf 'Codename: stable\nComponents: main\nArchitectures: amd64 arm64\nSignWith: yes\n' >"$work/repository/conf/distributions"
	quiet reprepro -b "$work/repository" includedeb stable "$1"/*.deb
}

# tree CODENAME makes a tree of Debian with systemd's programs, once.
tree() {
	[ -d "$work/$1" ] && return
	quiet mmdebstrap --variant=minbase --include=systemd,man-db,ca-certificates --aptopt='Acquire::Languages "none"' --dpkgopt=force-unsafe-io "$1" "$work/$1"
	mkdir "$work/$1/repository"
	cp "$work/repository.gpg" "$work/$1/usr/share/keyrings/slipway.gpg"
	echo 'deb [signed-by=/usr/share/keyrings/slipway.gpg] file:/repository stable main' >"$work/$1/etc/apt/sources.list.d/slipway.list"
}

# inside CODENAME COMMAND runs a command in a tree, with the repository.
# shellcheck disable=SC2016 # the inner shell expands its own variables
inside() {
	local root=$work/$1
	shift
	root=$root repository=$work/repository unshare --mount --propagation private --pid --fork --kill-child bash -euc '
		mount --bind -o ro "$repository" "$root/repository"
		mount -t proc proc "$root/proc"
		exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"' inside "$@"
}

# state CODENAME lists what a node is made of, with its digests: all but packages' own files.
state() {
	(cd "$work/$1" && find etc/kubernetes etc/containerd etc/systemd/system etc/sysctl.d etc/modules-load.d etc/slipway var/lib/kubelet var/lib/slipway opt/cni \
		\( -type f -o -type l \) ! -path 'etc/systemd/system/*.wants/slipway-[pw]*' ! -path 'var/lib/slipway/reserve' 2>/dev/null | sort | while read -r f; do
		if [ -L "$f" ]; then echo "$f -> $(readlink "$f")"; else echo "$f $(stat -c %a:%u:%g "$f") $(sha256sum <"$f" | cut -c1-16)"; fi
	done)
}

# enabled CODENAME lists the package's units that are enabled.
enabled() { systemctl --root "$work/$1" list-unit-files --state=enabled --no-legend slipway-provision.service slipway-provision.path slipway-watch.service | awk '{print $1}' | sort | tr '\n' ' '; }

# check_apt CODENAME RELEASE UPGRADE
check_apt() {
	local codename=$1 release=$2 upgrade=$3 before after
	say "$codename: install by apt"
	make_repository "$release"
	tree "$codename"
	quiet inside "$codename" apt-get update -qq
	quiet inside "$codename" apt-get install -y -qq slipway slipway-node
	quiet inside "$codename" dpkg --verify slipway slipway-node
	same "$codename: version" "slipway-node $version" "$(inside "$codename" slipway-node version | cut -d' ' -f1-2)"
	quiet inside "$codename" slipway validate --help
	same "$codename: manual" "SLIPWAY-NODE(8)" "$(inside "$codename" man -P cat slipway-node 2>/dev/null | head -1 | cut -d' ' -f1)"
	same "$codename: units that the installation enabled" "" "$(enabled "$codename")"
	quiet systemctl --root "$work/$codename" preset-all
	same "$codename: units that systemd's presets enable" "" "$(enabled "$codename")"

	say "$codename: a node in place, upgraded to $(basename "$upgrade" | sed 's/slipway-node_\(.*\)_.*/\1/')"
	quiet systemctl --root "$work/$codename" enable slipway-provision.service slipway-provision.path slipway-watch.service
	mkdir -p "$work/$codename/usr/bin" "$work/$codename/etc/slipway"
	cp ../examples/native/full.yaml "$work/$codename/etc/slipway/config.yaml"
	quiet "$work/slipway-node" provision --root "$work/$codename" --facts ../examples/facts/ubuntu.json
	before=$(state "$codename")
	[ "$(wc -l <<<"$before")" -gt 15 ] || die "the node has only these files: $before"
	quiet reprepro -b "$work/repository" includedeb stable "$upgrade"
	quiet inside "$codename" apt-get update -qq
	quiet inside "$codename" apt-get install -y -qq --only-upgrade slipway-node
	same "$codename: version after the upgrade" "slipway-node v0.1.1-test" "$(inside "$codename" slipway-node version | cut -d' ' -f1-2)"
	after=$(state "$codename")
	same "$codename: the node after the upgrade" "$before" "$after"
	same "$codename: units after the upgrade" "slipway-provision.path slipway-provision.service slipway-watch.service " "$(enabled "$codename")"

	say "$codename: a removal that the node does not survive is refused"
	printf '[Service]\nExecStart=/opt/slipway/bin/slipway-node local-dns\n' >"$work/$codename/etc/systemd/system/localdns.service"
	if inside "$codename" apt-get remove -y -qq slipway-node >"$work/log" 2>&1; then
		die "$codename: apt removed a program that localdns.service runs"
	fi
	grep -q 'this node runs the program, as these files say: /etc/systemd/system/localdns.service' "$work/log" || { cat "$work/log"; die "$codename: the removal says nothing of localdns.service"; }
	rm "$work/$codename/etc/systemd/system/localdns.service"
	quiet inside "$codename" dpkg --configure -a

	say "$codename: remove, and purge"
	quiet inside "$codename" apt-get remove -y -qq slipway-node
	same "$codename: the node after the removal" "$before" "$(state "$codename")"
	same "$codename: units after the removal" "" "$(enabled "$codename")"
	[ ! -e "$work/$codename/opt/slipway/bin/slipway-node" ] || die "$codename: the agent is still there"
	inside "$codename" apt-get purge -y -qq slipway-node >"$work/log" 2>&1 || { cat "$work/log"; die "$codename: purge"; }
	grep -q "removing Slipway's state" "$work/log" || die "$codename: the purge does not say what it removes"
	[ ! -e "$work/$codename/var/lib/slipway" ] || die "$codename: /var/lib/slipway is still there after the purge"
	same "$codename: the node after the purge" "$(grep -v '^var/lib/slipway/' <<<"$before")" "$(state "$codename")"
	say "$codename: install again, and take over the node"
	quiet inside "$codename" apt-get install -y -qq slipway-node
}
