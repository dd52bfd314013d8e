package volume_test

import (
	"bytes"
	"testing"

	"github.com/slipway-dev/slipway/internal/volume"
)

// BenchmarkReadFile is what a machine does at its boot: open the disk, read one small file.
func BenchmarkReadFile(b *testing.B) {
	for _, name := range []string{"azure.iso", "rockridge.iso", "joliet.iso", "fat16.img"} {
		data := load(b, name)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				v, err := volume.Open(bytes.NewReader(data), int64(len(data)))
				if err == nil {
					_, err = v.ReadFile("ovf-env.xml", 1<<20)
				}
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
