package resource

import "errors"

// Copy is a file that the machine has at another path and must also have here: a program of its image. It is copied if
// the path is free. An existing file is another program's and stays, unless it came from one of the paths in Over.
type Copy struct {
	Path string `json:"path"`
	// Source is the existing file.
	Source string `json:"source"`
	// Over are other sources, such as other versions: a copy of one of them is replaced.
	Over []string `json:"over,omitempty"`
	// Optional reports that the source may be missing.
	Optional bool `json:"optional,omitempty"`
}

// Kind implements Spec.
func (*Copy) Kind() string { return "Copy" }

// Name implements Spec.
func (c *Copy) Name() string { return c.Path }

// Paths implements Spec.
func (c *Copy) Paths() []string { return whole(c.Path) }

// Valid implements Spec.
func (c *Copy) Valid() error {
	errs := []error{checkPath(c.Path)}
	for _, source := range append([]string{c.Source}, c.Over...) {
		if _, _, stored := StoreOf(source); !stored {
			errs = append(errs, checkPath(source))
		}
	}
	return errors.Join(errs...)
}

// Describe implements Spec.
func (c *Copy) Describe() Description { return Description{Title: c.Path, What: "= " + c.Source} }

func (c *Copy) atBoot() (argv []string, optional bool) {
	return []string{"install", "-D", "-m", "0755", c.Source, c.Path}, false
}
