package doctor

import (
	"context"
	"crypto/sha256"
	"sync"
	"sync/atomic"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
)

// Patient is the machine that is examined, with what several checks need of it.
type Patient struct {
	Machine Machine
	// Directory reports that the machine is a directory: it shows only files.
	Directory bool
	Now       func() time.Time
	// Pace is how many times slower than an ordinary machine this one is, and at least 1. Zero counts as 1.
	Pace float64
	// Waiting is called now and then with the names of the checks that have not ended, if not nil.
	Waiting func(checks []string)

	// Gather gathers the facts about the machine, and Current reads the plan of its current generation; it returns nil if there is
	// no generation. Drift lists how the machine differs from that plan. Each may be nil, if the caller does not have it.
	Gather  func() facts.Facts
	Current func() (*Planned, error)
	Drift   func(ctx context.Context) ([]apply.Change, error)

	// Provisions reports that a provisioning asks, before it ends.
	Provisions bool

	known known
}

// Patience is a duration on this machine that is d on an ordinary one.
//
//go:noinline
func (p *Patient) Patience(d time.Duration) time.Duration {
	return time.Duration(float64(d) * max(p.Pace, 1))
}

const (
	// paceWork is work whose time shows how fast a machine is, and paceOrdinary the time that it takes on a small
	// virtual machine of a cloud that does nothing else.
	paceWork     = 1 << 20
	paceOrdinary = 4 * time.Millisecond
	// slowest limits the pace: what is slower than that gets no more time.
	slowest = 10
)

// Pace measures how much slower this machine is than an ordinary one: it is emulated, or has much else to do.
func Pace(now func() time.Time) float64 {
	begin := now()
	hash := sha256.New()
	block := make([]byte, 4096)
	for range paceWork / len(block) {
		hash.Write(block)
	}
	return min(max(float64(now().Sub(begin))/float64(paceOrdinary), 1), slowest)
}

// known is what several checks need to know of the machine. Each part is found once.
type known struct {
	kubelet once[*kubeletsetup.Kubelet]
	access  access
	names   lookups
	own     ownNode

	facts      once[facts.Facts]
	plan       once[plannedOrError]
	containerd once[*containerdConfig]
	runtime    once[*kubeletsetup.Service]
	// runs reports that a provisioning ran when the check of its contract looked. It may have ended since.
	runs atomic.Bool
	// waits reports that it waited then. A run that has begun to wait since is no reason of what the other checks have found.
	waits atomic.Bool
}

// once runs a function of several callers once, and keeps its result.
type once[T any] struct {
	once  sync.Once
	value T
}

func (o *once[T]) get(find func() T) T {
	o.once.Do(func() { o.value = find() })
	return o.value
}
