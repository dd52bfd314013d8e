package parts

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
)

// bases are the contracts of the base phase, by the image's kind of containerd: AKS's nodes have containerd 2, and those of other
// clouds the distribution's. A base has no cluster and no secret.
var bases = map[string]string{
	ContainerdBuilt:  "aks.json",
	ContainerdDebian: "native.yaml",
}

// bake applies the base phase to an image's tree, as an image build does: containerd's configuration and unit, kernel parameters
// and modules are there, and containerd starts at boot. The agent's records stay, so the first boot finds a generation.
func bake(ctx context.Context, root string, in imageInputs) error {
	base, err := os.ReadFile(in.base)
	if err != nil {
		return err
	}
	// It stays in the image: the agent starts its units while it still searches for the machine's own contract.
	place := filepath.Join(root, "etc", "slipway", "base"+filepath.Ext(in.base))
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(place, bytes.ReplaceAll(base, []byte(Kubernetes), []byte(in.kubelet)), 0o600); err != nil {
		return err
	}
	if err := run(ctx, root, nil, in.agent, "provision", "--root", root, "--provision-config", place, "--log-level", "warn"); err != nil {
		return err
	}
	// A machine starts with an empty /run.
	return os.RemoveAll(filepath.Join(root, "run", "slipway"))
}
