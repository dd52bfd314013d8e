package userdata

import (
	"math/rand"
	"testing"
)

// benchContract is as large as a full AKS contract.
func benchContract(features bool) Contract {
	document := make([]byte, 6<<10)
	rand.New(rand.NewSource(1)).Read(document)
	c := Contract{Document: document, Path: AKSPath}
	if features {
		c.Features = map[string]string{"ENABLE_PROVISIONING_HOTFIX": "true", "ENABLE_OTHER": "false"}
	}
	return c
}

func BenchmarkCustomData(b *testing.B) {
	for _, bench := range []struct {
		name     string
		features bool
	}{{"plain", false}, {"features", true}} {
		b.Run(bench.name, func(b *testing.B) {
			c := benchContract(bench.features)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := CustomData(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMIME(b *testing.B) {
	c := benchContract(false)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := MIME(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCloudConfig(b *testing.B) {
	c := benchContract(false)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := CloudConfig(c); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIgnition(b *testing.B) {
	c := benchContract(false)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Ignition(c); err != nil {
			b.Fatal(err)
		}
	}
}
