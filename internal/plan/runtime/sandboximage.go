package runtime

import (
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// sandboxImage has the image of pods' sandboxes in place if the container runtime cannot pull it: it is in a registry of the node's cloud
// that asks for a login, and the runtime has no credentials (Amazon EKS AMI: sandbox-image.service), or no registry has it, and the
// machine's image has an archive of it.
var sandboxImage = concern.Concern{
	Name:  "sandbox image",
	Joins: true,
	Reads: sandboxReads,
	Plan: func(in *concern.Input, out *concern.Output) {
		if in.Agentless {
			return
		}
		planImportedSandbox(in, out)
		if provider := sandboxProvider(in); provider != "" {
			planSandboxImage(in, out, provider, "Amazon EKS AMI: sandbox-image.service")
		}
	},
}

// BroughtSandbox is the same of a node without an agent. An agent never plans it, and does not hold it.
var BroughtSandbox = concern.Concern{
	Name:    "brought sandbox image",
	Subject: "runtime",
	Joins:   true,
	Reads:   sandboxReads,
	Plan:    planBroughtSandbox,
}

var sandboxReads = []string{setting.AWSFIPS, "$.join.aws", "$.runtime.sandboxImage"}

// sandboxProvider is the program that logs in for the sandbox image; empty if no login is needed, or no such program is known.
func sandboxProvider(in *concern.Input) string {
	if registry, own := in.Registry(); !own || registry.Account == "" {
		return ""
	}
	return in.ImageProvider
}

// planImportedSandbox imports the image from its archive if the runtime has lost it, for example with a new disk for its data (Amazon
// EKS AMI: cache-pause-container, which exports the archive for this). containerd pins the image that its settings name (containerd:
// pkg/cri, image pull).
func planImportedSandbox(in *concern.Input, out *concern.Output) {
	archive := in.SandboxArchive()
	if archive == "" {
		return
	}
	image := in.SandboxImage()
	out.Join(concern.KubeletGroup, &resource.Command{
		Label: "import-sandbox-image", Argv: images("import", archive), Timeout: pullTimeout,
		Done: &resource.Printed{Argv: images("ls", "-q", "name=="+image), Lines: []string{image}},
	}, exitcode.SandboxImageFailed, "no registry has the image of pods' sandboxes").Requires = []resource.ID{resource.IDOf(&resource.Unit{Unit: concern.ContainerdUnit})}
}

// images is a call of containerd's tool for the images that the kubelet sees.
func images(args ...string) []string {
	return append([]string{"ctr", "--namespace", "k8s.io", "images"}, args...)
}

const (
	sandboxUnit   = "slipway-sandbox-image.service"
	sandboxScript = "/etc/slipway/sandbox-image.sh"
	// sandboxDirectory is the unit's own directory, which only root reads.
	sandboxDirectory = "slipway-sandbox-image"
)

// bringScript has the runtime get the image that it is given from its second argument, unless it has it, and keep it (containerd:
// io.cri-containerd.pinned). It tries until its unit ends it.
const bringScript = `set -u -o pipefail
export LC_ALL=C
image=$1 source=$2
has() { [ -n "$(ctr --namespace k8s.io images ls -q "name==$image")" ]; }
BRING
until has || bring; do
  sleep 5
done
ctr --namespace k8s.io images label "$image" io.cri-containerd.pinned=pinned >/dev/null
`

// The ways to get it. Nothing that a provider answers is run: name and password are compared with a pattern. containerd's tool gets them as
// a header in a file that only root reads, and not as an argument, which each user of the machine sees (proc(5), /proc/pid/cmdline;
// containerd: docs/hosts.md, which 1.6 and later read with --hosts-dir). Another server, to which a registry redirects, does not get the
// header (net/http: Client, redirects).
const (
	importImage = `bring() { ctr --namespace k8s.io images import "$source" >/dev/null; }`
	pullImage   = `bring() {
  local answer user password host=${image%%/*} directory=${RUNTIME_DIRECTORY:?}
  answer=$(printf '{"apiVersion":"credentialprovider.kubelet.k8s.io/v1","kind":"CredentialProviderRequest","image":"%s"}' "$image" | "$source" | tr -d ' \n') ||
    { echo "slipway: $source gives no credentials for $image" >&2; return 1; }
  [[ $answer =~ \"username\":\"([A-Za-z0-9_-]+)\" ]] && user=${BASH_REMATCH[1]} && [[ $answer =~ \"password\":\"([A-Za-z0-9+/=_.-]+)\" ]] && password=${BASH_REMATCH[1]} ||
    { echo "slipway: $source answers with no name and password for $image" >&2; return 1; }
  umask 077
  mkdir -p "$directory/$host"
  printf 'server = "https://%s"\n[host."https://%s".header]\nAuthorization = "Basic %s"\n' "$host" "$host" "$(printf '%s:%s' "$user" "$password" | base64 -w 0)" \
    >"$directory/$host/hosts.toml"
  ctr --namespace k8s.io images pull --hosts-dir "$directory" "$image" >/dev/null
}
trap 'rm -rf "${RUNTIME_DIRECTORY:?}"/*' EXIT`
)

func planBroughtSandbox(in *concern.Input, out *concern.Output) {
	source, bring, after := in.SandboxArchive(), importImage, concern.ContainerdUnit
	what := "Imports the image of pods' sandboxes, which no registry has: the image, its archive."
	if provider := sandboxProvider(in); provider != "" {
		source, bring, after = provider, pullImage, "network-online.target "+concern.ContainerdUnit
		what = "Pulls the image of pods' sandboxes, with the login that the kubelet's image credential provider gives: the image, the provider."
	}
	if source == "" {
		return
	}
	script := "# " + what + "\n" + strings.Replace(bringScript, "BRING", bring, 1)
	out.File(resource.Join, sandboxScript, 0o644, []byte(script), "has the image of pods' sandboxes, which the container runtime cannot pull", sandboxUnit)
	unit := []unitfile.Line{
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Get the image of pods' sandboxes"),
		unitfile.Set("ConditionPathExists", unitfile.Quote(source)), // nothing may be known of the machine's image
		unitfile.Set("Wants", unitfile.Quote(after)),
		unitfile.Set("After", unitfile.Quote(after)),
		unitfile.Set("Before", concern.KubeletUnit),
		unitfile.Section("Service"),
		unitfile.Set("Type", "oneshot"),
		unitfile.Set("RemainAfterExit", "yes"),
		unitfile.Set("RuntimeDirectory", sandboxDirectory),
		unitfile.Set("RuntimeDirectoryMode", "0700"),
		unitfile.Set("ExecStart", unitfile.Words("/bin/bash", sandboxScript, unitfile.Word(in.SandboxImage()), unitfile.Word(source))),
		unitfile.Set("TimeoutStartSec", unitfile.Number(int(pullTimeout.Std().Seconds()))),
	}
	if in.UsesFIPS() {
		unit = append(unit, unitfile.Assign("Environment", awsname.FIPSVariable, "true"))
	}
	out.File(resource.Join, resource.UnitDir+"/"+sandboxUnit, 0o644, unitfile.File(unit...), "runs before the kubelet at each boot", sandboxUnit)
	out.File(resource.Join, concern.KubeletDropIns+"07-sandbox-image.conf", 0o644, unitfile.File(
		unitfile.Section("Unit"), unitfile.Set("Wants", sandboxUnit), unitfile.Set("After", sandboxUnit)),
		"pods' sandboxes have their image before the kubelet starts", concern.KubeletUnit)
	out.AppendTo(concern.KubeletGroup, resource.Resource{Phase: resource.Join, Reason: "has the image of pods' sandboxes", Spec: &resource.Unit{Unit: sandboxUnit}})
}
