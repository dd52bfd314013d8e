package apply

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

func compareModule(r *run, _ context.Context, n *node) (Action, error) {
	if loaded, err := r.Host.ModuleLoaded(n.Spec.Name()); loaded || err != nil {
		return "", err
	}
	return Loaded, nil
}

func bringModule(r *run, ctx context.Context, n *node, action Action) error {
	return r.does(n, action, func() error { return r.Host.LoadModule(ctx, n.Spec.Name()) })
}

func compareSysctl(r *run, _ context.Context, n *node) (Action, error) {
	s := n.Spec.(*resource.Sysctl)
	value, err := r.Host.Sysctl(s.Key)
	return toBeSet(value, s.Value, s.Optional, err)
}

func bringSysctl(r *run, _ context.Context, n *node, action Action) error {
	s := n.Spec.(*resource.Sysctl)
	return r.sets(n, action, r.Host.SetSysctl(s.Key, s.Value))
}

func compareAttribute(r *run, _ context.Context, n *node) (Action, error) {
	a := n.Spec.(*resource.Attribute)
	value, err := r.Host.Attribute(a.Path)
	return toBeSet(value, a.Value, a.Optional, err)
}

func bringAttribute(r *run, _ context.Context, n *node, action Action) error {
	a := n.Spec.(*resource.Attribute)
	return r.sets(n, action, r.Host.SetAttribute(a.Path, a.Value))
}

// toBeSet reports which action a kernel setting needs, from its present value or the error of reading it.
func toBeSet(have, want string, optional bool, err error) (Action, error) {
	switch {
	case optional && errors.Is(err, fs.ErrNotExist):
		return missing, nil
	case err != nil:
		return "", err
	case have == strings.Join(strings.Fields(want), " "):
		return "", nil
	}
	return Set, nil
}

// sets records that a setting was made. It records no time, because that is negligible.
func (r *run) sets(n *node, action Action, err error) error {
	if err == nil {
		r.changed(n.ID(), action)
	}
	return err
}
