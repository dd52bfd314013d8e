#!/bin/sh
# mkosi runs this when all packages and files are in the tree below $BUILDROOT. It applies the parts of a node that need no cluster,
# imports the container images, and removes what belongs to one machine.
set -eu
root=$BUILDROOT

if [ -e "$root/opt/slipway/bin/slipway-node" ]; then
    for contract in "$root"/etc/slipway/base.*; do
        "$root/opt/slipway/bin/slipway-node" provision --root "$root" --provision-config "$contract" --log-level warn
    done
    systemctl --root="$root" --quiet enable slipway-provision.service slipway-provision.path slipway-watch.service
fi
systemctl --root="$root" --quiet enable grow-root.service systemd-networkd.service systemd-resolved.service systemd-timesyncd.service
ln -sf ../run/systemd/resolve/stub-resolv.conf "$root/etc/resolv.conf"

# The runtime itself fills its store. The configuration is another one than the node's, so nothing else of the node starts.
if [ -e "$root/opt/slipway/images/index.json" ]; then
    mkosi-chroot /bin/sh -eu <<'IN_THE_TREE'
state=$(mktemp -d /tmp/slipway.XXXXXX)
cat >"$state/config.toml" <<CONFIG
version = 2
root = "/var/lib/containerd"
state = "$state/state"
disabled_plugins = ["io.containerd.grpc.v1.cri", "io.containerd.cri.v1.images", "io.containerd.cri.v1.runtime", "io.containerd.nri.v1.nri"]
[grpc]
address = "$state/socket"
[ttrpc]
address = "$state/socket.ttrpc"
CONFIG
containerd --config "$state/config.toml" 2>"$state/log" &
daemon=$!
tries=600
until [ -S "$state/socket" ]; do
    tries=$((tries - 1))
    if [ "$tries" = 0 ] || ! kill -0 "$daemon" 2>/dev/null; then
        cat "$state/log" >&2
        echo "containerd does not start in the tree, so it cannot import the container images" >&2
        exit 1
    fi
    sleep 0.1
done
tar -C /opt/slipway/images -cf - . | ctr --address "$state/socket" --namespace k8s.io images import --no-unpack=false - >/dev/null
kill "$daemon"
wait "$daemon" || :
# The runtime's name, which it makes at its first start.
rm -rf "$state" /var/lib/containerd/io.containerd.grpc.v1.introspection
IN_THE_TREE
fi

# A cache of inodes and times of the machine that builds.
rm -f "$root/var/cache/ldconfig/aux-cache"

# What systemd does after an update of /usr, the packages have done: the cache of libraries, the catalog of messages, users
# (systemd-update-done.service(8)).
: >"$root/etc/.updated"
: >"$root/var/.updated"

# systemd takes a missing file, or "uninitialized" in it, for a first boot, and applies all presets then (machine-id(5)).
: >"$root/etc/machine-id"
rm -rf "$root/var/lib/dbus/machine-id" "$root/var/lib/systemd/random-seed" "$root/var/lib/systemd/credential.secret" \
    "$root/etc/hostname" "$root/run/slipway" "$root"/etc/ssh/ssh_host_*_key* "$root"/var/log/*.log "$root"/var/log/apt/*

# mkosi sets the times of changes, and mke2fs copies the times of reading, which depend on the machine that builds.
find "$root" -xdev -exec touch -a --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
