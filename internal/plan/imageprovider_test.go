package plan

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// eksNode is a contract of an EKS node, in the family eksctl. image is an EKS image with additional programs.
func eksNode(t *testing.T, version string, change ...func(*nodeconfig.NodeConfig)) *nodeconfig.NodeConfig {
	t.Helper()
	return contract(t, "native/minimal.yaml", append([]func(*nodeconfig.NodeConfig){func(n *nodeconfig.NodeConfig) {
		n.Cluster.KubernetesVersion, n.Components.Layout, n.Cloud.Provider = version, "eksctl", "aws"
		n.Cloud.AWS = &nodeconfig.AWS{Region: "eu-west-1"}
		n.Join = nodeconfig.Join{Method: nodeconfig.JoinAWS, AWS: &nodeconfig.AWSIdentity{ClusterName: "prod", Region: "eu-west-1"}}
	}}, change...)...)
}

func eksImage(os facts.OS, version string, programs ...components.Component) facts.Facts {
	return facts.Facts{
		OS: os, Platform: facts.EC2, NodeIPs: []string{"10.0.0.5"}, CgroupVersion: 2,
		Instance: &facts.Instance{
			Platform: facts.EC2, ID: "i-0123456789abcdef0", Hostname: "ip-10-0-0-5.eu-west-1.compute.internal", Type: "m5.large", Region: "eu-west-1", Zone: "eu-west-1a",
		},
		Components: append([]components.Component{
			{Name: "containerd", Version: "1.7.27", Path: "/usr/bin/containerd"}, {Name: "kubelet", Version: version, Path: "/usr/bin/kubelet"},
		}, programs...),
	}
}

var ubuntuOS, amazonOS = facts.OS{ID: "ubuntu", VersionID: "24.04"}, facts.OS{ID: "amzn", VersionID: "2"}

// The kubelet gets the credentials of Amazon's registries from the program that the image has, wherever that is.
func TestECRCredentialsAreFoundOnTheImage(t *testing.T) {
	const amazons, canonicals = "/etc/eks/image-credential-provider", "/etc/eks"
	at := func(dir string) components.Component {
		return components.Component{Name: "ecr-credential-provider", Path: dir + "/ecr-credential-provider"}
	}
	nothing := func(os facts.OS) facts.Facts { f := eksImage(os, ""); f.Components = nil; return f }
	for _, c := range []struct {
		name    string
		version string
		known   facts.Facts
		dir     string
		images  int
	}{
		{"Amazon's image", "1.31.2", eksImage(amazonOS, "1.31.2", at(amazons)), amazons, 12},
		{"Amazon's image of 1.32", "1.32.0", eksImage(amazonOS, "1.32.0", at(amazons)), amazons, 13},
		{"Canonical's image", "1.34.2", eksImage(ubuntuOS, "1.34.2", at(canonicals)), canonicals, 13},
		{"a manifest's", "1.34.2", eksImage(ubuntuOS, "1.34.2", at("/opt/ecr")), "/opt/ecr", 13},
		{"unknown image", "1.34.2", nothing(facts.OS{}), amazons, 13},
		{"unknown image of Ubuntu", "1.34.2", nothing(ubuntuOS), canonicals, 13},
		{"unknown image of Amazon Linux", "1.32.2", nothing(amazonOS), amazons, 13},
		{"a kubelet that knows ECR", "1.26.5", eksImage(amazonOS, "1.26.5", at(amazons)), "", 0},
	} {
		p, problems := New(eksNode(t, c.version), c.known)
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
			t.Errorf("%s: %v", c.name, fatal)
			continue
		}
		const file = "/etc/eks/image-credential-provider/config.json"
		dir, _ := flagOf(p, "image-credential-provider-bin-dir")
		config, _ := flagOf(p, "image-credential-provider-config")
		if c.images == 0 {
			if dir != "" || config != "" || planned(p, resource.ID("File:"+file)) {
				t.Errorf("%s: it is given %q and %q", c.name, dir, config)
			}
			continue
		}
		if dir != c.dir || config != file {
			t.Errorf("%s: the directory is %q, the configuration %q", c.name, dir, config)
		}
		var written struct {
			APIVersion, Kind string
			Providers        []struct {
				APIVersion, Name, DefaultCacheDuration string
				MatchImages                            []string
			}
		}
		if err := json.Unmarshal(fileAt(t, p, file).Content, &written); err != nil || len(written.Providers) != 1 {
			t.Fatalf("%s: %v: %s", c.name, err, fileAt(t, p, file).Content)
		}
		provider := written.Providers[0]
		if written.APIVersion != "kubelet.config.k8s.io/v1" || written.Kind != "CredentialProviderConfig" || provider.APIVersion != "credentialprovider.kubelet.k8s.io/v1" ||
			provider.Name != "ecr-credential-provider" || provider.DefaultCacheDuration != "12h0m0s" {
			t.Errorf("%s: it is %+v", c.name, written)
		}
		if len(provider.MatchImages) != c.images || slices.Contains(provider.MatchImages, "ecr-public.aws.com") != (c.images == 13) || !slices.Contains(provider.MatchImages, "*.dkr.ecr.*.amazonaws.eu") {
			t.Errorf("%s: for the images %q", c.name, provider.MatchImages)
		}
	}
}

// An image without the program is refused, and the problem names the images that have it. A contract with another credential
// source is accepted.
func TestECRCredentialsAreMissed(t *testing.T) {
	bare := eksImage(ubuntuOS, "1.34.2")
	for name, c := range map[string]struct {
		family string
		change func(*nodeconfig.NodeConfig)
		reason string
	}{
		"nothing": {"eksctl", func(*nodeconfig.NodeConfig) {}, "the images of EKS for Amazon Linux, and those of Canonical for EKS"},
		"its own provider": {"eksctl", func(n *nodeconfig.NodeConfig) {
			n.Kubelet.ImageCredentialProvider = &nodeconfig.ImageCredentialProvider{BinDir: "/opt/bin", ConfigFile: "/opt/etc/provider.yaml"}
		}, ""},
		"flags": {"eksctl", func(n *nodeconfig.NodeConfig) {
			n.Kubelet.Flags = []nodeconfig.Flag{{Name: "image-credential-provider-config", Value: "/opt/etc/provider.yaml"}, {Name: "image-credential-provider-bin-dir", Value: "/opt/bin"}}
		}, ""},
		"a URL": {"eksctl", func(n *nodeconfig.NodeConfig) {
			n.Components.Artifacts = map[string]nodeconfig.Artifact{"credential-provider": {URL: "https://example.com/ecr-credential-provider", SHA256: strings.Repeat("a", 64)}}
		}, ""},
		"a cluster of another kind": {"standard", func(*nodeconfig.NodeConfig) {}, ""},
	} {
		config := eksNode(t, "1.34.2", func(n *nodeconfig.NodeConfig) { n.Components.Layout = c.family }, c.change)
		p, problems := New(config, bare)
		fatal := nodeconfig.Fatal(problems)
		if c.reason == "" && len(fatal) > 0 || c.reason != "" && (len(fatal) != 1 || !strings.Contains(fatal[0].Reason, c.reason)) {
			t.Errorf("%s: %v", name, fatal)
		}
		if name == "a URL" {
			if dir, _ := flagOf(p, "image-credential-provider-bin-dir"); dir != "/etc/eks" || !planned(p, "Symlink:/etc/eks/ecr-credential-provider") {
				t.Errorf("it is brought to %q", dir)
			}
		}
	}
	if bake := eksNode(t, "1.34.2", func(n *nodeconfig.NodeConfig) { n.Join = nodeconfig.Join{Method: nodeconfig.JoinNone} }); true {
		if _, problems := New(bake, bare); len(nodeconfig.Fatal(problems)) > 0 {
			t.Errorf("an image that is made: %v", problems)
		}
	}
	if profile.Named("aks").Kubelet.ImageProvider.Name != "" {
		t.Error("a node of AKS has the provider of Amazon's registries")
	}
}

// flagOf is the value of a flag that the kubelet gets.
func flagOf(p resource.Plan, name string) (value string, given bool) {
	argument, given := p.Node.Arguments[name]
	return argument.Value, given
}
