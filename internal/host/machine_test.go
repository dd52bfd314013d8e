package host

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

func TestNeedReload(t *testing.T) {
	const unit, own, vendor = "containerd.service", resource.UnitDir + "/containerd.service", "/usr/lib/systemd/system/containerd.service"
	loaded := func(fragment string, changed bool) map[string]any {
		return map[string]any{"LoadState": "loaded", "FragmentPath": fragment, "NeedDaemonReload": changed}
	}
	for _, test := range []struct {
		name  string
		has   map[string]any // what systemd has in memory; may be nil
		files []string
		want  bool
	}{
		{"not read yet", nil, []string{own}, false},
		{"as it is", loaded(own, false), []string{own}, false},
		{"changed", loaded(own, true), []string{own}, true},
		{"the vendor's, and no other", loaded(vendor, false), nil, false},
		{"the vendor's, and its own by now", loaded(vendor, false), []string{own}, true},
		{"looked for and not found", map[string]any{"LoadState": "not-found", "FragmentPath": ""}, []string{own}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := hosttest.NewBus()
			if test.has != nil {
				conn.Units[unit] = test.has
			}
			m, at := newMachine(t, conn)
			for _, file := range test.files {
				write(t, at(file), "")
			}
			got, err := m.NeedReload(t.Context(), []string{"other.service", unit})
			must(t, err)
			if got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
			if calls := conn.Seen(); len(calls) > 0 {
				t.Errorf("asking changed something: %q", calls)
			}
		})
	}
}
