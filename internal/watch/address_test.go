package watch

import (
	"context"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// onPrivateNode runs a test on a node whose API server address comes from a tag. The tag and the node agree.
func onPrivateNode(t *testing.T, test func(n *node)) {
	t.Helper()
	a, _, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.address[1], n.tags.Tagged, n.tags.APIServerAddress = "10.0.0.4", true, "10.0.0.4"
		n.start()
		n.wait(time.Minute)
		n.want()
		test(n)
	})
}

func (n *node) retag(address string) { n.set(func() { n.tags.APIServerAddress = address }) }

// asked returns how many times the watcher reads the tags within d.
func (n *node) asked(d time.Duration) int {
	n.set(func() { n.asks = 0 })
	n.wait(d)
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asks
}

// serve is the metadata service of a cloud that answers in memory, within the test's bubble of time.
func serve(t *testing.T, cloud *fakecloud.Cloud) *metadata.Service {
	t.Helper()
	service, err := metadata.New(facts.Azure, func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		listener := &single{conn: make(chan net.Conn, 1)}
		listener.conn <- server
		go func() { _ = (&http.Server{Handler: cloud.Metadata()}).Serve(listener) }()
		return client, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return service
}

// single accepts one connection.
type single struct{ conn chan net.Conn }

func (s *single) Accept() (net.Conn, error) {
	select {
	case conn := <-s.conn:
		return conn, nil
	default:
		return nil, net.ErrClosed
	}
}
func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return &net.TCPAddr{} }

// The tag changes twice, the metadata service is away for a while, and then it returns no tag. The watcher asks the service
// only for the tags.
func TestAddressFromTheService(t *testing.T) {
	a, _, _ := contracts(t)
	onNode(t, a, func(n *node) {
		cloud := fakecloud.New(fakecloud.Instance{Name: "node", ID: "i"})
		tag := func(value string) {
			cloud.SetTags(fakecloud.Tag{Name: "a", Value: "b;c:d"}, fakecloud.Tag{Name: "AKSAPIServerIPAddress", Value: value})
		}
		tag("10.0.0.4")
		n.address[1], n.watcher.Tags = "10.0.0.4", serve(t, cloud).Tags
		n.start()
		n.wait(time.Minute)
		n.want()
		tag("10.0.0.5")
		n.wait(17 * time.Second)
		n.want("retag 10.0.0.5 well")
		if err := cloud.Misbehave("imds down=10m"); err != nil {
			t.Fatal(err)
		}
		tag("fd00::6")
		n.wait(9 * time.Minute)
		n.want()
		n.wait(2 * time.Minute)
		n.want("retag fd00::6 well")
		cloud.SetTags()
		n.wait(time.Hour)
		tag("not an address\n10.0.0.7 evil")
		n.wait(time.Hour)
		n.want()
		for _, r := range cloud.Requests() {
			if r.Path != "/metadata/instance/compute/tagsList" {
				t.Fatalf("asked for %s", r.Path)
			}
		}
	})
}

// Each change of the tag is applied, once, soon.
func TestAddressIsFollowed(t *testing.T) {
	onPrivateNode(t, func(n *node) {
		n.retag("10.0.0.5")
		n.wait(17 * time.Second)
		n.want("retag 10.0.0.5 well")
		n.wantMetric("slipway_generation 2")
		n.wait(time.Hour)
		n.want()
		n.retag("fd00::6")
		n.wait(17 * time.Second)
		n.want("retag fd00::6 well")
		n.restart()
		n.wait(time.Hour)
		n.want()
		if asks := n.asked(time.Hour); asks < 218 || asks > 267 {
			t.Errorf("the tags are asked for %d times in an hour", asks)
		}
	})
}

// The node keeps its address if the tag disappears, and if the metadata service does not answer. The watcher reports that once.
func TestAddressStays(t *testing.T) {
	onPrivateNode(t, func(n *node) {
		n.retag("")
		n.wait(time.Hour)
		n.want()
		n.retag("10.0.0.5")
		n.set(func() { n.tagsErr = errors.New("down") })
		n.wait(time.Hour)
		n.want()
		if told := strings.Count(n.log.String(), "tags cannot be read"); told != 1 {
			t.Errorf("the log has %d times that the tags cannot be read", told)
		}
		n.set(func() { n.tagsErr = nil })
		n.wait(17 * time.Second)
		n.want("retag 10.0.0.5 well")
		n.set(func() { n.tagsErr = errors.New("down") })
		n.wait(time.Minute)
		if told := strings.Count(n.log.String(), "tags cannot be read"); told != 2 {
			t.Errorf("the log has %d times that the tags cannot be read, want once more", told)
		}
	})
}

// The watcher does not read the tags on a node whose contract takes no address from them. It starts when a contract does.
func TestTagsAreReadOnlyWhenNeeded(t *testing.T) {
	a, b, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.tags.APIServerAddress = "10.0.0.5"
		n.start()
		if asks := n.asked(time.Hour); asks != 0 {
			t.Errorf("the tags are asked for %d times", asks)
		}
		n.set(func() { n.address[2] = "" }) // b's, which was not known when it was planned
		n.deliver(b)
		n.wait(17 * time.Second)
		n.want("change well", "retag 10.0.0.5 well")
		// After a rollback to the first generation the node has no address from a tag.
		n.set(func() { n.record(a, generation.Good, generation.Rollback) })
		n.wait(time.Minute)
		if asks := n.asked(time.Hour); asks != 0 {
			t.Errorf("after the way back the tags are asked for %d times", asks)
		}
		n.want()
	})
}

// A watcher of a machine without tags does not read any.
func TestNoTags(t *testing.T) {
	a, _, _ := contracts(t)
	onNode(t, a, func(n *node) {
		n.address[1], n.watcher.Tags = "10.0.0.4", nil
		n.start()
		n.wait(time.Hour)
		n.want()
	})
}

// After a rollback the node has the restored generation's address, and the watcher follows the tag again.
func TestAddressAfterRollback(t *testing.T) {
	onPrivateNode(t, func(n *node) {
		n.retag("10.0.0.5")
		n.wait(17 * time.Second)
		n.want("retag 10.0.0.5 well")
		n.set(func() { n.record(n.content, generation.Good, generation.Rollback); n.address[3] = "10.0.0.4" })
		n.wait(17 * time.Second)
		n.want("retag 10.0.0.5 well")
	})
}

// What is in the way of an address is waited for, for longer each time; the address that the tag has by then is applied.
func TestAddressThatCannotBeApplied(t *testing.T) {
	onPrivateNode(t, func(n *node) {
		n.set(func() { n.outcomes = []outcome{atWork, unreachable, unreachable, unreachable} })
		n.retag("10.0.0.5")
		n.wait(80 * time.Second) // four times, and before the fifth
		n.want("retag 10.0.0.5 at work", "retag 10.0.0.5 unreachable", "retag 10.0.0.5 unreachable", "retag 10.0.0.5 unreachable")
		n.retag("10.0.0.6")
		n.wait(time.Hour)
		n.want("retag 10.0.0.6 well")
		var gaps []time.Duration
		for i := range n.retags[1:] {
			gaps = append(gaps, n.retags[i+1].Sub(n.retags[i]))
		}
		if want := []time.Duration{10 * time.Second, 15 * time.Second, 20 * time.Second, 40 * time.Second}; !slices.Equal(gaps, want) {
			t.Errorf("it is tried again after %v, want %v", gaps, want)
		}
		n.wantMetric(`slipway_apply_total{outcome="failure"} 3`)
	})
}
