package scenario

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// cloneName is the host name of the machine with another one's disk.
const cloneName = "clone"

// cloneArgs select the clone's disk and its contract.
type cloneArgs struct {
	bootArgs `yaml:",inline"`
	// Image makes its disk a copy of the image that the case has kept, instead of the disk of the machine before it.
	Image bool `yaml:"image"`
}

// keepImage shuts the machine down, and keeps its disk as an image. It has joined no cluster.
func (r *caseRun) keepImage(ctx context.Context, _ struct{}) error {
	if err := r.powerOff(ctx); err != nil {
		return err
	}
	r.kept = filepath.Join(r.dir, "image.img")
	return r.vm.WholeDisk(ctx, r.kept)
}

// clone shuts the machine down, and boots its disk, or the case's image, as another machine, which its cloud knows by another name
// and number. The Nodes of the earlier machines stay in the cluster.
func (r *caseRun) clone(ctx context.Context, args cloneArgs) error {
	m := r.machine()
	m.Continue = !args.Image
	if args.Image {
		m.Disk = r.kept
	}
	switch {
	case args.Image && r.kept == "":
		return errors.New("the case has kept no image")
	case args.Image && r.clones == 0: // the machine on which the image was made is off
	default:
		if err := r.powerOff(ctx); err != nil {
			return err
		}
	}
	r.node.stop()
	if name := r.node.nodeName(); name != "" {
		r.names = append(r.names, name)
	}
	r.lastBoot = nil
	r.clones++
	name := cloneName
	if r.clones > 1 {
		name = fmt.Sprintf("%s%d", cloneName, r.clones)
	}
	return r.start(ctx, args.bootArgs, m, lab.Guest{Name: name, Number: 1 + r.clones})
}
