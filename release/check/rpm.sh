# shellcheck shell=bash disable=SC2154 # the variables are those of check/run
# The rpm in a tree, by rpm, and its lint.

# check_rpm RELEASE UPGRADE
check_rpm() {
	local release=$1 upgrade=$2 root=$work/rpm
	say "rpm: install, upgrade, remove"
	rm -rf "$root" && mkdir -p "$root" && cp -a "$work/bookworm/." "$root/"
	quiet chroot "$root" dpkg --purge --force-depends slipway slipway-node
	# --nodeps: Debian's files are in no database of RPM.
	quiet rpm --root "$root" --initdb
	quiet rpm --root "$root" --install --nodeps --noplugins "$release"/slipway-0.1.0-1.x86_64.rpm "$release"/slipway-node-0.1.0-1.x86_64.rpm
	quiet rpm --root "$root" --verify --nodeps slipway slipway-node
	same "rpm: version" "slipway-node $version" "$(chroot "$root" slipway-node version | cut -d' ' -f1-2)"
	same "rpm: units that the installation enabled" "" "$(enabled rpm)"
	quiet systemctl --root "$root" enable slipway-watch.service
	quiet rpm --root "$root" --upgrade --nodeps --noplugins "$upgrade"
	same "rpm: version after the upgrade" "slipway-node v0.1.1-test" "$(chroot "$root" slipway-node version | cut -d' ' -f1-2)"
	same "rpm: units after the upgrade" "slipway-watch.service " "$(enabled rpm)"
	rpm --root "$root" --erase --nodeps --noplugins slipway-node >"$work/log" 2>&1 || { cat "$work/log"; die "rpm: remove"; }
	grep -q "Slipway's state stays" "$work/log" || die "rpm: the removal does not say what stays"
	[ ! -e "$root/opt/slipway/bin/slipway-node" ] || die "rpm: the agent is still there"
	same "rpm: units after the removal" "" "$(enabled rpm)"
}

# check_lint RELEASE: lintian does not run as root.
check_lint() {
	say "lintian and rpmlint"
	mkdir -p "$work/lint" && cp "$1"/*.deb "$work/lint/" && chmod -R a+rX "$work/lint"
	setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/tmp lintian --fail-on error,warning --tag-display-limit 0 "$work"/lint/*.deb || die "lintian"
	rpmlint --config check/rpmlint.toml "$1"/*.rpm >"$work/log" 2>&1 || { grep ': [EW]: ' "$work/log"; die "rpmlint"; }
	! grep ': [EW]: ' "$work/log" || die "rpmlint"
}

# check_arm64 RELEASE
check_arm64() {
	local program
	say "arm64 under qemu-user: the archives' programs, and the deb's"
	mkdir -p "$work/arm64" && dpkg-deb -x "$1"/slipway-node_*_arm64.deb "$work/arm64"
	for program in "$work"/tars/slipway_*_linux_arm64/slipway "$work"/tars/slipway-node_*_linux_arm64/slipway-node "$work/arm64/opt/slipway/bin/slipway-node"; do
		same "arm64: version" "${program##*/} $version linux/arm64," "$(qemu-aarch64-static "$program" version | awk '{print $1, $2, $4}')"
	done
	quiet qemu-aarch64-static "$work"/tars/slipway_*_linux_arm64/slipway validate -f ../examples/native/full.yaml
	quiet qemu-aarch64-static "$work"/tars/slipway-node_*_linux_arm64/slipway-node provision --root "$work/arm64-node" --provision-config ../examples/native/full.yaml --facts ../examples/facts/ubuntu.json
}
