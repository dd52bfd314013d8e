//go:build crosscheck

package crosscheck

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"testing"
)

// TestWriteFiles compares the files that both read from a cloud-config.
func TestWriteFiles(t *testing.T) {
	s := study{"document", askConfig, (*generator).spoilt, (*answer).complete, expectedFiles, fileDifferences}
	s.run(t, *documents)
}

// expectedFiles is a cloud-config of the files that cloud-init wrote.
func expectedFiles(a *answer) result {
	var b bytes.Buffer
	b.WriteString("#cloud-config\nwrite_files:\n")
	for _, place := range places {
		if content, found := a.Files[place]; found {
			fmt.Fprintf(&b, "- path: %s\n  content: !!binary \"%s\"\n", place, base64.StdEncoding.EncodeToString(content))
		}
	}
	return open(b.Bytes())
}
