package join

import (
	"cmp"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/awsname"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/plan/setting"
	"github.com/slipway-dev/slipway/internal/problem"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// awsPlugin is a credential plug-in that gets tokens for the machine's AWS identity.
type awsPlugin struct {
	program, apiVersion string
	// args ask for a token, env is added to the environment.
	args func(a *nodeconfig.AWSIdentity) []string
	env  func(a *nodeconfig.AWSIdentity) []nodeconfig.EnvVar
}

// agentPlugin is the agent's own.
var agentPlugin = awsPlugin{
	apiVersion: "client.authentication.k8s.io/v1",
	args: func(a *nodeconfig.AWSIdentity) []string {
		return []string{"eks-token", "--cluster-name=" + a.ClusterName, "--region=" + a.Region}
	},
}

// awsPlugins are those that images have, for nodes without an agent, in the order in which they are looked for. The first starts in
// milliseconds; the second loads Python, which eksctl's design avoids (eksctl, docs/current-001-node_bootstrap.md). The first finds the
// region in its environment, and asks the region's own STS and not the global one (aws-iam-authenticator, README).
var awsPlugins = []awsPlugin{
	{
		program: "/usr/bin/aws-iam-authenticator", apiVersion: pluginVersion,
		args: func(a *nodeconfig.AWSIdentity) []string { return []string{"token", "-i", a.ClusterName} },
		env: func(a *nodeconfig.AWSIdentity) []nodeconfig.EnvVar {
			return []nodeconfig.EnvVar{
				{Name: "AWS_REGION", Value: nodeconfig.NewSecret(a.Region)},
				{Name: "AWS_STS_REGIONAL_ENDPOINTS", Value: nodeconfig.NewSecret("regional")},
			}
		},
	},
	{
		program: "/usr/bin/aws", apiVersion: pluginVersion,
		args: func(a *nodeconfig.AWSIdentity) []string {
			return []string{"eks", "get-token", "--cluster-name", a.ClusterName, "--region", a.Region}
		},
	},
}

// pluginVersion is the API version that all releases of both plug-ins support.
const pluginVersion = "client.authentication.k8s.io/v1beta1"

// awsCredential is the call of a plug-in: the agent's own, or the image's.
func awsCredential(in *concern.Input, out *concern.Output) *nodeconfig.ExecCredential {
	// A config that is not valid may lack it; its other problems are of interest all the same.
	identity := cmp.Or(in.Config.Join.AWS, &nodeconfig.AWSIdentity{})
	if in.UsesFIPS() && !awsname.HasFIPS(identity.Region) {
		out.Warn(nodeconfig.Invalid, setting.AWSFIPS, "is true, and the region is not known to have such endpoints: if it has none, the node cannot join; remove it, or use a region of the United States")
	}
	if !in.Agentless {
		program := in.Family.Agent.Program
		out.Join("", &resource.Check{Label: "credential-plug-in", PathExists: program}, exitcode.KubeletStartFailed,
			"the kubelet would call it again and again, and never join")
		return agentPlugin.call(in, program, identity)
	}
	for _, plugin := range awsPlugins {
		usual := in.Distro.Programs.Token // of images without facts
		if program := concern.ProgramOf(in.Facts, plugin.program); program != "" && (program == usual || usual == "" || len(in.Facts.Components) > 0) {
			return plugin.call(in, program, identity)
		}
	}
	out.Fatal(nodeconfig.Invalid, "$.join.method", "needs aws-iam-authenticator or aws, because a node without an agent gets its tokens from one of these, and the image has neither: install one, or name another plug-in with %s", problem.Setting("$.join.exec"))
	return awsPlugins[0].call(in, awsPlugins[0].program, identity)
}

func (p *awsPlugin) call(in *concern.Input, program string, identity *nodeconfig.AWSIdentity) *nodeconfig.ExecCredential {
	call := &nodeconfig.ExecCredential{APIVersion: p.apiVersion, Command: program}
	for _, arg := range p.args(identity) {
		call.Args = append(call.Args, nodeconfig.NewSecret(arg))
	}
	if p.env != nil {
		call.Env = p.env(identity)
	}
	if in.UsesFIPS() { // each of them knows the variable
		call.Env = append(call.Env, nodeconfig.EnvVar{Name: awsname.FIPSVariable, Value: nodeconfig.NewSecret("true")})
	}
	return call
}
