package quantity

import (
	"math"
	"testing"
)

// Kubernetes' results for each text (k8s.io/apimachinery pkg/api/resource); the differential test of test/kubelet compares many
// more.
func TestParse(t *testing.T) {
	const large = math.MaxInt64
	for text, want := range map[string]struct {
		value, milli int64
		whole        bool
	}{
		"0": {0, 0, true}, "200m": {1, 200, false}, "1": {1, 1000, true}, "+1": {1, 1000, true}, "007": {7, 7000, true},
		"1.5": {2, 1500, false}, "1.": {1, 1000, true}, ".5": {1, 500, false}, "1n": {1, 1, false}, "1e3": {1000, 1000000, true}, "1E-3": {1, 1, false},
		"1Ki": {1024, 1024000, true}, "1.5Gi": {1610612736, 1610612736000, false}, "1.5M": {1500000, 1500000000, true}, "7Ei": {7 << 60, large, false},
		"9Ei": {large, large, false}, "9223372036854775807": {large, large, false}, "1e99": {large, large, false}, "1e-99": {1, 1, false}, "Ki": {0, 0, true}, "m": {0, 0, false},
		"100000000000000000000": {large, large, false}, "0Pi": {0, 0, false},
	} {
		q, ok := Parse(text)
		whole, isWhole := q.Whole()
		if !ok || q.Value() != want.value || q.Milli() != want.milli || isWhole != want.whole || isWhole && whole != want.value {
			t.Errorf("%q: %d, %d, %t %d, %t", text, q.Value(), q.Milli(), isWhole, whole, ok)
		}
	}
	for _, text := range []string{"", " 1", "1 ", "1GB", "1K", "1KB", "1gi", "1MiB", "lots", "-", "--1", "1-", "1e", "1e1.5", "e-12", "Pi", "1,5", "0x10", "1_000", "NaN", "١"} {
		if q, ok := Parse(text); ok && text != "-" {
			t.Errorf("%q is taken for %d", text, q.Value())
		}
	}
}

func TestSigns(t *testing.T) {
	for text, sign := range map[string]int{"-1": -1, "-0": 0, "-1.5Gi": -1, "1n": 1, "-1e-99": -1} {
		if q, ok := Parse(text); !ok || q.Sign() != sign {
			t.Errorf("%q: %d, %t", text, q.Sign(), ok)
		}
	}
}

// Sums are exact, for numbers with different units and for large ones.
func TestSums(t *testing.T) {
	for sum, parts := range map[string][]string{"2": {"1500m", "500m"}, "1536Mi": {"1Gi", "0.5Gi"}, "18446744073709551614": {"9223372036854775807", "9223372036854775807"}, "1": {"2", "-1"}} {
		var total Quantity
		for _, part := range parts {
			q, _ := Parse(part)
			total.Add(&q)
		}
		want, _ := Parse(sum)
		more := New(1)
		more.Add(&total)
		if total.Cmp(&want) != 0 || total.Cmp(&more) != -1 || more.Cmp(&total) != 1 {
			t.Errorf("%v is not %s", parts, sum)
		}
	}
	if milli, want := NewMilli(1500), New(2); milli.Value() != 2 || milli.Cmp(&want) != -1 {
		t.Errorf("1500 thousandths are %d", milli.Value())
	}
}

// TestText: all texts of an amount have one canonical text; an amount that is finer or larger than a text can express has no exact
// one.
func TestText(t *testing.T) {
	for want, texts := range map[string][]string{
		"0": {"0", "0Ki", "-0", "m"}, "1Gi": {"1Gi", "1024Mi", "1048576Ki", "1073741824", "1073741824000m"}, "1536Mi": {"1.5Gi", "1610612736"},
		"1G": {"1G", "1e9", "1000M", "1000000000"}, "100k": {"100k", "100000", "1e5"}, "250m": {"250m", ".25", "0.250", "250000u"}, "1500m": {"1.5", "1500m"},
		"-1Ki": {"-1024", "-1Ki"}, "1Ei": {"1Ei", "1152921504606846976"},
		"9223372036854775807": {"9Ei"}, "": {"1n", "1500u", "1e99"},
	} {
		for _, text := range texts {
			q, ok := Parse(text)
			if got, exact := q.Text(); !ok || exact != (want != "") || exact && got != want {
				t.Errorf("%q: %q, %t, want %q", text, got, exact, want)
			}
		}
	}
}

// FuzzParse: no text makes the parser panic, a rounded amount is not smaller, and Text is the same amount.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"1.5Gi", "1e2147483647", "1e-2147483648", "0.000000000000000001Ei", "999999999999999999999999n", "-1e4294967297"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, ok := Parse(text)
		if value := New(q.Value()); ok && q.Value() != math.MaxInt64 && value.Cmp(&q) < 0 {
			t.Errorf("%q is rounded to %d", text, q.Value())
		}
		if written, exact := q.Text(); ok && exact {
			if back, ok := Parse(written); !ok || back.Cmp(&q) != 0 {
				t.Errorf("%q is written as %q, which is another amount", text, written)
			}
		}
	})
}
