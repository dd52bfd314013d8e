//go:build failpoint

package main

import (
	"os"
	"sync"

	"github.com/slipway-dev/slipway/internal/failpoint"
)

// gateEnv turns the gate on. Only the program for test/session contains it.
const gateEnv = "SLIPWAY_GATE"

// gate stops the agent before every rename, reports it on descriptor 3, and continues when a byte comes on 4.
type gate struct {
	mu            sync.Mutex
	reached, goOn *os.File
}

func init() {
	if os.Getenv(gateEnv) != "" {
		failpoint.Set(&gate{reached: os.NewFile(3, "reached"), goOn: os.NewFile(4, "go on")})
	}
}

// Before implements failpoint.Point.
func (g *gate) Before(m *failpoint.Mutation) failpoint.Fate {
	if m.Kind != "rename" {
		return failpoint.Fate{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, err := g.reached.WriteString(m.String() + "\n"); err == nil {
		_, _ = g.goOn.Read(make([]byte, 1))
	}
	return failpoint.Fate{}
}

// After implements failpoint.Point.
func (g *gate) After(*failpoint.Mutation, error) {}
