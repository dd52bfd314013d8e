package scenario

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// slipwaysFiles are Slipway's files in an image, as patterns below its root.
var slipwaysFiles = []string{
	"opt/slipway", "opt/azure/containers/aks-node-controller", "etc/slipway", "var/lib/slipway",
	"usr/lib/systemd/system/slipway-*", "etc/systemd/system/*.wants/slipway-*", "run/slipway",
}

// agentless is user data that makes the node by itself, for an image without Slipway, compressed.
func (r *caseRun) agentless(ctx context.Context, m lab.Machine, contract string) ([]byte, error) {
	output, err := r.renderNode(ctx, m, contract, "--to", "cloud-config", "--gzip")
	if err != nil {
		return nil, err
	}
	if err := r.makeBundle(ctx, m, contract); err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(strings.TrimSpace(output))
}

// ignition makes a node of a tree without Slipway before its first start. Ignition itself does that, with the config that the
// contract is rendered to, in the stages that run in an initial RAM disk.
func (r *caseRun) ignition(ctx context.Context, m lab.Machine, root, contract string) error {
	if err := r.makeBundle(ctx, m, contract); err != nil {
		return err
	}
	if err := r.withoutSlipway(ctx, m, root, contract); err != nil {
		return err
	}
	config := filepath.Join(m.Dir, "config.ign")
	if _, err := r.renderNode(ctx, m, contract, "--to", "ignition", "--raw", "--out", config); err != nil {
		return err
	}
	for _, stage := range []string{"fetch", "files"} {
		run := exec.CommandContext(ctx, r.Lab.Parts.Programs[lab.Ignition], "--platform=file", "--root="+root, "--stage="+stage,
			"--log-to-stdout", "--config-cache="+filepath.Join(m.Dir, "ignition.json"), "--state-file="+filepath.Join(m.Dir, "ignition.state"),
			"--neednet="+filepath.Join(m.Dir, "ignition.neednet"))
		run.Env = append(os.Environ(), "IGNITION_CONFIG_FILE="+config)
		if out, err := run.CombinedOutput(); err != nil {
			return fmt.Errorf("ignition, stage %s: %w: %s", stage, err, out[max(0, len(out)-1000):]) // before that is the config with its secrets
		}
	}
	return nil
}

// makeBundle makes a bundle of the node, with which a step compares the machine.
func (r *caseRun) makeBundle(ctx context.Context, m lab.Machine, contract string) error {
	if err := os.RemoveAll(r.bundle()); err != nil {
		return err
	}
	_, err := r.renderNode(ctx, m, contract, "--to", "bundle", "--out", r.bundle())
	return err
}

// renderNode renders a node without an agent, for any machine that is made from the image.
func (r *caseRun) renderNode(ctx context.Context, m lab.Machine, contract string, flags ...string) (string, error) {
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return "", err
	}
	known, err := r.imageFacts(ctx, m)
	if err != nil {
		return "", err
	}
	if r.OS != nil {
		known["os"] = r.OS
	}
	found, _ := known["components"].([]any)
	for _, name := range r.Programs {
		if path := guestPrograms[name]; path != "" {
			found = append(found, components.Component{Name: name, Path: path})
		}
	}
	known["components"] = found
	facts, err := writeFacts(m, known)
	if err != nil {
		return "", err
	}
	output, err := r.slipway(ctx, append([]string{"render", "-f", contract, "--facts", facts, "--agentless"}, flags...)...)
	return string(output), err
}

// bundle is the path of the bundle of the case's node.
func (r *caseRun) bundle() string { return filepath.Join(r.dir, "bundle") }

// withoutSlipway removes from a tree Slipway, all that it has installed there, and everything that the rendering will write.
func (r *caseRun) withoutSlipway(ctx context.Context, _ lab.Machine, root, _ string) error {
	if err := r.reset(ctx, root); err != nil {
		return err
	}
	for _, pattern := range slipwaysFiles {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return err
		}
		for _, path := range found {
			if err := os.RemoveAll(path); err != nil {
				return err
			}
		}
	}
	data, err := os.ReadFile(filepath.Join(r.bundle(), "manifest.json"))
	if err != nil {
		return err
	}
	var manifest struct{ Entries []struct{ Path, Type string } }
	if err := json.Unmarshal(data, &manifest); err != nil {
		return err
	}
	for _, entry := range manifest.Entries {
		if entry.Type == "directory" {
			continue
		}
		if err := os.RemoveAll(filepath.Join(root, entry.Path)); err != nil {
			return err
		}
	}
	return nil
}

// reset removes from a tree all that Slipway has installed there.
func (r *caseRun) reset(ctx context.Context, root string) error {
	if out, err := exec.CommandContext(ctx, r.agent(), "reset", "--yes", "--root", root).CombinedOutput(); err != nil {
		return fmt.Errorf("slipway-node reset: %w: %s", err, out)
	}
	return nil
}

// verify shuts the machine down, and compares its disk with the bundle of its node.
func (r *caseRun) verify(ctx context.Context, _ struct{}) error {
	if err := r.powerOff(ctx); err != nil {
		return err
	}
	disk := filepath.Join(r.vm.Dir, "verified.img")
	if err := r.vm.WholeDisk(ctx, disk); err != nil {
		return err
	}
	defer os.Remove(disk)
	return lab.WithMounted(disk, func(root string) error {
		out, err := exec.CommandContext(ctx, r.Slipway, "verify", r.bundle(), root).CombinedOutput()
		if err != nil {
			return fmt.Errorf("slipway verify: %w: %s", err, out)
		}
		return nil
	})
}

// powerOff shuts the machine down.
func (r *caseRun) powerOff(ctx context.Context) error {
	if _, err := r.vm.Shell.Output(ctx, "systemctl --no-block poweroff"); err != nil {
		return err
	}
	return r.vm.Ended(ctx)
}
