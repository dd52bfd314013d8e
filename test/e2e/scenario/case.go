// Package scenario runs the cases of the end-to-end test. A case is a folder: case.yaml has its steps and the expected results, and
// the contracts that it names are beside it.
//
// A new case is a new folder and no code; a new kind of step is a function in the table of steps. The package starts machines only
// through package lab. test/e2e/cmd/e2e calls it.
package scenario

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// Case is one folder below test/e2e/cases.
type Case struct {
	// Name is the folder's, and the machine's host name.
	Name string `yaml:"-"`
	// Dir is the folder.
	Dir string `yaml:"-"`
	// About is one line about what the case proves.
	About string `yaml:"about"`
	// Kind is the case's subject, one of the table of kinds. Core is whether the case represents its kind if not all cases run.
	// Inputs are patterns of the repository's files that this case tests more than the core cases do.
	Kind   string   `yaml:"kind"`
	Core   bool     `yaml:"core"`
	Inputs []string `yaml:"inputs"`
	// Containerd is the image's containerd, "2" or "1.6".
	Containerd string `yaml:"containerd"`
	// Kubelet is the version of the image's kubelet; by default that of the lab's usual control plane.
	Kubelet string `yaml:"kubelet"`
	// SecondKubelet is the version of another kubelet in the image. Empty means none.
	SecondKubelet string `yaml:"secondKubelet"`
	// Format lets the machine boot a plain image by UEFI, in this format. Empty means an image with what cases need, whose kernel QEMU
	// loads itself.
	Format string `yaml:"format"`
	// Suite is a plain image's release of Debian; by default the newest.
	Suite string `yaml:"suite"`
	// WithoutFirmware lets QEMU load the kernel of a plain image itself, too.
	WithoutFirmware bool `yaml:"withoutFirmware"`
	// SecureBoot lets the firmware boot only what is signed, and Signed signs the image.
	SecureBoot bool `yaml:"secureBoot"`
	Signed     bool `yaml:"signed"`
	// Tree makes the image of a tree with a distribution.
	Tree bool `yaml:"tree"`
	// Stock makes the disk of a distribution's usual image, without mkosi.
	Stock bool `yaml:"stock"`
	// OS replaces the OS in the facts of the image, by the names of facts: a Debian image can have the files and paths of another
	// image.
	OS map[string]string `yaml:"os"`
	// Programs are programs of this case beyond those of every lab and image, as [parts.Store.Program] knows them.
	Programs []string `yaml:"programs"`
	// Timeout limits the case.
	Timeout Boots `yaml:"timeout"`
	// After is a case whose machine this one continues with, as that case has left it.
	After string `yaml:"after"`
	// Continued is whether the next case continues with this one's machine.
	Continued bool `yaml:"-"`
	// Steps are the steps, in order; each is one name in the table of steps, with its arguments.
	Steps stepList `yaml:"steps"`
}

// Image is the case's image.
func (c *Case) Image() parts.Image {
	image := parts.Image{Suite: parts.Suite, Containerd: c.Containerd, Kubelet: c.Kubelet, SecondKubelet: c.SecondKubelet}
	if c.Format != "" {
		image.Suite, image.Plain = cmp.Or(c.Suite, parts.PlainSuite), true
		image.Signed, image.Tree, image.Stock = c.Signed, c.Tree, c.Stock
	}
	return image
}

// defaultTimeout limits a case.
const defaultTimeout Boots = 60

// Load reads the named cases, or all of them in the order of their names. A case that continues another one's machine directly
// follows that case, which Load also reads.
func Load(dir string, names ...string) ([]Case, error) {
	if len(names) == 0 {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	known := make(map[string]Case)
	var firsts []string
	next := make(map[string]string)
	for i := 0; i < len(names); i++ {
		name := names[i]
		if _, twice := known[name]; twice {
			continue
		}
		c, err := load(filepath.Join(dir, name))
		if err != nil {
			return nil, fmt.Errorf("case %s: %w", name, err)
		}
		known[name] = c
		if c.After == "" {
			firsts = append(firsts, name)
			continue
		}
		if other := next[c.After]; other != "" {
			return nil, fmt.Errorf("cases %s and %s go on after %s: it can leave its machine to one", other, name, c.After)
		}
		next[c.After] = name
		names = append(slices.Clip(names), c.After)
	}
	var cases []Case
	for _, name := range firsts {
		for ; name != ""; name = next[name] {
			c := known[name]
			c.Continued = next[name] != ""
			if before := known[c.After]; c.After != "" && c.Containerd != before.Containerd {
				return nil, fmt.Errorf("case %s wants containerd %s, and goes on after %s, which has %s", name, c.Containerd, c.After, before.Containerd)
			}
			cases = append(cases, c)
		}
	}
	if len(cases) < len(known) {
		return nil, fmt.Errorf("some of the cases %q go on after each other: none begins", slices.Sorted(maps.Keys(next)))
	}
	return cases, nil
}

func load(dir string) (Case, error) {
	c := Case{Name: filepath.Base(dir), Dir: dir, Containerd: parts.ContainerdBuilt, Kubelet: parts.Kubernetes, Timeout: defaultTimeout}
	data, err := os.ReadFile(filepath.Join(dir, "case.yaml"))
	if err != nil {
		return c, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	decoder.KnownFields(true)
	if err := decoder.Decode(&c); err != nil {
		return c, err
	}
	if err := c.checkPlace(); err != nil {
		return c, err
	}
	if _, known := parts.Formats[c.Format]; c.Format != "" && !known {
		return c, fmt.Errorf("the format %q is unknown", c.Format)
	}
	if (c.WithoutFirmware || c.SecureBoot || c.Signed || c.Tree || c.Stock || c.Suite != "") && c.Format == "" {
		return c, errors.New("withoutFirmware, secureBoot, signed, tree, stock and suite are those of a plain image: name its format")
	}
	if c.Stock && !c.WithoutFirmware {
		return c, errors.New("a stock image has no boot loader: say withoutFirmware")
	}
	return c, c.Steps.check()
}
