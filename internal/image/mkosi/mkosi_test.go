package mkosi

import (
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/test/contracts"
)

// image is the image of the tests.
func image() Image {
	return Image{
		Base: spec.Base{Suite: "trixie", Snapshot: "20261101T000000Z", Packages: []string{"nfs-common", "socat"}}, Architecture: "amd64",
		Inputs: sha256.Sum256([]byte("inputs")), Epoch: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
	}
}

// TestFiles compares the whole configuration with golden files, but for the agent's units, which are dist's.
func TestFiles(t *testing.T) {
	for name, change := range map[string]func(*Image){
		"trixie-amd64":   func(*Image) {},
		"bookworm-arm64": func(i *Image) { i.Base.Suite, i.Architecture = "bookworm", "arm64" },
		"mirror":         func(i *Image) { i.Mirror, i.QCOW2 = "https://mirror.example/debian/", true },
		"tree":           func(i *Image) { i.Tree = "/srv/trees/node" },
		"secure-boot":    func(i *Image) { i.SecureBoot = &SecureBoot{"/srv/db.key", "/srv/db.crt"} },
	} {
		i := image()
		change(&i)
		files, err := i.Files()
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		for _, f := range files {
			switch {
			case strings.Contains(f.Path, "/systemd/system/slipway-"), f.Path == "mkosi.finalize":
				fmt.Fprintf(&out, "== %s %04o\n", f.Path, f.Mode)
			case f.Mode.IsDir():
				fmt.Fprintf(&out, "== %s/ %04o\n", f.Path, f.Mode.Perm())
			case f.Link != "":
				fmt.Fprintf(&out, "== %s -> %s\n", f.Path, f.Link)
			default:
				fmt.Fprintf(&out, "== %s %04o\n%s", f.Path, f.Mode, f.Content)
			}
		}
		contracts.GoldenText(t, filepath.Join("testdata", name+".txt"), []byte(out.String()))
	}
}

// TestSeed demands a UUID of version 8, which differs when the inputs differ.
func TestSeed(t *testing.T) {
	i := image()
	one := i.seed()
	if len(one) != 36 || one[14] != '8' || !strings.Contains("89ab", one[19:20]) {
		t.Errorf("the seed is %s", one)
	}
	i.Inputs[0]++
	if i.seed() == one {
		t.Error("other inputs have the same seed")
	}
}

// TestRefused demands an error for each value that mkosi or apt splits, expands, or takes for another setting.
func TestRefused(t *testing.T) {
	for name, change := range map[string]func(*Image){
		"a comma":             func(i *Image) { i.Tree = "/srv/a,b" },
		"a percent sign":      func(i *Image) { i.Tree = "/srv/%h" },
		"a line end":          func(i *Image) { i.Tree = "/srv\nBootable=no" },
		"a blank at the end":  func(i *Image) { i.Tree = "/srv " },
		"a quote":             func(i *Image) { i.SecureBoot = &SecureBoot{`/srv/"key"`, "/srv/db.crt"} },
		"two URLs":            func(i *Image) { i.Mirror = "https://a.example https://b.example" },
		"an unknown suite":    func(i *Image) { i.Base.Suite = "sid" },
		"an unknown machine":  func(i *Image) { i.Architecture = "riscv64" },
		"a package of others": func(i *Image) { i.Base.Packages = []string{"a,b"} },
	} {
		i := image()
		change(&i)
		if _, err := i.Files(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
