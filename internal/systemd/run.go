package systemd

import (
	"context"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// Run makes systemd run commands, one after the other until one fails, as a service with this name, and returns when
// they have ended. It is for operations that the caller's unit prevents: a mount in the caller's namespace would be
// invisible to other processes. The first word of a command is its path. change is the recorded change.
func (m *Manager) Run(ctx context.Context, change failpoint.Change, service string, commands ...[]string) error {
	if err := checkUnit(service); err != nil {
		return err
	}
	var result string
	err := m.do(ctx, func(conn Bus) (err error) {
		result, err = finish(ctx, conn, func(done chan<- string) error {
			return failpoint.Pass(change, func() error { return conn.Run(ctx, service, commands, done) })
		})
		return err
	})
	if err == nil && result != "done" {
		err = m.WithLog(ctx, service, jobResult(result))
	}
	return err
}
