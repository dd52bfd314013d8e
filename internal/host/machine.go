package host

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/probe"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
)

var _ apply.Host = (*Machine)(nil)

// Machine is the machine that the agent runs on, as its superuser.
type Machine struct {
	*rootfs.Tree
	systemd *systemd.Manager
	logins  *logins
	// statfs is statfs(2).
	statfs func(path string, about *unix.Statfs_t) error
}

// What callers of the machine's methods name of the packages below.
type (
	// BootTimes is when this boot got how far.
	BootTimes = systemd.BootTimes
	// LogFile is a log that is written to by a host's LogFile.
	LogFile = rootfs.LogFile
)

// NoRoom reports whether something failed for want of room: the disk is full, or the share of it that the agent may use.
func NoRoom(err error) bool { return rootfs.NoRoom(err) }

// OpenMachine opens this machine. systemd is connected to when it is first needed, so a machine
// without it is an error only then.
func OpenMachine() (*Machine, error) {
	tree, err := rootfs.Open("/")
	if err != nil {
		return nil, err
	}
	return &Machine{Tree: tree, systemd: systemd.New(systemd.Connect, journal("journalctl")), logins: &logins{}, statfs: unix.Statfs}, nil
}

// Close releases what the machine was opened with.
func (m *Machine) Close() error {
	m.systemd.Close()
	return m.Tree.Close()
}

// UnitState reports a unit's state. A unit that does not exist has ActiveState "inactive" and
// LoadState "not-found".
func (m *Machine) UnitState(ctx context.Context, unit string) (apply.UnitState, error) {
	return m.systemd.State(ctx, unit)
}

// UnitEnabled reports whether a boot starts a unit by a link of its own.
func (m *Machine) UnitEnabled(ctx context.Context, unit string) (bool, error) {
	return m.systemd.Enabled(ctx, unit)
}

// NeedReload reports whether systemd has one of the units in memory in another form than its files have
// now.
func (m *Machine) NeedReload(ctx context.Context, units []string) (bool, error) {
	for _, unit := range units {
		path := resource.UnitDir + "/" + unit
		own, err := m.Stat(path)
		if err != nil {
			return false, err
		}
		fragment := ""
		if own.Kind != apply.Absent {
			fragment = path
		}
		stale, err := m.systemd.Stale(ctx, unit, fragment)
		if err != nil || stale {
			return stale, err
		}
	}
	return false, nil
}

// ReloadUnits makes systemd read its unit files again, and returns when it has.
func (m *Machine) ReloadUnits(ctx context.Context) error { return m.systemd.Reload(ctx) }

// StartUnit starts a unit and waits until its job is done, which is at once where it is active. When
// ctx is done before, the job goes on. The error of a unit that fails is a *systemd.UnitError where its journal
// has something to say.
func (m *Machine) StartUnit(ctx context.Context, unit string) error {
	return m.systemd.Start(ctx, unit)
}

// RestartUnit restarts a unit, or starts it, and waits until its job is done. When ctx is done
// before, the job goes on. Its error is as StartUnit's.
func (m *Machine) RestartUnit(ctx context.Context, unit string) error {
	return m.systemd.Restart(ctx, unit)
}

// ReloadUnit has a unit that runs read its configuration again, restarts one that cannot, and waits until its job is done.
func (m *Machine) ReloadUnit(ctx context.Context, unit string) error {
	return m.systemd.ReloadUnit(ctx, unit)
}

// MaskUnit keeps anything from starting a unit.
func (m *Machine) MaskUnit(ctx context.Context, unit string) error { return m.systemd.Mask(ctx, unit) }

// UnmaskUnit allows a unit to be started again.
func (m *Machine) UnmaskUnit(ctx context.Context, unit string) error {
	return m.systemd.Unmask(ctx, unit)
}

// EnableUnit has a unit start at boot, as its file says.
func (m *Machine) EnableUnit(ctx context.Context, unit string) error {
	return m.systemd.Enable(ctx, unit)
}

// DisableUnit keeps a unit from being started at boot by a link of its own; another unit may still start it.
func (m *Machine) DisableUnit(ctx context.Context, unit string) error {
	return m.systemd.Disable(ctx, unit)
}

// StopUnit stops a unit and waits until its job is done, which is at once where it does not run. One
// that there is no unit file of, and nothing runs of, is stopped. When ctx is done before, the job goes
// on.
func (m *Machine) StopUnit(ctx context.Context, unit string) error {
	return m.systemd.Stop(ctx, unit)
}

// Probe waits until a check is true, for as long as ctx and the check's own timeout let it. Its
// error is a *apply.CheckError.
func (m *Machine) Probe(ctx context.Context, check *resource.Check) error {
	if check.Network != nil {
		ctx, cancel := context.WithTimeout(ctx, check.Deadline())
		defer cancel()
		return m.network().wait(ctx, check.Network)
	}
	return probe.Wait(ctx, m.Tree, m.systemd, check)
}

// NodeName is the name of this machine's Node, where nobody says another.
func (m *Machine) NodeName() (string, error) { return probe.NodeName() }

// RequestCertificate asks an API server for the kubelet's certificate. Its error is a *apply.CheckError.
func (m *Machine) RequestCertificate(ctx context.Context, certificate *resource.Certificate, ready <-chan struct{}) (*apply.Issued, error) {
	return probe.RequestCertificate(ctx, certificate, ready)
}

// SelfSign makes the kubelet's serving certificate and its key, for the host's name where the resource has none.
func (m *Machine) SelfSign(wanted *resource.ServingCertificate) (certificate, key []byte, err error) {
	name := wanted.Node
	if name == "" {
		if name, err = m.NodeName(); err != nil {
			return nil, nil, err
		}
	}
	return tlsbootstrap.SelfSigned(name, time.Now())
}

// FetchAuthority gets the CA of the cluster that a server belongs to, if pins knows it. Its error is a *apply.CheckError.
func (m *Machine) FetchAuthority(ctx context.Context, server *resource.APIServer, pins func(bundle string) bool) (string, error) {
	return probe.FetchAuthority(ctx, server, pins)
}

// FetchKubeletDefaults gets the KubeletConfiguration that a cluster of kubeadm has for all its nodes. Its error is a *apply.CheckError.
func (m *Machine) FetchKubeletDefaults(ctx context.Context, way *resource.AsNode, ready <-chan struct{}) ([]byte, error) {
	return probe.FetchKubeletDefaults(ctx, m.Tree, way, ready)
}

// AnnotateNode sets annotations of this machine's Node, once that is registered. Its error is a *apply.CheckError.
func (m *Machine) AnnotateNode(ctx context.Context, node *resource.FreeName, annotations map[string]string) error {
	return probe.AnnotateNode(ctx, m.Tree, node, annotations)
}

// BootTimes asks systemd for the times of this boot.
func (m *Machine) BootTimes(ctx context.Context) (BootTimes, error) { return m.systemd.BootTimes(ctx) }

// ServiceStart returns when the main process of a service was last started. It is zero where it
// never was, or where there is no such service.
func (m *Machine) ServiceStart(ctx context.Context, unit string) (time.Time, error) {
	return m.systemd.ServiceStart(ctx, unit)
}
