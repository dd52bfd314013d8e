package rootfs

import (
	"context"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// events are the kernel's reports about watched directories (inotify(7)).
type events struct {
	fd   int
	file *os.File
	buf  []byte
	stop func() bool
}

// openEvents watches nothing yet. When ctx is done, wait returns.
func openEvents(ctx context.Context) (*events, error) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, fmt.Errorf("inotify: %w", err)
	}
	file := os.NewFile(uintptr(fd), "inotify")
	stop := context.AfterFunc(ctx, func() { file.SetReadDeadline(time.Unix(1, 0)) })
	return &events{fd, file, make([]byte, 16<<10), stop}, nil
}

// wait waits for an event, or returns ctx's error. It does not matter which event it was, or whether some were lost:
// the caller checks everything again.
func (e *events) wait(ctx context.Context) error {
	if _, err := e.file.Read(e.buf); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("inotify: %w", bare(err))
	}
	return nil
}

func (e *events) close() {
	e.stop()
	e.file.Close()
}
