package metadata_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
)

var discarded = log.New(io.Discard, "", 0)

// maxMemory limits the allocations of one request, in bytes.
const maxMemory = 16 << 20

// frugally fails a test that allocates more.
func frugally(t *testing.T, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > maxMemory {
		t.Fatalf("%d bytes were allocated", used)
	}
}

// FuzzGoalState: whatever the wire server sends, a report has valid values, or is not made.
func FuzzGoalState(f *testing.F) {
	f.Add([]byte(fmt.Sprintf(goalState, "1")))
	f.Add([]byte("\ufeff<?xml version=\"1.0\" encoding=\"utf-8\"?>" + fmt.Sprintf(goalState, "<![CDATA[1]]>")))
	f.Add([]byte(`<!DOCTYPE a [<!ENTITY a "1">]><GoalState a="&lt;">&a;</GoalState>`))
	f.Add([]byte(strings.Repeat("<a>", 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		server := wire(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodGet {
				_, _ = w.Write(data)
				return
			}
			report, err := io.ReadAll(r.Body)
			if err != nil || len(report) > 16<<10 || strings.ContainsAny(strings.TrimSpace(string(report)), "\x00\t") {
				t.Errorf("%.1000q, %v", report, err)
			}
		}))
		frugally(t, func() {
			var failed *metadata.Error
			if err := server.ReportReady(t.Context()); err != nil && !errors.As(err, &failed) {
				t.Fatal(err)
			}
		})
	})
}

// FuzzInstance: whatever a cloud answers about the machine, the result can be written anywhere.
func FuzzInstance(f *testing.F) {
	f.Add([]byte(`{"compute":{"vmId":"a","name":"b","vmSize":"c","location":"d","zone":"1","resourceId":"/e","osProfile":{"computerName":"f"}}}`), "a.b c.d")
	f.Add([]byte(`{"instanceId":"i-0","instanceType":"m5.large","region":"r","availabilityZone":"ra"}`), "-")
	f.Add([]byte(`{"compute":{"tagsList":[{"name":"aksAPIServerIPAddress","value":"10.0.0.4"},{"name":"a;b","value":"c:d\n"}]}}`), "a")
	f.Add([]byte(`{"compute":{"vmId":"\ud800","name":1e999}}`), strings.Repeat("a.", 130))
	f.Fuzz(func(t *testing.T, text []byte, names string) {
		for _, name := range simulated {
			service := asked(t, name, document(string(text), names))
			frugally(t, func() {
				got, err := service.Instance(t.Context())
				var failed *metadata.Error
				if err != nil && !errors.As(err, &failed) {
					t.Fatal(err)
				}
				for _, value := range []string{got.Platform, got.ID, got.Hostname, got.Type, got.Region, got.Zone, got.ResourceID} {
					if len(value) > 1024 || strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
						t.Fatalf("%q", value)
					}
				}
				if address := got.APIServerAddress; address != "" && address != facts.ServerAddress(address) {
					t.Fatalf("%q", address)
				}
				if len(got.Hostname) > 253 || strings.Trim(got.Hostname, ".-") != got.Hostname || strings.Contains(got.Hostname, "..") {
					t.Fatalf("%q", got.Hostname)
				}
			})
		}
	})
}

// FuzzAnswer: whatever comes on the connection, the request ends with data or a typed error, in limited memory, and the
// error has nothing of the data.
func FuzzAnswer(f *testing.F) {
	for _, head := range []string{
		"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nYQ==", "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nYQ==\r\n0\r\n\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 x\r\nRetry-After: 1\r\n\r\n", "HTTP/1.1 302 " + canary + "\r\nLocation: http://" + canary + "/\r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Type: " + canary + "\r\n\r\n" + canary, "HTTP/1.1 999 " + canary + "\r\n\r\n", canary, "HTTP/9.9 " + canary,
		"HTTP/1.1 200 OK\r\nContent-Length: " + canary + "\r\n\r\n", "HTTP/1.1 200 OK\r\n" + canary + "\r\n\r\n", "",
	} {
		f.Add([]byte(head))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		service := must(t, "azure", func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, server) }()
			go func() {
				_, _ = server.Write(raw)
				_ = server.Close()
			}()
			return client, nil
		})
		frugally(t, func() {
			data, err := service.Fetch(t.Context())
			var failed *metadata.Error
			switch {
			case err == nil && (len(data) == 0 || len(data) > metadata.MaxUserData):
				t.Fatalf("%d bytes", len(data))
			case err != nil && (!errors.As(err, &failed) || data != nil || strings.Contains(err.Error(), "canary")):
				t.Fatalf("%q, %v", data, err)
			}
		})
	})
}
