package scenario

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// Boots is a time in units of how fast the emulator is today. One boot is what it takes from QEMU's start until
// systemd has started all of a machine on which neither cloud-init nor Slipway does anything: some 10 s on two
// processors of their own, and five times that where they are shared with others. In a case it is written "2 boots".
type Boots float64

// parseBoots reads "2 boots", "1 boot", "0.5 boots".
func parseBoots(text string) (Boots, error) {
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || unit != "boot" && unit != "boots" || !(n > 0) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%q is no time: want one in boots, such as \"2 boots\"", text)
	}
	return Boots(n), nil
}

// UnmarshalYAML reads a time in boots.
func (b *Boots) UnmarshalYAML(node *yaml.Node) (err error) {
	*b, err = parseBoots(node.Value)
	return err
}

func (b Boots) String() string { return strconv.FormatFloat(float64(b), 'f', -1, 64) + " boots" }

// patience is how long one step waits for what must come: a node that joins at once takes three boots, with
// cloud-init five. It is no statement about the product's speed, and only ends a run that would wait for ever.
const patience Boots = 20

// Pace is how fast the emulator is. It is measured once a run, and looked at again whenever a machine starts: others
// may have begun to use the processors since. A machine that became faster again is not believed.
type Pace struct {
	mu   sync.Mutex
	boot time.Duration
	// starts are what a start of a kind took when it was first seen, in boots.
	starts map[string]float64
}

// NewPace is the pace at which a boot takes so long.
func NewPace(boot time.Duration) *Pace {
	return &Pace{boot: boot, starts: make(map[string]float64)}
}

// Of is how long some boots take now.
func (p *Pace) Of(b Boots) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(float64(b) * float64(p.boot))
}

// Started notes how long a machine took to start, of a kind of which each takes as much work.
func (p *Pace) Started(kind string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	boots, known := p.starts[kind]
	if !known {
		p.starts[kind] = float64(took) / float64(p.boot)
	} else if now := time.Duration(float64(took) / boots); now > p.boot {
		p.boot = now
	}
}

// errOver says that a time in boots is over.
var errOver = errors.New("there was no more time")

// Within is a context that ends after some boots, by the pace that is known then.
func (p *Pace) Within(ctx context.Context, b Boots) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	began := time.Now()
	go func() {
		for {
			left := p.Of(b) - time.Since(began)
			if left <= 0 {
				cancel(fmt.Errorf("%w after %s, which are %s today", errOver, b, p.Of(b).Round(time.Second)))
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(left):
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}

// inSeconds is a time in boots where a contract or a command line takes seconds.
var inSeconds = regexp.MustCompile(`@[0-9.]+ boots?@`)

// Seconds puts seconds, in whole ones, where a text has a time such as "@2 boots@".
func (p *Pace) Seconds(text string) (string, error) {
	var errs []error
	text = inSeconds.ReplaceAllStringFunc(text, func(mark string) string {
		b, err := parseBoots(strings.Trim(mark, "@"))
		errs = append(errs, err)
		return strconv.Itoa(int(math.Ceil(p.Of(b).Seconds())))
	})
	return text, errors.Join(errs...)
}

// Measure boots a machine of an image on which neither cloud-init nor Slipway does anything, and returns the pace.
func Measure(ctx context.Context, l *lab.Lab, dir, disk string) (*Pace, error) {
	vm, err := l.Boot(ctx, lab.Machine{Dir: dir, Disk: disk, KernelArgs: withoutCloudInit + withoutAgent})
	if err != nil {
		return nil, err
	}
	defer vm.Stop()
	if err := vm.Shell.Wait(ctx, vm.Healthy); err != nil {
		return nil, err
	}
	// Units that fail have been started as well.
	if _, err := vm.Shell.Run(ctx, "systemctl is-system-running --wait"); err != nil {
		return nil, err
	}
	p := NewPace(time.Since(vm.Started))
	p.Started(vm.Kind(), vm.Shell.Spoke().Sub(vm.Started))
	return p, nil
}
