#!/bin/sh
# Lets the root partition take the room that the disk has behind it, and the file system the room of its partition. At most boots there is
# none, and a look costs less than systemd-repart.
set -eu
partition=$(readlink -f "/sys/dev/block/$(stat -c %Hd:%Ld /)")
room=$(($(cat "$partition/../size") - $(cat "$partition/start") - $(cat "$partition/size")))
# In sectors of 512 bytes: the end of the disk has a table of partitions, and partitions end at a whole MiB.
if [ "$room" -gt 4096 ]; then
    systemd-repart --dry-run=no --definitions=/usr/lib/grow-root
fi
exec /usr/lib/systemd/systemd-growfs /
