package scenario

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// cloneName is the host name of the machine that has another's disk.
const cloneName = "clone"

// cloneArgs say whose disk the clone has, and what it is given.
type cloneArgs struct {
	bootArgs `yaml:",inline"`
	// Image has its disk be a copy of the image that the case has kept, in place of the disk of the machine before it.
	Image bool `yaml:"image"`
}

// keepImage powers the machine off in good order, and keeps its disk as an image. It has joined no cluster.
func (r *caseRun) keepImage(ctx context.Context, _ struct{}) error {
	if err := r.powerOff(ctx); err != nil {
		return err
	}
	r.image = filepath.Join(r.Lab.Dir(), "image-"+r.Name+".img")
	return r.vm.WholeDisk(ctx, r.image)
}

// clone powers the machine off in good order, and boots its disk, or the case's image, as another machine, which its cloud
// knows by another name and number. The Nodes of those before it stay in the cluster.
func (r *caseRun) clone(ctx context.Context, args cloneArgs) error {
	m := r.machine()
	m.Continue = !args.Image
	if args.Image {
		m.Disk = r.image
	}
	switch {
	case args.Image && r.image == "":
		return errors.New("the case has kept no image")
	case args.Image && r.clones == 0: // the machine that the image was made on is off
	default:
		if err := r.powerOff(ctx); err != nil {
			return err
		}
	}
	r.node.stop()
	if name := r.node.nodeName(); name != "" {
		r.names = append(r.names, name)
	}
	r.events = nil
	r.clones++
	name := cloneName
	if r.clones > 1 {
		name = fmt.Sprintf("%s%d", cloneName, r.clones)
	}
	return r.start(ctx, args.bootArgs, m, lab.Guest{Name: name, Number: 1 + r.clones})
}
