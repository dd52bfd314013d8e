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
)

// Machine is what is searched.
type Machine interface {
	Files
	// Disks lists the block devices that can hold settings, by name, sorted.
	Disks() ([]string, error)
	// OpenDisk opens a block device for reading, and reports its size in bytes.
	OpenDisk(name string) (Disk, int64, error)
	// FollowFiles calls changed whenever one of the paths may have been written to its end, until ctx is
	// done.
	FollowFiles(ctx context.Context, changed func(), paths ...string) error
	// WaitForDisk waits until there is a block device that is not among those known, and reports whether there
	// is.
	WaitForDisk(ctx context.Context, known []string) bool
	// WaitForAddress waits until the machine has other addresses than those known, and reports whether it
	// has.
	WaitForAddress(ctx context.Context, known []string) bool
}

// Disk is a block device that is read.
type Disk = interface {
	io.ReaderAt
	io.Closer
}

// Service is a cloud's metadata service, asked with patience: until ctx is done.
type Service interface {
	// URL is where user data is read from.
	URL() string
	// UserData returns the machine's user data; its error is metadata.ErrNotFound where it has none.
	UserData(ctx context.Context) ([]byte, error)
	// Instance reports what the cloud says of the machine.
	Instance(ctx context.Context) (facts.Instance, error)
}

// Search looks for the contract in every place where the machine can have one: first in those that are read
// without a network, each time something new appears, and in the metadata service once there is an address.
// The first that has one wins.
type Search struct {
	Machine Machine
	// Facts are what the firmware and the disk say of the machine.
	Facts facts.Facts
	// Other says that the disk has been another machine's. What it holds of user data is that one's.
	Other bool
	// OtherSum is the contract of that machine. Where it is in a contract's own place, nobody can tell whether
	// it is meant for this machine too: it is the last resort.
	OtherSum string
	// Service is the metadata service of the machine's platform, nil for none.
	Service Service
	// Fetch gets a document of a seed that the firmware names by URL.
	Fetch func(ctx context.Context, base, name string) ([]byte, error)
	// Only is the one place to look at, empty for all that the platform has.
	Only string
	// Wait keeps looking until ctx is done; without it each place is looked at once.
	Wait bool
	// Waiting is called once, when the contract is not there yet; nil for nobody.
	Waiting func()
	// Now is the clock.
	Now func() time.Time

	tried []Attempt
	// desperate says that everything else has been looked at.
	desperate bool
}

// Attempt is what came of one place.
type Attempt struct {
	// Source is the place's name, such as "azure-ovf".
	Source string
	// Result says what was found, or why it was given up. It holds nothing of the contract.
	Result string
	// Found says that the contract was there.
	Found bool
	// Start and Duration are the last look's.
	Start    time.Time
	Duration time.Duration

	err  error
	path string
}

const (
	// settle is how long a disk is waited for when the metadata service has said that there is no user
	// data: a disk is there after the firmware's drivers, which udev loads at about the same time.
	settle = 5 * time.Second
	// grace is how long those may take to say so who were asked and are out of time.
	grace = time.Second
	// once bounds a search that does not wait.
	once = 30 * time.Second
)

// none says why a place has no contract. It is ErrNotFound.
type none string

func (n none) Error() string     { return string(n) }
func (n none) Is(err error) bool { return err == ErrNotFound }

// errAbsent says that a place itself is not there, and may be later.
const errAbsent none = "is not there"

// Tried reports what came of each place that was looked at, in the order of the first looks.
func (s *Search) Tried() []Attempt { return slices.Clone(s.tried) }

// Find returns the contract. Its error is ErrNotFound where every place says that there is none; it names
// every place and why it was given up.
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
	<-news // everything is watched; a look before that would have to be made again
	if found, ok := s.look(ctx, local); ok {
		return found, nil
	}
	if s.Waiting != nil {
		s.Waiting()
	}
	answers := s.ask(ctx, remote)
	var over <-chan time.Time
	for {
		select {
		case <-news:
			if found, ok := s.look(ctx, local); ok {
				return found, nil
			}
		case a := <-answers:
			s.record(a.attempt)
			if a.attempt.Found {
				return a.contract, nil
			}
			// cloud-init may still bring what it has from elsewhere.
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

// resort is what is left when all places have been looked at: the contract of another machine, which is where
// this one's would be, or the error.
func (s *Search) resort(ctx context.Context) (Contract, error) {
	if s.Other && (s.Only == "" || s.Only == FileSource) {
		s.desperate = true
		if found, ok := s.look(ctx, places[:1]); ok {
			return found, nil
		}
	}
	for _, a := range s.tried {
		if a.path != "" {
			return Contract{Path: a.path}, s.failure() // what is there, and cannot be used
		}
	}
	return Contract{}, s.failure()
}

// look looks at places in turn, until one has the contract.
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

// try looks at one place.
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

// answer is what came of asking a metadata service.
type answer struct {
	contract Contract
	attempt  Attempt
	// final says that the service has said that there is no user data.
	final bool
}

// ask asks the metadata service, as soon as the machine has an address.
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

// watch reports when there is something new to look at, and at first when nothing new will be missed.
func (s *Search) watch(ctx context.Context) <-chan struct{} {
	news := make(chan struct{}, 1)
	tell := func() {
		select {
		case news <- struct{}{}:
		default: // it is known already
		}
	}
	disks, _ := s.Machine.Disks() // before they are looked at: what comes later is news
	go func() {
		for s.Machine.WaitForDisk(ctx, disks) {
			disks, _ = s.Machine.Disks()
			tell()
		}
	}()
	go func() {
		// It ends with the search, or where the kernel has no more watches; then the disks are what is left.
		defer tell()
		_ = s.Machine.FollowFiles(ctx, tell, append(slices.Clone(Paths), cloudInitID)...)
	}()
	return news
}

// last records what those have to say who were asked when time was over.
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

// failure is the error of a search that found nothing. It is ErrNotFound where nothing went wrong either.
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
