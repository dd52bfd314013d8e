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
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := list.Choose(&tpl.Document.Machine); err != nil {
			b.Fatal(err)
		}
	}
}
