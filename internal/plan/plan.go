// Package plan decides what a node should be like: a NodeConfig and facts in, a Plan out.
//
// It is a pure function. The same input gives the same bytes; it reads no file, no clock and no
// environment, and it changes nothing. Every file, unit and check of a node is decided here and
// nowhere else; each subject has a file of its own that reads like a table. Provisioning, apply,
// baking and rendering all plan here. The config must have passed nodeconfig's Default and Repair.
package plan

import (
	"fmt"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The units of a node.
const (
	containerdUnit = "containerd.service"
	kubeletUnit    = "kubelet.service"
)

// New plans a node. The problems are settings that this version does not apply, and settings that
// it had to drop; they are warnings, but for one without which no node joins.
func New(c *nodeconfig.NodeConfig, f facts.Facts) (resource.Plan, []nodeconfig.Problem) {
	p := &planner{
		config: c,
		facts:  f,
		layout: layoutOf(c),
		minor:  minorOf(c.Cluster.KubernetesVersion),
		plan:   resource.Plan{Config: nodeconfig.Digest(c), Health: healthChecks(c)},
	}
	p.supported()
	p.installed()
	p.image()
	p.modules()
	p.sysctls()
	p.resolver()
	p.containerd()
	p.cni()
	p.kubeletBinary()
	p.kubeletUnit()
	if c.Join.Method != nodeconfig.JoinNone {
		p.hostname()
		p.trust()
		p.azure()
		p.credentials()
		p.kubeletConfig()
		p.features()
		p.apiServer()
		p.start()
		p.imageCredentialProvider() // after all others, whose files it must not replace
		p.kubeletFlags()
	}
	p.readable()
	p.plan.Sort()
	return p.plan, append(p.problems, notApplied(c)...)
}

// UserCommand plans the one thing that a script from outside asks for: that it be run. It is how
// AKS delivers the rendered command of its older interface.
func UserCommand(script string, timeout resource.Duration) resource.Plan {
	return resource.Plan{Resources: []resource.Resource{{
		Phase:  resource.Join,
		Reason: "the user's own script, run as it is (AKS: --nbc-cmd)",
		Spec: &resource.Command{
			Label:   "nbc-cmd",
			Argv:    []string{"/bin/bash", "--", script},
			Timeout: timeout,
		},
		ExitCode: exitcode.ScriptFailed,
	}}}
}

// planner is one run of New.
type planner struct {
	config   *nodeconfig.NodeConfig
	facts    facts.Facts
	layout   layout
	minor    int
	plan     resource.Plan
	problems []nodeconfig.Problem
	// certificate is where the kubelet keeps the certificate that it gets for its bootstrap token; empty
	// for none.
	certificate string
	// credentialConfig is where the image credential provider's configuration is; empty for none.
	credentialConfig string
}

func (p *planner) add(r resource.Resource) { p.plan.Resources = append(p.plan.Resources, r) }

func (p *planner) warn(kind nodeconfig.ProblemKind, path, format string, args ...any) {
	p.problems = append(p.problems, nodeconfig.Problem{Kind: kind, Path: path, Reason: fmt.Sprintf(format, args...)})
}

func (p *planner) fatal(kind nodeconfig.ProblemKind, path, format string, args ...any) {
	p.problems = append(p.problems, nodeconfig.Problem{Kind: kind, Path: path, Reason: fmt.Sprintf(format, args...), Fatal: true})
}

// file adds a file of root's.
func (p *planner) file(phase resource.Phase, path string, mode uint32, content []byte, reason string, restarts ...string) {
	p.add(resource.Resource{
		Phase:    phase,
		Restarts: restarts,
		Reason:   reason,
		Spec:     &resource.File{Path: path, Mode: mode, Content: content},
	})
}

// secret adds a file that only root reads and nobody is shown.
func (p *planner) secret(phase resource.Phase, path string, content []byte, reason string, restarts ...string) {
	p.add(resource.Resource{
		Phase:    phase,
		Restarts: restarts,
		Reason:   reason,
		Spec:     &resource.File{Path: path, Mode: 0o600, Content: content, Secret: true},
	})
}

// guarded adds a file that is secret where it may hold a credential.
func (p *planner) guarded(secret bool, phase resource.Phase, path string, mode uint32, content []byte, reason string, restarts ...string) {
	if secret {
		p.secret(phase, path, content, reason, restarts...)
	} else {
		p.file(phase, path, mode, content, reason, restarts...)
	}
}

func (p *planner) directory(path string, mode uint32, reason string) {
	p.add(resource.Resource{
		Phase:  resource.Base,
		Reason: reason,
		Spec:   &resource.Directory{Path: path, Mode: mode},
	})
}

// enable makes a unit start at boot: the link that "systemctl enable" makes, as a resource, so that
// it works on a directory too.
func (p *planner) enable(phase resource.Phase, unit string) {
	p.add(resource.Resource{
		Phase:  phase,
		Reason: "starts at boot",
		Spec: &resource.Symlink{
			Path:   resource.UnitDir + "/multi-user.target.wants/" + unit,
			Target: resource.UnitDir + "/" + unit,
		},
	})
}
