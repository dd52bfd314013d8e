package integrity

import (
	"slices"
	"testing"
)

// The drop-ins of a unit are looked for in systemd's directories (systemd.unit(5)).
func TestDropInNames(t *testing.T) {
	t.Parallel()
	for unit, want := range map[string][]string{
		"kubelet.service":         {"kubelet.service.d", "service.d"},
		"foo-bar-baz.service":     {"foo-bar-baz.service.d", "foo-bar-.service.d", "foo-.service.d", "service.d"},
		"foo-.service":            {"foo-.service.d", "service.d"},
		"none":                    {""},
		"-.mount":                 {"-.mount.d", "mount.d"},
		"a-b@c-d.timer":           {"a-b@c-d.timer.d", "a-b@.timer.d", "a-@c-d.timer.d", "a-@.timer.d", "timer.d"},
		"a@.socket":               {"a@.socket.d", "socket.d"},
		"dev-disk-by\\x2did.swap": {"dev-disk-by\\x2did.swap.d", "dev-disk-.swap.d", "dev-.swap.d", "swap.d"},
	} {
		own, shared := dropInNames(unit)
		if got := append(own, shared); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", unit, got, want)
		}
	}
}
