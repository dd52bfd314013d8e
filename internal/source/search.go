package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/state"
)

// Machine is the machine to search.
type Machine interface {
	Files
	// Disks lists the block devices that can hold settings, by name, sorted.
	Disks() ([]string, error)
	// OpenDisk opens a block device for reading, and reports its size in bytes.
	OpenDisk(name string) (Disk, int64, error)
	// FollowFiles calls changed whenever one of the paths may have been written completely, until ctx is done.
	FollowFiles(ctx context.Context, changed func(), paths ...string) error
	// WaitForDisk waits until there is a block device that is not in known, and reports whether there is.
	WaitForDisk(ctx context.Context, known []string) bool
	// WaitForAddress waits until the machine has other addresses than known, and reports whether it has.
	WaitForAddress(ctx context.Context, known []string) bool
}

// Disk is a block device that is read.
type Disk = interface {
	io.ReaderAt
	io.Closer
}

// Service is a cloud's metadata service, which is asked until ctx is done.
type Service interface {
	// URL is the URL of user data.
	URL() string
	// UserData returns the machine's user data. If it has none, the error is metadata.ErrNotFound.
	UserData(ctx context.Context) ([]byte, error)
	// Instance returns the cloud's description of the machine.
	Instance(ctx context.Context) (facts.Instance, error)
}

// Search looks for the contract in every place of the machine: first in those that need no network, each time something
// new appears, and in the metadata service once there is an address. The first contract wins.
type Search struct {
	Machine Machine
	// Facts are the facts from the firmware and the disk.
	Facts facts.Facts
	// Other reports that the disk belonged to another machine. Its user data is that machine's.
	Other bool
	// OtherSum is the sum of that machine's contract. If it is at a contract's path, the search cannot know whether it
	// is meant for this machine too: it is the last resort.
	OtherSum string
	// Service is the metadata service of the machine's platform. It may be nil.
	Service Service
	// Fetch gets a document of a seed that the firmware names by URL.
	Fetch func(ctx context.Context, base, name string) ([]byte, error)
	// Only is the single place to look. Empty means all places of the platform.
	Only string
	// Wait keeps looking until ctx is done. Without it, each place is looked at once.
	Wait bool
	// Waiting is called once, if the contract is not there yet. It may be nil.
	Waiting func()
	// Still is called every state.WaitingEvery while the search keeps looking. It may be nil.
	Still func()
	// Now is the clock.
	Now func() time.Time

	tried []Attempt
	// desperate reports that all other places have been tried.
	desperate bool
}

// Attempt is the outcome of one place.
type Attempt struct {
	// Source is the place's name, such as "azure-ovf".
	Source string
	// Result describes what was found, or why the search gave it up. It contains nothing of the contract.
	Result string
	// Found reports whether the contract was there.
	Found bool
	// Start and Duration are the last look's.
	Start    time.Time
	Duration time.Duration

	err  error
	path string
}

const (
	// settle is how long to wait for a disk after the metadata service has answered that there is no user data: disks
	// appear after the firmware's drivers, which udev loads at about the same time.
	settle = 5 * time.Second
	// grace is how long a place that was asked before the timeout may still take to answer.
	grace = time.Second
	// once limits a search that does not wait.
	once = 30 * time.Second
)

// none is why a place has no contract. It is ErrNotFound.
type none string

func (n none) Error() string     { return string(n) }
func (n none) Is(err error) bool { return err == ErrNotFound }

// errAbsent means that the place itself is missing, and may appear later.
const errAbsent none = "is not there"

// Tried returns the outcome of each place, in the order of the first looks.
func (s *Search) Tried() []Attempt { return slices.Clone(s.tried) }

// Find returns the contract. If all places report that they have none, the error is ErrNotFound. It names every place
// and why the search gave it up.
func (s *Search) Find(ctx context.Context) (Contract, error) {
	local, remote, err := s.places()
	if err != nil {
		return Contract{}, err
	}
	if !s.Wait {
		return s.findOnce(ctx, append(local, remote...))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	news := s.watch(ctx)
	<-news // everything is watched; a look before that would have to be repeated
	if found, ok := s.look(ctx, local); ok {
		return found, nil
	}
	if s.Waiting != nil {
		s.Waiting()
	}
	answers := s.ask(ctx, remote)
	still := time.NewTicker(state.WaitingEvery)
	defer still.Stop()
	var over <-chan time.Time
	for {
		select {
		case <-still.C:
			if s.Still != nil {
				s.Still()
			}
		case <-news:
			if found, ok := s.look(ctx, local); ok {
				return found, nil
			}
		case a := <-answers:
			s.record(a.attempt)
			if a.attempt.Found {
				return a.contract, nil
			}
			// cloud-init may still deliver data from another source.
			if a.final && !s.Facts.CloudInit {
				over = time.After(settle)
			}
		case <-over:
			return s.resort(ctx)
		case <-ctx.Done():
			s.last(answers, len(remote))
			return s.resort(ctx)
		}
	}
}

// findOnce looks at each place once.
func (s *Search) findOnce(ctx context.Context, places []origin) (Contract, error) {
	ctx, cancel := context.WithTimeout(ctx, once)
	defer cancel()
	if found, ok := s.look(ctx, places); ok {
		return found, nil
	}
	return s.resort(ctx)
}

// resort returns the last resort after all places were tried: another machine's contract at this one's path, or the
// error.
func (s *Search) resort(ctx context.Context) (Contract, error) {
	if s.Other && (s.Only == "" || s.Only == FileSource) {
		s.desperate = true
		if found, ok := s.look(ctx, places[:1]); ok {
			return found, nil
		}
	}
	for _, a := range s.tried {
		if a.path != "" {
			return Contract{Path: a.path}, s.failure() // the file exists but cannot be used
		}
	}
	return Contract{}, s.failure()
}

// look tries places in turn, until one has the contract.
func (s *Search) look(ctx context.Context, places []origin) (Contract, bool) {
	for _, p := range places {
		found, attempt := s.try(ctx, p)
		s.record(attempt)
		if attempt.Found {
			return found, true
		}
	}
	return Contract{}, false
}

// try tries one place.
func (s *Search) try(ctx context.Context, p origin) (Contract, Attempt) {
	attempt := Attempt{Source: p.name, Start: s.Now()}
	found, err := p.read(ctx, s)
	attempt.Duration = s.Now().Sub(attempt.Start)
	if err != nil {
		attempt.Result = err.Error()
		attempt.err, attempt.path = err, found.Path
		return Contract{}, attempt
	}
	found.Source = p.name
	attempt.Found, attempt.Result = true, found.Path
	if len(found.Wrapping) > 0 {
		attempt.Result += ", in " + strings.Join(found.Wrapping, ", in ")
	}
	return found, attempt
}

// answer is a metadata service's outcome.
type answer struct {
	contract Contract
	attempt  Attempt
	// final reports that the service has answered that there is no user data.
	final bool
}

// ask asks the metadata service as soon as the machine has an address.
func (s *Search) ask(ctx context.Context, places []origin) <-chan answer {
	answers := make(chan answer, len(places))
	if len(places) == 0 {
		return answers
	}
	go func() {
		for _, p := range places {
			if !s.Machine.WaitForAddress(ctx, nil) {
				answers <- answer{attempt: Attempt{Source: p.name, Result: errNoAddress.Error(), err: errNoAddress}}
				continue
			}
			found, attempt := s.try(ctx, p)
			answers <- answer{found, attempt, errors.Is(attempt.err, ErrNotFound)}
		}
	}()
	return answers
}

var errNoAddress = errors.New("was not asked because the machine has no address: check its network")

// watch reports when there is something new to look at. Its first report means that nothing new will be missed.
func (s *Search) watch(ctx context.Context) <-chan struct{} {
	news := make(chan struct{}, 1)
	tell := func() {
		select {
		case news <- struct{}{}:
		default: // a report is already pending
		}
	}
	disks, _ := s.Machine.Disks() // before they are read, so that later ones are reported
	go func() {
		for s.Machine.WaitForDisk(ctx, disks) {
			disks, _ = s.Machine.Disks()
			tell()
		}
	}()
	go func() {
		// It ends with the search, or if the kernel has no more watches; then only disks are watched.
		defer tell()
		_ = s.Machine.FollowFiles(ctx, tell, append(slices.Clone(Paths), cloudInitID)...)
	}()
	return news
}

// last records the answers of places that were asked before the timeout.
func (s *Search) last(answers <-chan answer, asked int) {
	over := time.After(grace)
	for ; asked > 0; asked-- {
		select {
		case a := <-answers:
			s.record(a.attempt)
		case <-over:
			return
		}
	}
}

// record keeps the last attempt at each place.
func (s *Search) record(a Attempt) {
	i := slices.IndexFunc(s.tried, func(t Attempt) bool { return t.Source == a.Source })
	if i < 0 {
		s.tried = append(s.tried, a)
		return
	}
	s.tried[i] = a
}

// failure is the error of a search without result. It is ErrNotFound if no place had an error.
func (s *Search) failure() error {
	var broken []error
	var said []string
	for _, a := range s.tried {
		said = append(said, a.Source+": "+a.Result)
		if a.err != nil && !errors.Is(a.err, ErrNotFound) {
			broken = append(broken, fmt.Errorf("%s: %w", a.Source, a.err))
		}
	}
	if broken != nil {
		return fmt.Errorf("the contract cannot be read: %w (tried: %s)", errors.Join(broken...), strings.Join(said, "; "))
	}
	return fmt.Errorf("%w: deliver one as user data or at %s, or name one with --provision-config (looked at %s)",
		ErrNotFound, profile.Default().Contract.YAML, strings.Join(said, "; "))
}
