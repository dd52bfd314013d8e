//go:build crosscheck

package crosscheck

import (
	"reflect"
	"testing"

	"github.com/slipway-dev/slipway/userdata"
)

// TestOwnParts: cloud-init gets each of the user's own parts unchanged, under its name. A cloud-config among them stays as it is:
// Slipway's appends to its lists.
func TestOwnParts(t *testing.T) {
	cloudInit := startCloudInit(t)
	own := []userdata.Part{
		{Name: "10-disk.sh", Content: []byte("#!/bin/sh\necho 'größe' # --=_slipway_part\n")},
		{Name: "first.yaml", Content: []byte("#cloud-config\nruncmd: [[touch, /a]]\nusers: [default]\n")},
		{Type: "text/x-shellscript-per-boot", Content: []byte("#!/bin/sh\n")},
		{Name: "second.yaml", Content: []byte("#cloud-config\nfinal_message: mine\n")},
		{Name: "hook.sh", Content: []byte("#cloud-boothook\n#!/bin/sh\n")},
	}
	start := []any{"systemctl", "start", "--no-block", "slipway-provision.service"}
	mine := []any{"touch", "/a"}
	for path, runcmd := range map[string][]any{userdata.NativePath: {mine, start}, userdata.AKSPath: {mine}} {
		document, err := userdata.MIME(userdata.Contract{Document: []byte("{}"), Path: path, Parts: own})
		if err != nil {
			t.Fatal(err)
		}
		got, err := cloudInit.ask(askMerged, document)
		if err != nil || len(got.Parts) != len(own)+2 {
			t.Fatalf("%d parts, %v", len(got.Parts), err)
		}
		for i, want := range own {
			part := got.Parts[i+1]
			if string(part.Body) != string(want.Content) || want.Name != "" && part.Name != want.Name || want.Type != "" && part.Type != want.Type {
				t.Errorf("%v became %q %q %q", want, part.Type, part.Name, part.Body)
			}
		}
		want := map[string]any{"runcmd": runcmd, "users": []any{"default"}, "final_message": "mine"}
		if !reflect.DeepEqual(got.Merged, want) {
			t.Errorf("the cloud-configs are %v, want %v", got.Merged, want)
		}
	}
}
