package scenario

import (
	"context"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// cloneName is the host name of the machine that has another's disk.
const cloneName = "clone"

// cloneArgs say whose machine the clone is, and what it is given.
type cloneArgs struct {
	bootArgs `yaml:",inline"`
}

// clone powers the machine off in good order, and boots its disk as another machine, which its cloud knows by
// another name and number. The first one's Node stays in the cluster.
func (r *caseRun) clone(ctx context.Context, args cloneArgs) error {
	if err := r.powerOff(ctx); err != nil {
		return err
	}
	r.node.stop()
	r.names = append(r.names, r.node.nodeName())
	r.events = nil
	m := r.machine()
	m.Continue = true
	return r.start(ctx, args.bootArgs, m, lab.Guest{Name: cloneName, Number: 2})
}
