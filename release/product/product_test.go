package product_test

import (
	"os"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/release/product"
)

// TestPrograms: a program of the repository is of the release, and a unit of the repository is of its package.
func TestPrograms(t *testing.T) {
	var names, units []string
	for _, p := range product.Programs {
		names, units = append(names, p.Name), append(units, p.Units...)
	}
	for dir, want := range map[string][]string{"../../cmd": names, "../../dist/systemd": units} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range entries {
			got = append(got, e.Name())
		}
		if slices.Sort(want); !slices.Equal(got, want) {
			t.Errorf("%s has %q, and the release has %q", dir, got, want)
		}
	}
}

func TestSelect(t *testing.T) {
	all, err := product.Select(nil, nil)
	if err != nil || len(all) != len(product.Programs) || len(all[0].Platforms) != len(product.Programs[0].Platforms) {
		t.Errorf("%v, %v", all, err)
	}
	one, err := product.Select([]string{"slipway"}, []string{"darwin/arm64"})
	if err != nil || len(one) != 1 || !slices.Equal(one[0].Platforms, []product.Platform{{OS: "darwin", Architecture: "arm64"}}) {
		t.Errorf("%v, %v", one, err)
	}
	if _, err := product.Select([]string{"slipway-node"}, []string{"darwin/arm64"}); err == nil {
		t.Error("the agent is made for darwin")
	}
}

// TestPlace: each document of an archive has its usual place in a package.
func TestPlace(t *testing.T) {
	p := &product.Programs[1]
	for name, want := range map[string]string{
		"man/man8/slipway-node.8":  "/usr/share/man/man8/slipway-node.8",
		"completions/zsh/_slipway": "/usr/share/zsh/vendor-completions/_slipway",
		"completions/bash/slipway": "/usr/share/bash-completion/completions/slipway",
		"LICENSES":                 "/usr/share/doc/slipway-node/LICENSES",
	} {
		if got := p.Place(product.Document{Name: name}, "deb"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := p.Place(product.Document{Name: "completions/zsh/_slipway"}, "rpm"); got != "/usr/share/zsh/site-functions/_slipway" {
		t.Error(got)
	}
}
