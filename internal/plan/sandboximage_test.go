package plan

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The container runtime has no credentials for Amazon's registries, so the sandbox image is pulled for it, unless it needs no login. What
// the machine's image holds is imported from its archive if the runtime has lost it.
func TestSandboxImageIsPulledOrImported(t *testing.T) {
	const regions = "602401143452.dkr.ecr.eu-west-1.amazonaws.com/eks/pause:3.5"
	provider := components.Component{Name: "ecr-credential-provider", Path: "/etc/eks/image-credential-provider/ecr-credential-provider"}
	pause := components.Component{Name: "pause", Path: "/etc/eks/pause.tar"}
	const held = "localhost/kubernetes/pause:latest"
	layout := func(n *nodeconfig.NodeConfig) { n.Components.Layout = "eks" }
	for name, c := range map[string]struct {
		programs                 []components.Component
		change                   func(*nodeconfig.NodeConfig)
		image, provider, archive string
	}{
		"the region's":   {[]components.Component{provider}, func(*nodeconfig.NodeConfig) {}, regions, provider.Path, ""},
		"the machine's":  {[]components.Component{provider, pause}, func(*nodeconfig.NodeConfig) {}, held, "", pause.Path},
		"the contract's": {[]components.Component{provider, pause}, func(n *nodeconfig.NodeConfig) { n.Runtime.SandboxImage = "example.com/pause:1" }, "example.com/pause:1", "", ""},
		"of China":       {[]components.Component{provider}, func(n *nodeconfig.NodeConfig) { n.Cloud.AWS.Region, n.Join.AWS.Region = "cn-north-1", "cn-north-1" }, "918309763551.dkr.ecr.cn-north-1.amazonaws.com.cn/eks/pause:3.5", provider.Path, ""},
		"of Europe": {[]components.Component{provider}, func(n *nodeconfig.NodeConfig) {
			n.Cloud.AWS.Region, n.Join.AWS.Region = "eusc-de-east-1", "eusc-de-east-1"
		}, "877088126301.dkr.ecr.eusc-de-east-1.amazonaws.eu/eks/pause:3.5", provider.Path, ""},
		"of EKS's image":      {[]components.Component{provider, pause}, layout, held, "", pause.Path},
		"of another image":    {[]components.Component{provider}, layout, regions, provider.Path, ""},
		"of an unknown image": {nil, layout, held, "", pause.Path},
	} {
		config, known := eksNode(t, "1.31.2", c.change), eksImage(amazonOS, "1.31.2", c.programs...)
		if c.programs == nil {
			known.Components = nil
		}
		p, problems := New(config, known)
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 && c.programs != nil {
			t.Fatal(name, fatal)
		}
		toml := string(fileAt(t, p, "/etc/containerd/config.toml").Content)
		if !strings.Contains(toml, `sandbox_image = "`+c.image+`"`) && !strings.Contains(toml, `sandbox = "`+c.image+`"`) {
			t.Errorf("%s: containerd has %s", name, toml)
		}
		var pulled *resource.Image
		var imported *resource.Command
		for _, r := range p.Resources {
			switch spec := r.Spec.(type) {
			case *resource.Image:
				pulled = spec
			case *resource.Command:
				if spec.Label == "import-sandbox-image" {
					imported = spec
				}
			}
		}
		if (pulled != nil) != (c.provider != "") || pulled != nil && (pulled.Image != c.image || pulled.Provider != c.provider) {
			t.Errorf("%s: it pulls %+v", name, pulled)
		}
		if (imported != nil) != (c.archive != "") || imported != nil && (!slices.Contains(imported.Argv, c.archive) || !imported.Done.In([]byte(c.image))) {
			t.Errorf("%s: it imports %+v", name, imported)
		}
		known.Instance.ID = ""
		without, _ := WithoutAgent(config, known)
		source := c.provider + c.archive
		if planned(without, "Unit:slipway-sandbox-image.service") != (source != "") || planned(without, resource.IDOf(&resource.Image{Image: c.image})) || planned(without, "Command:import-sandbox-image") {
			t.Errorf("%s: a node without an agent gets something else", name)
		}
		if source != "" && !strings.Contains(string(fileAt(t, without, "/etc/systemd/system/slipway-sandbox-image.service").Content), "ExecStart=/bin/bash /etc/slipway/sandbox-image.sh "+c.image+" "+source+"\n") {
			t.Errorf("%s: %s", name, fileAt(t, without, "/etc/systemd/system/slipway-sandbox-image.service").Content)
		}
	}
}

// sandboxTool stands in for containerd's tool. It reads the header of the server's requests, and notes its arguments.
const sandboxTool = `#!/bin/bash
echo "$*" >>arguments
[ "$1 $2 $3" = "--namespace k8s.io images" ] || exit 9
case $4 in
ls) [ ! -e has ] || echo "$6" ;;
pull)
  [ "$5" = --hosts-dir ] || exit 9
  file=$6/r.example/hosts.toml
  [ "$(sed '$d' "$file")" = 'server = "https://r.example"
[host."https://r.example".header]' ] || exit 9
  echo "$(stat -c %A "$6/r.example") $(stat -c %A "$file") $(sed -n 's/^Authorization = "Basic \(.*\)"$/\1/p' "$file" | base64 -d) $7" >>did
  ;;
import) echo "import $5" >>did ;;
label) [ "$5 $6" = "r.example/pause:1 io.cri-containerd.pinned=pinned" ] && echo label >>did ;;
esac
`

// Without an agent a script gets it, as often as it takes, and has it kept. What a provider answers is not run, and is in no argument of a
// program, which all users of the machine see.
func TestSandboxScript(t *testing.T) {
	provider, pause := components.Component{Name: "ecr-credential-provider", Path: "/opt/ecr-credential-provider"}, components.Component{Name: "pause", Path: "/etc/eks/pause.tar"}
	scripts := make(map[string][]byte)
	for source, programs := range map[string][]components.Component{"pull": {provider}, "import": {provider, pause}} {
		config, known := eksNode(t, "1.31.2"), eksImage(amazonOS, "1.31.2", append(programs, components.Component{Name: "aws", Path: "/usr/bin/aws"})...)
		known.Instance = &facts.Instance{Platform: facts.EC2}
		p, problems := WithoutAgent(config, known)
		if fatal := nodeconfig.Fatal(problems); len(fatal) > 0 {
			t.Fatal(fatal)
		}
		scripts[source] = fileAt(t, p, "/etc/slipway/sandbox-image.sh").Content
	}
	const (
		good   = `{"kind": "CredentialProviderResponse", "auth": {"r.example": {"username": "AWS", "password": "c2VjcmV0+/=="}}}`
		pulled = "drwx------ -rw------- AWS:c2VjcmV0+/== r.example/pause:1\nlabel\n"
	)
	for name, c := range map[string]struct {
		script  string
		answers []string
		has     bool
		want    string
	}{
		"pulled":           {"pull", []string{good}, false, pulled},
		"on several lines": {"pull", []string{strings.ReplaceAll(good, ",", ",\n ")}, false, pulled},
		"there":            {"pull", nil, true, "label\n"},
		"at the second":    {"pull", []string{"<html>", good}, false, pulled},
		"hostile":          {"pull", []string{`{"auth": {"r.example": {"username": "AWS", "password": "$(touch pwned)"}}}`, good}, false, pulled},
		"imported":         {"import", nil, false, "import ./provider\nlabel\n"},
		"held":             {"import", nil, true, "label\n"},
	} {
		dir := t.TempDir()
		programs := map[string]string{
			"bin/ctr":   sandboxTool,
			"bin/sleep": "#!/bin/bash\n",
			"provider":  "#!/bin/bash\nread -r request\n[ \"$request\" = '{\"apiVersion\":\"credentialprovider.kubelet.k8s.io/v1\",\"kind\":\"CredentialProviderRequest\",\"image\":\"r.example/pause:1\"}' ] || exit 9\necho >>turns\ncat answer$(wc -l <turns)\n",
			"script":    string(scripts[c.script]),
		}
		for i, answer := range c.answers {
			programs["answer"+string(rune('1'+i))] = answer
		}
		if c.has {
			programs["has"] = ""
		}
		for _, below := range []string{"bin", "own"} {
			if err := os.Mkdir(filepath.Join(dir, below), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for file, content := range programs {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // nothing waits in it
		defer cancel()
		cmd := exec.CommandContext(ctx, "/bin/bash", "script", "r.example/pause:1", "./provider")
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir + "/bin:" + os.Getenv("PATH"), "RUNTIME_DIRECTORY=" + dir + "/own"}
		output, err := cmd.CombinedOutput()
		did, _ := os.ReadFile(filepath.Join(dir, "did"))
		arguments, _ := os.ReadFile(filepath.Join(dir, "arguments"))
		if err != nil || string(did) != c.want || strings.Contains(string(output)+string(arguments), "c2VjcmV0") {
			t.Errorf("%s: %v, %q, %s, %s", name, err, did, output, arguments)
		}
		for _, left := range []string{"pwned", "own/r.example"} {
			if _, err := os.Stat(filepath.Join(dir, left)); err == nil {
				t.Errorf("%s: %s is there", name, left)
			}
		}
	}
}
