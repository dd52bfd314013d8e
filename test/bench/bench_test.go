package bench

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/agent"
	"github.com/slipway-dev/slipway/internal/compile"
	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/generation"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// The example with most fields, and its machine.
const (
	example = "../../examples/aks/azure-cni.json"
	machine = "../../examples/facts/ubuntu.json"
)

func read(b testing.TB, path string) []byte {
	content, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return content
}

func absolute(b testing.TB, path string) string {
	whole, err := filepath.Abs(path)
	if err != nil {
		b.Fatal(err)
	}
	return whole
}

func known(b testing.TB) facts.Facts {
	f, err := facts.Parse(read(b, machine))
	if err != nil {
		b.Fatal(err)
	}
	return f
}

func decode(b *testing.B, document []byte) *compile.Contract {
	contract := compile.ReadOne("", document)
	if len(contract.Fatal()) > 0 {
		b.Fatal(contract.Problems)
	}
	return contract
}

func BenchmarkDecode(b *testing.B) {
	document := read(b, example)
	b.ReportAllocs()
	b.SetBytes(int64(len(document)))
	for b.Loop() {
		decode(b, document)
	}
}

func BenchmarkPlan(b *testing.B) {
	contract, f := decode(b, read(b, example)), known(b)
	b.ReportAllocs()
	for b.Loop() {
		contract.Plan(f)
	}
}

func BenchmarkDecodeAndPlan(b *testing.B) {
	document, f := read(b, example), known(b)
	b.ReportAllocs()
	for b.Loop() {
		decode(b, document).Plan(f)
	}
}

func BenchmarkDigest(b *testing.B) {
	config := decode(b, read(b, example)).Config
	b.ReportAllocs()
	for b.Loop() {
		nodeconfig.Digest(config)
	}
}

func BenchmarkRender(b *testing.B) {
	contract := userdata.Contract{Document: decode(b, read(b, example)).Canonical(), Path: userdata.AKSPath}
	b.ReportAllocs()
	b.SetBytes(int64(len(contract.Document)))
	for b.Loop() {
		if _, err := userdata.CustomData(contract); err != nil {
			b.Fatal(err)
		}
	}
}

// newNode is an agent for a node in a new directory.
func newNode(b testing.TB) *agent.Agent {
	dir, err := host.OpenDirectory(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { dir.Close() })
	here, err := host.OpenMachine()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { here.Close() })
	return &agent.Agent{Host: dir, Named: here, Now: time.Now, Log: slog.New(slog.DiscardHandler), Version: "bench"}
}

// provision makes a node from the example and returns the number of changes.
func provision(b testing.TB, node *agent.Agent, opts agent.ProvisionOptions) int {
	result := node.Provision(context.Background(), opts)
	if result.ExitCode != 0 {
		b.Fatal(result.Error)
	}
	return len(result.Changes)
}

// BenchmarkProvision is the first provisioning of a node, on the disk of the temporary files.
func BenchmarkProvision(b *testing.B) {
	f := known(b)
	opts := agent.ProvisionOptions{Config: absolute(b, example), Facts: &f}
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		node := newNode(b)
		b.StartTimer()
		if provision(b, node, opts) == 0 {
			b.Fatal("a first provisioning changed nothing")
		}
	}
}

// BenchmarkPlainWrite writes the files that BenchmarkProvision makes for a node, without a record, a rename or a sync. It shows the
// part of the provisioning's time that any program needs.
func BenchmarkPlainWrite(b *testing.B) {
	f, node := known(b), newNode(b)
	provision(b, node, agent.ProvisionOptions{Config: absolute(b, example), Facts: &f})
	from := node.Host.(*host.Directory).Root()
	for _, own := range []string{state.Dir, state.RunDir} {
		if err := os.RemoveAll(from + own); err != nil {
			b.Fatal(err)
		}
	}
	files := os.DirFS(from)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		to := b.TempDir()
		b.StartTimer()
		if err := os.CopyFS(to, files); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReapply is the provisioning of a node that needs no change, from contract to result.
func BenchmarkReapply(b *testing.B) {
	f, node := known(b), newNode(b)
	opts := agent.ProvisionOptions{Config: absolute(b, example), Facts: &f}
	provision(b, node, opts)
	b.ReportAllocs()
	for b.Loop() {
		if provision(b, node, opts) > 0 {
			b.Fatal("a second provisioning changed something")
		}
	}
}

// BenchmarkApplyUnchanged is an apply to a node that needs no change, from contract to answer: the
// cost of each of a watcher's checks.
func BenchmarkApplyUnchanged(b *testing.B) {
	f, node := known(b), newNode(b)
	opts := agent.ChangeOptions{Config: absolute(b, example), Facts: &f, Allow: difference.Restart, Origin: generation.Apply}
	apply := func() int {
		changed := node.Change(context.Background(), opts)
		if changed.Status.ExitCode != 0 {
			b.Fatal(changed.Status.Error)
		}
		return len(changed.Status.Changes)
	}
	apply()
	var took []time.Duration
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		if apply() > 0 {
			b.Fatal("a second apply changed something")
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
}
