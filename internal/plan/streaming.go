package plan

import (
	"strings"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// LazyPullPath is the setting that names a snapshotter that starts containers before their image has arrived.
const LazyPullPath = "$.runtime.lazyPull"

// streaming runs the services of the image that bring an image's blocks when a container reads them. That containerd has its
// containers there is in its configuration.
var streaming = concern{
	name:     "streaming of images",
	joins:    true,
	reads:    []string{LazyPullPath},
	declines: []string{LazyPullPath},
	plan:     planStreaming,
}

// streamingUnits run in this order (AKS: ensureArtifactStreaming).
var streamingUnits = []string{facts.ACRMirrorUnit, facts.OverlaybdTCMUUnit, facts.OverlaybdSnapshotterUnit}

// mirrorSetups have containerd ask the machine's mirror of Azure's registries first: the program of the newer mirror, and that of
// the older one, by the names that facts have for them. The first that is there counts.
var mirrorSetups = []struct {
	program string
	argv    []string
}{
	{"acr-mirror-setup", []string{"/opt/acr/tools/mirror/setup.sh", "aks"}},
	{"acr-config", []string{"/opt/acr/bin/acr-config", "--enable-containerd", "azurecr.io"}},
}

// mirrorPatience is how long such a program may take.
const mirrorPatience = resource.Duration(2 * time.Minute)

func planStreaming(in *input, out *output) {
	switch in.config.Runtime.LazyPull {
	case "":
		return
	case overlaybd:
	default:
		out.warn(nodeconfig.NotApplied, LazyPullPath, "is not applied: its snapshotter has to be told by the image how to log in to registries, and containers start when their image has arrived; use overlaybd")
		return
	}
	var missing []string
	var requires []resource.ID
	for _, unit := range streamingUnits {
		at := in.unitAt(unit)
		if at == "" {
			missing = append(missing, unit)
			continue
		}
		out.runUnit(kubeletGroup, at, exitcode.StreamingFailed, sourced("images are read while they arrive", in.family.Sources.Streaming), requires...)
		requires = []resource.ID{resource.IDOf(&resource.Unit{Unit: unit})}
	}
	argv := []string(nil)
	for _, setup := range mirrorSetups {
		if argv == nil && in.has(setup.program) {
			argv = setup.argv
		}
	}
	if argv == nil {
		missing = append(missing, mirrorSetups[0].argv[0])
	}
	if len(missing) > 0 {
		out.fatal(nodeconfig.NotInstalled, LazyPullPath, "needs %s, and the image has none of them; use an image that has them, or leave this out", strings.Join(missing, ", "))
		return
	}
	out.addTo(kubeletGroup, resource.Resource{
		Phase: resource.Join, Requires: requires, ExitCode: exitcode.StreamingFailed, Reason: "containerd asks the machine's own mirror first",
		Spec: &resource.Command{
			Label: "set-up-mirror", Argv: argv, Timeout: mirrorPatience, Unconfined: true,
			Inputs: []string{resource.UnitDir + "/multi-user.target.wants/" + facts.ACRMirrorUnit},
		},
	})
}
