package host

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/probe"
	"github.com/slipway-dev/slipway/internal/redact"
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

// The types of the packages below that the machine's methods use.
type (
	// BootTimes are the times of this boot's stages.
	BootTimes = systemd.BootTimes
	// JournalQuery selects records of the journal.
	JournalQuery = systemd.JournalQuery
	// Snapshot is what systemd knows of itself and of its units.
	Snapshot = systemd.Snapshot
	// LogFile is a log that a host's LogFile opens.
	LogFile = rootfs.LogFile
)

// NoRoom reports whether an operation failed because the disk is full, or the agent's share of it.
func NoRoom(err error) bool { return rootfs.NoRoom(err) }

// OpenMachine opens this machine. It connects to systemd only at the first use, so a machine without systemd gives an
// error only then.
func OpenMachine() (*Machine, error) {
	tree, err := rootfs.Open("/")
	if err != nil {
		return nil, err
	}
	return &Machine{Tree: tree, Manager: systemd.New(systemd.Connect, journal("journalctl")), Cluster: probe.Cluster{Files: tree}, logins: &logins{}, statfs: unix.Statfs}, nil
}

// Snapshot returns what systemd knows of itself and of its units, with the boot that it is of.
func (m *Machine) Snapshot(ctx context.Context) (*Snapshot, error) {
	s, err := m.Manager.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	for path, text := range map[string]*string{"/proc/sys/kernel/random/boot_id": &s.BootID, "/proc/sys/kernel/hostname": &s.Hostname} {
		content, _ := m.ReadFile(path, maxProcess) // without them the snapshot is of an unknown boot
		*text = redact.Line(string(content), 256)
	}
	return s, nil
}

// Booted reports whether systemd has booted the machine, as sd_booted(3) does.
func (m *Machine) Booted() bool {
	entry, err := m.Stat("/run/systemd/system")
	return err == nil && entry.Kind == apply.Directory
}

// Close releases the machine's resources.
func (m *Machine) Close() error {
	m.Manager.Close()
	return m.Tree.Close()
}

// NeedReload reports whether systemd has one of the units in memory with older files than the present ones.
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

// Probe waits until a check passes, no longer than ctx and the check's timeout. Its error is a *apply.CheckError.
func (m *Machine) Probe(ctx context.Context, check *resource.Check) error {
	if check.Network != nil {
		ctx, cancel := context.WithTimeout(ctx, check.Deadline())
		defer cancel()
		return m.network().wait(ctx, check.Network)
	}
	return probe.Wait(ctx, m.Tree, m.Manager, check)
}

// SelfSign makes the kubelet's serving certificate and its key, for the host's name if the resource has no name.
func (m *Machine) SelfSign(wanted *resource.ServingCertificate) (certificate, key []byte, err error) {
	name := wanted.Node
	if name == "" {
		if name, err = m.NodeName(); err != nil {
			return nil, nil, err
		}
	}
	return tlsbootstrap.SelfSigned(name, time.Now())
}
