package record

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// largest is the size of the largest bad document: 100 MB.
const largest = 100 << 20

// Documents that are large, endless or hostile are read up to the limits, and named. A reader that is slower than linear would not end within the tests' time.
func TestBadDocumentsAreNamed(t *testing.T) {
	endless := bytes.Repeat([]byte("x"), largest)
	manyLines := bytes.Repeat([]byte("2025-11-26 22:13:25,520 - handlers.py[DEBUG]: start: a/b: c\n"), 4*maxRecords)
	nested := []byte(strings.Repeat("[", 1<<20))
	for _, name := range []string{"journal.json", "journal.export", "cloud-init.log", "cloud-init-output.log", "waagent.log", "custom-script/handler.log",
		"download/1/stdout", "azure/events/1.json", "provision.json", "status.json", "dmesg", "syslog", "files.json", "resource.json", "cluster.json", "systemd.show", "units.json", "cloud-init/status.json"} {
		for what, data := range map[string][]byte{"one line of 100 MB": endless, "too many lines": manyLines, "a million brackets": nested} {
			r := Read([]Document{{Name: name, Data: data}}, Options{})
			check(t, r)
			if len(r.Unread) == 0 && what != "too many lines" {
				t.Errorf("%s, %s: nothing is named", name, what)
			}
			if n := len(r.Spans) + len(r.Events) + len(r.Runs); n > 2*maxRecords {
				t.Errorf("%s, %s: %d records", name, what, n)
			}
		}
	}
}

// Many documents are bounded, too.
func TestTooManyDocuments(t *testing.T) {
	documents := make([]Document, maxDocuments+10)
	for i := range documents {
		documents[i] = Document{Name: fmt.Sprintf("azure/events/%d.json", i), Data: []byte("{")}
	}
	r := Read(documents, Options{})
	if len(r.Sources) != maxDocuments || len(r.Unread) > maxUnread || r.Omitted == 0 {
		t.Errorf("%d documents, %d unread parts, %d omitted", len(r.Sources), len(r.Unread), r.Omitted)
	}
}

// A secret in any text of any document is in no record.
func TestNoSecretIsKept(t *testing.T) {
	const secret = "abcdef.0123456789abcdef"
	for kind, documents := range samples(t) {
		for _, d := range documents {
			for _, old := range []string{"Linux version", "running", "SUCCESS", "version", "/opt/azure/containers/", "node", "Completed", "started", ".service"} {
				d := Document{Name: d.Name, Data: bytes.ReplaceAll(d.Data, []byte(old), []byte(old+" --token="+secret+" "))}
				if got := dump(Read([]Document{d}, Options{})); bytes.Contains(got, []byte(secret)) {
					t.Errorf("%s, %q: the secret is in the records:\n%s", kind, old, got)
				}
			}
		}
	}
}
