//go:build crosscheck

package crosscheck

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/plan/dnscache"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// corefiles is the number of Corefiles that CoreDNS reads.
const corefiles = 400

// TestCorefiles lets CoreDNS itself read the planner's output for the node's DNS cache: for every contract, the cache starts.
func TestCorefiles(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "corefiles")
	build := exec.Command("go", "build", "-C", "../e2e/modules/coredns", "-o", program, "./cmd/corefiles")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	random := rand.New(rand.NewPCG(*seed, 0))
	var paths []string
	for i := range corefiles {
		c := &nodeconfig.NodeConfig{}
		c.Network.LocalDNS = &nodeconfig.LocalDNS{Host: zones(random), Pods: zones(random)}
		nodeconfig.Default(c)
		nodeconfig.Repair(c) // other missing parts of the contract do not matter here
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, dnscache.Corefile(c, random.IntN(2) == 0), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	if out, err := exec.Command(program, paths...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// A program that accepts every input would prove nothing.
	wrong := filepath.Join(dir, "wrong")
	if err := os.WriteFile(wrong, []byte(". {\n    cache {\n        serve_stale 1h never\n    }\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, wrong).CombinedOutput(); err == nil {
		t.Errorf("a wrong Corefile is not noticed\n%s", out)
	}
}

// zones are server blocks for some domains, with settings of every kind, good and bad.
func zones(random *rand.Rand) map[string]nodeconfig.LocalDNSZone {
	domains := []string{".", "cluster.local", "testdomain456.com", "a.b.c.example.", "xn--bcher-kva.example", "in-addr.arpa", "_tcp.example.com"}
	all := make(map[string]nodeconfig.LocalDNSZone)
	for _, domain := range domains {
		if random.IntN(2) == 0 {
			all[domain] = zone(random)
		}
	}
	return all
}

func zone(random *rand.Rand) nodeconfig.LocalDNSZone {
	word := func(words ...string) string { return append(words, "")[random.IntN(len(words)+1)] }
	number := func() *int32 {
		if random.IntN(3) == 0 {
			return nil
		}
		return new([]int32{-1, 0, 1, 2, 60, 3600, 1 << 20, 1<<31 - 1}[random.IntN(8)])
	}
	z := nodeconfig.LocalDNSZone{
		QueryLogging: word("Error", "Log"), Protocol: word("PreferUDP", "ForceTCP"), ForwardTo: word("VnetDNS", "ClusterCoreDNS"),
		ForwardPolicy: word("Sequential", "RoundRobin", "Random"), MaxConcurrent: number(), CacheSeconds: number(), StaleSeconds: number(),
		ServeStale: word("Verify", "Immediate", "Disable"), ServeStalePolicy: word("PreferPositive"), FailFast: new(random.IntN(2) == 0),
	}
	if random.IntN(2) == 0 {
		z.HealthCheck = &nodeconfig.LocalDNSHealthCheck{
			Interval:    nodeconfig.Duration([]time.Duration{0, 1, 1e6, 5e8, 54e11}[random.IntN(5)]),
			NoRecursion: new(random.IntN(2) == 0), Domain: word(".", "example.com", "example.com."),
		}
	}
	return z
}
