package plan

import (
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// streaming has containerd ask the machine's own mirror for images, whose blocks are brought when a container reads them. That it
// has its containers there is in its configuration, and what brings the blocks are services of the image.
var streaming = concern{
	name:  "streaming of images",
	joins: true,
	reads: []string{LazyPullPath},
	plan:  planStreaming,
}

// mirrorSetups have containerd ask the mirror first: the program of the newer mirror, and that of the older one, by the names that
// facts have for them. The first that is there counts (AKS: ensureArtifactStreaming).
var mirrorSetups = []struct {
	program string
	argv    []string
}{
	{"acr-mirror-setup", []string{"/opt/acr/tools/mirror/setup.sh", "aks"}},
	{"acr-config", []string{"/opt/acr/bin/acr-config", "--enable-containerd", "azurecr.io"}},
}

func planStreaming(in *input, out *output) {
	if !in.mirrors() {
		return
	}
	for _, setup := range mirrorSetups {
		if in.has(setup.program) {
			out.join(kubeletGroup, &resource.Command{
				Label: "set-up-mirror", Argv: setup.argv, Timeout: resource.Duration(2 * time.Minute), Unconfined: true, Inputs: []string{wants(facts.ACRMirrorUnit).Path},
			}, exitcode.StreamingFailed, "containerd asks the machine's own mirror first").After = []resource.ID{resource.IDOf(&resource.Unit{Unit: facts.OverlaybdSnapshotterUnit})}
			return
		}
	}
	out.Fatal(nodeconfig.NotInstalled, LazyPullPath, "needs %s, and the image does not have it; use an image that has it", mirrorSetups[0].argv[0])
}
