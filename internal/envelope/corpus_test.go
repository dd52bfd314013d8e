package envelope_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/userdata"
)

// minCorpus is the minimum number of malformed user data.
const minCorpus = 300

// spoilt is user data that is derived from good user data. It gives an error, or the unchanged contract.
type spoilt struct {
	name     string
	data     []byte
	original []byte
}

// good is user data with a contract.
type good struct {
	name     string
	data     []byte
	contract []byte
}

// goods are the contract in all forms that userdata renders, and compressed. In each of them the contract's encoding
// makes damage detectable, by its characters or its checksum.
func goods(t *testing.T) []good {
	t.Helper()
	c := userdata.Contract{Document: []byte(contractText), Path: userdata.NativeYAMLPath}
	var list []good
	add := func(name string, data []byte, err error) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, good{name, data, c.Document})
	}
	archive, err := userdata.MIME(c)
	add("MIME", archive, err)
	customData, err := userdata.CustomData(c)
	add("custom data", []byte(customData), err)
	config, err := userdata.CloudConfig(c)
	add("cloud-config", config, err)
	ignition, err := userdata.Ignition(c)
	add("Ignition", ignition, err)
	add("gzip", gzipped(archive), nil)
	add("zstd", zstandard(archive), nil)
	add("gzip in base64", []byte(std64(gzipped(c.Document))), nil)
	add("gzip in a MIME archive in base64", []byte(std64(archiveOf(part{"application/gzip", "base64", []byte(std64(gzipped(c.Document)))}))), nil)
	return list
}

// structure are the bytes at which user data is cut and spoilt: those with a meaning in a wrapping.
const structure = "\n:=-#'\"{}[],/<|;"

// positions are the offsets after structural bytes, and some others in binary data; at most limit, spread evenly.
func positions(data []byte, limit int) []int {
	var all []int
	for i, c := range data {
		if strings.IndexByte(structure, c) >= 0 || i%16 == 0 {
			all = append(all, i)
		}
	}
	var some []int
	for i := range min(limit, len(all)) {
		some = append(some, all[i*len(all)/min(limit, len(all))])
	}
	return some
}

// strays are bytes that are inserted in good user data: not characters of base64, of a header, or of YAML.
var strays = []struct{ name, bytes string }{
	{"NUL", "\x00"}, {"a byte that is not UTF-8", "\xff"}, {"a byte order mark", "\xef\xbb\xbf"}, {"an exclamation mark", "!"}, {"padding", "="}, {"an escape", "\x1b"},
}

// spoiltGoods are good user data, cut at each position, and with each stray at each position.
func spoiltGoods(t *testing.T) []spoilt {
	var list []spoilt
	for _, g := range goods(t) {
		for _, at := range positions(g.data, 60) {
			list = append(list, spoilt{fmt.Sprintf("%s, cut after %d bytes", g.name, at), g.data[:at:at], g.contract})
		}
		for _, s := range strays {
			for _, at := range positions(g.data, 12) {
				data := append(append(bytes.Clone(g.data[:at]), s.bytes...), g.data[at:]...)
				list = append(list, spoilt{fmt.Sprintf("%s, %s after %d bytes", g.name, s.name, at), data, g.contract})
			}
		}
	}
	return list
}

// fragments are invalid data, in any context.
var fragments = []struct {
	name string
	data []byte
}{
	{"JSON cut", []byte(`{"version":"` + canary)},
	{"JSON twice", []byte(`{"version":"v1"}{"x":"` + canary + `"}`)},
	{"JSON with NUL", []byte("{\"version\":\"\x00" + canary + "\"}")},
	{"JSON with a comment", []byte("{\"version\":\"v1\"} // " + canary)},
	{"JSON with a comma too many", []byte(`{"version":"` + canary + `",}`)},
	{"JSON in single quotes", []byte(`{'version':'` + canary + `'}`)},
	{"gzip cut", gzipped([]byte(contractText))[:30]},
	{"gzip with a wrong sum", flip(gzipped([]byte(contractText)), -6)},
	{"gzip with a wrong length", flip(gzipped([]byte(contractText)), -1)},
	{"gzip with something after it", append(gzipped([]byte(contractText)), 0)},
	{"zstd cut", zstandard([]byte(contractText))[:30]},
	{"zstd damaged", flip(zstandard([]byte(contractText)), -3)},
	{"base64 cut", []byte(std64(contractText)[:53])},
	{"MIME without end", []byte("MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=q\n\n--q\n\n" + contractText)},
	{"cloud-config cut", []byte("#cloud-config\nwrite_files: [{path: /etc/slipway/config.yaml, content: '" + canary)},
	{"boothook cut", boothookOf(std64(canary))},
	{"Ignition cut", ignitionOf(`{"source":"data:,` + canary + `"}`)[:60]},
}

// boundaries are MIME archives with broken boundaries; each contains the contract.
var boundaries = []struct{ name, contentType, body string }{
	{"none said", "multipart/mixed", "--b\n\n%s\n--b--\n"},
	{"empty", "multipart/mixed; boundary=\"\"", "--\n\n%s\n----\n"},
	{"another", "multipart/mixed; boundary=b", "--c\n\n%s\n--c--\n"},
	{"another case", "multipart/mixed; boundary=b", "--B\n\n%s\n--B--\n"},
	{"not closed", "multipart/mixed; boundary=b", "--b\n\n%s\n--b\n"},
	{"not closed, at the data's end", "multipart/mixed; boundary=b", "--b\n\n%s"},
	{"closed by another", "multipart/mixed; boundary=b", "--b\n\n%s\n--c--\n"},
	{"closed with one dash", "multipart/mixed; boundary=b", "--b\n\n%s\n--b-\n"},
	{"one dash before", "multipart/mixed; boundary=b", "-b\n\n%s\n-b--\n"},
	{"no dashes before", "multipart/mixed; boundary=b", "b\n\n%s\nb--\n"},
	{"indented", "multipart/mixed; boundary=b", " --b\n\n%s\n --b--\n"},
	{"with something after it", "multipart/mixed; boundary=b", "--b x\n\n%s\n--b-- x\n"},
	{"a longer one", "multipart/mixed; boundary=b", "--bb\n\n%s\n--bb--\n"},
	{"a quote that does not end", "multipart/mixed; boundary=\"b", "--b\n\n%s\n--b--\n"},
	{"twice", "multipart/mixed; boundary=b; boundary=c", "--b\n\n%s\n--b--\n"},
	{"without equals sign", "multipart/mixed; boundary b", "--b\n\n%s\n--b--\n"},
	{"of another parameter", "multipart/mixed; boundaries=b", "--b\n\n%s\n--b--\n"},
	{"lines that end in CR", "multipart/mixed; boundary=b", "--b\r\r%s\r--b--\r"},
	{"of the multipart in it, not closed", "multipart/mixed; boundary=b", "--b\nContent-Type: multipart/mixed; boundary=c\n\n--c\n\n%s\n--b--\n"},
	{"the same in the multipart in it", "multipart/mixed; boundary=b", "--b\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n%s\n--b--\n--b--\n"},
}

// brokenCorpus is invalid data in any wrapping.
func brokenCorpus() []malformed {
	var list []malformed
	r := rand.New(rand.NewPCG(5, 6))
	for _, f := range fragments {
		list = append(list, malformed{name: f.name, data: f.data, want: "broken"})
		for _, w := range wrappers {
			data, _ := w.wrap(r, f.data)
			list = append(list, malformed{name: f.name + " in " + w.name, data: data, want: "broken"})
		}
	}
	for _, b := range boundaries {
		data := "MIME-Version: 1.0\nContent-Type: " + b.contentType + "\n\n" + fmt.Sprintf(b.body, contractText)
		list = append(list, malformed{name: "boundary: " + b.name, data: []byte(data), want: "broken"})
	}
	return list
}

// ambiguousCorpus has two contracts in each pair of wrappings.
func ambiguousCorpus() []malformed {
	var list []malformed
	r := rand.New(rand.NewPCG(7, 8))
	for _, a := range wrappers {
		for _, b := range wrappers {
			one, _ := a.wrap(r, []byte(contractText))
			other, _ := b.wrap(r, []byte(contractText+"x: y\n"))
			data := archiveOf(part{"application/octet-stream", "base64", []byte(std64(one))}, part{"application/octet-stream", "base64", []byte(std64(other))})
			list = append(list, malformed{name: "contracts in " + a.name + " and in " + b.name, data: data, want: "ambiguous"})
		}
	}
	return list
}

// TestCorpus: malformed user data gives an error of the right type, which shows none of it, never a contract that
// differs from the original; and stays within limits.
func TestCorpus(t *testing.T) {
	refused := 0
	check := func(name string, data, original []byte, want string) {
		got, allocated, err := measured(data)
		switch {
		case allocated > maxAllocated:
			t.Errorf("%s: allocated %d KiB", name, allocated>>10)
		case err == nil && (want != "" || !bytes.Equal(got.Data, original)):
			t.Errorf("%s: got %v, want an error", name, got)
		case err == nil: // only data beside the contract was spoilt
		case outcome(err) == "untyped" || want != "" && outcome(err) != want:
			t.Errorf("%s: got %q error %v, want %q", name, outcome(err), err, want)
		case strings.Contains(err.Error(), canary):
			t.Errorf("%s: the error shows the data: %v", name, err)
		default:
			refused++
		}
	}
	for _, c := range append(brokenCorpus(), append(ambiguousCorpus(), cases...)...) {
		if c.want != "none" { // in that case nothing is malformed
			check(c.name, c.data, nil, c.want)
		}
	}
	fixed := refused
	for _, s := range spoiltGoods(t) {
		check(s.name, s.data, s.original, "")
	}
	t.Logf("%d malformed user data refused: %d written or combined, %d made of good ones", refused, fixed, refused-fixed)
	if fixed < minCorpus {
		t.Errorf("only %d malformed user data of a known error, want %d", fixed, minCorpus)
	}
}

// TestGoods: the corpus is derived from valid data.
func TestGoods(t *testing.T) {
	for _, g := range goods(t) {
		if got, err := envelope.Open(g.data, places); err != nil || !bytes.Equal(got.Data, g.contract) {
			t.Errorf("%s: got %v, %v", g.name, got, err)
		}
	}
}
