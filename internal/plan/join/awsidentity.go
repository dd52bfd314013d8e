package join

import (
	"cmp"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// awsPlugin is a credential plug-in that gets tokens for the machine's AWS identity.
type awsPlugin struct {
	program string
	// args ask for a token, env is added to the environment.
	args func(a *nodeconfig.AWSIdentity) []string
	env  func(a *nodeconfig.AWSIdentity) []nodeconfig.EnvVar
}

// awsPlugins are those that images have, in the order in which they are looked for: EKS's images since Amazon Linux 2023 have
// the first, those before, and Ubuntu's, the second (Amazon EKS AMI: kubeconfig; aws-iam-authenticator, README). The second
// finds the region in its environment, and asks the region's own STS and not the global one.
var awsPlugins = []awsPlugin{
	{
		program: "/usr/bin/aws",
		args: func(a *nodeconfig.AWSIdentity) []string {
			return []string{"eks", "get-token", "--cluster-name", a.ClusterName, "--region", a.Region}
		},
	},
	{
		program: "/usr/bin/aws-iam-authenticator",
		args:    func(a *nodeconfig.AWSIdentity) []string { return []string{"token", "-i", a.ClusterName} },
		env: func(a *nodeconfig.AWSIdentity) []nodeconfig.EnvVar {
			return []nodeconfig.EnvVar{
				{Name: "AWS_REGION", Value: nodeconfig.NewSecret(a.Region)},
				{Name: "AWS_STS_REGIONAL_ENDPOINTS", Value: nodeconfig.NewSecret("regional")},
			}
		},
	},
}

// awsAPIVersion is what both plug-ins speak.
const awsAPIVersion = "client.authentication.k8s.io/v1beta1"

// awsCredential is the call of the plug-in that the image has; the first where nothing is known of the image.
func awsCredential(in *concern.Input, out *concern.Output) *nodeconfig.ExecCredential {
	// A config that is not valid may lack it; its other problems are of interest all the same.
	identity := cmp.Or(in.Config.Join.AWS, &nodeconfig.AWSIdentity{})
	for _, plugin := range awsPlugins {
		if program := concern.ProgramOf(in.Facts, plugin.program); program != "" {
			return plugin.call(program, identity)
		}
	}
	out.Fatal(nodeconfig.Invalid, "$.join.method", "needs aws or aws-iam-authenticator in /usr/bin, and the image has neither: install one, or name another plug-in with join.exec")
	return awsPlugins[0].call(awsPlugins[0].program, identity)
}

func (p *awsPlugin) call(program string, identity *nodeconfig.AWSIdentity) *nodeconfig.ExecCredential {
	call := &nodeconfig.ExecCredential{APIVersion: awsAPIVersion, Command: program}
	for _, arg := range p.args(identity) {
		call.Args = append(call.Args, nodeconfig.NewSecret(arg))
	}
	if p.env != nil {
		call.Env = p.env(identity)
	}
	return call
}
