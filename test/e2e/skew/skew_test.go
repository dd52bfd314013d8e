package skew

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/test/e2e/parts"
	"github.com/slipway-dev/slipway/test/e2e/scenario"
)

const repo = "../../.."

// TestSkews: each kubelet is at most three minor versions older than its control plane, and never newer; each minor version is there once.
func TestSkews(t *testing.T) {
	minor := func(version string) int {
		n, err := strconv.Atoi(strings.Split(version, ".")[1])
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	newest := 0
	for _, s := range parts.Skews {
		newest = max(newest, minor(s.ControlPlane))
	}
	for i, s := range parts.Skews {
		if i > 0 && minor(s.Kubelet) != minor(parts.Skews[i-1].Kubelet)+1 {
			t.Errorf("%s follows %s", s.Kubelet, parts.Skews[i-1].Kubelet)
		}
		if apart := minor(s.ControlPlane) - minor(s.Kubelet); apart < 0 || apart > 3 || apart < 3 && minor(s.ControlPlane) < newest {
			t.Errorf("%+v: the control plane is %d minor versions newer", s, apart)
		}
	}
}

// TestCases: each cell is a case with the version's image, in the group of its control plane.
func TestCases(t *testing.T) {
	cases, err := Cases(repo, []string{"1.33", "1.35"})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, controlPlane := range []string{parts.Kubernetes, "1.37.2"} {
		for _, c := range cases[controlPlane] {
			names = append(names, controlPlane+" "+c.Name+" "+c.Image().Name())
		}
	}
	want := []string{
		"1.36.3 aks-kubelet1.33.13-containerd2 image-containerd2-kubelet1.33.13", "1.36.3 native-kubelet1.33.13-containerd2 image-containerd2-kubelet1.33.13",
		"1.36.3 aks-kubelet1.33.13-containerd1.6 image-containerd1.6-kubelet1.33.13", "1.36.3 native-kubelet1.33.13-containerd1.6 image-containerd1.6-kubelet1.33.13",
		"1.37.2 aks-kubelet1.35.4-containerd2 image-containerd2-kubelet1.35.4", "1.37.2 native-kubelet1.35.4-containerd2 image-containerd2-kubelet1.35.4",
		"1.37.2 aks-kubelet1.35.4-containerd1.6 image-containerd1.6-kubelet1.35.4", "1.37.2 native-kubelet1.35.4-containerd1.6 image-containerd1.6-kubelet1.35.4",
	}
	if strings.Join(names, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(names, "\n"))
	}
	if _, err := Cases(repo, []string{"1.20"}); err == nil {
		t.Error("1.20 has cases")
	}
}

// TestRecord: outcomes replace earlier ones of their cells, others stay, and the document shows both.
func TestRecord(t *testing.T) {
	dir := t.TempDir()
	for _, below := range []string{"docs", "test/e2e/skew"} {
		if err := os.MkdirAll(filepath.Join(dir, below), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	page := filepath.Join(dir, "docs", "support.md")
	if err := os.WriteFile(page, []byte("# Page\n<!-- skew table -->\nold\n<!-- end of skew table -->\nend\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	all := cells([]string{"1.36"})
	record := func(date string, outcomes ...scenario.Outcome) {
		t.Helper()
		if err := errors.Join(Record(dir, outcomes, date), FillDocument(dir)); err != nil {
			t.Fatal(err)
		}
	}
	record("2026-11-01", scenario.Outcome{Case: all[0].name()}, scenario.Outcome{Case: all[1].name(), Err: errors.New("not Ready")})
	record("2026-11-02", scenario.Outcome{Case: all[1].name()}, scenario.Outcome{Case: all[2].name(), Err: errors.New("not Ready")})
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"| kubelet | control plane | AKS's contract, containerd 2 | native, containerd 2 | AKS's contract, containerd 1.6 | native, containerd 1.6 |\n",
		"| 1.36.3 | 1.37.2 | joined, 2026-11-01 | joined, 2026-11-02 | failed, 2026-11-02 | not run |\n",
		"| 1.26 | | rules only | rules only | rules only | rules only |\n<!-- end of skew table -->\nend\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestDocument: docs/support.md shows the results that are recorded.
func TestDocument(t *testing.T) {
	all, err := results(repo)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(repo, "docs", "support.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "<!-- skew table -->\n"+Table(all)+"<!-- end of skew table -->\n") {
		t.Errorf("docs/support.md is not of the results: run make e2e-skew; want\n%s", Table(all))
	}
}
