package launch_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// BenchmarkRender merges the layers and decides.
func BenchmarkRender(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	b.ReportAllocs()
	for b.Loop() {
		launch.Render(cloud, request)
	}
}

// BenchmarkRenderPrepared decides for a claim, where what all claims of the class have in common is merged already.
func BenchmarkRenderPrepared(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	prepared := launch.Prepare(cloud)
	b.ReportAllocs()
	for b.Loop() {
		prepared(request)
	}
}

// BenchmarkMerge merges the layers alone.
func BenchmarkMerge(b *testing.B) {
	cloud, _, _ := base(b).decode(b)
	layers, _ := cloud.Layers()
	b.ReportAllocs()
	for b.Loop() {
		launch.Merged(layers)
	}
}

// BenchmarkExplain renders, and says where each value is from.
func BenchmarkExplain(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	b.ReportAllocs()
	for b.Loop() {
		made := launch.Render(cloud, request)
		made.Explain("")
	}
}

// BenchmarkRecord makes the record that is kept with a claim.
func BenchmarkRecord(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	prepared := launch.Prepare(cloud)
	b.ReportAllocs()
	for b.Loop() {
		made := prepared(request)
		_ = made.Record().Text()
	}
}

// BenchmarkUserData fills the token in.
func BenchmarkUserData(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	made := launch.Render(cloud, request)
	token := nodeconfig.NewSecret("abcdef.0123456789abcdef")
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		data, err := made.UserData(token)
		if err != nil {
			b.Fatal(err)
		}
		size = len(data)
	}
	b.ReportMetric(100*float64(size)/userdata.MaxCustomDataBase64, "%ofAzure")
}

// BenchmarkKey names a template that has been named before.
func BenchmarkKey(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	made := launch.Render(cloud, request)
	b.ReportAllocs()
	for b.Loop() {
		made.Key()
	}
}

// BenchmarkCompare compares a node with one that is wanted and differs, in the machine alone and in what its kubelet has.
func BenchmarkCompare(b *testing.B) {
	for _, over := range []string{"nodeclass: {spec: {osDiskSizeGB: 64}}", "nodeclass: {spec: {kubelet: {podPidsLimit: 50}}}"} {
		b.Run(over, func(b *testing.B) {
			cloud, request, _ := base(b).decode(b)
			running := launch.Render(cloud, request)
			kept := running.Record().Text()
			cloud, request, _ = with(b, parse(b, []byte(over))).decode(b)
			wanted := launch.Render(cloud, request)
			b.ReportAllocs()
			for b.Loop() {
				record, err := launch.ParseRecord([]byte(kept))
				if err != nil {
					b.Fatal(err)
				}
				if c, err := launch.Compare(record, wanted); err != nil || len(c.Changes) == 0 {
					b.Fatal(c, err)
				}
			}
		})
	}
}

// BenchmarkChoose chooses among 10,000 versions of an image.
func BenchmarkChoose(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	made := launch.Render(cloud, request)
	list := new(azure.Images)
	published := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := range 10_000 {
		list.Images = append(list.Images, azure.ImageVersion{
			ID:        fmt.Sprintf("/CommunityGalleries/G/images/2404gen2containerd/versions/%d.1.0", n*7919%10_000),
			Published: published.Add(time.Duration(n*7919%10_000) * time.Hour).Format(time.RFC3339),
		})
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			list.Remember()
			if _, _, err := list.Choose(&made.Document().Machine, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := list.Choose(&made.Document().Machine, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// nodes and pools are those of a large fleet.
const (
	nodes = 100_000
	pools = 20
)

// poolTemplates are a template of each pool.
func poolTemplates(b *testing.B) (all [pools]*launch.Launch) {
	cloud, request, _ := base(b).decode(b)
	prepared := launch.Prepare(cloud)
	for pool := range all {
		claim := *request.Claim
		claim.Metadata.Labels = map[string]string{"pool": fmt.Sprint(pool)}
		all[pool] = prepared(launch.Request{Claim: &claim})
	}
	return all
}

// BenchmarkFleetUserData renders 20 pools, and writes the user data of 100,000 nodes, each with a different token. It keeps the template
// and the token of each node.
func BenchmarkFleetUserData(b *testing.B) {
	type node struct {
		template *launch.Launch
		token    nodeconfig.Secret
	}
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	tokens := make([]nodeconfig.Secret, nodes)
	for n := range tokens {
		tokens[n] = nodeconfig.NewSecret(fmt.Sprintf("abcdef.%016d", n))
	}
	var fleet []node
	before := heap()
	b.ReportAllocs()
	for b.Loop() {
		templates := poolTemplates(b)
		fleet = make([]node, nodes)
		for n := range fleet {
			fleet[n] = node{templates[n%pools], tokens[n]}
			if _, err := fleet[n].template.UserData(fleet[n].token); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric((heap()-before)/nodes, "kept-B/node")
	runtime.KeepAlive(fleet)
}

// BenchmarkFirst renders a template, and makes its first user data and its record.
func BenchmarkFirst(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	prepared := launch.Prepare(cloud)
	token := nodeconfig.NewSecret("abcdef.0123456789abcdef")
	b.ReportAllocs()
	for b.Loop() {
		made := prepared(request)
		if _, err := made.UserData(token); err != nil {
			b.Fatal(err)
		}
		_ = made.Record().Text()
	}
}
