package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/slipway-dev/slipway/test/e2e/classic"
	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// provisionTree has the agent apply a contract to a tree. facts is a file of facts; empty means the tree's own.
func (r *caseRun) provisionTree(ctx context.Context, root, contract, facts string) error {
	args := []string{"provision", "--root", root, "--provision-config", contract, "--log-level", "error"}
	if facts != "" {
		args = append(args, "--facts", facts)
	}
	if out, err := exec.CommandContext(ctx, r.agent(), args...).CombinedOutput(); err != nil {
		return fmt.Errorf("slipway-node provision --root: %w: %s", err, out)
	}
	return nil
}

// imageFacts are the facts of a machine's image.
func (r *caseRun) imageFacts(ctx context.Context, m lab.Machine) (facts map[string]any, err error) {
	err = lab.WithMounted(r.machine().Disk, func(root string) error {
		document, err := exec.CommandContext(ctx, r.agent(), "facts", "--root", root, "-o", "json").Output()
		if err != nil {
			return err
		}
		return json.Unmarshal(document, &facts)
	})
	if err != nil {
		return nil, fmt.Errorf("facts of the image %s: %w", m.Disk, err)
	}
	return facts, nil
}

// machineFacts writes a file with the facts of a future machine: its image's facts, its name and its address.
func (r *caseRun) machineFacts(ctx context.Context, m lab.Machine) (path string, err error) {
	facts, err := r.imageFacts(ctx, m)
	if err != nil {
		return "", err
	}
	facts["hostname"], facts["nodeIPs"] = firstName, []string{lab.NodeAddress}
	facts["instance"] = map[string]string{"id": firstName} // these facts are the machine's, not only its image's
	return writeFacts(m, facts)
}

// writeFacts writes a machine's facts to a file.
func writeFacts(m lab.Machine, facts map[string]any) (path string, err error) {
	document, err := json.Marshal(facts)
	if err != nil {
		return "", err
	}
	path = filepath.Join(m.Dir, "facts.json")
	return path, os.WriteFile(path, document, 0o600)
}

// slipway runs slipway, and returns what it prints.
func (r *caseRun) slipway(ctx context.Context, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, r.Slipway, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("slipway %s: %w: %s", args[0], err, stderr.String())
	}
	return out, nil
}

// agent is the path of slipway-node in the image.
func (r *caseRun) agent() string { return filepath.Join(filepath.Dir(r.Slipway), "slipway-node") }

// script is custom data that makes the node without Slipway, from the files that Slipway would write.
func (r *caseRun) script(ctx context.Context, m lab.Machine, contract string) ([]byte, error) {
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return nil, err
	}
	facts, err := r.machineFacts(ctx, m)
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp(m.Dir, "node")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	if err := r.provisionTree(ctx, root, contract, facts); err != nil {
		return nil, err
	}
	node, err := classic.Read(root)
	if err != nil {
		return nil, err
	}
	return classic.CustomData(node, lab.HostAddress)
}

// bakeNode makes a tree a node in advance. The agent's records stay, but no program uses them.
func (r *caseRun) bakeNode(ctx context.Context, m lab.Machine, root, contract string) error {
	facts, err := r.machineFacts(ctx, m)
	if err != nil {
		return err
	}
	return r.provisionTree(ctx, root, contract, facts)
}
