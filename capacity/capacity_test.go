package capacity

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func TestEKS(t *testing.T) {
	for _, c := range []struct {
		of          EKS
		pods        int
		cpu, memory string
	}{
		// The images' own test values (Amazon EKS AMI, eksctl's legacy reserved_test.go, max-pods-calculator tests).
		{EKS{InstanceType: "m4.xlarge", VCPUs: 2}, 58, "70m", "893Mi"},
		{EKS{InstanceType: "m5.8xlarge", VCPUs: 32, Capped: true}, 234, "150m", "2829Mi"},
		{EKS{InstanceType: "m5.8xlarge", VCPUs: 32, PrefixDelegation: true}, 250, "150m", "3005Mi"},
		{EKS{InstanceType: "c6in.32xlarge", VCPUs: 128}, 394, "390m", "4589Mi"},
		{EKS{InstanceType: "t3.nano", VCPUs: 1}, 4, "60m", "299Mi"},
		{EKS{InstanceType: "t3.small", VCPUs: 2}, 11, "70m", "376Mi"},
		{EKS{InstanceType: "m5.large", VCPUs: 2}, 29, "70m", "574Mi"},
		{EKS{InstanceType: "m5.large", VCPUs: 2, PrefixDelegation: true}, 110, "70m", "1465Mi"},
		{EKS{InstanceType: "m5.large", VCPUs: 2, CustomNetworking: true}, 20, "70m", "475Mi"},
		{EKS{InstanceType: "m5.24xlarge", VCPUs: 96}, 737, "310m", "8362Mi"},
		{EKS{InstanceType: "m5.24xlarge", VCPUs: 96, Capped: true}, 250, "310m", "3005Mi"},
		// A number that the user sets does not change the reservations.
		{EKS{InstanceType: "m5.large", VCPUs: 2, MaxPods: 200}, 200, "70m", "574Mi"},
		{EKS{Interfaces: 4, Addresses: 15, VCPUs: 4}, 58, "80m", "893Mi"},
	} {
		n, err := c.of.Node()
		if err != nil {
			t.Errorf("%+v: %v", c.of, err)
			continue
		}
		if n.MaxPods != c.pods || n.KubeReserved["cpu"] != c.cpu || n.KubeReserved["memory"] != c.memory {
			t.Errorf("%+v: %d pods, %v, want %d, %s, %s", c.of, n.MaxPods, n.KubeReserved, c.pods, c.cpu, c.memory)
		}
	}
}

func TestAKS(t *testing.T) {
	for _, c := range []struct {
		vcpus       int
		gibibytes   float64
		cpu, memory string
	}{
		// From Karpenter for Azure, whose tests have the first three.
		{4, 7, "140m", "1638Mi"}, {2, 8, "100m", "1843Mi"}, {3, 64, "120m", "5611Mi"}, {2, 3.5, "100m", "896Mi"}, {2, 4, "100m", "1024Mi"},
		{4, 16, "140m", "2662Mi"}, {8, 32, "180m", "3645Mi"}, {16, 64, "260m", "5611Mi"}, {32, 128, "420m", "9543Mi"},
		{64, 256, "740m", "12165Mi"}, {96, 384, "1060m", "14786Mi"}, {128, 512, "1380m", "17408Mi"},
	} {
		of := AKS{VCPUs: c.vcpus, MemoryBytes: int64(c.gibibytes * (1 << 30)), Plugin: Azure, Former: true}
		n, err := of.Node()
		if err != nil || n.KubeReserved["cpu"] != c.cpu || n.KubeReserved["memory"] != c.memory || n.EvictionHard["memory.available"] != "750Mi" {
			t.Errorf("%+v: %+v, %v, want %s, %s", of, n, err, c.cpu, c.memory)
		}
	}
	for _, c := range []struct {
		of     AKS
		pods   int
		memory string
	}{
		{AKS{VCPUs: 2, MemoryBytes: 8 << 30, Plugin: Azure}, 30, "650Mi"},
		{AKS{VCPUs: 2, MemoryBytes: 8 << 30, Plugin: AzureOverlay}, 250, "2048Mi"}, // a quarter
		{AKS{VCPUs: 2, MemoryBytes: 64 << 30, Plugin: AzureOverlay}, 250, "5050Mi"},
		{AKS{VCPUs: 2, MemoryBytes: 7 << 30, Plugin: Kubenet, MaxPods: 70}, 70, "1450Mi"},
		{AKS{VCPUs: 2, MemoryBytes: 4 << 30, Plugin: NoPlugin}, 250, "1024Mi"},
	} {
		n, err := c.of.Node()
		if err != nil || n.MaxPods != c.pods || n.KubeReserved["memory"] != c.memory || n.EvictionHard["memory.available"] != "100Mi" {
			t.Errorf("%+v: %+v, %v, want %d, %s", c.of, n, err, c.pods, c.memory)
		}
	}
}

// The numbers are Karpenter for Azure's; its tests have the first three.
func TestAKSMemory(t *testing.T) {
	for gibibytes, want := range map[float64]int64{
		7: 6952478310, 8: 7945689497, 64: 63565515980, 3.5: 2979633561, 4: 3972844748, 16: 15891378995, 32: 31782757990,
		128: 127131031961, 256: 254262063923, 384: 381393095884, 512: 508524127846, 11400: 11322607534080,
	} {
		if got := AKSMemory(int64(gibibytes*(1<<30)), 0.075); got != want {
			t.Errorf("%v GiB: %d, want %d", gibibytes, got, want)
		}
	}
}

// The error has all problems at once.
func TestRefused(t *testing.T) {
	for want, of := range map[string]interface{ Node() (*Node, error) }{
		"virtual processors is not given\nthe instance type \"m5.huge\" is not known":             EKS{InstanceType: "m5.huge"},
		"-1 is no number of pods\nnetwork interfaces and the addresses":                           EKS{VCPUs: 1, MaxPods: -1, Interfaces: 2},
		"the instance type \"\" is not known":                                                     EKS{VCPUs: 1},
		"processors is not given\nthe memory is not given\nthe network plug-in \"\" is not known": AKS{},
	} {
		n, err := of.Node()
		if n != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, %v, want %q", of, n, err, want)
		}
	}
	for _, name := range []string{"m5", "m5.", ".large", "5.large", "m5.larg", "M5.large", "m5.large ", "m5,m5a.large", "m5.large=2x2,xlarge", "large.m5", "medium=2x6,xlarge.c1", "\n"} {
		if _, _, err := Interfaces(name); !isUnknown(err) || !strings.Contains(err.Error(), strconv.Quote(name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// For an unknown instance type, the caller gives the number of pods.
func TestTypeThatIsNotKnown(t *testing.T) {
	n, err := EKS{InstanceType: "m5.huge", VCPUs: 2, OtherPods: 110}.Node()
	if err != nil || n.MaxPods != 110 || n.KubeReserved["memory"] != "1465Mi" || n.KubeReserved["cpu"] != "70m" || !strings.Contains(n.Derivation[0].How, "type that is not known") {
		t.Errorf("%+v, %v", n, err)
	}
	n, err = EKS{InstanceType: "m5.large", VCPUs: 2, OtherPods: 110}.Node()
	if err != nil || n.MaxPods != 29 {
		t.Errorf("%+v, %v", n, err)
	}
	if _, err = (EKS{InstanceType: "m5.huge", OtherPods: 110}).Node(); err == nil || isUnknown(err) {
		t.Errorf("without processors: %v", err)
	}
}

// For these four types nodeadm's own table has more interfaces than the table of Amazon's network plug-in, from which this one is
// made (amazon-eks-ami 81fec2e8, instance-info.jsonl). All other types have the same number in both.
func TestTypesThatNodeadmHasOtherNumbersFor(t *testing.T) {
	for name, want := range map[string]struct{ pods, nodeadm int }{
		"i7ie.48xlarge": {8*49 + 2, 15*49 + 2}, "i7ie.metal-48xl": {8*49 + 2, 15*49 + 2},
		"i8ge.48xlarge": {12*49 + 2, 24*49 + 2}, "i8ge.metal-48xl": {12*49 + 2, 24*49 + 2},
	} {
		n, err := EKS{InstanceType: name, VCPUs: 192}.Node()
		if err != nil || n.MaxPods != want.pods || n.MaxPods == want.nodeadm {
			t.Errorf("%s: %+v, %v, want %d", name, n, err, want.pods)
		}
	}
}

func isUnknown(err error) bool {
	_, ok := errors.AsType[*UnknownTypeError](err)
	return ok
}

// The table has every type, and more of any resource never gives less capacity.
func TestEveryType(t *testing.T) {
	line := regexp.MustCompile(`^,([a-z0-9-]+,)+:([a-z0-9-]+=[0-9]+x[0-9]+,)+$`)
	types, pairs := 0, make(map[string]bool)
	for text := range strings.Lines(interfaces) {
		text = strings.TrimSuffix(text, "\n")
		if !line.MatchString(text) {
			t.Fatalf("the table has the line %q", text)
		}
		families, sizes, _ := strings.Cut(text, ":")
		for _, family := range strings.Split(strings.Trim(families, ","), ",") {
			for _, size := range strings.Split(strings.Trim(sizes, ","), ",") {
				name, pair, _ := strings.Cut(size, "=")
				interfaces, addresses, err := Interfaces(family + "." + name)
				if err != nil || fmt.Sprintf("%dx%d", interfaces, addresses) != pair {
					t.Errorf("%s.%s: %d, %d, %v, want %s", family, name, interfaces, addresses, err, pair)
				}
				types, pairs[pair] = types+1, true
				monotonic(t, family+"."+name)
			}
		}
	}
	const most = 12 << 10 // for each program that contains it
	if types != 1391 || len(pairs) != 46 || len(interfaces) > most {
		t.Errorf("%d types, %d pairs, %d bytes", types, len(pairs), len(interfaces))
	}
}

// monotonic compares the results for different settings of a type.
func monotonic(t *testing.T, name string) {
	t.Helper()
	pods := func(e EKS) int {
		n, err := e.Node()
		if err != nil || n.MaxPods < 2 {
			t.Fatalf("%+v: %+v, %v", e, n, err)
		}
		return n.MaxPods
	}
	plain := pods(EKS{InstanceType: name, VCPUs: 64})
	if custom := pods(EKS{InstanceType: name, VCPUs: 64, CustomNetworking: true}); custom > plain {
		t.Errorf("%s: %d with custom networking, %d without", name, custom, plain)
	}
	if capped := pods(EKS{InstanceType: name, VCPUs: 64, Capped: true}); capped > plain || capped > 250 {
		t.Errorf("%s: %d of %d", name, capped, plain)
	}
	if few, many := pods(EKS{InstanceType: name, VCPUs: 30, PrefixDelegation: true}), pods(EKS{InstanceType: name, VCPUs: 31, PrefixDelegation: true}); few > many || few > 110 {
		t.Errorf("%s: %d with 30 processors, %d with 31", name, few, many)
	}
}

func BenchmarkInterfaces(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := Interfaces("m5.large"); err != nil {
			b.Fatal(err)
		}
	}
}
