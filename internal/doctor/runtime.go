package doctor

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"strings"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/cri"
	"github.com/slipway-dev/slipway/internal/kubeletsetup"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/versions"
)

// runtimeChecks are those of the container runtime.
var runtimeChecks = []Check{
	{
		Name: "runtime", Asks: "Does the container runtime answer?", Live: true, Deadline: 4 * time.Second, Look: lookRuntime,
		Needs: []string{"space", "inodes", "read-only", "masked-units", "ordering", "components", "waiting"},
		Causes: []Cause{
			{"missing", "the machine has no container runtime", "install the container runtime, or use an image that has it"},
			{"stopped", "the container runtime is stopped", "run systemctl start with the unit that the verdict names, and find out what has stopped it"},
			{"failed", "the container runtime does not stay up", "correct what its last words name: usually a setting in /etc/containerd/config.toml"},
			{"socket", "the container runtime runs, and does not listen where the kubelet looks for it", "set the kubelet's containerRuntimeEndpoint to the address in the runtime's configuration, or the other way round"},
			{"hangs", "the container runtime takes connections, and does not answer", "read journalctl -u with its unit for a disk or a snapshotter that hangs, and restart the unit"},
		},
	},
	{
		Name: "runtime-plugin", Asks: "Has the runtime the interface that the kubelet uses?", Live: true, Deadline: 2 * time.Second, Needs: []string{"runtime"}, Look: lookRuntimePlugin,
		Causes: []Cause{
			{"disabled", "containerd's CRI plug-in is disabled", "remove cri from disabled_plugins in the file that the verdict names, and restart containerd; packages of Docker have that setting"},
			{"not-loaded", "containerd's CRI plug-in could not be loaded", "correct the setting that the verdict names in /etc/containerd/config.toml, and restart containerd"},
		},
	},
	{
		Name: "runtime-ready", Asks: "Is the runtime ready?", Live: true, Deadline: 2 * time.Second, Needs: []string{"runtime-plugin"}, Look: lookRuntimeReady,
		Causes: []Cause{
			{"not-ready", "the runtime reports that it is not ready", "correct what the verdict names, and restart the runtime"},
		},
	},
	{
		Name: "cgroup-driver", Asks: "Have kubelet and runtime the same cgroup driver?", Live: true, Deadline: 2 * time.Second, Needs: []string{"runtime-plugin"}, Look: lookCgroupDriver,
		Causes: []Cause{
			{"differs", "the kubelet and the runtime have different cgroup drivers, so no pod starts", "set SystemdCgroup in containerd's configuration and cgroupDriver in the kubelet's to the same driver, systemd on a machine with systemd, and restart both"},
		},
	},
	{
		Name: "sandbox-image", Asks: "Has the runtime the image of pods' sandboxes?", Live: true, Deadline: 2 * time.Second, Needs: []string{"runtime-ready", "registry"}, Look: lookSandboxImage,
		Causes: []Cause{
			{"pull", "the runtime cannot pull the image of pods' sandboxes, so no pod starts", "let the node reach the image's registry, or set another image in the runtime's configuration (containerd: sandbox_image, or pinned_images.sandbox)"},
		},
	},
}

// silence is how long a part of the node may take to answer.
const silence = 2 * time.Second

func lookRuntime(ctx context.Context, p *Patient) *Finding {
	k := p.Kubelet()
	socket, unit := k.Socket(), runtimeUnitOf(k)
	if socket == "" {
		return undecided("the kubelet's runtime endpoint is no Unix socket: %s (%s)", k.Runtime.Value, k.Runtime.From)
	}
	limited, cancel := context.WithTimeout(ctx, p.Patience(silence))
	defer cancel()
	_, err := p.Machine.RuntimeConditions(limited, socket)
	if err == nil || cri.NotServed(err) {
		return fine("a runtime answers at %s (%s)", socket, k.Runtime.From)
	}
	f := new(Finding).with(socket, err.Error())
	if errors.Is(err, context.DeadlineExceeded) {
		f.wrong("hangs", "the container runtime takes the connection at %s, and does not answer within %s", socket, p.Patience(silence).Round(time.Millisecond))
		if unit != "" {
			if state, err := p.Machine.Examine(ctx, unit); err == nil {
				f.Says += ": " + unit + " is " + unitText(state)
			}
		}
		return f
	}
	if unit == "" {
		return f.wrong("stopped", "no container runtime answers at %s (%s): %v", socket, k.Runtime.From, err)
	}
	state, stateErr := p.Machine.Examine(ctx, unit)
	if stateErr != nil {
		return undecided("no container runtime answers at %s: %v; %v", socket, err, stateErr)
	}
	lines, _ := p.Machine.Search(ctx, unit)
	f.wrong("stopped", "%s is %s, so no container runtime answers at %s", unit, unitText(state), socket).withLines(unit, lines)
	if awaited := p.engineAwaits(); awaited != "" && !state.Running() {
		return undecided("%s is %s, and a provisioning waits for %s", unit, unitText(state), awaited)
	}
	switch gone := errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED); {
	case state.LoadState == "not-found":
		return f.wrong("missing", "the machine has no %s, and no runtime answers at %s (%s)", unit, socket, k.Runtime.From)
	case state.SubState == "auto-restart", state.ActiveState == "failed":
		return f.wrong("failed", "%s is %s%s", unit, unitText(state), colonWords(lines))
	case state.Running() && p.since(state.Since) < p.Patience(startTime):
		return undecided("%s is %s, and does not answer yet", unit, unitText(state))
	case state.Running() && gone:
		return f.wrong("socket", "%s is %s, and nothing listens at %s, where the kubelet looks for it (%s)", unit, unitText(state), socket, k.Runtime.From)
	case state.Running():
		return f.wrong("hangs", "%s is %s, and does not answer at %s: %v", unit, unitText(state), socket, err)
	}
	return f
}

// startTime is how long a part of the node may take to start.
const startTime = 20 * time.Second

// since is how long ago a time was. A time in the future was taken when the clock was ahead, and counts as long ago.
func (p *Patient) since(at time.Time) time.Duration {
	if d := p.Now().Sub(at); d > -maxDistance {
		return d
	}
	return math.MaxInt64
}

// colonWords are a program's last words, for the end of a text.
func colonWords(lines []string) string {
	if words := lastWords(lines); words != "" {
		return ": " + words
	}
	return ""
}

func lookRuntimePlugin(ctx context.Context, p *Patient) *Finding {
	socket := p.Kubelet().Socket()
	_, err := p.Machine.RuntimeConditions(ctx, socket)
	switch {
	case err == nil:
		return fine("the runtime has it")
	case !cri.NotServed(err):
		return unknownFor(err)
	}
	f := new(Finding).with(socket, err.Error())
	for _, path := range p.containerd().paths {
		content, err := p.Machine.ReadLinked(path, kubeletsetup.MaxConfig)
		if err == nil && disablesCRI(content) {
			return f.wrong("disabled", "containerd answers, and its CRI plug-in is disabled in %s", path)
		}
	}
	lines, _ := p.Machine.Search(ctx, profile.ContainerdUnit, "failed to load plugin", "invalid plugin config", "skip loading plugin")
	f.wrong("not-loaded", "containerd answers, and has no CRI plug-in").withLines(profile.ContainerdUnit, lines)
	for _, line := range lines {
		if strings.Contains(line, ".cri") {
			f.Says = "containerd answers, and could not load its CRI plug-in: " + line
		}
	}
	return f
}

func lookRuntimeReady(ctx context.Context, p *Patient) *Finding {
	conditions, err := p.Machine.RuntimeConditions(ctx, p.Kubelet().Socket())
	if err != nil {
		return unknownFor(err)
	}
	for _, c := range conditions {
		if c.Type == cri.RuntimeReady && !c.Status {
			return wrong("not-ready", "the runtime reports that it is not ready: %s %s", c.Reason, c.Message)
		}
	}
	return fine("the runtime reports that it is ready")
}

// driverFromRuntime is the minor version from which on a kubelet takes the driver that the runtime reports (Kubernetes:
// KubeletCgroupDriverFromCRI, on by default since 1.31).
const driverFromRuntime = 31

func lookCgroupDriver(ctx context.Context, p *Patient) *Finding {
	k := p.Kubelet()
	if k.Origin == "" {
		return fine("the machine has no kubelet")
	}
	reported, err := p.Machine.CgroupDriver(ctx, k.Socket())
	if err != nil {
		return unknownFor(err)
	}
	for _, c := range p.Facts().Components {
		if c.Name == "kubelet" && versions.AtLeast(c.Version, driverFromRuntime) && reported != "" {
			return fine("the kubelet takes the runtime's driver: %s", reported)
		}
	}
	runtime, from := reported, "the runtime reports it"
	if runtime == "" {
		if runtime, from = p.containerd().driver(); runtime == "" {
			return skipped("the runtime does not report its driver")
		}
	}
	kubelet := k.Text("$.cgroupDriver", "cgroup-driver").Or("cgroupfs") // KubeletConfiguration, cgroupDriver
	if kubelet.Value != runtime {
		return wrong("differs", "the kubelet's cgroup driver is %s (%s), and the runtime's is %s (%s)", kubelet.Value, kubelet.From, runtime, from)
	}
	return fine("both have %s", runtime)
}

func lookSandboxImage(ctx context.Context, p *Patient) *Finding {
	image, from := sandboxRegistry(p).image, p.containerd().from()
	if image != "" {
		held, err := p.Machine.HasImage(ctx, &resource.Image{Socket: p.Kubelet().Socket(), Image: image, Timeout: resource.Duration(p.Patience(time.Second))})
		if err != nil {
			return unknownFor(err)
		}
		if held {
			return fine("the runtime has %s (%s)", image, from)
		}
	}
	lines, err := p.Machine.Search(ctx, profile.KubeletUnit, "failed to get sandbox image")
	if err != nil {
		return unknownFor(err)
	}
	if len(lines) == 0 || image == "" {
		return fine("the runtime gets it with the first pod")
	}
	return wrong("pull", "the runtime does not have %s (%s), and cannot pull it: %s", image, from, errorText(lines[len(lines)-1])).withLines(profile.KubeletUnit, lines)
}
