package systemd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

func TestExamine(t *testing.T) {
	conn := hosttest.NewBus()
	conn.Put("kubelet.service", map[string]any{
		"LoadState": "loaded", "ActiveState": "activating", "SubState": "auto-restart", "StateChangeTimestamp": uint64(5_000_000),
		"NRestarts": uint32(7), "MainPID": uint32(0), "ExecMainCode": int32(2), "ExecMainStatus": int32(9),
	})
	conn.Put("run.mount", map[string]any{"LoadState": "loaded", "ActiveState": "failed", "SubState": "failed", "Result": "exit-code"})
	m := hosttest.Systemd(conn)
	for unit, want := range map[string]systemd.Examined{
		"kubelet.service": {
			UnitState: apply.UnitState{LoadState: "loaded", ActiveState: "activating", SubState: "auto-restart", Starting: true},
			Since:     time.Unix(5, 0).UTC(), Restarts: 7, ExitCode: 9, Killed: true,
		},
		"run.mount":       {UnitState: apply.UnitState{LoadState: "loaded", ActiveState: "failed", SubState: "failed", Result: "exit-code"}},
		"missing.service": {UnitState: apply.UnitState{LoadState: "not-found", ActiveState: "inactive", SubState: "dead"}},
	} {
		if got, err := m.Examine(t.Context(), unit); err != nil || *got != want {
			t.Errorf("%s: got %+v, %v", unit, got, err)
		}
	}
	if failed, err := m.FailedUnits(t.Context()); err != nil || !slices.Equal(failed, []string{"run.mount"}) {
		t.Errorf("failed units: %q, %v", failed, err)
	}
	conn.Err = errors.New("systemd: refused")
	_, err := m.Examine(t.Context(), "kubelet.service")
	wantError(t, err, "state of kubelet.service", "refused")
	_, err = m.FailedUnits(t.Context())
	wantError(t, err, "failed units", "refused")
	_, err = m.Examine(t.Context(), "kubelet")
	wantError(t, err, "is not a unit name")
}

// A journalctl without regular expressions is asked again without them.
func TestSearch(t *testing.T) {
	for name, fails := range map[string]bool{"with a pattern": false, "without": true} {
		var calls []string
		m := hosttest.Journalled(func(_ context.Context, _ time.Duration, args ...string) ([]byte, bool, error) {
			calls = append(calls, strings.Join(args, " "))
			if fails && slices.Contains(args, "-g") {
				return nil, false, errors.New("exit status 1")
			}
			return []byte("a: Found ordering cycle on b\nother\nwith --token=" + token + " in an ordering cycle\n"), false, nil
		}, hosttest.NewBus())
		got, err := m.Search(t.Context(), "init.scope", "ordering cycle", "break cycle")
		if want := []string{"a: Found ordering cycle on b", "with --token=[redacted] in an ordering cycle"}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if want := "--no-pager -q -b -o cat -n 40 -g ordering cycle|break cycle --case-sensitive=true _SYSTEMD_UNIT=init.scope + UNIT=init.scope"; calls[0] != want {
			t.Errorf("called with %q", calls[0])
		}
		calls = nil
		if _, err := m.SearchSince(t.Context(), time.UnixMicro(1795875746_250_000), "init.scope", "break cycle"); err != nil || !strings.Contains(calls[0], " --since=@1795875746.250000 ") {
			t.Errorf("called with %q, %v", calls[0], err)
		}
	}
	m := hosttest.Journalled(func(context.Context, time.Duration, ...string) ([]byte, bool, error) {
		var all strings.Builder
		for i := range 100 {
			fmt.Fprintln(&all, i)
		}
		return []byte(all.String()), false, nil
	}, hosttest.NewBus())
	if got, err := m.Search(t.Context(), "kubelet.service"); err != nil || len(got) != 40 || got[39] != "99" {
		t.Errorf("%q, %v", got, err)
	}
	broken := hosttest.Journalled(func(context.Context, time.Duration, ...string) ([]byte, bool, error) {
		return nil, false, errors.New("broken")
	}, hosttest.NewBus())
	_, err := broken.Search(t.Context(), "kubelet.service", "x")
	wantError(t, err, "journal of kubelet.service", "broken")
}
