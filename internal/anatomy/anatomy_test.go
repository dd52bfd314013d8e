package anatomy

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/anatomy/record"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares a text with a file below testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := "testdata/" + name
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s", name, got)
	}
}

func encoded(t testing.TB, timeline *Timeline) []byte {
	t.Helper()
	data, err := json.MarshalIndent(timeline, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

func TestTimelineOfANode(t *testing.T) {
	golden(t, "node.json", encoded(t, Read(node(0, 0), Options{})))
}

// pathOf is the critical path in words.
func pathOf(t *Timeline) string {
	var parts []string
	for _, l := range t.Path {
		parts = append(parts, l.Kind+" "+t.Spans[l.Span].Name)
	}
	return strings.Join(parts, ", ")
}

// The path has no hole and no overlap, and ends at the goal.
func checkPath(t *testing.T, timeline *Timeline) {
	t.Helper()
	for i, l := range timeline.Path {
		if l.EndUs < l.StartUs {
			t.Errorf("link %d ends before it begins: %+v", i, l)
		}
		if i > 0 {
			if d := l.StartUs - timeline.Path[i-1].EndUs; d > apart || d < -apart {
				t.Errorf("link %d begins at %d, and the one before it ends at %d", i, l.StartUs, timeline.Path[i-1].EndUs)
			}
		}
	}
	if n := len(timeline.Path); n > 0 {
		if d := timeline.Path[n-1].EndUs - timeline.GoalUs; d > apart || d < -apart {
			t.Errorf("the path ends at %d, and the goal is at %d", timeline.Path[n-1].EndUs, timeline.GoalUs)
		}
	}
}

func TestPathLeadsFromFirmwareToReady(t *testing.T) {
	timeline := Read(node(50, 200), Options{})
	checkPath(t, timeline)
	const want = "runs firmware, runs boot loader, runs kernel, runs initrd"
	if got := pathOf(timeline); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "runs kubelet") || !strings.Contains(got, "waits certificate approval") {
		t.Errorf("the path is %s", got)
	}
	if timeline.Goal != "Node Ready" || timeline.GoalUs != 11_600_000 {
		t.Errorf("the goal is %s at %d", timeline.Goal, timeline.GoalUs)
	}
	if len(timeline.Waits) != mostWaits {
		t.Errorf("%d waits", len(timeline.Waits))
	}
}

// The same documents give the same bytes, in any order.
func TestTimelineDoesNotDependOnTheOrderOfDocuments(t *testing.T) {
	documents := node(20, 100)
	want := encoded(t, Read(documents, Options{}))
	slices.Reverse(documents)
	if got := encoded(t, Read(documents, Options{})); !bytes.Equal(got, want) {
		t.Error("another order of the documents gives another timeline")
	}
}

// A timeline that was printed and is read again is the same, and the cluster's view can be added to it.
func TestTimelineIsReadAgain(t *testing.T) {
	first := Read(node(5, 10), Options{})
	printed := Document{Name: "boot.json", Data: encoded(t, first)}
	again := Read([]Document{printed}, Options{})
	if got, want := pathOf(again), pathOf(first); got != want {
		t.Errorf("read again, the path is %s, want %s", got, want)
	}
	if len(again.Spans) != len(first.Spans) || again.GoalUs != first.GoalUs || again.Host != first.Host {
		t.Errorf("read again: %d spans, goal %d; want %d, %d", len(again.Spans), again.GoalUs, len(first.Spans), first.GoalUs)
	}
	cluster := Document{Name: "node.json", Data: []byte(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-1","creationTimestamp":"2025-11-26T23:33:29Z"},"status":{"nodeInfo":{"bootID":"5be1fcf0-5caf-4c5e-9e4d-70d6a93f7d08"}}}`)}
	with := Read([]Document{printed, cluster}, Options{})
	if at, ok := with.At("Node created"); !ok || at != 9_000_000 {
		t.Errorf("the Node was created at %d, %v", at, ok)
	}
}

// A step of the machine's clock is an event, and moves no record.
func TestClockStepMovesNothing(t *testing.T) {
	for _, by := range []int64{-400 * 86400 * 1_000_000, -5_000_000, 5_000_000, 3 * 365 * 86400 * 1_000_000} {
		var journal strings.Builder
		for at := int64(1_000_000); at <= 12_000_000; at += 500_000 {
			wall := kernelStart + at
			if at > 6_000_000 {
				wall += by
			}
			text := "x"
			if at == 11_000_000 {
				text = "Successfully registered node"
			}
			journal.WriteString(journalRecord(bootID, at, wall, "kubelet", text))
		}
		// cloud-init's stages have the machine's clock alone: one before the step, and one after it.
		status := fmt.Sprintf(`{"v1":{"init-local":{"start":%f,"finished":%f},"init":{"start":%f,"finished":%f}}}`,
			float64(kernelStart+2_000_000)/1e6, float64(kernelStart+4_000_000)/1e6, float64(kernelStart+8_000_000+by)/1e6, float64(kernelStart+9_000_000+by)/1e6)
		timeline := Read([]Document{{Name: "journal.json", Data: []byte(journal.String())}, {Name: "cloud-init/status.json", Data: []byte(status)}}, Options{})
		for name, want := range map[string][2]int64{"init-local": {2_000_000, 4_000_000}, "init-network": {8_000_000, 9_000_000}} {
			i := slices.IndexFunc(timeline.Spans, func(s Span) bool { return s.Name == name })
			if i < 0 {
				t.Errorf("by %d: no %s", by, name)
				continue
			}
			if s := timeline.Spans[i]; s.StartUs/1000 != want[0]/1000 || s.EndUs/1000 != want[1]/1000 {
				t.Errorf("by %d: %s from %d to %d, want %v", by, name, s.StartUs, s.EndUs, want)
			}
		}
		if len(timeline.Clock.Steps) != 1 || timeline.Clock.Steps[0].ByUs != by {
			t.Errorf("by %d: steps %v", by, timeline.Clock.Steps)
		}
		if _, ok := timeline.At("clock set"); !ok {
			t.Errorf("by %d: the step is no event", by)
		}
	}
}

// Records of other boots are left out and counted.
func TestOtherBootsAreLeftOut(t *testing.T) {
	const earlier = "0d2c5f0a1b3c4d5e6f708192a3b4c5d6"
	old := journalRecord(earlier, 5_000_000, kernelStart-86400_000_000, "kubelet", "Successfully registered node")
	documents := node(0, 10)
	documents[1].Data = append([]byte(old), documents[1].Data...)
	documents = append(documents, Document{Name: "waagent.log", Data: []byte("2025-11-25T10:00:00.000000Z INFO Daemon Daemon Azure Linux Agent Version:2.9\n2025-11-26T23:33:25.000000Z INFO Daemon Daemon Azure Linux Agent Version:2.9\n")})
	timeline := Read(documents, Options{})
	others := make(map[string]int)
	for _, s := range timeline.Sources {
		others[s.Document] = s.OtherBoots
	}
	if others["journal.json"] != 1 || others["waagent.log"] != 1 {
		t.Errorf("records of other boots: %v", others)
	}
	if at, ok := timeline.At("guest agent runs"); !ok || at != 5_000_000 {
		t.Errorf("the guest agent runs at %d, %v", at, ok)
	}
	// The status of the image's build, which a node that others have made still has.
	story := strings.Join(Read(append(documents, Document{Name: "slipway/status.json", Data: []byte(`{"apiVersion": "slipway.dev/v1", "kind": "ProvisionStatus",
		"startedAt": "2025-11-20T10:00:00Z", "durationMs": 900, "config": {"path": "/image/base.json"}, "error": {"message": "no room"}}`)}), Options{}).Story, "\n")
	if strings.Contains(story, "/image/base.json") || strings.Contains(story, "no room") {
		t.Errorf("the story has facts of another boot: %s", story)
	}
	if earlierBoot := Read(documents[1:2], Options{Boot: "0d2c"}); earlierBoot.Boot != earlier || earlierBoot.GoalUs != 5_000_000 {
		t.Errorf("the earlier boot is %q with its goal at %d", earlierBoot.Boot, earlierBoot.GoalUs)
	}
}

// The same record in two documents counts once.
func TestJournalOfAUnitBesideTheOneOfAll(t *testing.T) {
	documents := node(3, 20)
	want := Read(documents, Options{})
	documents = append(documents, Document{Name: "journal/kubelet.service.json", Data: documents[1].Data})
	if got := Read(documents, Options{}); len(got.Events) != len(want.Events) || len(got.Spans) != len(want.Spans) {
		t.Errorf("%d events and %d spans, want %d and %d", len(got.Events), len(got.Spans), len(want.Events), len(want.Spans))
	}
}

// A path exists for any times and any order of units, without holes, also for cycles.
func FuzzPath(f *testing.F) {
	f.Add([]byte{1, 5, 0, 3, 9, 1, 8, 20, 2})
	f.Add([]byte{0, 0, 0, 0, 0, 1, 0, 0, 2, 255, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		r := &record.Records{}
		for i := 0; i+2 < len(data) && i < 300; i += 3 {
			s := record.Span{Stage: record.UnitStage, Name: fmt.Sprint("u", i/3%20), Begin: record.Monotonic(int64(data[i]) * 10_000),
				End: record.Monotonic(int64(data[i])*10_000 + int64(data[i+1])*5_000), After: []string{fmt.Sprint("u", data[i+2]%20)}}
			switch data[i+2] % 7 {
			case 1:
				s.Stage, s.In = record.Slipway, fmt.Sprint("u", data[i+2]%20)
			case 2:
				s.Stage, s.By, s.For = record.Slipway, fmt.Sprint("u", data[i+2]%20), "event"
			case 3:
				s.Stage, s.Starts = record.Extension, fmt.Sprint("u", data[i+2]%20)
			case 4:
				s.End = record.Moment{}
			}
			r.Spans = append(r.Spans, s)
		}
		timeline := build(r)
		checkPath(t, timeline)
	})
}

// FuzzRead gives the reader any document under any name, together with a node's.
func FuzzRead(f *testing.F) {
	for _, d := range node(2, 5) {
		f.Add(d.Name, d.Data)
	}
	f.Add("boot.json", []byte(`{"apiVersion":"slipway.dev/v1","kind":"BootTimeline","goalUs":-1,"spans":[{"startUs":9223372036854775807,"endUs":-9}],"clock":{"segments":[{"offsetUs":9223372036854775807}]}}`))
	f.Add("boot.json", []byte(`{"apiVersion":"slipway.dev/v1","kind":"BootDocuments","documents":[{"name":"dmesg","text":"[    1.0] Linux version "}],"missing":[{"name":"x","why":"y"}]}`))
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		timeline := Read(append(node(0, 0), Document{Name: name, Data: data}), Options{})
		if _, err := json.Marshal(timeline); err != nil {
			t.Fatal(err)
		}
	})
}

// A timeline of a whole boot's documents takes at most 20 ms on the machine of docs/performance: 300 units, 3,000 records of the journal.
func BenchmarkRead(b *testing.B) {
	documents := node(300, 3000)
	size := 0
	for _, d := range documents {
		size += len(d.Data)
	}
	b.SetBytes(int64(size))
	for b.Loop() {
		Read(documents, Options{})
	}
}
