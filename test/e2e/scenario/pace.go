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

// Boots is a time in units of the emulator's present speed. One boot is the time from QEMU's start until systemd has started all of
// a machine on which neither cloud-init nor Slipway does anything: some 10 s on two dedicated processors, and five times that on
// shared ones. A case writes it as "2 boots".
type Boots float64

// parseBoots parses "2 boots", "1 boot", "0.5 boots".
func parseBoots(text string) (Boots, error) {
	number, unit, _ := strings.Cut(text, " ")
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || unit != "boot" && unit != "boots" || !(n > 0) || math.IsInf(n, 0) {
		return 0, fmt.Errorf("%q is no time: want one in boots, such as \"2 boots\"", text)
	}
	return Boots(n), nil
}

// UnmarshalYAML parses a time in boots.
func (b *Boots) UnmarshalYAML(node *yaml.Node) (err error) {
	*b, err = parseBoots(node.Value)
	return err
}

func (b Boots) String() string { return strconv.FormatFloat(float64(b), 'f', -1, 64) + " boots" }

// patience is how long one step waits: a node that joins at once takes three boots, with cloud-init five. It says nothing about the
// product's speed, and only ends a run that would wait for ever.
const patience Boots = 20

// Pace is the emulator's speed. It is measured once in a run, and adjusted whenever a machine starts, because other programs may
// use the processors since then. It is never adjusted to a faster speed.
type Pace struct {
	mu   sync.Mutex
	boot time.Duration
	// starts is the time that a kind of start took at first, in boots.
	starts map[string]float64
}

// NewPace returns the pace for the duration of a boot.
func NewPace(boot time.Duration) *Pace {
	return &Pace{boot: boot, starts: make(map[string]float64)}
}

// Of returns the present duration of some boots.
func (p *Pace) Of(b Boots) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(float64(b) * float64(p.boot))
}

// Started records how long a machine took to start. All starts of a kind take the same work.
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

// errOver is the cause when a time in boots is over.
var errOver = errors.New("there was no more time")

// Within returns a context that ends after some boots, at the pace that is known then.
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

// inSeconds matches a time in boots in a contract or a command line, which need seconds.
var inSeconds = regexp.MustCompile(`@[0-9.]+ boots?@`)

// Seconds replaces times such as "@2 boots@" in a text with whole seconds.
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
func Measure(ctx context.Context, l *lab.Lab, m lab.Machine) (*Pace, error) {
	m.KernelArgs = withoutCloudInit + withoutAgent
	vm, err := l.Boot(ctx, m)
	if err != nil {
		return nil, err
	}
	defer vm.Stop()
	if err := vm.Shell.Wait(ctx, vm.Healthy); err != nil {
		return nil, err
	}
	// Failed units have been started as well.
	if _, err := vm.Shell.Run(ctx, "systemctl is-system-running --wait"); err != nil {
		return nil, err
	}
	p := NewPace(time.Since(vm.Started))
	p.Started(vm.Kind(), vm.Shell.Spoke().Sub(vm.Started))
	return p, nil
}
