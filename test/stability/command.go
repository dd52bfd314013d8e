package stability

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/slipway-dev/slipway/internal/command"
)

// programs are the names under which the programs are called, with their files. AKS's custom script extension calls the agent by the name of the
// program that it replaces.
var programs = map[string]string{"slipway": "slipway", "slipway-node": "slipway-node", "aks-node-controller": "slipway-node"}

var commandRules = map[string]rule{"shorthand": lost, "kind": changed, "default": changed, "allowed": narrowed}

// build builds the programs of a checkout into a directory.
func build(root, into, version string) error {
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags", "-X github.com/slipway-dev/slipway/internal/cli.Version="+version, "-o", into+"/", "./cmd/...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build the programs of %s: %w\n%s", root, err, out)
	}
	return nil
}

// currentCommands are the commands and flags of the programs in a directory, without those that the help hides.
func currentCommands(bin string) (facts, error) {
	all := make(facts)
	for name, file := range programs {
		cmd := exec.Command(filepath.Join(bin, file), "help", "-o", "json")
		cmd.Args[0] = name
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("%s help -o json: %w", name, err)
		}
		var root command.Described
		if err := json.Unmarshal(out, &root); err != nil {
			return nil, fmt.Errorf("%s help -o json: %w", name, err)
		}
		addCommand(all, root)
	}
	return all, nil
}

func addCommand(all facts, d command.Described) {
	all[d.Path] = attributes{}
	for _, f := range append(d.Flags, d.GlobalFlags...) {
		if f.Name == "help" {
			continue // each command has it
		}
		of := attributes{"kind": {f.Kind}}
		if f.Shorthand != "" {
			of["shorthand"] = []string{f.Shorthand}
		}
		if f.Default != "" {
			of["default"] = []string{f.Default}
		}
		if len(f.Allowed) > 0 {
			of["allowed"] = f.Allowed
		}
		all[d.Path+" --"+f.Name] = of
	}
	for _, c := range d.Commands {
		addCommand(all, c)
	}
}
