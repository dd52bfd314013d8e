package runtime

import (
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/toml"
)

// The texts of the tables are containerd's own language, and each snapshotter that a runtime names has its settings.
func TestRuntimeTables(t *testing.T) {
	known := []string{"overlayfs", ""}
	for _, s := range snapshotterSettings {
		known = append(known, s.name)
		if _, err := toml.Parse(s.settings); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
	}
	for _, r := range kataRuntimes {
		settings, err := toml.Parse(r.settings)
		if err != nil {
			t.Fatalf("%s: %v", r.name, err)
		}
		snapshotter, _ := settings.Get("snapshotter").(string)
		if !slices.Contains(known, snapshotter) || settings.Get("runtime_type") == nil {
			t.Errorf("%s has %q", r.name, snapshotter)
		}
	}
}
