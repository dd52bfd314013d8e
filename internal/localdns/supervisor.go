package localdns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/slipway-dev/slipway/internal/dnsanswer"
	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// device is the interface with the cache's addresses.
	device = "localdns"
	// corefile is the one in use: the planner's, with the machine's DNS servers.
	corefile = dnscache.RunDir + "/corefile"

	// readyTries is how often to check whether the cache is ready, once a second (AKS: localdns.sh).
	readyTries    = 60
	readyInterval = time.Second
	askPatience   = 3 * time.Second
	// beat is how often the cache is checked. It is restarted after failuresInRow, or failuresInAll within failureSpan
	// (AKS: localdns.sh).
	beat          = 12 * time.Second
	failuresInRow = 5
	failuresInAll = 10
	failureSpan   = 10 * time.Minute
	// endPatience limits the time for the cache to end, and stopPatience the time for undoing everything.
	endPatience  = 5 * time.Second
	stopPatience = 30 * time.Second
)

var (
	hostAddress = netip.MustParseAddr(dnscache.HostListener)
	podsAddress = netip.MustParseAddr(dnscache.PodsListener)
	listeners   = []netip.Addr{hostAddress, podsAddress}
)

// readyURL is where the cache reports that it is ready (CoreDNS: plugin ready).
const readyURL = "http://" + dnscache.HostListener + ":8181/ready"

// Settings are a supervisor's settings.
type Settings struct {
	// Program is CoreDNS, Corefile the configuration that the planner has written.
	Program, Corefile string
	// Names are kept in the file of hosts, and looked up every Refresh.
	Names   []string
	Refresh time.Duration
}

// Supervisor runs the node's DNS cache.
type Supervisor struct {
	Settings
	Machine  Machine
	Notifier Notifier
	Log      *slog.Logger
}

// cache is the running CoreDNS: see [Machine.Start].
type cache struct {
	signal func(os.Signal) error
	ended  <-chan error
}

// Run runs the cache until ctx is done, which is no error, or the cache has ended or is unhealthy. On return the
// machine's resolver is as it was before.
func (s *Supervisor) Run(ctx context.Context) error {
	process, err := s.supervise(ctx)
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, s.end(process))
}

// supervise starts the cache, and watches it. It returns the process, if there is one.
func (s *Supervisor) supervise(ctx context.Context) (process *cache, err error) {
	// An earlier supervisor may have been killed before it could switch the resolver back.
	if err := s.restoreResolver(ctx); err != nil {
		return nil, err
	}
	if !s.Machine.Exists(s.Program) {
		return nil, fmt.Errorf("%s is not there; use an image that has it", s.Program)
	}
	n, err := s.findNetwork(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(n.servers); err != nil {
		return nil, err
	}
	if err := s.listen(ctx); err != nil {
		return nil, err
	}
	signal, ended, err := s.Machine.Start([]string{s.Program, "-conf", corefile})
	if err != nil {
		return nil, fmt.Errorf("start the DNS cache: %w", err)
	}
	process = &cache{signal, ended}
	if err := s.awaitReady(ctx, process); err != nil {
		return process, err
	}
	s.Notifier.Ready()
	if err := s.switchResolver(ctx, n.file); err != nil {
		return process, err
	}
	s.Log.Info("the resolver asks the DNS cache")
	return process, s.watch(ctx, process, n)
}

// use reports the cache's present servers, and looks names up there until the returned function is called.
func (s *Supervisor) use(ctx context.Context, servers []netip.Addr) (stop func()) {
	s.Log.Info("the DNS cache asks these servers", "upstream", joined(servers))
	s.Notifier.Status("The DNS cache answers, and asks " + joined(servers))
	ctx, cancel := context.WithCancel(ctx)
	var lookups sync.WaitGroup
	lookups.Go(func() { s.keepHosts(ctx, servers) })
	return func() {
		cancel()
		lookups.Wait()
	}
}

// Stop undoes all that a supervisor does to the machine, except the cache itself, which ends with its unit.
func (s *Supervisor) Stop(ctx context.Context) error {
	return errors.Join(s.restoreResolver(ctx), s.removeRules(ctx), s.removeInterface())
}

// prepare writes the cache's files.
func (s *Supervisor) prepare(servers []netip.Addr) error {
	text, err := s.Machine.ReadFile(s.Corefile, maxCorefile)
	if err != nil {
		return err
	}
	err = s.Machine.WriteFileAtomic(&resource.File{Path: corefile, Mode: 0o600, Content: withServers(text, servers)})
	if err != nil || len(s.Names) == 0 || s.Machine.Exists(dnscache.HostsFile) {
		return err
	}
	return s.Machine.WriteFileAtomic(&resource.File{Path: dnscache.HostsFile, Mode: 0o644})
}

// listen creates the cache's interface, and makes the kernel not track connections to it.
func (s *Supervisor) listen(ctx context.Context) error {
	if err := s.Machine.MakeDummy(device, listeners); err != nil {
		return fmt.Errorf("make the interface of the DNS cache: %w", err)
	}
	return s.addRules(ctx)
}

func (s *Supervisor) removeInterface() error {
	if err := s.Machine.RemoveInterface(device); err != nil {
		return fmt.Errorf("remove the interface of the DNS cache: %w", err)
	}
	return nil
}

// awaitReady waits until the cache is ready.
func (s *Supervisor) awaitReady(ctx context.Context, process *cache) error {
	var last error
	for range readyTries {
		if last = s.ready(ctx); last == nil {
			return nil
		}
		select {
		case err := <-process.ended:
			return ended(err)
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(readyInterval):
		}
	}
	return fmt.Errorf("the DNS cache is not ready after %d tries: %w", readyTries, last)
}

// ready checks whether the cache is ready.
func (s *Supervisor) ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	said, err := s.Machine.Fetch(ctx, readyURL)
	if err == nil && said != "OK" {
		err = fmt.Errorf("%s does not say OK", readyURL)
	}
	return err
}

// ended is the error of a cache that has ended by itself.
func ended(err error) error {
	if err == nil {
		return errors.New("the DNS cache has ended")
	}
	return fmt.Errorf("the DNS cache has ended: %w", err)
}

// watch checks the cache, and the network for its DNS servers, until ctx is done, the cache has ended, or has failed
// too often. It notifies systemd each time, because this package decides when a failing cache is restarted, and
// systemd's own limit is a minute.
func (s *Supervisor) watch(ctx context.Context, process *cache, n network) error {
	stop := s.use(ctx, n.servers)
	defer func() { stop() }()
	s.Notifier.Alive()
	ticker := time.NewTicker(beat)
	defer ticker.Stop()
	row := 0
	var failures []time.Time
	for {
		select {
		case err := <-process.ended:
			return ended(err)
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		changed, err := s.follow(&n, process)
		if err != nil {
			s.Log.Warn("the DNS cache does not ask the network's new servers", "error", err)
		}
		if changed {
			stop()
			stop = s.use(ctx, n.servers)
		}
		err = s.well(ctx)
		if ctx.Err() != nil {
			return nil
		}
		s.Notifier.Alive()
		if err == nil {
			row = 0
			continue
		}
		now := time.Now()
		row++
		failures = append(failures, now)
		for now.Sub(failures[0]) > failureSpan {
			failures = failures[1:]
		}
		s.Log.Warn("the DNS cache does not answer", "inRow", row, "error", err)
		if row >= failuresInRow || len(failures) >= failuresInAll {
			return fmt.Errorf("the DNS cache has not answered %d times in a row, and %d times in %s: %w", row, len(failures), failureSpan, err)
		}
	}
}

// well checks whether the cache is ready, and queries a name at each of its addresses, all in parallel.
func (s *Supervisor) well(ctx context.Context) error {
	errs := make([]error, len(listeners)+1)
	var asked sync.WaitGroup
	asked.Go(func() { errs[len(listeners)] = s.ready(ctx) })
	for i, listener := range listeners {
		asked.Go(func() {
			got, err := s.ask(ctx, listener, dnscache.HealthName, dnsmessage.TypeA)
			if err == nil && got.Code != dnsmessage.RCodeSuccess {
				err = fmt.Errorf("%s answers with code %d", listener, got.Code)
			}
			errs[i] = err
		})
	}
	asked.Wait()
	return errors.Join(errs...)
}

// ask queries a server for the addresses of a name.
func (s *Supervisor) ask(ctx context.Context, server netip.Addr, name string, kind dnsmessage.Type) (dnsanswer.Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	asked := dnsanswer.Query(name, kind)
	if asked == nil {
		return dnsanswer.Answer{}, fmt.Errorf("%q is not a domain name", name)
	}
	message, err := s.Machine.Exchange(ctx, net.JoinHostPort(server.String(), "53"), asked)
	if err != nil {
		return dnsanswer.Answer{}, fmt.Errorf("ask %s for %s: %w", server, name, err)
	}
	got, err := dnsanswer.Parse(name, kind, message)
	if err != nil {
		return dnsanswer.Answer{}, fmt.Errorf("ask %s for %s: %w", server, name, err)
	}
	return got, nil
}

// end ends the cache, if it was started, after the resolver does not use it any more.
func (s *Supervisor) end(process *cache) error {
	s.Notifier.Stopping()
	ctx, cancel := context.WithTimeout(context.Background(), stopPatience)
	defer cancel()
	errs := []error{s.restoreResolver(ctx), s.removeRules(ctx)}
	if process != nil {
		s.endProcess(process)
	}
	return errors.Join(append(errs, s.removeInterface())...)
}

// endProcess asks the cache to end, and kills it if it does not.
func (s *Supervisor) endProcess(process *cache) {
	if err := process.signal(os.Interrupt); err != nil {
		return // it has ended
	}
	select {
	case <-process.ended:
	case <-time.After(endPatience):
		s.Log.Warn("the DNS cache does not end, and is killed")
		_ = process.signal(os.Kill)
	}
}
