package skew

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/kubeletapi"
	"github.com/slipway-dev/slipway/test/e2e/marked"
	"github.com/slipway-dev/slipway/test/e2e/parts"
)

// FillDocument writes the results into docs/support.md.
func FillDocument(repo string) error {
	all, err := results(repo)
	if err != nil {
		return err
	}
	path := filepath.Join(repo, "docs", "support.md")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text, err := marked.Fill(string(content), "skew table", Table(all))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// Table is the table of all supported minor versions of the kubelet, the newest first.
func Table(all []Cell) string {
	var b strings.Builder
	b.WriteString("| kubelet | control plane |")
	columns := cells([]string{Minor(parts.Kubernetes)}) // each version has the same
	for _, c := range columns {
		fmt.Fprintf(&b, " %s, containerd %s |", map[string]string{"aks": "AKS's contract", "native": "native"}[c.Contract], c.Containerd)
	}
	b.WriteString("\n|---|---|" + strings.Repeat("---|", len(columns)) + "\n")
	for minor := kubeletapi.NewestSupported; minor >= kubeletapi.OldestSupported; minor-- {
		version := fmt.Sprintf("1.%d", minor)
		i := slices.IndexFunc(parts.Skews, func(s parts.Skew) bool { return Minor(s.Kubelet) == version })
		if i < 0 {
			fmt.Fprintf(&b, "| %s | |%s\n", version, strings.Repeat(" rules only |", len(columns)))
			continue
		}
		s := parts.Skews[i]
		fmt.Fprintf(&b, "| %s | %s |", s.Kubelet, s.ControlPlane)
		for _, column := range columns {
			b.WriteString(" " + verdict(all, s, column) + " |")
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// verdict is the text of a cell.
func verdict(all []Cell, s parts.Skew, column Cell) string {
	column.Kubelet, column.ControlPlane = s.Kubelet, s.ControlPlane
	cell, found := find(all, &column)
	switch {
	case !found:
		return "not run"
	case cell.Error != "":
		return "failed, " + cell.Date
	}
	return "joined, " + cell.Date
}
