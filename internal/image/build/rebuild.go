package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/image/bake"
	"github.com/slipway-dev/slipway/internal/image/mkosi"
)

// Rebuilder makes an image again.
type Rebuilder struct {
	// Disk is the raw disk that Make has made, in the directory "output" of the directory with the configuration.
	Disk string
	// Suite and Architecture are the image's.
	Suite, Architecture string
	Tools               *Tools
	Log                 io.Writer
}

// Compare makes the disk again, and returns whether it has the same bytes, and how the two differ. Bytes of containerd's store may differ, without
// a difference. The second disk is removed again.
func (r *Rebuilder) Compare(ctx context.Context) (same bool, differences []bake.Difference, err error) {
	output, err := filepath.Abs(filepath.Dir(r.Disk))
	if err != nil {
		return false, nil, err
	}
	dir := filepath.Dir(output)
	if _, err := os.Stat(filepath.Join(dir, mainFile)); err != nil || filepath.Base(r.Disk) != mkosi.Name+"."+raw {
		return false, nil, fmt.Errorf("%s is not the raw disk of slipway image build, beside its configuration: name DIR/%s/%s.%s", r.Disk, mkosi.Output, mkosi.Name, raw)
	}
	again, err := os.MkdirTemp(output, "again-")
	if err != nil {
		return false, nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(again)) }()
	if err := r.Tools.mkosi(ctx, r.Log, dir, r.Suite, r.Architecture, "--output-directory", again); err != nil {
		return false, nil, err
	}
	second := filepath.Join(again, filepath.Base(r.Disk))
	var sums [2]string
	for i, name := range []string{r.Disk, second} {
		if sums[i], _, err = Digest(name); err != nil {
			return false, nil, err
		}
	}
	if sums[0] == sums[1] {
		return true, nil, nil
	}
	differences, err = compareDisks(r.Disk, second)
	return false, differences, err
}
