package eksctl_test

import (
	"os"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig/eksctl"
)

// A command that changes nothing on a node of Slipway's is warned of, with its line in the document.
func TestIneffectiveCommands(t *testing.T) {
	content, err := os.ReadFile(minimal)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		group string
		// at is the text of the warning's line; empty if there is no warning.
		path, at, reason string
	}{
		"an edit of the script": {"preBootstrapCommands:\n    - echo 1\n    - sed -i s/a/b/ /etc/eks/bootstrap.sh # edit", "preBootstrapCommands[1]", "# edit", "line 1 has a file that a node of Slipway's does not use (/etc/eks/bootstrap.sh): set maxPodsPerNode"},
		"an edit in a block": {
			"preBootstrapCommands:\n    - |\n      # not kubelet-config.json\n      set -e\n      jq . /etc/kubernetes/kubelet/kubelet-config.json # edit", "preBootstrapCommands[0]", "# edit", "line 3 has a file",
		},
		"an edit with a redirection": {"preBootstrapCommands:\n    - |\n      echo a >>/etc/eks/bootstrap.sh # edit", "preBootstrapCommands[0]", "# edit", "line 1 has a file"},
		"two files":                  {"preBootstrapCommands:\n    - |\n      cat eni-max-pods.txt # first\n      cat kubelet-extra.json", "preBootstrapCommands[0]", "# first", "(eni-max-pods.txt): set maxPodsPerNode; has a file that a node of Slipway's does not use (kubelet-extra.json)"},
		"the script as documented": {
			"overrideBootstrapCommand: |\n      #!/bin/bash\n      source /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\n      exec /etc/eks/bootstrap.sh ${CLUSTER_NAME} # run", "overrideBootstrapCommand", "# run",
			"line 3 runs /etc/eks/bootstrap.sh, whose arguments the kubelet does not get",
		},
		"an export":           {"preBootstrapCommands:\n    - export PROXY=x\n    - echo $PROXY # use", "preBootstrapCommands[1]", "# use", "line 1 uses a variable that a command before it exports"},
		"an export in place":  {"preBootstrapCommands:\n    - export PROXY=x\n    - PROXY=y; echo ${PROXY}", "", "", ""},
		"nothing of the kind": {"preBootstrapCommands:\n    - yum install -y nfs-utils; echo $HOME", "", "", ""},
	} {
		text := string(content) + "    " + c.group + "\n"
		tree, err := document.Parse([]byte(text))
		if err != nil {
			t.Fatal(name, err)
		}
		r := read(tree, eksctl.Choice{})
		switch {
		case c.at == "" && len(r.Problems) == 0:
			continue
		case len(r.Problems) != 1:
			t.Errorf("%s: %v", name, r.Problems)
			continue
		}
		p, line := r.Problems[0], strings.Split(text, "\n")[max(0, r.Problems[0].Line-1)]
		if p.Path != "$.nodeGroups[0]."+c.path || !strings.Contains(line, c.at) || !strings.Contains(p.Reason, c.reason) || p.Fatal {
			t.Errorf("%s: %+v, of line %q", name, p, line)
		}
	}
}
