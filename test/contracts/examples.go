package contracts

import (
	"path/filepath"
	"testing"
)

// Dialects are the directories of the examples that are contracts; a dialect's has its name.
var Dialects = []string{"aks", "eksctl", "kubeadm", "native"}

// Examples returns the paths of all examples that are contracts. root is the path of the repository.
func Examples(t testing.TB, root string) (paths []string) {
	t.Helper()
	for _, name := range Dialects {
		found, err := filepath.Glob(filepath.Join(root, "examples", name, "*"))
		if err != nil || len(found) == 0 {
			t.Fatalf("no examples of %s: %v", name, err)
		}
		paths = append(paths, found...)
	}
	return paths
}
