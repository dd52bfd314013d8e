// Package agent runs the node's work from end to end: find a contract, decode it, gather the facts, plan, apply, and
// publish the result, even after a failure. It also waits for such a result.
//
// The package calls the packages below it and decides only their order. It does not plan, and it touches the machine
// only through a [Host]. cmd/slipway-node and internal/watch call it.
package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/doctor"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/publish"
	"github.com/slipway-dev/slipway/internal/registration"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/source"
)

// Host is the machine, or a directory in its place.
type Host interface {
	apply.Host
	facts.Machine
	source.Machine
	publish.Host
	integrity.Files
	doctor.Machine
	// Live reports whether it runs: a directory has only files.
	Live() bool
	// WaitProcess waits until the main process that a unit has now ends.
	WaitProcess(ctx context.Context, unit string) error
	// Prefetch has the kernel read a file into memory, beside everything else.
	Prefetch(path string) error
	// Restrict takes a regular file from all but its owner, and reports whether others had it.
	Restrict(path string) (had bool, err error)
	// Reserve keeps room on the disk, in a file of that size; one that is whole is left alone.
	Reserve(path string, size int64) error
	// SetAside renames a file that cannot be used.
	SetAside(path string) (aside string, err error)
	// FetchAuthority gets the CA of a server's cluster, in PEM, if pins accepts it. The error is apply.ErrNotProbed if
	// the host asks no server.
	FetchAuthority(ctx context.Context, server *resource.APIServer, pins func(bundle string) bool) (string, error)
	// FetchKubeletDefaults gets the KubeletConfiguration that a kubeadm cluster has for all its nodes. Once ready is
	// closed, the kubelet waits for the result. The error is apply.ErrNotProbed if the host asks no server.
	FetchKubeletDefaults(ctx context.Context, way *resource.AsNode, ready <-chan struct{}) ([]byte, error)
	// ReadNode returns this machine's Node, and LabelNode changes its labels: a label whose value is nil is removed. The
	// error is apply.ErrNotProbed if the host asks no server.
	ReadNode(ctx context.Context, way *resource.LeaseRenewed) (*registration.Node, error)
	LabelNode(ctx context.Context, way *resource.LeaseRenewed, labels map[string]*string) error
	// AnnotateNode sets annotations of this machine's Node, once it is registered. The error is apply.ErrNotProbed if
	// the host asks no server.
	AnnotateNode(ctx context.Context, node *resource.FreeName, annotations map[string]string) error
}

// Named are files that were named by path.
type Named interface {
	source.Files
	// Stat reports what is at path, without following a last symbolic link.
	Stat(path string) (apply.Entry, error)
}

// Cloud is the machine's cloud.
type Cloud interface {
	// Service returns the metadata service of a platform, or nil if none is known.
	Service(platform string) source.Service
	// Fetch gets a document of a seed.
	Fetch(ctx context.Context, base, name string) ([]byte, error)
	// Authorities are the certificate authorities that the machines of a region are to trust, on Azure. With an error they
	// are those that were found until then.
	Authorities(ctx context.Context, region string) (facts.Authorities, error)
	// Platform receives the reports about the machine.
	publish.Platform
}

// Agent does the node's work.
type Agent struct {
	Host Host
	// Named has the files of contracts and scripts that the caller gives by path. If nil, Host has them. It differs if
	// Host is a directory and the path belongs to the machine that tries the agent.
	Named Named
	// Cloud is the machine's cloud. If nil, the agent asks no cloud.
	Cloud Cloud
	Log   *slog.Logger
	// Now is the clock.
	Now func() time.Time
	// Version is the agent's version, for the status.
	Version string
	// Program is the agent's path, for units that systemd runs later.
	Program string
	// Sequential does one thing at a time, in an order that depends on the contract alone.
	Sequential bool
	// Called is the name that the agent is called by, which may be the name of a node family: an error that comes
	// before the agent has read a contract is published where that program publishes. Empty means the agent's name.
	Called string
}
