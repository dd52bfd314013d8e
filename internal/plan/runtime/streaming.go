package runtime

import (
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// streaming has containerd ask the machine's own mirror for images, whose blocks are brought when a container reads them. That it
// has its containers there is in its configuration, and what brings the blocks are services of the image.
var streaming = concern.Concern{
	Name:  "streaming of images",
	Joins: true,
	Reads: []string{setting.LazyPull},
	Plan:  planStreaming,
}

// mirrorSetups are the programs that have containerd use the mirror first, by their names in the facts: the newer mirror's and
// the older one's. The first one on the machine counts (AKS: ensureArtifactStreaming).
var mirrorSetups = []struct {
	program string
	argv    []string
}{
	{"acr-mirror-setup", []string{"/opt/acr/tools/mirror/setup.sh", "aks"}},
	{"acr-config", []string{"/opt/acr/bin/acr-config", "--enable-containerd", "azurecr.io"}},
}

func planStreaming(in *concern.Input, out *concern.Output) {
	if !in.Mirrors() {
		return
	}
	for _, setup := range mirrorSetups {
		if in.Has(setup.program) {
			out.Join(concern.KubeletGroup, &resource.Command{
				Label: "set-up-mirror", Argv: setup.argv, Timeout: resource.Duration(2 * time.Minute), Unconfined: true, Inputs: []string{concern.Wants(facts.ACRMirrorUnit).Path},
			}, exitcode.StreamingFailed, "containerd asks the machine's own mirror first").After = []resource.ID{resource.IDOf(&resource.Unit{Unit: facts.OverlaybdSnapshotterUnit})}
			return
		}
	}
	out.Fatal(nodeconfig.NotInstalled, setting.LazyPull, "needs %s, and the image does not have it; use an image that has it", mirrorSetups[0].argv[0])
}
