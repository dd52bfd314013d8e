package systemd

import (
	"context"
	"time"
)

// What the tests of the package look at from outside: the fake of a connection is shared with those of other packages,
// and so is not in this one.
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
	ShownLines      = shownLines
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

// Reconnect sets what is slept before the first new connection.
func (m *Manager) Reconnect(delay time.Duration) { m.delay = delay }

// Connection is the connection in use, and what gives it back.
func (m *Manager) Connection(ctx context.Context) (Bus, func(), error) { return m.bus(ctx) }
