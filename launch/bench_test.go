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
		prepared.Render(request)
	}
}

// BenchmarkMerge merges the layers alone.
func BenchmarkMerge(b *testing.B) {
	cloud, _, _ := base(b).decode(b)
	layers, _ := cloud.Layers()
	b.ReportAllocs()
	for b.Loop() {
		launch.Merge(layers)
	}
}

// BenchmarkExplain renders, and says where each value is from.
func BenchmarkExplain(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	b.ReportAllocs()
	for b.Loop() {
		tpl, _ := launch.Render(cloud, request)
		tpl.Explain("")
	}
}

// BenchmarkCompact makes the record that is kept with a claim.
func BenchmarkCompact(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	tpl, _ := launch.Render(cloud, request)
	b.ReportAllocs()
	for b.Loop() {
		launch.TemplateOf(&tpl.Document).Compact()
	}
}

// BenchmarkUserData fills the token in.
func BenchmarkUserData(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	tpl, _ := launch.Render(cloud, request)
	token := nodeconfig.NewSecret("abcdef.0123456789abcdef")
	size := 0
	b.ReportAllocs()
	for b.Loop() {
		data, err := tpl.UserData(token)
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
	tpl, _ := launch.Render(cloud, request)
	b.ReportAllocs()
	for b.Loop() {
		tpl.Key()
	}
}

// BenchmarkDiff compares a node with the one that is wanted.
func BenchmarkDiff(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	tpl, _ := launch.Render(cloud, request)
	record := tpl.Record()
	b.ReportAllocs()
	for b.Loop() {
		launch.Diff(record, record)
	}
}

// BenchmarkChoose chooses among 10,000 versions of an image.
func BenchmarkChoose(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	tpl, _ := launch.Render(cloud, request)
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
			if _, _, err := list.Choose(&tpl.Document.Machine, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := list.Choose(&tpl.Document.Machine, nil); err != nil {
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
func poolTemplates(b *testing.B) (all [pools]*launch.Template) {
	cloud, request, _ := base(b).decode(b)
	prepared := launch.Prepare(cloud)
	for pool := range all {
		claim := *request.Claim
		claim.Metadata.Labels = map[string]string{"pool": fmt.Sprint(pool)}
		all[pool], _ = prepared.Render(launch.Request{Claim: &claim})
	}
	return all
}

// BenchmarkFleetUserData renders 20 pools, and writes the user data of each of 100,000 nodes with a token of its own. What is kept
// of a node is its template and its token.
func BenchmarkFleetUserData(b *testing.B) {
	type node struct {
		template *launch.Template
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

// BenchmarkFleetDiff compares 100,000 nodes of 20 pools, by what is kept with each, with new wishes, of which one in a hundred is another.
func BenchmarkFleetDiff(b *testing.B) {
	wanted := poolTemplates(b)
	var kept [pools]string
	for pool, tpl := range wanted {
		kept[pool] = tpl.Compact()
	}
	changed := launch.Copied(&wanted[0].Document)
	changed.Machine.Disk.SizeGB++
	other := launch.TemplateOf(changed)
	b.ReportAllocs()
	for b.Loop() {
		differ := 0
		for node := range nodes {
			c, err := launch.ParseCompact(kept[node%pools])
			if err != nil {
				b.Fatal(err)
			}
			want := wanted[node%pools]
			if node%100 == 0 {
				want = other
			}
			if len(c.Diff(want)) > 0 {
				differ++
			}
		}
		if differ != nodes/100 {
			b.Fatal(differ)
		}
	}
}

// TestAllocations holds how much is allocated at most; how long it takes make bench prints.
func TestAllocations(t *testing.T) {
	cloud, request, _ := base(t).decode(t)
	tpl, _ := launch.Render(cloud, request)
	token := nodeconfig.NewSecret("abcdef.0123456789abcdef")
	for _, c := range []struct {
		name string
		most float64
		run  func()
	}{
		{"merge and decide", 450, func() { launch.Render(cloud, request) }},
		{"fill in the token", 4, func() { _, _ = tpl.UserData(token) }},
		{"key", 2, func() { tpl.Key() }},
	} {
		if n := testing.AllocsPerRun(100, c.run); n > c.most {
			t.Errorf("%s: %v allocations, more than %v", c.name, n, c.most)
		}
	}
}
