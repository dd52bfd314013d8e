package commands

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/supportbundle"
)

// supportBundle is a bundle with a file of a machine, and the set of a node that has the same file and another one.
func supportBundle(t *testing.T) string {
	t.Helper()
	const log = "2025-11-26 22:13:25,500 - main.py[DEBUG]: Cloud-init v. 25.1 running 'init-local' at Wed, 26 Nov 2025 22:13:25 +0000. Up 5.50 seconds.\n" +
		"2025-11-26 22:13:25,520 - log_util.py[DEBUG]: start: init-local: x\n2025-11-26 22:13:27,520 - log_util.py[DEBUG]: finish: init-local: SUCCESS: x\n"
	var out bytes.Buffer
	w, err := supportbundle.NewWriter(&out, "v1", time.Unix(1_764_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []struct{ name, content string }{
		{"files/var/log/cloud-init.log", log},
		{"timeline.json", `{"apiVersion":"slipway.dev/v1","kind":"BootDocuments","documents":[{"name":"/var/log/cloud-init.log","text":"` +
			strings.ReplaceAll(log, "\n", `\n`) + `"},{"name":"/var/log/waagent.log","text":"2025-11-26T22:13:30.000000Z INFO Daemon Daemon Azure Linux Agent Version:2.9\n"}]}`},
		{"facts.json", "{}"},
	} {
		if err := w.Add(supportbundle.File{Name: f.name, Source: f.name, Why: "test"}, []byte(f.content)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(time.Second); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A bundle's files count, and of the set in it those that the bundle does not have. A cut bundle is read in part, a newer one refused.
func TestAnatomyOfABundle(t *testing.T) {
	whole := supportBundle(t)
	got := runHere(writeFile(t, "bundle.tar.gz", whole), "-o", "json")
	if got.code != 0 || strings.Count(got.out, `"name": "init-local"`) != 1 || !strings.Contains(got.out, "guest agent runs") {
		t.Errorf("code %d: %s%s", got.code, got.out, got.err)
	}
	got = runHere(writeFile(t, "cut.tar.gz", whole[:len(whole)-len(whole)/4]))
	if got.code != 0 || !strings.Contains(got.out, "the bundle is cut or damaged") || !strings.Contains(got.out, "init-local") {
		t.Errorf("cut: code %d: %s%s", got.code, got.out, got.err)
	}
}
