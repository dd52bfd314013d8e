#!/bin/busybox sh
# The initrd's first program: finds the root file system by the identifier of its partition, checks and mounts it, and starts systemd in it.
b=/bin/busybox
$b mount -t devtmpfs dev /dev
$b mount -t proc proc /proc
$b mount -t sysfs sys /sys

# Loads the modules of the devices that are known by now.
load() {
    $b modprobe -qa $($b cat /sys/bus/*/devices/*/modalias 2>/dev/null)
}
# A bus has devices when its own module is loaded.
load
load
# A kernel can have the file system built in.
[ ! -e /filesystem ] || $b modprobe -qa $($b cat /filesystem)

# The kernel panics when this program ends. Its console shows why.
fail() {
    echo "initrd: $*"
    $b sleep 5
    exit 1
}

id=
for word in $($b cat /proc/cmdline); do
    case $word in
    root=PARTUUID=*) id=$(echo "${word#root=PARTUUID=}" | $b tr -d - | $b tr A-F a-f) ;;
    esac
done
[ "${#id}" = 32 ] || fail "the kernel's command line has no root=PARTUUID=, with a UUID"
# A partition table (GPT, UEFI 2.10, 5.3.3) has the first three parts of a UUID in the order of little-endian numbers.
id=${id:6:2}${id:4:2}${id:2:2}${id:0:2}${id:10:2}${id:8:2}${id:14:2}${id:12:2}${id:16}

# Disks come when their drivers have asked for them.
tries=600
while :; do
    for partition in /sys/class/block/*/partition; do
        [ -e "$partition" ] || continue
        here=${partition%/partition}
        disk=$($b readlink -f "$here/..")
        # Entries of 128 bytes begin at the third sector. Their identifier begins at byte 16.
        skip=$((65 + 8 * ($($b cat "$partition") - 1)))
        [ "$($b dd if="/dev/${disk##*/}" bs=16 skip=$skip count=1 2>/dev/null | $b hexdump -v -e '1/1 "%02x"')" = "$id" ] && break 2
    done
    [ $tries -gt 0 ] || fail "no disk has the partition of the root file system"
    tries=$((tries - 1))
    $b sleep 0.1
    load
done
device=/dev/${here##*/}

/usr/sbin/e2fsck -p "$device"
case $? in
0 | 1) ;;
2 | 3) $b reboot -f ;;
*) fail "the root file system on $device is damaged, and e2fsck does not mend it without a person" ;;
esac
$b mount -t ext4 -o rw "$device" /root || fail "the root file system on $device cannot be mounted"
for dir in dev proc sys; do
    $b mount --move /$dir /root/$dir
done
exec $b switch_root /root /sbin/init "$@"
