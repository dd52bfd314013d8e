package karpenter_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/slipway-dev/slipway/adapters/karpenter"
)

// cloud is a fake cloud: it records its machines and starts none.
type cloud struct {
	clock clock.Clock

	mu       sync.Mutex
	machines []karpenter.Machine
	started  []karpenter.Launch
	updated  []karpenter.Launch
	stopped  []string
	// startErr, updateErr, getErr, listErr and stopErr are the errors of the calls. If nil, the
	// call succeeds.
	startErr          func(karpenter.Launch) error
	updateErr         func(karpenter.Launch) error
	getErr, listErr   error
	stopErr           error
	keepAfterStopping bool
}

func (c *cloud) Start(_ context.Context, l karpenter.Launch) (*karpenter.Machine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.startErr != nil {
		if err := c.startErr(l); err != nil {
			return nil, err
		}
	}
	if i := slices.IndexFunc(c.machines, func(m karpenter.Machine) bool { return m.Name == l.Name }); i >= 0 {
		return new(c.machines[i]), nil
	}
	c.started = append(c.started, l)
	m := &l.Launch.Document().Machine
	c.machines = append(c.machines, karpenter.Machine{
		ID: "test://" + l.Name, Name: l.Name, Key: l.Launch.Key(), Created: c.clock.Now(),
		Type: m.Type.Name, Zone: m.Zone, CapacityType: m.CapacityType, Image: m.Image.ID,
	})
	return new(c.machines[len(c.machines)-1]), nil
}

func (c *cloud) Update(_ context.Context, id string, l karpenter.Launch) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.updateErr != nil {
		if err := c.updateErr(l); err != nil {
			return err
		}
	}
	if c.index(id) < 0 {
		return fmt.Errorf("%s: %w", id, karpenter.ErrNotFound)
	}
	c.updated = append(c.updated, l)
	return nil
}

func (c *cloud) Stop(_ context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.index(id)
	switch {
	case c.stopErr != nil:
		return c.stopErr
	case i < 0:
		return fmt.Errorf("%s: %w", id, karpenter.ErrNotFound)
	}
	c.stopped = append(c.stopped, id)
	if c.machines[i].Stopping = c.keepAfterStopping; !c.keepAfterStopping {
		c.machines = slices.Delete(c.machines, i, i+1)
	}
	return nil
}

func (c *cloud) Get(_ context.Context, id string) (*karpenter.Machine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := c.index(id)
	if c.getErr != nil || i < 0 {
		return nil, cmp.Or(c.getErr, fmt.Errorf("%s: %w", id, karpenter.ErrNotFound))
	}
	return new(c.machines[i]), nil
}

func (c *cloud) List(context.Context) ([]karpenter.Machine, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.machines), c.listErr
}

// report sets a machine's report.
func (c *cloud) report(name string, report []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.machines[c.index("test://"+name)].Report = report
}

// add adds a machine.
func (c *cloud) add(name, key string, age time.Duration) {
	c.machines = append(c.machines, karpenter.Machine{ID: "test://" + name, Name: name, Key: key, Created: c.clock.Now().Add(-age)})
}

func (c *cloud) index(id string) int {
	return slices.IndexFunc(c.machines, func(m karpenter.Machine) bool { return m.ID == id })
}

// userData returns the user data of every start and update.
func (c *cloud) userData() []string {
	var all []string
	for _, l := range append(slices.Clone(c.started), c.updated...) {
		if text := l.UserData.Reveal(); text != "" {
			all = append(all, text)
		}
	}
	return all
}
