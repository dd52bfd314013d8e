package parts

import (
	"context"
	"os"
	"path/filepath"
)

// bases are the contracts of the base phase, by the kind of containerd that an image holds: AKS's nodes have
// containerd 2, and those of other clouds the distribution's. A base has no cluster and no secret.
var bases = map[string]string{
	ContainerdBuilt:  "aks.json",
	ContainerdDebian: "native.yaml",
}

// bake has the agent apply the base phase to an image's tree, as whoever builds an image does: containerd's
// configuration and unit, kernel parameters and modules are there, and containerd starts at boot. What the
// agent notes of it stays: the first boot finds a generation.
func bake(ctx context.Context, root string, in imageInputs) error {
	err := run(ctx, root, nil, in.agent, "provision", "--root", root, "--provision-config", in.base, "--log-level", "warn")
	if err != nil {
		return err
	}
	// It stays in the image: what it brings is started while a machine's own contract is looked for.
	if err := copyFile(in.base, filepath.Join(root, "etc", "slipway", "base"+filepath.Ext(in.base)), 0o600); err != nil {
		return err
	}
	// A machine has a /run of its own.
	return os.RemoveAll(filepath.Join(root, "run", "slipway"))
}
