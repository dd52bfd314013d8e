#!/bin/sh
# Makes the images again, in the current directory. Needs genisoimage, xorriso, dosfstools, mtools and
# udftools of Debian 12. The bytes differ from run to run in times and serial numbers only.
set -eu
export LC_ALL=C.UTF-8 MTOOLS_SKIP_CHECK=1
out=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The files of every image.
mkdir -p t/openstack/latest
printf '<Environment><CustomData>c2xpcHdheQ==</CustomData></Environment>\n' >t/ovf-env.xml
printf '#cloud-config\nhostname: node\n' >t/user-data
printf 'instance-id: node-1\n' >t/meta-data
printf 'version: 2\n' >t/network-config
printf 'user data of a config drive\n' >t/openstack/latest/user_data
printf '{"uuid":"1"}' >t/openstack/latest/meta_data.json
: >t/empty
for n in $(seq 0 399); do printf 'line %06d %0244d' "$n" 0; done >t/large.txt
# And of those that can have any name.
mkdir n && cp -r t/. n
printf 'latin\n' >n/größe
printf 'cyrillic\n' >n/размер
printf 'long\n' >n/"$(printf '%060d' 0)"
cp -r n r
printf 'longer\n' >r/"$(printf '%0200d' 0)"
ln -s user-data r/link

iso() { name=$1 tree=$2; shift 2; genisoimage -quiet -no-pad -input-charset utf-8 -o "$name" "$@" "$tree"; }
iso bridge.iso n -udf -R -J -joliet-long -V cidata
iso azure.iso t -udf -V rd_rdfe_stable
iso rockridge.iso r -R -V config-2
iso joliet.iso n -J -V cidata
iso plain.iso t -l -V CIDATA
xorriso -as mkisofs -quiet -no-pad -R -J -V cidata -o xorriso.iso r 2>/dev/null

# A FAT that was written to before, so that the large file is in pieces.
fat() {
	name=$1 label=$2; shift 2
	mkfs.vfat "$@" -n "$label" -C "$name" "$size" >/dev/null 2>&1
	for n in 1 2 3 4 5 6 7 8; do head -c 4096 /dev/zero >f$n; mcopy -i "$name" f$n ::; done
	mdel -i "$name" ::f1 ::f3 ::f5 ::f7
	mcopy -s -i "$name" t/* ::
	mdel -i "$name" ::f2 ::f4 ::f6 ::f8
}
size=256 fat fat12.img cidata -F 12 -s 1
size=2200 fat fat16.img CONFIG-2 -F 16 -s 1
size=34000 fat fat32.img cidata -F 32 -s 1
truncate -s 1M fat32.img # the rest is zeros, which the test puts back
# mtools takes this one for FAT16, so it has no files.
mkfs.vfat -F 32 -s 1 -n small -C small32.img 1024 >/dev/null 2>&1
mkfs.vfat -F 12 -C unlabelled.img 64 >/dev/null

udf() { name=$1 blocks=$2; shift 2; mkudffs --utf8 --new-file "$@" "$name" "$blocks" >/dev/null; }
udf udf201.img 1200 --media-type=hd --blocksize=512 --udfrev=2.01 --lvid=размер
udf udf102.img 320 --media-type=hd --blocksize=2048 --udfrev=1.02 --lvid=config-2 --ad=short
udf sparable.img 2048 --media-type=cdrw --blocksize=2048 --udfrev=1.50 --lvid=sparable

for image in *.iso *.img; do gzip -9n <"$image" >"$out/$image.gz"; done
