package apply_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/state"
)

// slow brings each component with that component's function.
type slow struct {
	*memory
	bring map[string]func(report func(string)) error
}

func (s slow) Download(ctx context.Context, d *resource.Download, report func(string)) (*apply.Origin, error) {
	if err := s.bring[d.Component](report); err != nil {
		return nil, err
	}
	return s.memory.Download(ctx, d, report)
}

// logged collects the log.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// taken is what was logged since the last call.
func (l *logged) taken() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// Every ten seconds a run reports the steps that have run so long, in its log and in a file for waiting programs. The file is removed
// afterwards.
func TestWaitingIsReported(t *testing.T) {
	for _, fails := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, log := newMemory(), &logged{}
			host := slow{m, map[string]func(func(string)) error{
				"kubelet": func(report func(string)) error {
					time.Sleep(12 * time.Second)
					report("7 of 9 bytes have come")
					time.Sleep(15 * time.Second)
					return nil
				},
				"plugins": func(report func(string)) error {
					report("waits: no such host")
					time.Sleep(36 * time.Second)
					report("7 bytes have come")
					time.Sleep(9 * time.Second)
					if fails {
						return errors.New("given up")
					}
					return nil
				},
			}}
			e := engine(host)
			e.Sequential, e.Log = false, slog.New(slog.NewTextHandler(log, nil))
			began := time.Now()
			ended := make(chan error)
			go func() {
				_, err := e.Apply(t.Context(), brings(component("kubelet", "1.30.1"), component("plugins", "1.6")))
				ended <- err
			}()
			for _, at := range []struct {
				second int
				want   string
			}{
				{9, ""}, {11, "kubelet for 10s; plugins for 10s: waits: no such host"}, {21, "kubelet for 20s: 7 of 9 bytes have come; plugins for 20s: waits: no such host"},
				{31, "plugins for 30s: waits: no such host"}, {41, "plugins for 40s: 7 bytes have come"},
			} {
				time.Sleep(time.Until(began.Add(time.Duration(at.second) * time.Second)))
				told, _ := state.Waiting.Read(m)
				if when, what, _ := strings.Cut(string(told), " "); what != at.want || at.want != "" && when != began.Add(time.Duration(at.second-1)*time.Second).UTC().Format(time.RFC3339) {
					t.Errorf("after %d s: %q, want %q", at.second, told, at.want)
				}
				if text := log.taken(); at.want != "" && strings.Count(text, "waiting=\""+at.want+"\"\n") != 1 || strings.Contains(text, "waiting=") != (at.want != "") {
					t.Errorf("after %d s: %s", at.second, text)
				}
			}
			if err := <-ended; (err != nil) != fails {
				t.Error(err)
			}
			if left, _ := m.Stat(state.Waiting.Path); left.Kind != apply.Absent {
				t.Errorf("is left: %v", left)
			}
		})
	}
}
