package systemd

import (
	"context"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// Run has systemd run commands, one after the other until one fails, as a service of that name, and returns when they
// have ended. It is for what the caller cannot do itself, because its own unit confines it: a mount in the caller's
// namespace is one that nobody else sees. The first word of a command is its path. change is what is done.
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
