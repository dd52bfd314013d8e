package probe

import (
	"cmp"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// look is a unit's state from a time on.
type look struct {
	after      time.Duration
	invocation byte
	state, sub string
	// since is how long it has been active then. 0 means that systemd does not report it.
	since time.Duration
}

// show sets systemd's properties for a look.
func show(t *testing.T, f *hosttest.Bus, unit string, l look) {
	properties := map[string]any{"LoadState": "loaded", "ActiveState": l.state, "SubState": l.sub, "InvocationID": []byte{l.invocation}}
	if l.since > 0 {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			t.Error(err)
		}
		properties["ActiveEnterTimestampMonotonic"] = uint64((time.Duration(now.Nano()) - l.since).Microseconds())
	}
	f.Put(unit, properties)
}

// A unit that must stay active: for a time, or until it is healthy, and with the allowed number of ends.
func TestProbeSteady(t *testing.T) {
	unwell := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(unwell.Close)
	const short, long = time.Second, time.Minute
	runs := look{invocation: 1, state: "active", sub: "running"}
	ends := look{after: 50 * time.Millisecond, invocation: 1, state: "activating", sub: "auto-restart"}
	again := look{after: 700 * time.Millisecond, invocation: 2, state: "active", sub: "running"}
	restarted := look{after: 50 * time.Millisecond, invocation: 2, state: "active"}
	endsAgain := look{after: 800 * time.Millisecond, invocation: 2, state: "activating", sub: "auto-restart"}
	fails := look{after: 700 * time.Millisecond, invocation: 1, state: "failed", sub: "failed"}
	activeFor := func(since time.Duration) look { return look{invocation: 1, state: "active", since: since} }
	for name, c := range map[string]struct {
		looks    []look
		steady   time.Duration
		restarts int
		well     string // a URL
		// within is the time for the check. 0 means plenty.
		within time.Duration
		err    string
	}{
		"stays":                        {looks: []look{runs}, steady: short},
		"ends":                         {looks: []look{runs, ends}, steady: short, err: "does not stay active: is activating (auto-restart)"},
		"is started between two looks": {looks: []look{runs, restarted}, steady: short, err: "does not stay active: it ended, and was started again"},
		"has no time to show it":       {looks: []look{runs}, steady: long, within: 50 * time.Millisecond, err: "is active, but was not seen to stay active for 1m0s"},

		"has been active for long":     {looks: []look{activeFor(2 * long)}, steady: long},
		"has not been active for long": {looks: []look{activeFor(time.Second), ends}, steady: long, err: "does not stay active"},

		"ends once, and may":       {looks: []look{runs, ends, again}, steady: short, restarts: 1},
		"is started once, and may": {looks: []look{runs, restarted}, steady: short, restarts: 1},
		"ends twice":               {looks: []look{runs, ends, again, endsAgain}, steady: long, restarts: 1, err: "does not stay active: ended 2 times, is activating (auto-restart)"},
		"ends, and is not started": {looks: []look{runs, ends, fails}, steady: long, restarts: 1, err: "does not stay active: is failed"},

		"says that it is well":       {looks: []look{runs}, steady: long, well: wellServer(t)},
		"says so when started again": {looks: []look{runs, ends, again}, steady: long, restarts: 1, well: wellServer(t, 500, 500)},
		"says so, and ends":          {looks: []look{runs, ends}, steady: long, well: wellServer(t), err: "does not stay active"},
		"says so each time, and ends": {
			looks:  []look{runs, ends, again, endsAgain},
			steady: long, restarts: 1, well: wellServer(t), err: "does not stay active: ended 2 times, is activating (auto-restart)",
		},
		"says so late, and ends later": {
			looks:  []look{activeFor(3 * time.Second), {after: 2 * time.Second, invocation: 1, state: "activating", sub: "auto-restart"}},
			steady: long, well: wellServer(t), err: "does not stay active",
		},
		"says so late, and stays":  {looks: []look{activeFor(long - 10*time.Second)}, steady: long, well: wellServer(t), within: 7 * time.Second},
		"says so now and then":     {looks: []look{runs, fails}, steady: long, well: wellServer(t, 200, 500, 200, 500), err: "does not stay active"},
		"says that it is not well": {looks: []look{runs, ends}, steady: long, well: unwell.URL, err: "does not stay active"},
		"stays, and is never well": {looks: []look{runs}, steady: short, well: unwell.URL},
		"cannot be asked":          {looks: []look{runs}, steady: short, well: "http://example.com/"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn := hosttest.NewBus()
				show(t, conn, "kubelet.service", c.looks[0])
				for _, l := range c.looks[1:] {
					time.AfterFunc(l.after, func() { show(t, conn, "kubelet.service", l) })
				}
				check := &resource.Check{
					UnitActive: "kubelet.service", Timeout: resource.Duration(cmp.Or(c.within, 20*time.Second)),
					Steady: resource.Duration(c.steady), Restarts: c.restarts,
				}
				if c.well != "" {
					check.Well = &resource.Healthz{URL: c.well}
				}
				err := Wait(t.Context(), nil, hosttest.Systemd(conn), check)
				if c.err == "" {
					must(t, err)
					return
				}
				wantError(t, err, "kubelet.service", c.err)
			})
		})
	}
}

// A unit that another unit pulls in again when it fails: it succeeds in the end, or has failed too often.
func TestProbePulled(t *testing.T) {
	const unit = "client.service"
	runs := func(after time.Duration, invocation byte) look {
		return look{after: after, invocation: invocation, state: "activating", sub: "start"}
	}
	fails := func(after time.Duration, invocation byte) look {
		return look{after: after, invocation: invocation, state: "failed", sub: "failed"}
	}
	done := look{after: 5 * time.Second, invocation: 3, state: "active", sub: "exited"}
	for name, c := range map[string]struct {
		looks    []look
		restarts int
		err      string
	}{
		"succeeds":                    {looks: []look{done}, restarts: 2},
		"succeeds in the end":         {looks: []look{fails(0, 1), runs(2*time.Second, 2), fails(3*time.Second, 2), runs(4*time.Second, 3), done}, restarts: 2},
		"fails, and may not":          {looks: []look{fails(0, 1), done}, err: "is failed"},
		"fails too often":             {looks: []look{fails(0, 1), runs(2*time.Second, 2), fails(3*time.Second, 2), done}, restarts: 1, err: "has failed 2 times: is failed"},
		"fails, and nothing comes":    {looks: []look{fails(0, 1)}, restarts: 2, err: "has failed 1 times, and is not seen to succeed"},
		"fails, and does not end":     {looks: []look{fails(0, 1), runs(2*time.Second, 2)}, restarts: 2, err: "has failed 1 times, and is not seen to succeed"},
		"has not ended in time":       {looks: []look{runs(0, 1)}, restarts: 2, err: "is activating (start): context deadline exceeded"},
		"is one failure at all looks": {looks: []look{fails(0, 1), fails(time.Second, 1), fails(2*time.Second, 1), done}, restarts: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				conn := hosttest.NewBus()
				show(t, conn, unit, c.looks[0])
				for _, l := range c.looks[1:] {
					time.AfterFunc(l.after, func() { show(t, conn, unit, l) })
				}
				err := Wait(t.Context(), nil, hosttest.Systemd(conn),
					&resource.Check{UnitActive: unit, Timeout: resource.Duration(20 * time.Second), Restarts: c.restarts})
				if c.err == "" {
					must(t, err)
					return
				}
				wantError(t, err, unit, c.err)
			})
		})
	}
}

// A unit's output at its failure is kept, even if nothing can be read when it has failed too often.
func TestProbePulledKeepsOutput(t *testing.T) {
	const unit = "client.service"
	synctest.Test(t, func(t *testing.T) {
		conn, asked := hosttest.NewBus(), 0
		show(t, conn, unit, look{invocation: 1, state: "failed"})
		time.AfterFunc(2*time.Second, func() { show(t, conn, unit, look{invocation: 2, state: "failed"}) })
		units := hosttest.Journalled(func(_ context.Context, query systemd.JournalQuery) ([]byte, bool, error) {
			if query.Sync {
				return nil, false, nil
			}
			if asked++; asked > 1 {
				return nil, false, context.DeadlineExceeded
			}
			return hosttest.Record(1, "no token"), false, nil
		}, conn)
		err := Wait(t.Context(), nil, units, &resource.Check{UnitActive: unit, Timeout: resource.Duration(20 * time.Second), Restarts: 1})
		wantError(t, err, unit, "has failed 2 times: is failed; last lines: no token")
	})
}

// wellServer answers with these statuses, and then with success.
func wellServer(t *testing.T, first ...int) string {
	statuses := make(chan int, len(first))
	for _, status := range first {
		statuses <- status
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case status := <-statuses:
			w.WriteHeader(status)
		default:
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}
