package concern

import (
	"github.com/slipway-dev/slipway/internal/plan/kubeletsetting"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// NeedsCloudName reports whether the Node must have EC2's name of its machine: a cluster of EKS knows the machine's role by that
// name alone, and distributions differ in what part of it the host has (Amazon EKS AMI: --hostname-override; cloud-init docs,
// prefer_fqdn_over_hostname). A kubelet with a cloud provider inside finds it out by itself.
func (in *Input) NeedsCloudName() bool {
	k := in.Config.Kubelet
	return in.Joins() && in.Config.Join.Method == nodeconfig.JoinAWS && in.Config.Cloud.Provider == "aws" && kubeletsetting.NodeName(k) == "" &&
		kubeletsetting.Value(k, "cloud-provider", "", in.commandFlag("cloud-provider")) != "aws"
}

// withCloudName returns the config with that name, if it is known.
func (in *Input) withCloudName() *nodeconfig.NodeConfig {
	name := in.Known(NameVariable)
	if name == "" || !in.NeedsCloudName() {
		return in.Config
	}
	config := *in.Config
	config.Kubelet.NodeName = name
	return &config
}
