package plan

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The container runtime has no credentials for Amazon's registries, so the sandbox image is pulled for it, unless it needs no login.
func TestSandboxImageIsPulledWithALogin(t *testing.T) {
	const regions = "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.5"
	provider := components.Component{Name: "ecr-credential-provider", Path: "/etc/eks/image-credential-provider/ecr-credential-provider"}
	pause := components.Component{Name: "pause", Path: "/etc/eks/pause.tar"}
	for name, c := range map[string]struct {
		programs        []components.Component
		change          func(*nodeconfig.NodeConfig)
		image, provider string
	}{
		"the region's":   {[]components.Component{provider}, func(*nodeconfig.NodeConfig) {}, regions, provider.Path},
		"the machine's":  {[]components.Component{provider, pause}, func(*nodeconfig.NodeConfig) {}, "localhost/kubernetes/pause:latest", ""},
		"the contract's": {[]components.Component{provider, pause}, func(n *nodeconfig.NodeConfig) { n.Runtime.SandboxImage = "example.com/pause:1" }, "example.com/pause:1", ""},
		"of China":       {[]components.Component{provider}, func(n *nodeconfig.NodeConfig) { n.Cloud.AWS.Region, n.Join.AWS.Region = "cn-north-1", "cn-north-1" }, "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn/eks/pause:3.5", provider.Path},
	} {
		config, known := eksNode(t, "1.31.2", c.change), eksImage(amazonOS, "1.31.2", c.programs...)
		p, problems := New(config, known)
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
			t.Fatal(name, fatal)
		}
		if toml := string(fileAt(t, p, "/etc/containerd/config.toml").Content); !strings.Contains(toml, `sandbox_image = "`+c.image+`"`) {
			t.Errorf("%s: containerd has %s", name, toml)
		}
		var pulled *resource.Image
		for _, r := range p.Resources {
			if image, ok := r.Spec.(*resource.Image); ok {
				pulled = image
			}
		}
		if (pulled != nil) != (c.provider != "") || pulled != nil && (pulled.Image != c.image || pulled.Provider != c.provider) {
			t.Errorf("%s: it pulls %+v", name, pulled)
		}
		known.Instance.ID = ""
		without, _ := WithoutAgent(config, known)
		if planned(without, "Unit:slipway-sandbox-image.service") != (c.provider != "") || planned(without, resource.IDOf(&resource.Image{Image: c.image})) {
			t.Errorf("%s: a node without an agent pulls something else", name)
		}
	}
}

// Without an agent a script pulls it, as often as it takes, and keeps it. What a provider answers is not run.
func TestPullScript(t *testing.T) {
	config, known := eksNode(t, "1.31.2"), eksImage(amazonOS, "1.31.2", components.Component{Name: "ecr-credential-provider", Path: "/opt/ecr-credential-provider"}, components.Component{Name: "aws", Path: "/usr/bin/aws"})
	known.Instance = &facts.Instance{Platform: facts.EC2}
	p, problems := WithoutAgent(config, known)
	if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
		t.Fatal(fatal)
	}
	script := fileAt(t, p, "/etc/slipway/sandbox-image.sh").Content
	const good = `{"kind": "CredentialProviderResponse", "auth": {"r.example": {"username": "AWS", "password": "c2VjcmV0+/=="}}}`
	for name, c := range map[string]struct {
		answers []string
		has     bool
		want    string
	}{
		"pulled":           {[]string{good}, false, "pull AWS:c2VjcmV0+/== r.example/pause:1\nlabel\n"},
		"on several lines": {[]string{strings.ReplaceAll(good, ",", ",\n ")}, false, "pull AWS:c2VjcmV0+/== r.example/pause:1\nlabel\n"},
		"there":            {nil, true, "label\n"},
		"at the second":    {[]string{"<html>", good}, false, "pull AWS:c2VjcmV0+/== r.example/pause:1\nlabel\n"},
		"hostile":          {[]string{`{"auth": {"r.example": {"username": "AWS", "password": "$(touch pwned)"}}}`, good}, false, "pull AWS:c2VjcmV0+/== r.example/pause:1\nlabel\n"},
	} {
		dir := t.TempDir()
		programs := map[string]string{
			"bin/ctr": `#!/bin/bash
[ "$1 $2 $3" = "--namespace k8s.io images" ] || exit 9
case $4 in
ls) [ ! -e has ] || echo "$6" ;;
pull) echo "pull $6 $7" >>did ;;
label) [ "$5 $6" = "r.example/pause:1 io.cri-containerd.pinned=pinned" ] && echo label >>did ;;
esac
`,
			"bin/sleep": "#!/bin/bash\n",
			"provider":  "#!/bin/bash\nread -r request\n[ \"$request\" = '{\"apiVersion\":\"credentialprovider.kubelet.k8s.io/v1\",\"kind\":\"CredentialProviderRequest\",\"image\":\"r.example/pause:1\"}' ] || exit 9\necho >>turns\ncat answer$(wc -l <turns)\n",
			"script":    string(script),
		}
		for i, answer := range c.answers {
			programs["answer"+string(rune('1'+i))] = answer
		}
		if c.has {
			programs["has"] = ""
		}
		if err := os.Mkdir(filepath.Join(dir, "bin"), 0o755); err != nil {
			t.Fatal(err)
		}
		for file, content := range programs {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // nothing waits in it
		defer cancel()
		cmd := exec.CommandContext(ctx, "/bin/bash", "script", "r.example/pause:1", "./provider")
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + "/bin:" + os.Getenv("PATH")}
		output, err := cmd.CombinedOutput()
		did, _ := os.ReadFile(filepath.Join(dir, "did"))
		if err != nil || string(did) != c.want || strings.Contains(string(output), "c2VjcmV0") {
			t.Errorf("%s: %v, %q, %s", name, err, did, output)
		}
		if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
			t.Errorf("%s: the answer was run", name)
		}
	}
}
