package record

import (
	"bytes"
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/anatomy/gathered"
)

func isListing(head []byte) bool { return bytes.Contains(head, []byte(`"listedFiles"`)) }

func parseListing(s *sink, data []byte) {
	var list gathered.Listing
	if err := json.Unmarshal(data, &list); err != nil {
		s.unread(0, len(data), "not a list of files, or cut: %v", err)
		return
	}
	for i, f := range list.Files {
		if i == maxRecords {
			s.unread(0, 0, "there are more than %d files", maxRecords)
			return
		}
		file := File{Path: Clean(f.Path)}
		if us := f.Modified.UnixMicro(); !f.Modified.IsZero() && us > 0 {
			file.At = Wall(us, 1)
		}
		s.file(file)
		if e, ok := fileEvents[f.Path]; ok && !file.At.IsZero() {
			s.event(Event{Stage: e.stage, Name: e.event, At: file.At})
		}
	}
}

// fileEvents are events, by the file that was last written then.
var fileEvents = map[string]struct {
	stage Stage
	event string
}{
	"/var/lib/kubelet/pki/kubelet-client-current.pem": {Kubelet, "certificate written"},
	"/opt/azure/containers/provision.complete":        {Extension, "provisioning complete"},
}
