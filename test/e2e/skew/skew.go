// Package skew joins nodes of several versions of the kubelet and of containerd to the newest control plane that may have them, and writes the
// result into docs/support.md.
//
// Its cases are those in its folder, each for every kubelet of [parts.Skews] and every containerd. test/e2e/cmd/e2e runs them.
package skew

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/test/e2e/parts"
	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

// contracts are the cases, by the contract that the node joins with.
var contracts = []string{"aks", "native"}

// Cell is a node that was made once.
type Cell struct {
	Kubelet      string `json:"kubelet"`
	ControlPlane string `json:"controlPlane"`
	// Containerd is the kind of containerd, as in a case.
	Containerd string `json:"containerd"`
	Contract   string `json:"contract"`
	// Date is the day of the run.
	Date string `json:"date"`
	// Error is why the case failed; empty if it passed.
	Error string `json:"error,omitempty"`
}

// name is the name of a cell's case.
func (c *Cell) name() string {
	return fmt.Sprintf("%s-kubelet%s-containerd%s", c.Contract, c.Kubelet, c.Containerd)
}

// Minor is the minor version of a version: "1.36" of "1.36.3".
func Minor(version string) string { return version[:strings.LastIndex(version, ".")] }

// cells are all cells with one of the minor versions of the kubelet, or with any if there is no version.
func cells(minors []string) (all []Cell) {
	for _, s := range parts.Skews {
		if len(minors) > 0 && !slices.Contains(minors, Minor(s.Kubelet)) {
			continue
		}
		for _, containerd := range []string{parts.ContainerdBuilt, parts.ContainerdDebian} {
			for _, contract := range contracts {
				all = append(all, Cell{Kubelet: s.Kubelet, ControlPlane: s.ControlPlane, Containerd: containerd, Contract: contract})
			}
		}
	}
	return all
}

// Cases are the cases of some minor versions of the kubelet, or of all, by the version of the control plane that they need.
func Cases(repo string, minors []string) (map[string][]scenario.Case, error) {
	loaded, err := scenario.Load(filepath.Join(repo, "test", "e2e", "skew", "cases"), contracts...)
	if err != nil {
		return nil, err
	}
	all := cells(minors)
	if len(all) == 0 {
		return nil, fmt.Errorf("no kubelet of %s can be built: want minor versions of %v", strings.Join(minors, ", "), parts.Skews)
	}
	cases := make(map[string][]scenario.Case)
	for _, cell := range all {
		c := loaded[slices.IndexFunc(loaded, func(c scenario.Case) bool { return c.Name == cell.Contract })]
		c.Name, c.Kubelet, c.Containerd = cell.name(), cell.Kubelet, cell.Containerd
		cases[cell.ControlPlane] = append(cases[cell.ControlPlane], c)
	}
	return cases, nil
}

// find returns the result of a cell.
func find(all []Cell, cell *Cell) (Cell, bool) {
	i := slices.IndexFunc(all, func(c Cell) bool { return c.name() == cell.name() && c.ControlPlane == cell.ControlPlane })
	if i < 0 {
		return Cell{}, false
	}
	return all[i], true
}

// resultsPath is where the results are, beside the cases.
func resultsPath(repo string) string {
	return filepath.Join(repo, "test", "e2e", "skew", "results.json")
}

// Record adds outcomes to the results, in place of earlier ones of the same cells, and removes those of versions that are not built any more. date
// is the day of the run.
func Record(repo string, outcomes []scenario.Outcome, date string) error {
	before, err := results(repo)
	if err != nil {
		return err
	}
	var after []Cell
	for _, cell := range cells(nil) {
		if b, found := find(before, &cell); found {
			cell = b
		}
		if i := slices.IndexFunc(outcomes, func(o scenario.Outcome) bool { return o.Case == cell.name() }); i >= 0 {
			cell.Date, cell.Error = date, ""
			if outcomes[i].Err != nil {
				cell.Error = outcomes[i].Err.Error()
			}
		}
		if cell.Date != "" {
			after = append(after, cell)
		}
	}
	data, err := json.MarshalIndent(after, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(resultsPath(repo), append(data, '\n'), 0o644)
}

// results are those of earlier runs.
func results(repo string) (all []Cell, err error) {
	data, err := os.ReadFile(resultsPath(repo))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s: %w", resultsPath(repo), err)
	}
	return all, nil
}
