package parts

import (
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
	err := run(ctx, root, nil, in.agent, "provision", "--root", root, "--provision-config", in.base, "--log-level", "warn")
	if err != nil {
		return err
	}
	// It stays in the image: the agent starts its units while it still searches for the machine's own contract.
	if err := copyFile(in.base, filepath.Join(root, "etc", "slipway", "base"+filepath.Ext(in.base)), 0o600); err != nil {
		return err
	}
	// A machine starts with an empty /run.
	return os.RemoveAll(filepath.Join(root, "run", "slipway"))
}
