package nodeconfig

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// forms are the formats, each with an equivalent regular expression, and strings that match.
var forms = map[string]struct {
	is    func(string) bool
	as    string
	texts []string
}{
	"printable":          {isPrintable, `^[\x21-\x7e]+$`, []string{"/a/b", "x"}},
	"Kubernetes version": {isKubernetesVersion, `^1\.(0|[1-9][0-9]{0,2})\.(0|[1-9][0-9]{0,3})(-[0-9A-Za-z.-]{1,64})?(\+[0-9A-Za-z.-]{1,64})?$`, []string{"1.34.2", "1.35.0-rc.1", "1.0.0+build-1", "1.36.3-a-b+c.d", "1.999.9999", "1.34.2-" + strings.Repeat("a", 64)}},
	"bootstrap token":    {IsBootstrapToken, `^[a-z0-9]{6}\.[a-z0-9]{16}$`, []string{"abcdef.0123456789abcdef"}},
	"DNS name":           {isDNSName, `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`, []string{"a", "a-b.c", strings.Repeat("a", 63) + ".b"}},
	"variable":           {isEnvName, `^[A-Za-z_][A-Za-z0-9_]*$`, []string{"A", "_a1"}},
	"flag":               {isFlagName, `^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`, []string{"v", "node-labels"}},
	"label value":        {isLabelValue, `^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`, []string{"a", "A_b.c-d", strings.Repeat("a", 63)}},
	"image":              {isImageReference, `^[a-zA-Z0-9]([a-zA-Z0-9._/:@-]*[a-zA-Z0-9])?$`, []string{"registry.k8s.io/pause:3.10", "a@sha256:00"}},
	"kernel parameter":   {isSysctlKey, `^[a-z0-9_]+(\.[A-Za-z0-9_/*-]+)+$`, []string{"vm.swappiness", "net.ipv4.conf.eth0/1.rp_filter", "net.ipv4.conf.*.rp_filter"}},
	"module":             {isModuleName, `^[a-zA-Z0-9_-]{1,64}$`, []string{"ip_vs", strings.Repeat("m", 64)}},
	"limit":              {isLimitValue, `^([0-9]+[KMGTPE]?|infinity)(:([0-9]+[KMGTPE]?|infinity))?$`, []string{"1048576", "65536:1048576", "infinity", "64M:infinity", "K"}},
	"SHA-256":            {isSHA256, `^[0-9a-fA-F]{64}$`, []string{strings.Repeat("0aF", 21) + "0"}},
}

// Each format accepts the same strings as its expression: the matching ones, and variants of them
// with a few changes.
func TestForms(t *testing.T) {
	const letters = "a0AZz9_-./:@*+ \n\x00é~KM"
	for name, f := range forms {
		as := regexp.MustCompile(f.as)
		random := rand.New(rand.NewPCG(1, uint64(len(name))))
		matched := 0
		for range 20000 {
			s := []byte(f.texts[random.IntN(len(f.texts))])
			for range random.IntN(4) {
				at := random.IntN(len(s) + 1)
				switch letter := letters[random.IntN(len(letters))]; {
				case random.IntN(3) == 0:
					s = append(s[:at], append([]byte{letter}, s[at:]...)...)
				case at < len(s) && random.IntN(2) == 0:
					s[at] = letter
				case at < len(s):
					s = append(s[:at], s[at+1:]...)
				}
			}
			want := as.MatchString(string(s))
			if want {
				matched++
			}
			if f.is(string(s)) != want {
				t.Fatalf("%s: %q: got %v", name, s, !want)
			}
		}
		if f.is("") || matched < 1000 {
			t.Errorf("%s: the empty text has the form, or only %d of the others", name, matched)
		}
	}
}
