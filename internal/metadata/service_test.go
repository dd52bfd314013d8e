package metadata_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

func statuses(cloud *fakecloud.Cloud) (codes []int) {
	for _, r := range cloud.Requests() {
		codes = append(codes, r.Status)
	}
	return codes
}

func TestUserData(t *testing.T) {
	for _, name := range simulated {
		service, cloud := served(t, name, "a: 1")
		for _, data := range []string{"a: 1", "a: 1", "a: 2"} {
			cloud.SetInstance(fakecloud.Instance{UserData: []byte(data)})
			got, err := service.Fetch(t.Context())
			if err != nil || string(got) != data {
				t.Errorf("%s: %q, %v, want %q", name, got, err, data)
			}
		}
		if !strings.HasPrefix(service.URL(), "http://169.254.169.254/") {
			t.Error(service.URL())
		}
	}
	if _, err := metadata.New("gce", nil); err == nil || !strings.Contains(err.Error(), "azure, ec2") {
		t.Error(err)
	}
}

// The bytes that the cloud has are returned, whatever they are, up to the limit.
func TestUserDataIsWhatItWas(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	sizes := []int{1, 2, 3, 4, 100, 4095, 65536, metadata.MaxUserData}
	for _, name := range simulated {
		service, cloud := served(t, name, "")
		for _, size := range sizes {
			data := make([]byte, size)
			_, _ = random.Read(data)
			cloud.SetInstance(fakecloud.Instance{UserData: data})
			if got, err := service.UserData(t.Context()); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s: %d bytes of %d, %v", name, len(got), size, err)
			}
		}
		cloud.SetInstance(fakecloud.Instance{UserData: make([]byte, metadata.MaxUserData+1)})
		var tooLarge *metadata.Error
		if got, err := service.UserData(t.Context()); !errors.As(err, &tooLarge) || tooLarge.Kind != metadata.TooLarge {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
		cloud.SetInstance(fakecloud.Instance{})
		if got, err := service.UserData(t.Context()); !errors.Is(err, metadata.ErrNotFound) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// Unchanged data is not sent again, and the token is kept.
func TestFetchAsksForChanges(t *testing.T) {
	service, cloud := served(t, "ec2", "data")
	for range 3 {
		if got, err := service.Fetch(t.Context()); err != nil || string(got) != "data" {
			t.Fatalf("%q, %v", got, err)
		}
	}
	if got := statuses(cloud); !slices.Equal(got, []int{200, 200, 304, 304}) {
		t.Errorf("answers %d", got)
	}
}

// A restarted service has lost its tokens, and others expire.
func TestTokenIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		service, cloud := served(t, "ec2", "data")
		fetch := func() {
			t.Helper()
			if got, err := service.UserData(t.Context()); err != nil || string(got) != "data" {
				t.Errorf("%q, %v", got, err)
			}
		}
		fetch()
		misbehave(t, cloud, "ec2/latest/user-data status=401*1")
		fetch()
		time.Sleep(6*time.Hour - 30*time.Second)
		fetch()
		time.Sleep(7 * time.Hour)
		fetch()
		time.Sleep(5 * time.Hour)
		fetch()
		if got, want := statuses(cloud), []int{200, 200, 401, 200, 304, 200, 304, 200, 304, 304}; !slices.Equal(got, want) {
			t.Errorf("answers %d, want %d", got, want)
		}
	})
}

// Several goroutines may call the service at a time.
func TestFetchAtTheSameTime(t *testing.T) {
	service, _ := served(t, "ec2", "data")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got, err := service.Fetch(t.Context()); err != nil || string(got) != "data" {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
	all.Wait()
}

// EC2 has a second address, for machines without IPv4. The test's clock measures the time.
func TestIPv6(t *testing.T) {
	v4, v6 := net.JoinHostPort(fakecloud.MetadataAddress, "80"), net.JoinHostPort(fakecloud.MetadataAddressIPv6, "80")
	blackHole := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	for _, c := range []struct {
		name string
		four func(n *network)
		// first and second are the longest durations of a first and a second request.
		first, second time.Duration
	}{
		{"refused", func(n *network) { n.dial[v4] = fails(syscall.ECONNREFUSED) }, 0, 0},
		{"no route", func(n *network) { n.dial[v4] = fails(noRoute) }, 0, 0},
		{"no connection", func(n *network) { n.dial[v4] = silent }, time.Second, 0},
		{"no answer", func(n *network) { n.serve(fakecloud.MetadataAddress, blackHole) }, 3 * time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			n := newNetwork(t)
			c.four(n)
			cloud := fakecloud.New(fakecloud.Instance{UserData: []byte("data")})
			n.serve(fakecloud.MetadataAddressIPv6, cloud.Metadata())
			service := must(t, "ec2", n.Dial)
			for i, most := range []time.Duration{c.first, c.second} {
				begin := time.Now()
				got, err := service.UserData(t.Context())
				if took := time.Since(begin); err != nil || string(got) != "data" || took > most {
					t.Errorf("%s: %q, %v after %s, want %s at most", c.name, got, err, took, most)
				}
				if calls := n.calls(); (calls[0] == v4) != (i == 0) || calls[len(calls)-1] != v6 {
					t.Errorf("%s: question %d goes to %s", c.name, i+1, calls)
				}
			}
		})
	}
}

// Without any connection the error names both addresses; if IPv4 works, it comes first.
func TestIPv6ComesSecond(t *testing.T) {
	n := newNetwork(t)
	n.dial[net.JoinHostPort(fakecloud.MetadataAddress, "80")] = fails(syscall.ECONNREFUSED)
	n.dial[net.JoinHostPort(fakecloud.MetadataAddressIPv6, "80")] = fails(noRoute)
	service := must(t, "ec2", n.Dial)
	_, err := service.Fetch(t.Context())
	var got *metadata.Error
	if !errors.As(err, &got) || got.Kind != metadata.Unreachable || !strings.HasPrefix(got.URL, "http://169.254.169.254/") ||
		!strings.Contains(got.Last, "refused") || !strings.Contains(got.Last, "fd00:ec2::254") {
		t.Error(err)
	}
	n = newNetwork(t) // here a call by IPv6 is an error
	n.serve(fakecloud.MetadataAddress, fakecloud.New(fakecloud.Instance{UserData: []byte("data")}).Metadata())
	if got, err := must(t, "ec2", n.Dial).Fetch(t.Context()); err != nil || string(got) != "data" {
		t.Errorf("%q, %v", got, err)
	}
}

// If a service's name for its data is not a valid header value, the request has no condition.
func TestInvalidTag(t *testing.T) {
	for _, tag := range []string{strings.Repeat("x", 1000), "a b", "\xff"} {
		asked := asked(t, "azure", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("If-None-Match"); got != "" {
				t.Errorf("the condition is %q", got)
			}
			w.Header().Set("ETag", tag)
			_, _ = w.Write([]byte("YQ=="))
		}))
		for range 2 {
			if got, err := asked.Fetch(t.Context()); err != nil || string(got) != "a" {
				t.Errorf("%q: %q, %v", tag, got, err)
			}
		}
	}
}
