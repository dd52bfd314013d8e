package rootfs

import (
	"debug/buildinfo"

	"golang.org/x/sys/unix"
)

// BuildInfo reads what the Go tool chain recorded in a binary. It does not run the binary.
func (t *Tree) BuildInfo(path string) (*buildinfo.BuildInfo, error) {
	p, err := t.find(path)
	if err != nil {
		return nil, Failed("read build record of", path, err)
	}
	defer p.close()
	file, err := p.openFile(unix.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, Failed("read build record of", path, err)
	}
	defer file.Close()
	info, err := buildinfo.Read(file)
	if err != nil {
		return nil, Failed("read build record of", path, err)
	}
	return info, nil
}
