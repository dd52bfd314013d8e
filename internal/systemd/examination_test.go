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
	about := map[string]string{"_SYSTEMD_UNIT": "init.scope"}
	entries := []entry{
		{at: 1, fields: about, text: "a: Found ordering cycle on b"},
		{at: 2, fields: about, text: "other"},
		{at: 3, fields: map[string]string{"UNIT": "init.scope"}, text: "with --token=" + token + " in an ordering cycle"},
		{at: 4, fields: map[string]string{"UNIT": "other.service"}, text: "an ordering cycle of others"},
	}
	const first, second = "a: Found ordering cycle on b", "with --token=[redacted] in an ordering cycle"
	for _, patterns := range []bool{true, false} {
		m := hosttest.Journalled(kept{patterns: patterns, entries: entries}.read, hosttest.NewBus())
		for since, want := range map[time.Time][]string{{}: {first, second}, time.UnixMicro(3): {second}, time.UnixMicro(4): {}} {
			if got, err := m.SearchSince(t.Context(), since, "init.scope", "ordering cycle", "break cycle"); err != nil || !slices.Equal(got, want) {
				t.Errorf("%v, since %v: %q, %v", patterns, since, got, err)
			}
		}
		if got, err := m.Search(t.Context(), "init.scope"); err != nil || !slices.Equal(got, []string{first, "other", second}) {
			t.Errorf("%v: %q, %v", patterns, got, err)
		}
	}
	broken := hosttest.Journalled(func(context.Context, systemd.JournalQuery) ([]byte, bool, error) {
		return nil, false, errors.New("broken")
	}, hosttest.NewBus())
	slow := hosttest.Journalled(func(context.Context, systemd.JournalQuery) ([]byte, bool, error) {
		return hosttest.Record(1, "an x"), false, context.DeadlineExceeded
	}, hosttest.NewBus())
	if got, err := slow.Search(t.Context(), "kubelet.service", "x"); err != nil || !slices.Equal(got, []string{"an x"}) {
		t.Errorf("a search that takes too long: %q, %v", got, err)
	}
	_, err := broken.Search(t.Context(), "kubelet.service", "x")
	wantError(t, err, "journal of kubelet.service", "broken")
}

// The newest lines are kept, and shown in their order.
func TestSearchIsBounded(t *testing.T) {
	for length, want := range map[int]int{1: 40, 200: 20, 1 << 20: 0} {
		var all []entry
		for i := range 100 {
			all = append(all, entry{at: i, fields: map[string]string{"_SYSTEMD_UNIT": "kubelet.service"}, text: fmt.Sprint(i, " error ", strings.Repeat("x", length))})
		}
		m := hosttest.Journalled(kept{patterns: true, entries: all}.read, hosttest.NewBus())
		for _, words := range [][]string{nil, {"error"}} {
			got, err := m.Search(t.Context(), "kubelet.service", words...)
			if err != nil || len(got) < want*9/10 || len(got) > want || want > 0 && (!strings.HasPrefix(got[len(got)-1], "99 ") || !strings.HasPrefix(got[len(got)-2], "98 ")) {
				t.Errorf("%d bytes, %q: %d lines, %q, %v", length, words, len(got), got, err)
			}
		}
	}
}
