package plan

import (
	"slices"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// files writes the files of the contract's author.
var files = concern{
	name:  "files",
	reads: []string{"$.files"},
	plan:  planFiles,
}

func planFiles(in *input, out *output) {
	for i := range in.config.Files {
		f, at := &in.config.Files[i], document.IndexPath("$.files", i)
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
			// Each machine of an image would have it, and everybody who has the image.
			if phase = resource.Join; !in.joins() {
				out.Warn(nodeconfig.NotApplied, at, "is secret, and is not written to an image")
				continue
			}
		}
		out.add(resource.Resource{
			Phase:   phase,
			Effects: resource.Effects{Restarts: unitNames(f.Restarts), Reloads: unitNames(f.Reloads)},
			Reason:  "a file of the contract's",
			Spec:    &resource.File{Path: f.Path, Mode: mode, Content: content, Secret: secret},
		})
		out.askedBy(at + ".path")
	}
}

// unitNames are names of units in order, each once.
func unitNames(names []string) []string {
	names = slices.Clone(names)
	slices.Sort(names)
	return slices.Compact(names)
}
