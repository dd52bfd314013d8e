package host

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/systemd"
)

// logGrace is how long a journalctl has after SIGTERM.
const logGrace = 200 * time.Millisecond

// journal is the journal as a program prints it.
func journal(program string) systemd.Journal {
	return func(ctx context.Context, timeout time.Duration, args ...string) (end []byte, cut bool, err error) {
		end, err = run(ctx, &resource.Command{
			Label: "journalctl", Argv: append([]string{program}, args...), Timeout: resource.Duration(timeout),
		}, logGrace)
		if errors.Is(err, exec.ErrNotFound) {
			return nil, false, nil
		}
		return end, len(end) == maxOutput, err
	}
}
