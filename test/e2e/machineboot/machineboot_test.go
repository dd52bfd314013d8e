package machineboot

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/anatomy/gathered"
	"github.com/slipway-dev/slipway/test/e2e/classic"
)

// The events of a case are the parts of a timeline, by the test's clock.
func TestMoments(t *testing.T) {
	documents := []anatomy.Document{
		{Name: "systemd.show", Data: []byte("UserspaceTimestampMonotonic=2000000\nUnitsLoadFinishTimestampMonotonic=2500000\n\n" +
			"Id=kubelet.service\nInactiveExitTimestampMonotonic=29000000\nActiveEnterTimestampMonotonic=30000000\nExecMainStartTimestampMonotonic=30000000\n\n" +
			"Id=slipway-provision.service\nInactiveExitTimestampMonotonic=9000000\nActiveEnterTimestampMonotonic=31000000\nExecMainStartTimestampMonotonic=9000000\n")},
		{Name: "journal.json", Data: []byte(`{"__REALTIME_TIMESTAMP":"1700000010000000","__MONOTONIC_TIMESTAMP":"10000000","_BOOT_ID":"b","SYSLOG_IDENTIFIER":"systemd-networkd","MESSAGE":"eth0: DHCPv4 address 10.77.0.11/24"}`)},
		{Name: "slipway/status.json", Data: []byte(`{"apiVersion":"slipway.dev/v1","kind":"ProvisionStatus","startedAt":"2023-11-14T22:13:29Z","durationMs":9000,
			"steps":[{"name":"find contract","startMs":100,"durationMs":1900},{"name":"Unit:kubelet.service","startMs":5000,"durationMs":500}]}`)},
		{Name: "files.json", Data: []byte(`{"listedFiles":[{"path":"/var/lib/kubelet/pki/kubelet-client-current.pem","modified":"2023-11-14T22:13:35Z"},{"path":"` + classic.StartPath + `","modified":"2023-11-14T22:13:25Z"}]}`)},
	}
	at := Moments(anatomy.Read(documents, anatomy.Options{}), time.Unix(5000, 0))
	want := map[string]int64{"kernel": 5000, "systemd": 5002, "address given": 5010, "agent start": 5009, "agent running": 5009, "agent done": 5018, "contract read": 5011,
		"kubelet wanted": 5014, "kubelet exec": 5030, "certificate issued": 5015, "script start": 5005}
	for event, seconds := range want {
		if at[event].Unix() != seconds {
			t.Errorf("%s was at %s, want second %d", event, at[event], seconds)
		}
	}
	if len(at) != len(want) {
		t.Errorf("the events are %v", at)
	}
}

// The script lists the files that exist, in JSON.
func TestListingScript(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, files := range [][]string{{dir + "/a", dir + "/none", dir + "/b"}, {dir + "/none"}, {dir + "/*"}} {
		out, err := exec.CommandContext(t.Context(), "bash", "-c", listingScript(files...)).Output()
		var list gathered.Listing
		if err == nil {
			err = json.Unmarshal(out, &list)
		}
		if err != nil || len(files) != 1 && len(list.Files) != 2 {
			t.Errorf("%v are listed as %s: %v", files, out, err)
		}
	}
}

// An event that the lab saw from outside is compared with the machine's own time.
func TestCompare(t *testing.T) {
	kernel := time.Unix(5000, 0)
	timeline := &anatomy.Timeline{Events: []anatomy.Event{{Name: "Node registered", AtUs: 9_000_000}, {Name: "Node Ready", AtUs: 11_000_000}},
		Spans: []anatomy.Span{{Name: "certificate request", StartUs: 5_000_000, EndUs: 5_500_000}}}
	requests := &Requests{made: time.UnixMilli(5_005_480)}
	got := Compare(timeline, kernel, requests, time.UnixMilli(5_009_030), time.Time{})
	if want := []Difference{{"certificate requested", -20}, {"Node registered", 30}}; len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("the differences are %v, want %v", got, want)
	}
}
