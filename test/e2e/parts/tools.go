package parts

import (
	"context"
	"fmt"
	"maps"
	"os/exec"
	"slices"
)

// InstallTools installs the test's packages if one of them is missing.
func (s *Store) InstallTools(ctx context.Context) error {
	var missing []string
	for _, program := range slices.Sorted(maps.Keys(tools)) {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, tools[program])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return s.install(ctx, append(missing, firmware...)...)
}

// install installs packages.
func (s *Store) install(ctx context.Context, packages ...string) error {
	s.Log.Info("installing packages", "packages", packages)
	env := []string{"DEBIAN_FRONTEND=noninteractive"}
	if err := run(ctx, "", env, "apt-get", "update"); err != nil {
		return fmt.Errorf("install packages: %w", err)
	}
	argv := append([]string{"apt-get", "install", "-y", "--no-install-recommends"}, packages...)
	if err := run(ctx, "", env, argv...); err != nil {
		return fmt.Errorf("install packages: %w", err)
	}
	return nil
}
