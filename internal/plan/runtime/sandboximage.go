package runtime

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
)

// sandboxImage has the image of pods' sandboxes in place if it is in a registry of the node's cloud that asks for a login: the
// container runtime pulls it itself, and has no credentials (Amazon EKS AMI: sandbox-image.service).
var sandboxImage = concern.Concern{
	Name:  "sandbox image",
	Joins: true,
	Reads: sandboxReads,
	Plan: func(in *concern.Input, out *concern.Output) {
		if provider := sandboxProvider(in); provider != "" && !in.Agentless {
			planSandboxImage(in, out, provider, "Amazon EKS AMI: sandbox-image.service")
		}
	},
}

// PulledSandbox is the same of a node without an agent. An agent never plans it, and does not hold it.
var PulledSandbox = concern.Concern{
	Name:    "pulled sandbox image",
	Subject: "runtime",
	Joins:   true,
	Reads:   sandboxReads,
	Plan:    planPulledSandbox,
}

var sandboxReads = []string{"$.join.aws"}

// sandboxProvider is the program that knows how to log in for the sandbox image; empty if no login is needed, or none is known.
func sandboxProvider(in *concern.Input) string {
	if registry, own := in.Registry(); !own || registry.Account == "" {
		return ""
	}
	return in.ImageProvider
}

const (
	sandboxUnit   = "slipway-sandbox-image.service"
	sandboxScript = "/etc/slipway/sandbox-image.sh"
)

// pullScript pulls the image that it is given with the login that a provider gives, and has the kubelet keep it (containerd:
// io.cri-containerd.pinned). Nothing of the answer is run: name and password are compared with a pattern. It tries until its unit ends it.
const pullScript = `# Pulls the image of pods' sandboxes, with the login that the kubelet's image credential provider gives: the image, the provider.
set -u -o pipefail
export LC_ALL=C
image=$1 provider=$2
has() { [ -n "$(ctr --namespace k8s.io images ls -q "name==$image")" ]; }
pull() {
  local answer user password
  answer=$(printf '{"apiVersion":"credentialprovider.kubelet.k8s.io/v1","kind":"CredentialProviderRequest","image":"%s"}' "$image" | "$provider" | tr -d ' \n') ||
    { echo "slipway: $provider gives no credentials for $image" >&2; return 1; }
  [[ $answer =~ \"username\":\"([A-Za-z0-9_-]+)\" ]] && user=${BASH_REMATCH[1]} && [[ $answer =~ \"password\":\"([A-Za-z0-9+/=_.-]+)\" ]] && password=${BASH_REMATCH[1]} ||
    { echo "slipway: $provider answers with no name and password for $image" >&2; return 1; }
  ctr --namespace k8s.io images pull --user "$user:$password" "$image" >/dev/null
}
until has || pull; do
  sleep 5
done
ctr --namespace k8s.io images label "$image" io.cri-containerd.pinned=pinned >/dev/null
`

func planPulledSandbox(in *concern.Input, out *concern.Output) {
	provider := sandboxProvider(in)
	if provider == "" {
		return
	}
	out.File(resource.Join, sandboxScript, 0o644, []byte(pullScript), "pulls the image of pods' sandboxes with a login, which the container runtime does not have", sandboxUnit)
	after := "network-online.target " + concern.ContainerdUnit
	out.File(resource.Join, resource.UnitDir+"/"+sandboxUnit, 0o644, unitfile.File(
		unitfile.Section("Unit"),
		unitfile.Set("Description", "Pull the image of pods' sandboxes"),
		unitfile.Set("Wants", unitfile.Quote(after)),
		unitfile.Set("After", unitfile.Quote(after)),
		unitfile.Set("Before", concern.KubeletUnit),
		unitfile.Section("Service"),
		unitfile.Set("Type", "oneshot"),
		unitfile.Set("RemainAfterExit", "yes"),
		unitfile.Set("ExecStart", unitfile.Words("/bin/bash", sandboxScript, unitfile.Word(in.SandboxImage()), unitfile.Word(provider))),
		unitfile.Set("TimeoutStartSec", unitfile.Number(int(pullTimeout.Std().Seconds()))),
	), "runs before the kubelet at each boot", sandboxUnit)
	out.File(resource.Join, concern.KubeletDropIns+"07-sandbox-image.conf", 0o644, unitfile.File(
		unitfile.Section("Unit"), unitfile.Set("Wants", sandboxUnit), unitfile.Set("After", sandboxUnit)),
		"pods' sandboxes have their image before the kubelet starts", concern.KubeletUnit)
	out.AppendTo(concern.KubeletGroup, resource.Resource{Phase: resource.Join, Reason: "has pulled the image of pods' sandboxes", Spec: &resource.Unit{Unit: sandboxUnit}})
}
