package karpenter_test

import (
	"math"
	"math/rand/v2"
	"regexp"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/slipway-dev/slipway/internal/quantity"
)

// longExponent matches numbers that take Kubernetes' library minutes to compute.
var longExponent = regexp.MustCompile(`[eE][+-]*[0-9]{3}`)

// Slipway reads a quantity without a library of Kubernetes, and reads the same as Kubernetes. Two things are not compared: beyond
// an int64, Kubernetes answers with the remaining bits, and Slipway with the nearest int64; and Slipway reads only the sign of a
// negative quantity, so its rounding does not matter.
func TestQuantitiesAreThoseOfKubernetes(t *testing.T) {
	texts := []string{"200m", "1.5Gi", "-1e3", "+7Ei", ".5", "1.", "Ki", "Pi", "1e-99", "9223372036854775808", "0.0000000001", "1E", "12E2", "m", "-", "00.10u"}
	parts := []string{"0", "1", "7", "9", "25", "1000000007", ".", "-", "+", "e", "E", "e-", "n", "u", "m", "k", "K", "M", "G", "Ki", "Mi", "Gi", "Ei", " ", "x"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50000 {
		text := ""
		for range 1 + random.IntN(6) {
			text += parts[random.IntN(len(parts))]
		}
		if !longExponent.MatchString(text) {
			texts = append(texts, text)
		}
	}
	before, number := resource.MustParse("1"), quantity.New(1)
	for _, text := range texts {
		want, err := resource.ParseQuantity(text)
		got, ok := quantity.Parse(text)
		switch {
		case ok != (err == nil):
			t.Errorf("%q: %t, Kubernetes says %v", text, ok, err)
		case !ok:
		case within(want, math.MaxInt64) && got.Value() != want.Value() || within(want, math.MaxInt64/1000) && got.Milli() != want.MilliValue():
			t.Errorf("%q: %d, %d thousandths; Kubernetes reads %d, %d", text, got.Value(), got.Milli(), want.Value(), want.MilliValue())
		case got.Sign() != want.Sign() || got.Cmp(&number) != want.Cmp(before):
			t.Errorf("%q: sign %d, %d to the one before; Kubernetes says %d, %d", text, got.Sign(), got.Cmp(&number), want.Sign(), want.Cmp(before))
		default:
			before, number = want, got
		}
	}
}

func within(q resource.Quantity, most int64) bool {
	return q.CmpInt64(most) <= 0 && q.Sign() >= 0
}
