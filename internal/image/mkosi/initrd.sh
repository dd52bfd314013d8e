#!/bin/sh
# mkosi runs this when all packages are in the tree below $BUILDROOT. It makes the initrd: busybox, the modules and the check of file systems
# that the root file system needs. mkosi's own one has all of systemd, and is twelve times as large.
set -eu
root=$BUILDROOT
if ! [ -x "$root/usr/bin/busybox" ]; then
    echo "the tree has no /usr/bin/busybox, of which the initrd is made: install busybox-static in it" >&2
    exit 1
fi
tree=$(mktemp -d)
mkdir -p "$tree/bin" "$tree/dev" "$tree/proc" "$tree/root" "$tree/sys" "$tree/usr/lib/modules"
ln -s usr/lib "$tree/lib"
cp "$root/usr/bin/busybox" "$tree/bin/busybox"
cp "$SRCDIR/initrd/init" "$tree/init"

# The modules and those that they need, and the tables by which modprobe finds the module of a device.
set -- "$root"/usr/lib/modules/*
kernel=${1##*/}
modules=$tree/usr/lib/modules/$kernel
mkdir "$modules"
cp "$1/modules.order" "$1/modules.builtin" "$1/modules.builtin.modinfo" "$modules"
for name in $(cat "$SRCDIR/initrd/modules"); do
    modprobe --quiet --dirname "$root" --set-version "$kernel" --show-depends "$name" >"$tree/needed" || echo "$name: kernel $kernel does not have it" >&2
    awk '$1 == "insmod" {print $2}' "$tree/needed" | while read -r file; do
        module=$(basename "${file%.xz}")
        case $file in
        *.xz) xz --decompress --stdout "$file" >"$modules/$module" ;;
        *) cp "$file" "$modules/$module" ;;
        esac
        # No device asks for the file system, and its checksums are what it needs without saying so.
        [ "$name" != ext4 ] || echo "${module%.ko}" >>"$tree/filesystem"
    done
done
rm "$tree/needed"
depmod --basedir "$tree" "$kernel"
rm "$modules"/*.bin

# e2fsck is not static. Links are followed in the tree of the image: some are absolute, and the machine that builds has other libraries.
# A pipe would pass over an error of its first program.
mkosi-chroot ldd /usr/sbin/e2fsck >"$tree/libraries"
mkosi-chroot tar --create --dereference --absolute-names --file=- /usr/sbin/e2fsck $(grep -o '/[^ ]*' "$tree/libraries") >"$tree/files.tar"
tar --extract --file "$tree/files.tar" --directory "$tree"
rm "$tree/libraries" "$tree/files.tar"

find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
mkdir -p "$ARTIFACTDIR/io.mkosi.initrd"
initrd=$ARTIFACTDIR/io.mkosi.initrd/initrd.cpio
(cd "$tree" && find . | LC_ALL=C sort | cpio --create --format=newc --quiet --reproducible --owner=0:0) >"$initrd"
zstd -19 --quiet --rm "$initrd"
rm -rf "$tree"
