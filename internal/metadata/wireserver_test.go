package metadata_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/metadata"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// wire is the wire server with the test's handler.
func wire(t *testing.T, handler http.Handler) *metadata.WireServer {
	n := newNetwork(t)
	n.serve(fakecloud.WireServerAddress, handler)
	return metadata.NewWireServer(n.Dial)
}

func TestReports(t *testing.T) {
	hostile := "it's <b>broken</b> & \x00\xff]]> ä"
	for _, c := range []struct {
		description, want string
	}{
		{"the kubelet does not start", "the kubelet does not start"},
		{"", ""},
		{hostile, "it's <b>broken</b> & \ufffd?]]> ä"},
		{strings.Repeat("x", 1000), strings.Repeat("x", 512)},
		{strings.Repeat("x", 511) + "ä", strings.Repeat("x", 511)},
		{strings.Repeat("&", 1000), strings.Repeat("&", 512)},
	} {
		cloud := fakecloud.New(fakecloud.Instance{ID: "container", Name: "instance"})
		server := wire(t, cloud.WireServer())
		if err := server.ReportReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := server.ReportFailure(t.Context(), c.description); err != nil {
			t.Fatal(err)
		}
		want := []fakecloud.Health{
			{State: "Ready", Incarnation: "1", Container: "container", Instance: "instance"},
			{State: "NotReady", SubStatus: "ProvisioningFailed", Description: c.want, Incarnation: "1", Container: "container", Instance: "instance"},
		}
		if got := cloud.Health(); !slices.Equal(got, want) {
			t.Errorf("%+v", got)
		}
	}
}

// The server requires headers with the protocol's version and the client's name.
func TestReportHasItsHeaders(t *testing.T) {
	cloud := fakecloud.New(fakecloud.Instance{ID: "container", Name: "instance"})
	asked := 0
	server := wire(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		want := map[string]string{"X-Ms-Version": "2012-11-30", "X-Ms-Agent-Name": "slipway-node", "Content-Type": ""}
		if r.Method == http.MethodPost {
			want["Content-Type"] = "text/xml; charset=utf-8"
		}
		for name, value := range want {
			if got := r.Header.Get(name); got != value {
				t.Errorf("%s %s: %s is %q", r.Method, r.URL, name, got)
			}
		}
		cloud.WireServer().ServeHTTP(w, r)
	}))
	if err := server.ReportReady(t.Context()); err != nil || asked != 2 {
		t.Errorf("%d requests, %v", asked, err)
	}
}

func TestWireServerFaults(t *testing.T) {
	for _, c := range []struct {
		fault string
		kind  metadata.Kind
		after time.Duration
	}{
		{"status=503*3", "", 700 * time.Millisecond},
		{"busy=2s*1", "", 2 * time.Second},
		{"truncated*1", "", 100 * time.Millisecond},
		{"blackhole*1", "", 2100 * time.Millisecond},
		{"down=1s", "", 1500 * time.Millisecond},
		{"status=503%10", "", 100 * time.Millisecond},
		{"status=503", metadata.Status, atTheEnd},
		{"blackhole", metadata.Timeout, atTheEnd},
		{"drip=1h", metadata.Timeout, atTheEnd},
		{"down=1h", metadata.Unreachable, atTheEnd},
		{"status=400", metadata.Status, 0},
		{"status=403", metadata.Denied, 0},
		{"redirect=http://192.0.2.1/", metadata.Redirect, 0},
		{"type=text/html", metadata.WrongType, 0},
		{"garbage", metadata.WrongType, 0},
		{"large=1MB", metadata.TooLarge, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			cloud := fakecloud.New(fakecloud.Instance{ID: "container", Name: "instance"})
			server := wire(t, cloud.WireServer())
			misbehave(t, cloud, c.fault)
			ctx, cancel := context.WithTimeout(t.Context(), within)
			defer cancel()
			begin := time.Now()
			err := server.ReportFailure(ctx, canary)
			if took, want := time.Since(begin), min(c.after, within); took != want {
				t.Errorf("%s: it took %s, want %s", c.fault, took, want)
			}
			var failed *metadata.Error
			if errors.As(err, &failed); (failed == nil) != (c.kind == "") || failed != nil && failed.Kind != c.kind {
				t.Errorf("%s: %v, want %s", c.fault, err, c.kind)
			}
			if sent := len(cloud.Health()); (sent == 1) != (c.kind == "") {
				t.Errorf("%s: %d reports", c.fault, sent)
			}
		})
	}
}

const goalState = "<GoalState><Incarnation>%s</Incarnation><Container><ContainerId>c</ContainerId><RoleInstanceList>" +
	"<RoleInstance><InstanceId>i</InstanceId></RoleInstance></RoleInstanceList></Container></GoalState>"

// If the goal state was replaced while the report was made, it is read again.
func TestGoalStateIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud, incarnation := fakecloud.New(fakecloud.Instance{}), 0
		server := wire(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodGet:
				incarnation++
				fmt.Fprintf(w, "\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?>"+goalState, fmt.Sprint(incarnation))
			case incarnation == 1:
				w.WriteHeader(http.StatusGone)
			default:
				cloud.WireServer().ServeHTTP(w, r)
			}
		}))
		if err := server.ReportReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := cloud.Health(); len(got) != 1 || got[0].Incarnation != "2" {
			t.Errorf("%+v", got)
		}
	})
}

// A malformed goal state is rejected, and none of its values is sent back.
func TestInvalidGoalStates(t *testing.T) {
	deep := strings.Repeat("<a>", 100) + strings.Repeat("</a>", 100)
	for _, text := range []string{
		"", "<GoalState/>", "<GoalState>", "{}", "<html>" + fmt.Sprintf(goalState, "1") + "</html>",
		fmt.Sprintf(goalState, ""), fmt.Sprintf(goalState, "1 2"), fmt.Sprintf(goalState, "&#10;1&#10;2"), fmt.Sprintf(goalState, "ä"),
		fmt.Sprintf(goalState, strings.Repeat("1", 300)), fmt.Sprintf(goalState, "<a>1</a>"), fmt.Sprintf(goalState, "&a;"),
		`<!DOCTYPE a [<!ENTITY a "1">]>` + fmt.Sprintf(goalState, "&a;"),
		strings.Replace(fmt.Sprintf(goalState, "1"), "</GoalState>", deep+"</GoalState>", 1), `<?xml version="1.0" encoding="utf-16"?>` + fmt.Sprintf(goalState, "1"),
		fmt.Sprintf(goalState, "1") + strings.Repeat(" ", 64<<10),
	} {
		server := wire(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				t.Errorf("%.200q is reported on", text)
			}
			w.Header().Set("Content-Type", "text/xml")
			fmt.Fprint(w, text)
		}))
		var failed *metadata.Error
		if err := server.ReportReady(t.Context()); !errors.As(err, &failed) || failed.Kind != metadata.WrongType && failed.Kind != metadata.TooLarge {
			t.Errorf("%.200q: %v", text, err)
		}
	}
}
