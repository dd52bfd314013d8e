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
	*systemd.Manager
	probe.Cluster
	logins *logins
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
	return &Machine{Tree: tree, Manager: systemd.New(systemd.Connect, journal("journalctl")), Cluster: probe.Cluster{Files: tree}, logins: &logins{}, statfs: unix.Statfs}, nil
}

// Close releases what the machine was opened with.
func (m *Machine) Close() error {
	m.Manager.Close()
	return m.Tree.Close()
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
		stale, err := m.Stale(ctx, unit, fragment)
		if err != nil || stale {
			return stale, err
		}
	}
	return false, nil
}

// Probe waits until a check is true, for as long as ctx and the check's own timeout let it. Its
// error is a *apply.CheckError.
func (m *Machine) Probe(ctx context.Context, check *resource.Check) error {
	if check.Network != nil {
		ctx, cancel := context.WithTimeout(ctx, check.Deadline())
		defer cancel()
		return m.network().wait(ctx, check.Network)
	}
	return probe.Wait(ctx, m.Tree, m.Manager, check)
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
