package system

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// files writes the files of the contract's author.
var files = concern.Concern{
	Name:  "files",
	Reads: []string{"$.files"},
	Plan:  planFiles,
}

func planFiles(in *concern.Input, out *concern.Output) {
	for i := range in.Config.Files {
		f, at := &in.Config.Files[i], document.IndexPath("$.files", i)
		content, err := f.Bytes()
		if err != nil {
			out.Fatal(nodeconfig.Invalid, at+".base64", "is not base64")
			continue
		}
		mode, err := f.Permissions()
		if err != nil {
			out.Fatal(nodeconfig.Invalid, at+".mode", "%s", err)
			continue
		}
		if reason := place.UserFile.Check(f.Path); reason != "" {
			out.Fatal(nodeconfig.Invalid, at+".path", "%s", reason)
			continue
		}
		phase, secret := resource.Base, !f.Secret.IsZero()
		if secret {
			// Otherwise each machine of an image would have it, and every user of the image.
			if phase = resource.Join; !in.Joins() {
				out.Warn(nodeconfig.NotApplied, at, "is secret, and is not written to an image")
				continue
			}
		}
		out.Append(resource.Resource{
			Phase:   phase,
			Effects: resource.Effects{Restarts: unitNames(f.Restarts), Reloads: unitNames(f.Reloads)},
			Reason:  "a file of the contract's",
			Spec:    &resource.File{Path: f.Path, Mode: mode, Content: content, Secret: secret},
		})
		out.AskedBy(at + ".path")
	}
}

// unitNames are names of units in order, each once.
func unitNames(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
