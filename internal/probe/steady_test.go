package probe

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// look is how a unit is from a time on.
type look struct {
	after      time.Duration
	invocation byte
	state, sub string
	// since is for how long it has been active then; 0 where systemd does not tell.
	since time.Duration
}

// show has systemd tell what a look sees.
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

// A unit that must stay active: for a time, or until it says that it is well, and with as many ends as it may
// have.
func TestProbeSteady(t *testing.T) {
	unwell := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(unwell.Close)
	const short, long = time.Second, time.Minute
	runs := look{invocation: 1, state: "active", sub: "running"}
	ends := look{after: 50 * time.Millisecond, invocation: 1, state: "activating", sub: "auto-restart"}
	again := look{after: 700 * time.Millisecond, invocation: 2, state: "active", sub: "running"}
	restarted := look{after: 50 * time.Millisecond, invocation: 2, state: "active"}
	endsAgain := look{after: 800 * time.Millisecond, invocation: 2, state: "activating", sub: "auto-restart"}
	fails := look{after: 700 * time.Millisecond, state: "failed", sub: "failed"}
	activeFor := func(since time.Duration) look { return look{invocation: 1, state: "active", since: since} }
	for name, c := range map[string]struct {
		looks    []look
		steady   time.Duration
		restarts int
		well     string // a URL
		// within is the time for the check: plenty, where it is not said.
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
		"says that it is not well":   {looks: []look{runs, ends}, steady: long, well: unwell.URL, err: "does not stay active"},
		"stays, and is never well":   {looks: []look{runs}, steady: short, well: unwell.URL},
		"cannot be asked":            {looks: []look{runs}, steady: short, well: "http://example.com/"},
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

// wellServer answers with these statuses, and then that it is well.
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
