package agent

import (
	"context"
	"net/netip"
	"runtime/debug"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/registration"
	"github.com/slipway-dev/slipway/internal/resource"
)

// tampered is a directory each of whose methods can fail, hang or panic. It calls before with the method's name and
// subject.
type tampered struct {
	*host.Directory
	before func(op, name string) error
	// hang is called before calls that can take long. It may wait until ctx is done.
	hang func(ctx context.Context, op, name string) error
	// written is called with every file before it is staged or written. It may be nil.
	written func(path string, mode uint32, content []byte)
	// unlock replaces the unlocking function.
	unlock func() error
	// boot and services are when the boot and services began.
	boot     host.BootTimes
	services map[string]time.Time
	// run answers commands, addresses are the machine's.
	run       func(context.Context, *resource.Command) ([]byte, error)
	addresses []netip.Addr
	// authority answers for the API server about its cluster's CA. If nil, the directory answers.
	authority func(server *resource.APIServer, pins func(string) bool) (string, error)
	// defaults answers for the API server about its cluster's settings for all kubelets. If nil, the directory answers.
	defaults func(ctx context.Context, way *resource.AsNode, ready <-chan struct{}) ([]byte, error)
	// annotations are the annotations of Nodes, by name. If nil, the directory answers.
	annotations map[string]map[string]string
	// inCluster is the Node that the cluster has. If nil, the directory answers. labelling answers for the server when it
	// changes labels; it may be nil.
	inCluster *registration.Node
	labelling func() error
	// answers makes every check pass that a directory cannot perform.
	answers bool
}

var _ Host = (*tampered)(nil)

func (h *tampered) FetchAuthority(ctx context.Context, server *resource.APIServer, pins func(string) bool) (string, error) {
	if h.authority == nil {
		return h.Directory.FetchAuthority(ctx, server, pins)
	}
	return h.authority(server, pins)
}

func (h *tampered) FetchKubeletDefaults(ctx context.Context, way *resource.AsNode, ready <-chan struct{}) ([]byte, error) {
	if h.defaults == nil {
		return h.Directory.FetchKubeletDefaults(ctx, way, ready)
	}
	return h.defaults(ctx, way, ready)
}

func (h *tampered) AnnotateNode(ctx context.Context, node *resource.FreeName, annotations map[string]string) error {
	if h.annotations == nil {
		return h.Directory.AnnotateNode(ctx, node, annotations)
	}
	h.annotations[node.Node] = annotations
	return nil
}

func (h *tampered) ReadNode(ctx context.Context, way *resource.LeaseRenewed) (*registration.Node, error) {
	if h.inCluster == nil {
		return h.Directory.ReadNode(ctx, way)
	}
	if err := h.before("ReadNode", way.Server); err != nil {
		return nil, err
	}
	return h.inCluster, nil
}

func (h *tampered) LabelNode(_ context.Context, _ *resource.LeaseRenewed, labels map[string]*string) error {
	if h.labelling != nil {
		if err := h.labelling(); err != nil {
			return err
		}
	}
	for key, value := range labels {
		if delete(h.inCluster.Labels, key); value != nil {
			h.inCluster.Labels[key] = *value
		}
	}
	return nil
}

func (h *tampered) tell(path string, mode uint32, content []byte) {
	if h.written != nil {
		h.written(path, mode, content)
	}
}

func (h *tampered) long(ctx context.Context, op, name string) error {
	if h.hang != nil {
		if err := h.hang(ctx, op, name); err != nil {
			return err
		}
	}
	return h.before(op, name)
}

func (h *tampered) Lock(ctx context.Context, name string) (func() error, error) {
	if err := h.before("Lock", name); err != nil {
		return nil, err
	}
	unlock, err := h.Directory.Lock(ctx, name)
	if err == nil && h.unlock != nil {
		_ = unlock()
		return h.unlock, nil
	}
	return unlock, err
}

func (h *tampered) Stat(name string) (apply.Entry, error) {
	if err := h.before("Stat", name); err != nil {
		return apply.Entry{}, err
	}
	return h.Directory.Stat(name)
}

func (h *tampered) ReadFile(name string, limit int64) ([]byte, error) {
	if err := h.before("ReadFile", name); err != nil {
		return nil, err
	}
	return h.Directory.ReadFile(name, limit)
}

func (h *tampered) Writable(dir string) error {
	if err := h.before("Writable", dir); err != nil {
		return err
	}
	return h.Directory.Writable(dir)
}

func (h *tampered) Reserve(name string, size int64) error {
	if err := h.before("Reserve", name); err != nil {
		return err
	}
	return h.Directory.Reserve(name, size)
}

func (h *tampered) Stage(f *resource.File) error {
	if err := h.before("Stage", f.Path); err != nil {
		return err
	}
	h.tell(f.Path, f.Mode, f.Content)
	return h.Directory.Stage(f)
}

func (h *tampered) StageAll(files []*resource.File) []error {
	errs := make([]error, len(files))
	for i, f := range files {
		errs[i] = h.Stage(f)
	}
	return errs
}

func (h *tampered) Commit(name string) error {
	if err := h.before("Commit", name); err != nil {
		return err
	}
	return h.Directory.Commit(name)
}

func (h *tampered) Unstage(name string) error {
	if err := h.before("Unstage", name); err != nil {
		return err
	}
	return h.Directory.Unstage(name)
}

func (h *tampered) MakeDirectory(d *resource.Directory) error {
	if err := h.before("MakeDirectory", d.Path); err != nil {
		return err
	}
	return h.Directory.MakeDirectory(d)
}

func (h *tampered) MakeSymlink(l *resource.Symlink) error {
	if err := h.before("MakeSymlink", l.Path); err != nil {
		return err
	}
	return h.Directory.MakeSymlink(l)
}

func (h *tampered) Remove(name string) error {
	if err := h.before("Remove", name); err != nil {
		return err
	}
	return h.Directory.Remove(name)
}

func (h *tampered) RemoveDirectory(name string) error {
	if err := h.before("RemoveDirectory", name); err != nil {
		return err
	}
	return h.Directory.RemoveDirectory(name)
}

func (h *tampered) Restrict(name string) (bool, error) {
	if err := h.before("Restrict", name); err != nil {
		return false, err
	}
	return h.Directory.Restrict(name)
}

func (h *tampered) SetAside(name string) (string, error) {
	if err := h.before("SetAside", name); err != nil {
		return "", err
	}
	return h.Directory.SetAside(name)
}

func (h *tampered) Sync() error {
	if err := h.before("Sync", ""); err != nil {
		return err
	}
	return h.Directory.Sync()
}

func (h *tampered) UnitState(ctx context.Context, unit string) (apply.UnitState, error) {
	if err := h.before("UnitState", unit); err != nil {
		return apply.UnitState{}, err
	}
	return h.Directory.UnitState(ctx, unit)
}

func (h *tampered) UnitEnabled(ctx context.Context, unit string) (bool, error) {
	if err := h.before("UnitEnabled", unit); err != nil {
		return false, err
	}
	return h.Directory.UnitEnabled(ctx, unit)
}

func (h *tampered) NeedReload(ctx context.Context, units []string) (bool, error) {
	if err := h.before("NeedReload", ""); err != nil {
		return false, err
	}
	return h.Directory.NeedReload(ctx, units)
}

func (h *tampered) ReloadUnits(ctx context.Context) error {
	if err := h.before("ReloadUnits", ""); err != nil {
		return err
	}
	return h.Directory.ReloadUnits(ctx)
}

func (h *tampered) StartUnit(ctx context.Context, unit string) error {
	if err := h.long(ctx, "StartUnit", unit); err != nil {
		return err
	}
	return h.Directory.StartUnit(ctx, unit)
}

func (h *tampered) RestartUnit(ctx context.Context, unit string) error {
	if err := h.before("RestartUnit", unit); err != nil {
		return err
	}
	return h.Directory.RestartUnit(ctx, unit)
}

func (h *tampered) StopUnit(ctx context.Context, unit string) error {
	if err := h.before("StopUnit", unit); err != nil {
		return err
	}
	return h.Directory.StopUnit(ctx, unit)
}

func (h *tampered) Sysctl(key string) (string, error) {
	if err := h.before("Sysctl", key); err != nil {
		return "", err
	}
	return h.Directory.Sysctl(key)
}

func (h *tampered) SetSysctl(key, value string) error {
	if err := h.before("SetSysctl", key); err != nil {
		return err
	}
	return h.Directory.SetSysctl(key, value)
}

func (h *tampered) ModuleLoaded(module string) (bool, error) {
	if err := h.before("ModuleLoaded", module); err != nil {
		return false, err
	}
	return h.Directory.ModuleLoaded(module)
}

func (h *tampered) LoadModule(ctx context.Context, module string) error {
	if err := h.long(ctx, "LoadModule", module); err != nil {
		return err
	}
	return h.Directory.LoadModule(ctx, module)
}

func (h *tampered) Run(ctx context.Context, c *resource.Command) ([]byte, error) {
	if err := h.before("Run", c.Label); err != nil {
		return nil, err
	}
	if h.run != nil {
		return h.run(ctx, c)
	}
	return h.Directory.Run(ctx, c)
}

func (h *tampered) Probe(ctx context.Context, c *resource.Check) error {
	if err := h.long(ctx, "Probe", c.Label); err != nil || h.answers {
		return err
	}
	return h.Directory.Probe(ctx, c)
}

func (h *tampered) ReadDir(name string) ([]string, error) {
	if err := h.before("ReadDir", name); err != nil {
		return nil, err
	}
	return h.Directory.ReadDir(name)
}

func (h *tampered) BuildInfo(name string) (*debug.BuildInfo, error) {
	if err := h.before("BuildInfo", name); err != nil {
		return nil, err
	}
	return h.Directory.BuildInfo(name)
}

func (h *tampered) Addresses() ([]netip.Addr, error) {
	if err := h.before("Addresses", ""); err != nil {
		return nil, err
	}
	return h.addresses, nil
}

func (h *tampered) WaitForFiles(ctx context.Context, names ...string) (string, error) {
	if err := h.long(ctx, "WaitForFiles", ""); err != nil {
		return "", err
	}
	return h.Directory.WaitForFiles(ctx, names...)
}

func (h *tampered) WriteFileAtomic(f *resource.File) error {
	if err := h.before("WriteFileAtomic", f.Path); err != nil {
		return err
	}
	h.tell(f.Path, f.Mode, f.Content)
	return h.Directory.WriteFileAtomic(f)
}

func (h *tampered) CreateExclusive(dir string, name func(int) string, mode uint32, content []byte) (string, error) {
	if err := h.before("CreateExclusive", dir); err != nil {
		return "", err
	}
	h.tell(dir, mode, content)
	return h.Directory.CreateExclusive(dir, name, mode, content)
}

func (h *tampered) BootTimes(ctx context.Context) (host.BootTimes, error) {
	if err := h.before("BootTimes", ""); err != nil {
		return host.BootTimes{}, err
	}
	if err := ctx.Err(); err != nil {
		return host.BootTimes{}, err
	}
	return h.boot, nil
}

func (h *tampered) ServiceStart(ctx context.Context, unit string) (time.Time, error) {
	if err := h.before("ServiceStart", unit); err != nil {
		return time.Time{}, err
	}
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	return h.services[unit], nil
}
