package versions_test

import (
	"math/big"
	"regexp"
	"slices"
	"testing"

	"github.com/slipway-dev/slipway/internal/versions"
)

// The order of releases, pre-releases and vendors' versions. Versions in one row compare equal.
func TestCompareOrdersReleases(t *testing.T) {
	rows := [][]string{
		{"1"}, {"1.9.11"}, {"1.33"}, {"1.33.4"},
		{"1.34.0-alpha.1", "v1.34.0-alpha.1+0123abc"}, {"1.34.0-alpha.2"}, {"1.34.0-alpha.10"}, {"1.34.0-beta.0"}, {"1.34.0-rc.0", "1.34.0-rc.0-gke.1", "1.34.0~rc.0-1"}, {"1.34.0-rc.1"},
		{"1.34.0", "v1.34.0", "1.34", "1.34.0+k3s1", "1.34.0-gke.100", "1.34.0-eks-1fbb135", "1.34.0-akslts", "1.34.0-0ubuntu1~24.04.1", "1.34.0-rcfoo", "1.34.0-1.1"},
		{"1.34.1", "1.34.1-hotfix.20240101"}, {"1.35.0"}, {"2"}, {"2.0.0-rc.1"}, {"2.0.0-rc93"}, {"2.0.4", "2.0.4-ubuntu24.04u1"}, {"10.0.0"},
	}
	for i, row := range rows {
		for j, other := range rows {
			for _, a := range row {
				for _, b := range other {
					first, ok := versions.Parse(a)
					second, ok2 := versions.Parse(b)
					if got, want := first.Compare(second), min(max(i-j, -1), 1); !ok || !ok2 || got != want {
						t.Errorf("%q and %q: %d, want %d", a, b, got, want)
					}
				}
			}
		}
	}
}

func TestParseRefusesWhatIsNoVersion(t *testing.T) {
	for _, text := range []string{"", "v", "x", "1.x", "1.34.0.0", "1.34.0-", "1.34.0+", "1.99999999999", "-1", "1..2", "1.+2", " 1.34.0", "1.34.0 "} {
		if v, ok := versions.Parse(text); ok {
			t.Errorf("%q is %+v", text, v)
		}
	}
}

func TestStringLeavesOutTheVendor(t *testing.T) {
	for text, want := range map[string]string{
		"v1.30.4-eks-1fbb135": "1.30.4", "1.30.4+k3s1": "1.30.4", "1.36.0-rc.1": "1.36.0-rc.1", "1.36.0-rc.1+build": "1.36.0-rc.1", "1.7.27-0ubuntu1": "1.7.27", "2": "2",
	} {
		if v, ok := versions.Parse(text); !ok || v.String() != want {
			t.Errorf("%q: %q, want %q", text, v, want)
		}
	}
}

func TestAtLeast(t *testing.T) {
	for version, want := range map[string]bool{
		"1.34.0": true, "1.34.1": true, "v1.34.0": true, "1.34": true, "1.35.0-rc.1": true, "1.34.0-akslts": true, "1.34.0-eks-1fbb135": true, "2.0.0": true, "2": true,
		"1.34.0-rc.1": false, "1.33.9": false, "1.33.9-gke.1": false, "1.34.0+build": true, "": false, "1": false, "1.x": false,
	} {
		if got := versions.AtLeast(version, 34); got != want {
			t.Errorf("%q: %t, want %t", version, got, want)
		}
	}
}

func TestMinor(t *testing.T) {
	for text, want := range map[string]int{"1.34.2": 34, "v1.34": 34, "1.35.0-rc.1": 35, "1.34.2-eks-1": 34, "1": -1, "2.1": -1, "": -1, "1.x": -1} {
		if got, ok := versions.Minor(text); ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %t", text, got, ok)
		}
	}
}

func TestCompareNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"1.9.2", "1.10.0", -1}, {"1.010", "1.10", 0}, {"1.2", "1.2.0", -1}, {"1.2.x", "1.2.0", -1}, {"1.2.x", "1.2", 1}, {"99999999999999999999.0", "1", 1}, {"x", "y", 0}, {"", "0", -1},
		{"6.8.0-1026", "6.8.0-1030", -1}, {"6.8.0-1026", "6.8.0-999", 1}, {"5.15.0-1089.98~20.04", "5.15.0-1089.98~20.4", 0},
		{"v1.4.54", "v2.0.1", -1}, {"kubelet_1.34.2-1.10_amd64.deb", "kubelet_1.34.2-1.9_amd64.deb", 1}, {"1.2.3-0ubuntu2", "1.2.3-0ubuntu10", -1},
	} {
		if got, back := versions.CompareNumbers(c.a, c.b), versions.CompareNumbers(c.b, c.a); got != c.want || back != -c.want {
			t.Errorf("%q and %q: %d, %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

// FuzzOrder: both orders are total orders, a version equals itself without its vendor's suffix, and numbers of any size
// compare as numbers.
func FuzzOrder(f *testing.F) {
	f.Add("1.34.0-rc.1", "1.34.0-eks-1", "v1.34")
	f.Add("", "1..2", "99999999999999999999.1")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		compare := func(a, b string) int {
			first, _ := versions.Parse(a)
			second, _ := versions.Parse(b)
			return first.Compare(second)
		}
		for name, order := range map[string]func(a, b string) int{"numbers": versions.CompareNumbers, "versions": compare} {
			sorted := []string{a, b, c}
			slices.SortFunc(sorted, order)
			if order(a, b) != -order(b, a) || order(sorted[0], sorted[1]) > 0 || order(sorted[1], sorted[2]) > 0 || order(sorted[0], sorted[2]) > 0 {
				t.Errorf("%s: %q is no order", name, sorted)
			}
		}
		if v, ok := versions.Parse(a); ok {
			if again, ok := versions.Parse(v.String()); !ok || again.Compare(v) != 0 {
				t.Errorf("%q, and without its vendor %q", a, v)
			}
		}
		number := regexp.MustCompile(`^[0-9]{1,40}$`)
		if number.MatchString(a) && number.MatchString(b) {
			first, _ := new(big.Int).SetString(a, 10)
			second, _ := new(big.Int).SetString(b, 10)
			if got := versions.CompareNumbers(a, b); got != first.Cmp(second) {
				t.Errorf("%s and %s: %d", a, b, got)
			}
		}
	})
}
