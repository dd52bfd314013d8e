package envelope_test

import (
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/userdata"
)

// BenchmarkOpen opens the examples' custom data, as in a cloud's metadata service.
func BenchmarkOpen(b *testing.B) {
	for _, e := range examples(b) {
		data, err := userdata.CustomData(userdata.Contract{Document: e.document, Path: e.path})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(e.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if _, err := envelope.Open([]byte(data), places); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
