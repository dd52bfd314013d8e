package systemd

import (
	"context"
	"time"
)

// What the package's tests use from outside: they share the fake connection with other packages, so it is not in this
// package.
const (
	ManagerInterface = managerInterface
	UnitInterface    = unitInterface
	Reconnects       = reconnects
	ExplainTimeout   = explainTimeout
	LateLogTimeout   = lateLogTimeout
	LogLines         = logLines
	MaxLogLine       = maxLogLine
	MaxErrorLines    = maxErrorLines
	Linger           = linger
)

var (
	NewSignalFilter = newSignalFilter
	LostAnswers     = lostAnswers
)

// ListedUnit is a unit as systemd lists it.
type ListedUnit = listed

// Dial connects at a socket.
func Dial(ctx context.Context, socket string, hello bool) (Bus, error) {
	c, err := dialSystemd(ctx, socket, hello)
	if err != nil {
		return nil, err
	}
	return c, nil
}

// Reconnect sets the pause before the first new connection.
func (m *Manager) Reconnect(delay time.Duration) { m.delay = delay }

// Connection returns the connection in use, and the function that releases it.
func (m *Manager) Connection(ctx context.Context) (Bus, func(), error) { return m.bus(ctx) }
