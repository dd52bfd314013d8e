package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/agent"
)

// withParameters is the path of a contract with a number of kernel parameters.
func withParameters(t testing.TB, parameters int) string {
	document, err := os.ReadFile("../../examples/native/minimal.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s\nsystem:\n  sysctls:\n", document)
	for i := range parameters {
		fmt.Fprintf(&text, "    net.ipv4.conf.eth%d.rp_filter: \"1\"\n", i)
	}
	path := filepath.Join(t.TempDir(), "node.yaml")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// BenchmarkProvisionParameters is the first provisioning of a node with many kernel parameters. The second row takes ten times as
// long as the first.
func BenchmarkProvisionParameters(b *testing.B) {
	for _, parameters := range []int{900, 9000} {
		b.Run(fmt.Sprint(parameters), func(b *testing.B) {
			f := known(b)
			opts := agent.ProvisionOptions{Config: withParameters(b, parameters), Facts: &f}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				node := newNode(b)
				b.StartTimer()
				if changed := provision(b, node, opts); changed < parameters {
					b.Fatalf("a first provisioning changed %d things", changed)
				}
			}
		})
	}
}

// The memory that a provisioning allocates, with or without changes, grows linearly with the number of parameters. The test
// measures memory because other processes do not affect it.
func TestProvisionGrowsLinearly(t *testing.T) {
	f := known(t)
	allocated := func(parameters int) (first, second uint64) {
		opts := agent.ProvisionOptions{Config: withParameters(t, parameters), Facts: &f}
		node := newNode(t)
		of := func() uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			provision(t, node, opts)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		return of(), of()
	}
	first, second := allocated(300)
	firstOfMany, secondOfMany := allocated(3000)
	if firstOfMany > 11*first || secondOfMany > 11*second {
		t.Errorf("3000 parameters: %d bytes, and %d with nothing to do; 300: %d and %d", firstOfMany, secondOfMany, first, second)
	}
}
