package rootfs

import "golang.org/x/sys/unix"

// Prefetch makes the kernel read a file into memory, without waiting for that (posix_fadvise(2)).
func (t *Tree) Prefetch(name string) error {
	p, err := t.find(name)
	if err != nil {
		return Failed("read ahead", name, err)
	}
	defer p.close()
	file, err := p.openFile(unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return Failed("read ahead", name, err)
	}
	defer file.Close()
	if err := unix.Fadvise(int(file.Fd()), 0, 0, unix.FADV_WILLNEED); err != nil {
		return Failed("read ahead", name, err)
	}
	return nil
}
