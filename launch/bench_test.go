package launch_test

import (
	"fmt"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
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
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tpl.UserData(token); err != nil {
			b.Fatal(err)
		}
	}
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
	for n := range 10_000 {
		list.Images = append(list.Images, azure.ImageVersion{ID: fmt.Sprintf("/CommunityGalleries/G/images/2404gen2containerd/versions/%d.1.0", n), Published: "2026-08-13T00:00:00Z"})
	}
	b.Run("first", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			list.Remember()
			if _, _, err := list.Choose(&tpl.Document.Machine); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("again", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, _, err := list.Choose(&tpl.Document.Machine); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkFleet compares 100,000 nodes of 20 pools, by what is kept with each, with new wishes, of which one pool's differs.
func BenchmarkFleet(b *testing.B) {
	cloud, request, _ := base(b).decode(b)
	prepared := launch.Prepare(cloud)
	var kept [20]string
	var wanted [20]*launch.Template
	for pool := range wanted {
		claim := *request.Claim
		claim.Metadata.Labels = map[string]string{"pool": fmt.Sprint(pool)}
		tpl, _ := prepared.Render(launch.Request{Claim: &claim})
		kept[pool], wanted[pool] = tpl.Compact(), tpl
	}
	changed := launch.Copied(&wanted[0].Document)
	changed.Machine.Disk.SizeGB++
	other := launch.TemplateOf(changed)
	b.ReportAllocs()
	for b.Loop() {
		differ := 0
		for node := range 100_000 {
			c, err := launch.ParseCompact(kept[node%20])
			if err != nil {
				b.Fatal(err)
			}
			want := wanted[node%20]
			if node%100 == 0 {
				want = other
			}
			if len(c.Diff(want)) > 0 {
				differ++
			}
		}
		if differ != 1000 {
			b.Fatal(differ)
		}
	}
}
