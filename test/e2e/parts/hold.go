package parts

import (
	"context"
	"os"
	"path/filepath"
	"strings"
)

// holdScript is a first program of the initial RAM disk, which the kernel runs with rdinit=/hold. It prints "held", and waits for the time of
// day on the second serial port: the test saves the machine in that state, and continues it with another disk. Then the image's own first
// program runs.
const holdScript = `#!/bin/busybox sh
b=/bin/busybox
$b mount -t devtmpfs dev /dev
echo "e2e: held"
read now </dev/ttyS1
$b date -s "@$now" >/dev/null
$b umount /dev
exec /init "$@"
`

// heldInitrd is the name of an image's initial RAM disk with this program.
const heldInitrd = "held.initrd"

// holdInitrd adds the program to the initial RAM disk of an image. The kernel unpacks several archives, one after the other (Documentation/driver-api/early-userspace/buffer-format.rst).
func holdInitrd(ctx context.Context, dir string) error {
	scratch, err := os.MkdirTemp(dir, "hold-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if err := os.WriteFile(filepath.Join(scratch, "hold"), []byte(holdScript), 0o755); err != nil {
		return err
	}
	archive, err := filter(ctx, scratch, strings.NewReader("hold\n"), "cpio", "--create", "--format=newc", "--quiet")
	if err != nil {
		return err
	}
	initrd, err := os.ReadFile(Disk(dir, "initrd"))
	if err != nil {
		return err
	}
	for len(initrd)%4 != 0 {
		initrd = append(initrd, 0)
	}
	return os.WriteFile(filepath.Join(dir, heldInitrd), append(initrd, archive...), 0o644)
}
