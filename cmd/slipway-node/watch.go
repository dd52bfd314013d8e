package main

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/internal/source"
	"github.com/slipway-dev/slipway/internal/watch"
)

const (
	// minInterval limits a watcher's load on services that all machines of a host share.
	minInterval = 10 * time.Second
	// stopGrace is shorter than TimeoutStopSec in dist/systemd/slipway-watch.service, so that the agent itself can
	// report that it abandons a change.
	stopGrace = 75 * time.Second
	// noCloud selects no metadata service.
	noCloud = "none"
)

// watchOptions are the options of "watch".
type watchOptions struct {
	file, socket, textfile  string
	metadata, drift, allow  command.Choice
	interval, driftInterval time.Duration
	force, once             bool
}

func (a *app) watch() *cobra.Command {
	var opts watchOptions
	cmd := &cobra.Command{
		Use:   "watch [flags]",
		Short: "Apply the contract when it changes, and repair drift",
		Long: `Apply the contract whenever it changes, as "slipway-node apply" does, and check from time to time
whether something else has changed the node. It runs as a service: slipway-watch.service.

A contract that was refused, was not valid or has failed is not tried again until it changes. If
something else was in the way, it is tried again, with growing delays. A machine that is not
provisioned yet is left alone.`,
		Example: `  slipway-node watch
  slipway-node watch --metadata azure --drift report
  slipway-node watch --once --metrics-socket '' --root ./out/node`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runWatch(cmd, &opts) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&opts.file, "file", "f", "", "follow the contract at `PATH` (default: the known places)")
	opts.metadata = command.Choice{Value: noCloud, Allowed: append(metadata.Clouds(), noCloud)}
	command.AddChoice(cmd, &opts.metadata, "metadata", "", "follow the user data of a cloud's metadata `SERVICE` too: "+cli.List(opts.metadata.Allowed, "or"))
	flags.DurationVar(&opts.interval, "interval", time.Minute, "check each source every `DURATION`")
	opts.drift = command.Choice{Value: string(watch.Mend), Allowed: []string{string(watch.Report), string(watch.Mend), string(watch.MendAll), string(watch.Off)}}
	command.AddChoice(cmd, &opts.drift, "drift", "", "`ACTION` on drift: "+cli.List(opts.drift.Allowed, "or"))
	flags.DurationVar(&opts.driftInterval, "drift-interval", 5*time.Minute, "check for drift every `DURATION`")
	addAllow(cmd, &opts.allow)
	flags.BoolVar(&opts.force, "force", false, "apply contracts even if their revision is lower than the node's")
	flags.StringVar(&opts.socket, "metrics-socket", "/run/slipway/metrics.sock", "serve metrics on the unix socket `PATH`; '' for none")
	flags.StringVar(&opts.textfile, "metrics-textfile", "", "also write the metrics to `PATH`, for node_exporter's textfile collector")
	flags.BoolVar(&opts.once, "once", false, "check everything once, then end")
	return cmd
}

// runWatch watches with the command line's options.
func (a *app) runWatch(cmd *cobra.Command, opts *watchOptions) (err error) {
	for _, flag := range []struct {
		name  string
		value time.Duration
	}{{"interval", opts.interval}, {"drift-interval", opts.driftInterval}} {
		if flag.value < minInterval {
			return cli.Usage(command.Hint(cmd), "--%s must be at least %s, not %s", flag.name, minInterval, flag.value)
		}
	}
	for _, flag := range []struct{ name, value string }{{"metrics-socket", opts.socket}, {"metrics-textfile", opts.textfile}} {
		if flag.value != "" && !isCleanPath(flag.value) {
			return cli.Usage(command.Hint(cmd), "--%s must be an absolute path, not %q", flag.name, flag.value)
		}
	}
	if opts.file, err = absolute(opts.file); err != nil {
		return err
	}
	a.follows = !opts.once
	node, err := a.changing()
	if err != nil {
		return err
	}
	watcher, err := newWatcher(node, opts)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	if opts.socket != "" {
		listener, err := node.Host.(machine).Listen(opts.socket)
		if err != nil {
			return command.Failed("metrics: %w; choose another socket, or none, with --metrics-socket", err)
		}
		go func() {
			if err := watcher.Metrics.Serve(ctx, listener); err != nil {
				node.Log.Error("metrics are no longer served", "socket", opts.socket, "error", err)
			}
		}()
	}
	if opts.once {
		err = watcher.Once(ctx)
	} else {
		err = watcher.Run(ctx)
	}
	if err != nil {
		return command.Failed("%w", err)
	}
	if by, ok := errors.AsType[request](context.Cause(ctx)); ok && by.signal == syscall.SIGHUP {
		// A service has no session that could end: systemd starts it again for that exit code.
		return command.Failed("%w: its session is gone", by)
	}
	return nil
}

// machine is what a watcher needs of a host in addition to the agent's interface.
type machine interface {
	FollowFiles(ctx context.Context, changed func(), paths ...string) error
	Listen(path string) (net.Listener, error)
}

// newWatcher wires a watcher.
func newWatcher(node *agent.Agent, opts *watchOptions) (*watch.Watcher, error) {
	allow, err := difference.ParseClass(opts.allow.Value)
	if err != nil {
		return nil, err
	}
	sources := []watch.Source{fileSource(node, opts)}
	if name := opts.metadata.Value; name != noCloud {
		service, err := metadata.New(name, nil)
		if err != nil {
			return nil, err
		}
		fetch := func(ctx context.Context) (source.Contract, error) { return source.UserData(ctx, service) }
		sources = append(sources, watch.Source{Name: name, Fetch: fetch, Interval: opts.interval})
	}
	var tags func(ctx context.Context) (facts.Tags, error)
	if node.Cloud != nil && facts.PlatformOf(node.Host) == facts.Azure {
		service, err := metadata.New(facts.Azure, nil)
		if err != nil {
			return nil, err
		}
		tags = service.Tags
	}
	// Without a machine ID, a machine asks at the same time as others without one, which is acceptable.
	seed, _ := node.Host.ReadFile("/etc/machine-id", 64)
	supervisor := newSupervisor(node.Log)
	return &watch.Watcher{
		Node: node, Files: node.Host, Sources: sources, Tags: tags, Log: node.Log, Metrics: watch.NewMetrics(),
		Allow: allow, Force: opts.force, Drift: watch.Drift(opts.drift.Value), DriftInterval: opts.driftInterval,
		Supervisor: supervisor, Beat: supervisor.beat, Grace: stopGrace,
		Seed: strings.TrimSpace(string(seed)), Textfile: opts.textfile,
	}, nil
}

// fileSource follows the contract's file, or all possible paths.
func fileSource(node *agent.Agent, opts *watchOptions) watch.Source {
	var files source.Files = node.Host
	follower, paths := node.Host.(machine), source.Paths
	if opts.file != "" {
		files, follower, paths = node.Named, node.Named.(machine), []string{opts.file}
	}
	return watch.Source{
		Name:  "file",
		Fetch: func(context.Context) (source.Contract, error) { return source.File(files, opts.file) },
		Follow: func(ctx context.Context, changed func()) error {
			return follower.FollowFiles(ctx, changed, paths...)
		},
		Interval: opts.interval,
	}
}
