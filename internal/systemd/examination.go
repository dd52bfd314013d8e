package systemd

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/redact"
)

// Examined is a unit's state with what shows why it is in it.
type Examined struct {
	apply.UnitState
	// Since is when it came to that state. It is zero if unknown.
	Since time.Time
	// Restarts is how often systemd has restarted a service by itself.
	Restarts uint32
	// MainPID is the number of a service's main process, or 0.
	MainPID uint32
	// ExitCode is the exit status of a service's last main process, or the number of the signal that ended it if Killed is true.
	ExitCode int32
	Killed   bool
}

// serviceProperties are those of a service that Examine reads.
var serviceProperties = []string{"NRestarts", "MainPID", "ExecMainCode", "ExecMainStatus"}

// The codes of siginfo_t for a process that a signal has ended (waitid(2)).
const cldKilled, cldDumped = 2, 3

// Examine returns a unit's state and what shows the reason for it. A missing unit has LoadState "not-found".
func (m *Manager) Examine(ctx context.Context, unit string) (*Examined, error) {
	if err := checkUnit(unit); err != nil {
		return nil, err
	}
	found := new(Examined)
	err := m.do(ctx, func(conn Bus) (err error) {
		if found.UnitState, err = readState(ctx, conn, unit); err != nil || found.LoadState == "not-found" {
			return err
		}
		properties, err := conn.Properties(ctx, UnitObject(unit), unitInterface, "StateChangeTimestamp")
		if err != nil {
			return err
		}
		found.Since = microTime(properties["StateChangeTimestamp"])
		if !strings.HasSuffix(unit, ".service") {
			return nil
		}
		if properties, err = conn.Properties(ctx, UnitObject(unit), typeInterface(unit), serviceProperties...); err != nil {
			return err
		}
		found.Restarts, _ = properties["NRestarts"].(uint32)
		found.MainPID, _ = properties["MainPID"].(uint32)
		found.ExitCode, _ = properties["ExecMainStatus"].(int32)
		code, _ := properties["ExecMainCode"].(int32)
		found.Killed = code == cldKilled || code == cldDumped
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("state of %s: %w", unit, err)
	}
	return found, nil
}

// FailedUnits returns the names of all units that have failed, sorted.
func (m *Manager) FailedUnits(ctx context.Context) ([]string, error) {
	var failed []string
	err := m.do(ctx, func(conn Bus) error {
		units, err := conn.List(ctx, "failed")
		failed = nil
		for i := range units {
			failed = append(failed, redact.Line(units[i].Name, maxLogLine))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("failed units: %w", err)
	}
	slices.Sort(failed)
	return failed, nil
}

// maxFound is how many lines of the journal Search reads.
const maxFound = 40

// Search returns the newest lines of this boot's journal by a unit, and by systemd about it, that have one of some
// words, oldest first: at most 4 KiB, without control characters and secrets. Without words it returns the newest lines.
// "init.scope" is systemd itself. It is empty if there is no journalctl.
func (m *Manager) Search(ctx context.Context, unit string, words ...string) ([]string, error) {
	return m.SearchSince(ctx, time.Time{}, unit, words...)
}

// SearchSince is Search for the lines from a time on. The zero time is the boot.
func (m *Manager) SearchSince(ctx context.Context, since time.Time, unit string, words ...string) ([]string, error) {
	if err := checkUnit(unit); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, logTimeout)
	defer cancel()
	all := []string{"-b", "_SYSTEMD_UNIT=" + unit, "+", "UNIT=" + unit}
	if len(words) > 0 {
		pattern := strings.Join(words, "|") // callers use no character with a meaning
		lines, err := m.newest(ctx, maxFound, since, append([]string{"-g", pattern, "--case-sensitive=true"}, all...)...)
		if err == nil || len(lines) > 0 { // it may not have ended in time
			return having(lines, words), nil
		}
		// journalctl fails if no line has the words, and if it was built without regular expressions.
	}
	lines, err := m.newest(ctx, maxFound, since, all...)
	if err != nil {
		return nil, fmt.Errorf("journal of %s: %w", unit, err)
	}
	return having(lines, words), nil
}

// having keeps the lines with one of some words, or all lines if there are no words.
func having(lines, words []string) []string {
	if len(words) == 0 {
		return lines
	}
	return slices.DeleteFunc(lines, func(line string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) })
	})
}
