package metadata_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

const noRoute = syscall.ENETUNREACH

// within is the time that the callers of most tests allow.
const within = 2 * time.Minute

// outcome is the end of a retried request.
type outcome struct {
	cloud, fault string
	// kind is the error's kind. It is empty if there is no error.
	kind metadata.Kind
	// after is when it ends; a day means the end of the caller's time.
	after time.Duration
	// last is part of the error's description of the last answer.
	last string
}

const atTheEnd = 24 * time.Hour

// The faults of a metadata service: permanent, for a while, and for some requests; and the end of a request for user
// data. The times are exact: only the test's clock runs.
var outcomes = []outcome{
	{"azure", "status=400", metadata.Status, 0, "400 Bad Request"},
	{"azure", "status=401", metadata.Denied, 0, "401"},
	{"azure", "status=403", metadata.Denied, 0, "403"},
	{"azure", "status=410", metadata.Status, atTheEnd, "410 Gone"},
	{"azure", "status=410*3", "", 700 * time.Millisecond, ""},
	{"azure", "status=404*3", "", 700 * time.Millisecond, ""},
	{"azure", "status=206", metadata.Status, 0, "206"},
	{"azure", "status=304", metadata.Status, 0, "304"},
	{"azure", "status=301", metadata.Redirect, 0, "301"},
	{"azure", "status=503", metadata.Status, atTheEnd, "503 Service Unavailable"},
	{"azure", "status=503*4", "", 1500 * time.Millisecond, ""},
	{"azure", "busy=3s", metadata.Status, atTheEnd, "429 Too Many Requests"},
	{"azure", "busy=3s*2", "", 6 * time.Second, ""},
	{"azure", "busy=1000s*1", "", 30 * time.Second, ""},
	{"azure", "redirect=http://192.0.2.1/", metadata.Redirect, 0, "302"},
	{"azure", "redirect=/metadata/instance", metadata.Redirect, 0, "302"},
	{"azure", "large=10MB", metadata.TooLarge, 0, "limit"},
	{"azure", "type=text/html", metadata.WrongType, 0, "text/html"},
	{"azure", "type=Application/JSON", metadata.WrongType, 0, "application/json"},
	{"azure", "garbage", metadata.WrongType, 0, "base64"},
	{"azure", "truncated", metadata.Truncated, atTheEnd, "middle"},
	{"azure", "truncated*2", "", 300 * time.Millisecond, ""},
	{"azure", "slow=1s", "", time.Second, ""},
	{"azure", "slow=3s", "", 5100 * time.Millisecond, ""},
	{"azure", "slow=30s", metadata.Timeout, atTheEnd, "no answer in time"},
	{"azure", "drip=3s", "", 5100 * time.Millisecond, ""},
	{"azure", "drip=1h", metadata.Timeout, atTheEnd, "no complete answer"},
	{"azure", "blackhole", metadata.Timeout, atTheEnd, "no answer in time"},
	{"azure", "blackhole*1", "", 2100 * time.Millisecond, ""},
	{"azure", "down=1h", metadata.Unreachable, atTheEnd, "without an answer"},
	{"azure", "down=10s", "", 11300 * time.Millisecond, ""},

	{"ec2", "status=404", metadata.Status, 0, "404"}, // of the token
	{"ec2", "ec2/latest/user-data status=404", metadata.NotFound, 0, "404 Not Found"},
	{"ec2", "status=401", metadata.Denied, 0, "401"},
	{"ec2", "status=403", metadata.Denied, 0, "403"}, // the service is turned off
	{"ec2", "status=410", metadata.Status, 0, "410"},
	{"ec2", "status=503*4", "", 1500 * time.Millisecond, ""},
	{"ec2", "busy=3s*2", "", 6 * time.Second, ""},
	{"ec2", "redirect=http://192.0.2.1/", metadata.Redirect, 0, "302"},
	{"ec2", "large=10MB", metadata.TooLarge, 0, "limit"},
	{"ec2", "ec2/latest/user-data large=10MB", metadata.TooLarge, 0, "limit"},
	{"ec2", "ec2/latest/user-data type=text/html", metadata.WrongType, 0, "text/html"},
	{"ec2", "ec2/latest/user-data type=application/json", metadata.WrongType, 0, "application/json"},
	{"ec2", "ec2/latest/api/token garbage", metadata.WrongType, 0, "not a token"},
	{"ec2", "truncated", metadata.Truncated, atTheEnd, "middle"},
	{"ec2", "drip=1h", metadata.Timeout, atTheEnd, "no complete answer"},
	{"ec2", "blackhole", metadata.Timeout, atTheEnd, "no answer in time"},
	{"ec2", "down=1h", metadata.Unreachable, atTheEnd, "without an answer"},
	{"ec2", "down=10s", "", 11300 * time.Millisecond, ""},
}

func TestFaults(t *testing.T) {
	for _, c := range outcomes {
		t.Run(c.cloud+" "+c.fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				service, cloud := served(t, c.cloud, canary)
				misbehave(t, cloud, c.fault)
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				begin := time.Now()
				data, err := service.UserData(ctx)
				checkOutcome(t, c, data, err, time.Since(begin))
			})
		})
	}
}

func checkOutcome(t *testing.T, c outcome, data []byte, err error, took time.Duration) {
	t.Helper()
	if want := min(c.after, within); took != want {
		t.Errorf("it took %s, want %s", took, want)
	}
	if c.kind == "" {
		if err != nil || string(data) != canary {
			t.Errorf("%q, %v", data, err)
		}
		return
	}
	var got *metadata.Error
	if !errors.As(err, &got) || data != nil {
		t.Fatalf("%q, %v", data, err)
	}
	if got.Kind != c.kind || !strings.Contains(got.Last, c.last) || got.Took != took || got.Attempts < 1 {
		t.Errorf("%q, %+v, want %s with %q", got, *got, c.kind, c.last)
	}
	if errors.Is(err, metadata.ErrNotFound) != (c.kind == metadata.NotFound) || errors.Is(err, context.DeadlineExceeded) != (c.after == atTheEnd) {
		t.Errorf("%v is taken for something else", err)
	}
	if !strings.HasPrefix(got.URL, "http://169.254.169.254/") || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "xxx") {
		t.Errorf("the error says %q", err)
	}
}

// Azure answers 404 while its service is updated. Only after a while that counts.
func TestSettling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, cloud := served(t, "azure", canary)
		misbehave(t, cloud, "status=404")
		begin := time.Now()
		_, err := service.UserData(t.Context())
		if took := time.Since(begin); !errors.Is(err, metadata.ErrNotFound) || took < 10*time.Second || took > 20*time.Second {
			t.Errorf("%v after %s", err, took)
		}
		// An empty document is empty for good.
		cloud.SetInstance(fakecloud.Instance{})
		misbehave(t, cloud)
		begin = time.Now()
		if _, err := service.UserData(t.Context()); !errors.Is(err, metadata.ErrNotFound) || time.Since(begin) != 0 {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

// A tenth of the requests fails, in each temporary way: a caller with enough patience gets the data.
func TestFaultsOfSomeRequests(t *testing.T) {
	for _, fault := range []string{
		"status=500", "status=503", "busy=1s", "truncated", "slow=10s", "drip=10s", "blackhole", "down=1h",
	} {
		for _, name := range simulated {
			synctest.Test(t, func(t *testing.T) {
				service, cloud := served(t, name, canary)
				misbehave(t, cloud, fault+"%10")
				begin := time.Now()
				for range 30 {
					if data, err := service.UserData(t.Context()); err != nil || string(data) != canary {
						t.Fatalf("%s, %s: %q, %v", name, fault, data, err)
					}
				}
				if took := time.Since(begin); took == 0 || took > time.Minute {
					t.Errorf("%s, %s: it took %s", name, fault, took)
				}
			})
		}
	}
}

// Fetch sends one request, whatever the answer.
func TestFetchAsksOnce(t *testing.T) {
	for fault, want := range map[string]metadata.Kind{
		"status=404": metadata.NotFound, "status=503": metadata.Status, "truncated": metadata.Truncated,
		"blackhole": metadata.Timeout, "drip=1h": metadata.Timeout, "down=1h": metadata.Unreachable,
	} {
		synctest.Test(t, func(t *testing.T) {
			service, cloud := served(t, "azure", canary)
			misbehave(t, cloud, fault)
			begin := time.Now()
			_, err := service.Fetch(t.Context())
			var got *metadata.Error
			if !errors.As(err, &got) || got.Kind != want || got.Attempts != 1 || time.Since(begin) > 10*time.Second {
				t.Errorf("%s: %v after %s, want %s", fault, err, time.Since(begin), want)
			}
		})
	}
}

// If the caller's deadline cuts a try short, the error has the answer before it.
func TestLastAnswerCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, cloud := served(t, "azure", canary)
		misbehave(t, cloud, "status=503*2", "blackhole")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := service.UserData(ctx)
		var got *metadata.Error
		if !errors.As(err, &got) || got.Kind != metadata.Status || got.Attempts != 3 || !strings.Contains(err.Error(), "503 Service Unavailable (asked 3 times in 1s)") {
			t.Error(err)
		}
	})
}

// If an answer's announced length is too large, its body is not read.
func TestLengthIsBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service := asked(t, "azure", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "99999999999")
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		begin := time.Now()
		_, err := service.UserData(t.Context())
		var got *metadata.Error
		if !errors.As(err, &got) || got.Kind != metadata.TooLarge || time.Since(begin) != 0 {
			t.Errorf("%v after %s", err, time.Since(begin))
		}
	})
}

// The caller's deadline also works with a real clock and real connections.
func TestDeadline(t *testing.T) {
	for _, fault := range []string{"status=503", "busy=60s", "blackhole", "drip=60s", "down=60s", "truncated"} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			cloud := fakecloud.New(fakecloud.Instance{UserData: []byte(canary)})
			misbehave(t, cloud, fault)
			service := must(t, "azure", overTCP(t, cloud.Metadata()))
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			begin := time.Now()
			if data, err := service.UserData(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%q, %v", data, err)
			}
			if took := time.Since(begin); took > 1500*time.Millisecond {
				t.Errorf("it took %s", took)
			}
		})
	}
}

// overTCP serves on a real connection.
func overTCP(t *testing.T, handler http.Handler) metadata.Dial {
	server := httptest.NewServer(handler)
	t.Cleanup(server.CloseClientConnections) // a black hole holds its connection
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
}

// Nothing listens: the error is the kernel's.
func TestRefused(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.Listener.Addr().String()
	server.Close()
	service := must(t, "azure", func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	})
	_, err := service.Fetch(t.Context())
	var got *metadata.Error
	if !errors.As(err, &got) || got.Kind != metadata.Unreachable || got.Last != "connection refused" {
		t.Error(err)
	}
}

// The pause that a service can request, and whose clock counts.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	after := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, c := range []struct {
		date, value string
		patience    time.Duration
		want        time.Duration // between the first two tries
	}{
		{after(0), "7", time.Hour, 7 * time.Second},
		{after(0), after(7 * time.Second), time.Hour, 7 * time.Second},
		{after(0), after(-7 * time.Second), time.Hour, 100 * time.Millisecond},
		{after(0), "0", time.Hour, 100 * time.Millisecond},
		{after(0), "31", time.Hour, 30 * time.Second},
		{after(0), "99999999999999999999", time.Hour, 100 * time.Millisecond},
		{after(0), "-1", time.Hour, 100 * time.Millisecond},
		{after(0), "soon", time.Hour, 100 * time.Millisecond},
		{after(0), "", time.Hour, 100 * time.Millisecond},
		{after(0), after(100 * 365 * 24 * time.Hour), time.Hour, 30 * time.Second},
		{after(0), "25", 10 * time.Second, 9 * time.Second}, // one second is left for the last try
	} {
		synctest.Test(t, func(t *testing.T) {
			var tries []time.Time
			service := asked(t, "azure", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tries = append(tries, time.Now()); len(tries) > 1 {
					fmt.Fprint(w, "YQ==")
					return
				}
				w.Header().Set("Date", c.date)
				w.Header().Set("Retry-After", c.value)
				w.WriteHeader(http.StatusServiceUnavailable)
			}))
			ctx, cancel := context.WithTimeout(t.Context(), c.patience)
			defer cancel()
			data, err := service.UserData(ctx)
			if err != nil || string(data) != "a" {
				t.Errorf("%q: %q, %v", c.value, data, err)
			} else if got := tries[1].Sub(tries[0]); got != c.want {
				t.Errorf("%q: tried again after %s, want %s", c.value, got, c.want)
			}
		})
	}
}
