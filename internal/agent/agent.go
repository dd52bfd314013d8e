// Package agent is what the node does, from end to end: find a contract, decode it, learn the facts,
// plan, apply, and publish the result, whatever happens on the way; and wait for such a result.
//
// It is a sequence of the packages below it, and decides only what comes after what. It does not plan and does not
// touch the machine but through a [Host]. cmd/slipway-node and internal/watch call it.
package agent

import (
	"context"
	"log/slog"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/integrity"
	"github.com/slipway-dev/slipway/internal/publish"
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
	// Prefetch has the kernel read a file into memory, beside everything else.
	Prefetch(path string) error
	// Restrict takes a regular file from all but its owner, and reports whether others had it.
	Restrict(path string) (had bool, err error)
	// Reserve keeps room on the disk, in a file of that size; one that is whole is left alone.
	Reserve(path string, size int64) error
	// SetAside renames a file that cannot be used.
	SetAside(path string) (aside string, err error)
	// FetchAuthority gets the CA of the cluster that a server belongs to, in PEM, if pins knows it. The error is
	// apply.ErrNotProbed where no server is asked.
	FetchAuthority(ctx context.Context, server *resource.APIServer, pins func(bundle string) bool) (string, error)
	// FetchKubeletDefaults gets the KubeletConfiguration that a cluster of kubeadm has for all its nodes. Once ready is closed,
	// the kubelet waits for it. The error is apply.ErrNotProbed where no server is asked.
	FetchKubeletDefaults(ctx context.Context, way *resource.AsNode, ready <-chan struct{}) ([]byte, error)
	// AnnotateNode sets annotations of this machine's Node, once that is registered. The error is apply.ErrNotProbed where no
	// server is asked.
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
	// Service is the metadata service of a platform, nil where it has none that is known.
	Service(platform string) source.Service
	// Fetch gets a document of a seed.
	Fetch(ctx context.Context, base, name string) ([]byte, error)
	// Authorities are the certificate authorities that the machines of a region are to trust, on Azure. With an error they
	// are those that were found until then.
	Authorities(ctx context.Context, region string) (facts.Authorities, error)
	// Platform hears of the machine.
	publish.Platform
}

// Agent does the node's work.
type Agent struct {
	Host Host
	// Named is where a contract or script is whose path is given; nil means Host. It differs where
	// Host is a directory and the path is one of the machine that the agent is tried on.
	Named Named
	// Cloud is the machine's cloud; nil for none, and nothing is asked.
	Cloud Cloud
	Log   *slog.Logger
	// Now is the clock.
	Now func() time.Time
	// Version is the agent's own, for the status.
	Version string
	// Program is the agent's own path, for what systemd is to run later.
	Program string
	// Sequential does one thing at a time, in an order that depends on the contract alone.
	Sequential bool
	// Called is the name that the agent is called by, which may be that of a family of nodes: what goes wrong before a
	// contract is read is published where that program publishes. Empty stands for its own.
	Called string
}
