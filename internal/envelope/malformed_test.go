package envelope_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/test/detector"
)

// canary is in each malformed input, plain or encoded, and must not be in any error.
const canary = "canary0secret"

// contractText is a contract with the canary.
const contractText = "apiVersion: slipway.dev/v1\nkind: NodeConfig\ntoken: " + canary + "\n"

// maxAllocated limits the total allocations of one Open.
const maxAllocated = 16 << 20

type malformed struct {
	name string
	data []byte
	// want is the type of the error, and says is a part of its text.
	want, says string
}

func std64[T string | []byte](data T) string { return base64.StdEncoding.EncodeToString([]byte(data)) }

// fill repeats text up to a size.
func fill(text string, size int) string { return strings.Repeat(text, size/len(text)) }

// with returns a cloud-config with one file, at a place.
func with(entry string) []byte {
	return []byte("#cloud-config\nwrite_files:\n- path: /etc/slipway/config.yaml\n  " + entry)
}

// bare returns a cloud-config of any YAML, which names a place so that it is parsed.
func bare(text string) []byte { return []byte("#cloud-config\n# config.yaml\n" + text) }

// archiveOf is a MIME archive of parts with LF.
func archiveOf(parts ...part) []byte { return mimeOf("b", "\n", parts...) }

// ignitionOf is an Ignition config with a file at a place.
func ignitionOf(contents string) []byte {
	return []byte(`{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/slipway/config.json","contents":` + contents + `}]}}`)
}

func boothookOf(body string) []byte {
	return []byte("#cloud-boothook\nput '/etc/slipway/config.json' <<'SLIPWAY_END'\n" + body)
}

// nested wraps data n times.
func nested(n int, data []byte, wrap func([]byte) []byte) []byte {
	for range n {
		data = wrap(data)
	}
	return data
}

var cases = []malformed{
	// It contains no contract, and that is not an error.
	{"nothing", nil, "none", "nothing at all"},
	{"white space", []byte(" \n\t"), "none", "nothing at all"},
	{"byte order mark alone", []byte("\xef\xbb\xbf"), "none", "nothing at all"},
	{"script", []byte("#!/bin/sh\necho " + canary + "\n"), "none", "a script that writes no contract"},
	{"boothook", []byte("#cloud-boothook\n#!/bin/sh\necho " + canary + "\n"), "none", "a script"},
	{"prose", []byte("hello " + canary), "none", "text"},
	{"prose about a contract", []byte("It begins with\nkind: " + canary + "\n"), "none", "text"},
	{"word", []byte(canary), "none", "text"},
	{"word of the length of base64", []byte("hello-world-" + canary + "s"), "none", "bytes of an unknown kind"},
	{"latin-1", []byte("kind: x\xe4 " + canary), "none", "bytes"},
	{"UTF-16", []byte("\xff\xfe{\x00\"\x00v\x00"), "none", "bytes"},
	{"NUL in YAML", []byte(contractText + "\x00"), "none", "bytes"},
	{"template", []byte("## template: jinja\n#cloud-config\nwrite_files:\n- path: /etc/slipway/config.yaml\n  content: " + canary), "none", "a template"},
	{"includes", []byte("#include\nhttps://example.com/" + canary), "none", "URLs"},
	{"cloud-config archive", []byte("#cloud-config-archive\n- content: " + canary), "none", "another of cloud-init's formats"},
	{"cloud-config for others", []byte("#cloud-config\nruncmd: [" + canary + "]\n"), "none", "a cloud-config that"},
	{"cloud-config for others, broken", []byte("#cloud-config\nruncmd: [" + canary), "none", "a cloud-config that"},
	{"cloud-config of another file", []byte("#cloud-config\nwrite_files: [{path: /opt/config.yaml, content: " + canary + "}]"), "none", "a cloud-config that"},
	{"cloud-config without files", bare("write_files:\n"), "none", "a cloud-config that"},
	{"cloud-config of a list", bare("- " + canary), "none", "a cloud-config that"},
	{"cloud-config, file without content", with(""), "none", "a cloud-config that"},
	{"cloud-config, emptied at the end", append(with("content: |\n    version: "+canary+"\n"), "- path: /etc/slipway/config.yaml\n"...), "none", "a cloud-config that"},
	{"Ignition for others", []byte(`{"ignition":{"version":"3.4.0"},"passwd":{"users":[{"name":"` + canary + `"}]}}`), "none", "an Ignition config that"},
	{"Ignition of another file", bytes.Replace(ignitionOf(`{"source":"data:,`+canary+`"}`), []byte("/etc/slipway"), []byte("/opt"), 1), "none", "an Ignition config that"},
	{"Ignition that fetches", ignitionOf(`{"source":"https://example.com/` + canary + `"}`), "none", "fetched"},
	{"Ignition without contents", ignitionOf(`null`), "none", "nothing at all"},
	{"Ignition whose names are null", []byte(`{"ignition":null,"storage":null}`), "none", "an Ignition config that"},
	{"MIME of other types", archiveOf(part{"image/png", "base64", []byte("!" + canary)}), "none", "a MIME part of another type"},
	{"MIME of nothing to the point", archiveOf(part{"text/x-shellscript", "", []byte("#!/bin/sh\n" + canary)}, part{"", "", nil}), "none", "a script that writes no contract; nothing at all"},
	{"MIME of one part of another type", []byte("MIME-Version: 1.0\nContent-Type: " + canary + "/x\n\nbody"), "none", "another type"},
	{"MIME without parts", []byte("Content-Type: multipart/mixed; boundary=b\n\n--b--\n"), "none", "no contract"},

	// A wrapping is broken.
	{"JSON cut", []byte(`{"version":"v1","token":"` + canary), "broken", "user data: the JSON ends early, after 38 bytes"},
	{"JSON with something after it", []byte("{\"a\":1}\n" + canary), "broken", "line 2 column 1"},
	{"JSON with a stray sign", []byte(`{"a":` + canary + `}`), "broken", "line 1 column 6"},
	{"JSON with a control character", []byte("{\"a\":\"\x00" + canary + "\"}"), "broken", "not valid JSON"},
	{"base64 of a bad length", []byte(std64(contractText)[:41]), "broken", "user data: the base64 is cut short"},
	{"base64, padding too long", []byte(std64("#!/bin/sh\n"+canary) + "==="), "broken", "cut short"},
	{"base64, of cut JSON", []byte(std64(`{"a":"` + canary)), "broken", "user data, base64: the JSON ends early"},
	{"gzip, cut", gzipped([]byte(contractText))[:40], "broken", "user data, gzip: the compressed data ends early"},
	{"gzip, header alone", []byte("\x1f\x8b"), "broken", "ends early"},
	{"gzip, sum wrong", flip(gzipped([]byte(contractText)), -8), "broken", "user data, gzip: the compressed data is damaged"},
	{"gzip, garbage after it", append(gzipped([]byte(contractText)), canary...), "broken", "damaged"},
	{"gzip, another method", []byte("\x1f\x8b\x07\x00\x00\x00\x00\x00\x00\x00" + canary), "broken", "damaged"},
	{"zstd, cut", zstandard([]byte(contractText))[:40], "broken", "user data, zstd: the compressed data ends early"},
	{"zstd, header alone", []byte("\x28\xb5\x2f\xfd"), "broken", "user data, zstd"},
	{"zstd, damaged", flip(zstandard([]byte(contractText)), -1), "broken", "user data, zstd: the compressed data is damaged"},
	{"zstd, garbage after it", append(zstandard([]byte(contractText)), canary...), "broken", "damaged"},
	{"zstd with a dictionary", []byte("\x28\xb5\x2f\xfd\x21\x07\x00" + canary), "broken", "damaged"},
	{"MIME, header cut", []byte("MIME-Version: 1.0\nContent-Type: multipart/mixed; bound"), "broken", "user data, mime: the header does not end"},
	{"MIME without boundary", []byte("Content-Type: multipart/mixed\n\n--b\n\n" + contractText + "\n--b--\n"), "broken", "no boundary"},
	{"MIME without end", []byte("Content-Type: multipart/mixed; boundary=b\n\n--b\n\n" + contractText + "\n--b\n"), "broken", "the multipart body does not end"},
	{"MIME, another boundary", []byte("Content-Type: multipart/mixed; boundary=b\n\n--c\n\n" + contractText + "\n--c--\n"), "broken", "does not end"},
	{"MIME, bad base64", archiveOf(part{"text/plain", "base64", []byte("!" + canary)}), "broken", "user data, mime part 1: the base64 has a character that is not part"},
	{"MIME, bad quoted-printable", archiveOf(part{}, part{"text/plain", "quoted-printable", []byte("\x01" + canary)}), "broken", "mime part 2: the quoted-printable"},
	{"MIME, unknown transfer encoding", archiveOf(part{"text/plain", canary, []byte(contractText)}), "broken", "the transfer encoding is unknown"},
	{"MIME in MIME without end", archiveOf(part{"multipart/mixed; boundary=c", "", []byte("--c\n\n" + canary)}), "broken", "user data, mime part 1, mime: the multipart body does not end"},
	{"boothook, cut", boothookOf(std64(canary)), "broken", "user data, boothook: a here-document does not end"},
	{"boothook, bad base64", boothookOf("!" + canary + "\nSLIPWAY_END\n"), "broken", "boothook: the base64 has a character that is not part"},
	{"boothook, no gzip", []byte("#!/bin/sh\ncat <<'EOF' | base64 -d | gzip -d >/etc/slipway/config.json\n" + std64(contractText) + "\nEOF\n"), "broken", "damaged"},
	{"cloud-config, no YAML", bare("write_files: [" + canary), "broken", "user data, cloud-config: the cloud-config cannot be read as YAML"},
	{"cloud-config, NUL", bare("write_files: \x00" + canary), "broken", "cannot be read as YAML"},
	{"cloud-config, unknown anchor", bare("write_files: *" + canary), "broken", "cannot be read as YAML"},
	{"cloud-config, no list", bare("write_files: " + canary), "broken", "write_files is not a list"},
	{"cloud-config, write_files twice", append(with("content: "+canary+"\n"), "write_files: []\n"...), "broken", "write_files is given twice"},
	{"cloud-config, content twice", with("content: a\n  content: " + canary), "broken", "content is given twice"},
	{"cloud-config, merge key", []byte("#cloud-config\nx: &x {path: /etc/slipway/config.yaml}\nwrite_files:\n- <<: *x\n  content: " + canary), "broken", "merge key"},
	{"cloud-config, null content", with("content: ~"), "broken", "the content of a file is not text"},
	{"cloud-config, content a map", with("content: {version: " + canary + "}"), "broken", "the content of a file is not text"},
	{"cloud-config, several documents", append(with("content: "+canary+"\n"), "---\nwrite_files: []\n"...), "broken", "something after its first YAML document"},
	{"cloud-config, something after its end", append(with("content: "+canary+"\n"), "...\n"+canary...), "broken", "something after its first YAML document"},
	{"cloud-config, unknown tag", append(with("content: "+canary+"\n"), "x: !"+canary+" y\n"...), "broken", "a tag that YAML does not define"},
	{"cloud-config, anchor twice", bare("x: &" + canary + " y\nz: &" + canary + " y\n"), "broken", "an anchor twice"},
	{"cloud-config, write_files twice, once by an alias", append(with("content: "+canary+"\n"), "x: &x write_files\n? *x\n: []\n"...), "broken", "write_files is given twice"},
	{"cloud-config, merge key at its top", []byte("#cloud-config\nx: &x {write_files: [{path: /etc/slipway/config.yaml, content: " + canary + "}]}\n<<: *x\n"), "broken", "a merge key may set write_files"},
	{"cloud-config, entry that is text", append(with("content: "+canary+"\n"), "- "+canary...), "broken", "an entry of write_files is not a map"},
	{"cloud-config, null entry", append(with("content: "+canary+"\n"), "-\n"...), "broken", "an entry of write_files is not a map"},
	{"cloud-config, entry that is an ordered map", bare("write_files: [!!omap [path: /etc/slipway/config.yaml]]"), "broken", "an entry of write_files is not a map"},
	{"cloud-config, list with a tag", bare("write_files: !!set [{path: /etc/slipway/config.yaml}]"), "broken", "write_files is not a list"},
	{"cloud-config, content a number", with("content: 5"), "broken", "the content of a file is not text"},
	{"cloud-config, content a number in base 60", with("content: 12:30:45"), "broken", "the content of a file is not text"},
	{"cloud-config, content a date", with("content: 2001-12-14"), "broken", "the content of a file is not text"},
	{"cloud-config, content a word of YAML 1.1", with("content: Yes"), "broken", "the content of a file is not text"},
	{"cloud-config, content that is the default key", with("content: ="), "broken", "the content of a file is not text"},
	{"cloud-config, path in binary", bare("write_files: [{path: !!binary L2V0Yy9zbGlwd2F5L2NvbmZpZy55YW1s, content: " + canary + "}]"), "broken", "the path of a file is binary"},
	{"cloud-config, encoding a number", with("encoding: 5\n  content: " + canary), "broken", "the encoding of a file is not text"},
	{"cloud-config, owner a list", with("owner: [root]\n  content: " + canary), "broken", "the owner of a file is not text"},
	{"cloud-config, content to be fetched", with("source: {uri: https://example.com/" + canary + "}\n  content: " + canary), "broken", "comes from a URL, which is not fetched"},
	{"cloud-config, append neither true nor false", with("append: " + canary + "\n  content: a"), "broken", "append is neither true nor false"},
	{"cloud-config, defer a list", with("defer: [true]\n  content: " + canary), "broken", "defer is neither true nor false"},
	{"cloud-config, append with a tag", with("append: !!float 1\n  content: " + canary), "broken", "append is neither true nor false"},
	{"cloud-config, base64 in the other alphabet", with("encoding: b64\n  content: eyJ2Ijoi-_-_In0="), "broken", "the base64 has a character that is not part"},
	{"cloud-config, base64 without padding", with("encoding: b64\n  content: eyJ2IjoiIn0"), "broken", "the base64 is cut short"},
	{"cloud-config, bad base64 that another entry replaces", append(with("encoding: b64\n  content: a:"+canary+"\n"), "- {path: /etc/slipway/config.yaml, content: a}\n"...), "broken", "the base64 has a character that is not part"},
	{"cloud-config, bad base64", with("encoding: b64\n  content: a:" + canary), "broken", "the base64 has a character that is not part"},
	{"cloud-config, no gzip", with("encoding: gzip\n  content: " + canary), "broken", "damaged"},
	{"Ignition cut", ignitionOf(`{"source":"data:,` + canary + `"}`)[:90], "broken", "the JSON ends early"},
	{"Ignition, a field twice", ignitionOf(`{"source":"data:,x","source":"data:,` + canary + `"}`), "broken", "user data, ignition: the config has a field twice"},
	{"Ignition, data URL without data", ignitionOf(`{"source":"data:` + canary + `"}`), "broken", "a data URL has no data"},
	{"Ignition, bad escape", ignitionOf(`{"source":"data:,%zz` + canary + `"}`), "broken", "a percent sign"},
	{"Ignition, bad base64", ignitionOf(`{"source":"data:;base64,:` + canary + `"}`), "broken", "the base64"},
	{"Ignition, unknown compression", ignitionOf(`{"source":"data:,x","compression":"` + canary + `"}`), "broken", "the compression of a file is unknown"},

	// Contracts differ.
	{"two parts", archiveOf(part{"text/x-slipway-config", "", []byte(contractText)}, part{"", "", nil}, part{"text/x-slipway-config", "", []byte(contractText + "\n")}), "ambiguous", "user data, mime part 1; user data, mime part 3"},
	{"two places", append(with("content: "+canary+"\n"), "- path: /etc/slipway/config.json\n  content: "+canary+"2\n"...), "ambiguous", "user data, cloud-config; user data, cloud-config"},
	{"Ignition, a path twice", []byte(`{"ignition":{},"storage":{"files":[{"path":"/etc/slipway/config.yaml","contents":{"source":"data:,x:%20` + canary + `"}},` +
		`{"path":"/etc/slipway/config.yaml","contents":{"source":"data:,x:%20y"}}]}}`), "ambiguous", "differ"},

	// A limit is exceeded.
	{"large", []byte(contractText + fill("#"+canary+"\n", document.MaxBytes)), "limit", "user data: more than 1048576 bytes"},
	{"very large", []byte(fill("A", 2<<20)), "limit", "user data: more than 14"},
	{"large in base64", []byte(std64(contractText + fill("#"+canary+"\n", document.MaxBytes))), "limit", "more than 1048576 bytes in base64"},
	{"gzip bomb", gzipped([]byte(contractText + fill("# \n", 4<<20))), "limit", "user data, gzip: more than"},
	{"gzip of 2 MiB", gzipped(noise(2 << 20)), "limit", "more than"},
	{"gzip, small bomb", gzipped([]byte(contractText + fill("#\n", 80<<10))), "limit", "more than 100 bytes for each compressed byte"},
	{"zstd bomb", zstandard([]byte(contractText + fill("# \n", 4<<20))), "limit", "user data, zstd: more than"},
	{"zstd, small bomb", zstandard([]byte(contractText + fill("#\n", 80<<10))), "limit", "more than 100 bytes for each compressed byte"},
	{"zstd, window of 1 GiB", []byte("\x28\xb5\x2f\xfd\x00\xa0\x09\x00\x00a" + canary), "limit", "zstd"},
	{"too deep in base64", nested(9, []byte(contractText), func(b []byte) []byte { return []byte(std64(b)) }), "limit", "more than 8 nested wrappings"},
	{"too deep in gzip", nested(100, []byte(contractText), gzipped), "limit", "more than 8 nested wrappings"},
	{"too deep in MIME", nested(10, []byte(contractText), mimeAgain), "limit", "more than 8 nested wrappings"},
	{"too deep in multipart", multipartAgain(100), "limit", "more than 8 nested wrappings"},
	{"decoded too much", archiveOf(manyParts(5, part{"application/gzip", "base64", []byte(std64(gzipped([]byte("! " + strings.Repeat(string(noise(12<<10)), 80)))))})...), "limit", "more than 4194304 bytes once everything is decoded"},
	{"too many parts", archiveOf(manyParts(101, part{"image/png", "", nil})...), "limit", "more than 100 parts"},
	{"too many parts of parts", archiveOf(manyParts(50, part{"multipart/mixed; boundary=c", "", []byte("--c\n\n--c\n\n--c\n\n--c--\n")})...), "limit", "more than 100 parts"},
	{"header bomb", []byte("MIME-Version: 1.0\n" + fill("X: "+canary+"\n", 20<<10) + "\n"), "limit", "user data, mime: more than 16384 bytes of one header"},
	{"header of one long line", []byte("MIME-Version: 1.0\nContent-Type: " + fill(canary, 900<<10) + "\n\n"), "limit", "one header"},
	{"header bomb in a part", archiveOf(part{"text/plain;" + fill(" "+canary+"=1;", 20<<10), "", nil}), "limit", "mime part 1: more than 16384 bytes"},
	{"too many files", bare("write_files:\n" + strings.Repeat("- path: /etc/slipway/config.yaml\n", 1001)), "limit", "more than 1000 entries of write_files"},
	{"too many files in Ignition", []byte(`{"ignition":{},"storage":{"files":[` + strings.Repeat("{},", 1000) + `{}]}}`), "limit", "more than 1000 files"},
	{"alias bomb", bare(aliasBomb()), "limit", "more than 1048576 bytes of one file"},
	{"many values", bare("write_files: [" + fill("a,", 400<<10) + "]"), "limit", "more than 8000 structural characters"},
	{"many empty values", bare(fill("-\n", 400<<10)), "limit", "more than 8000 structural characters"},
	{"deep YAML", bare(fill("[", 400<<10)), "limit", "more than 8000 structural characters"},
	{"many values in Ignition", []byte(`{"ignition":{},"x":[` + fill("0,", 400<<10) + `0]}`), "limit", "more than 8000 structural characters"},
	{"large cloud-config", bare("x: " + fill("a", 520<<10)), "limit", "user data, cloud-config: more than 524288 bytes of configs"},
	{"large cloud-configs together", archiveOf(manyParts(2, part{"", "", bare("x: " + fill("a", 300<<10))})...), "limit", "mime part 2, cloud-config: more than 524288 bytes of configs"},
	{"long Content-Type", []byte("MIME-Version: 1.0\nContent-Type: text/plain; name=" + fill("a", 1<<10) + "\n\n" + contractText), "limit", "user data, mime: more than 1024 bytes of one Content-Type"},
	{"deep Ignition", []byte(`{"ignition":` + fill("[", 5000) + fill("]", 5000) + `}`), "limit", "more than 64"},
}

// flip changes a byte, counted from the end.
func flip(data []byte, at int) []byte {
	data = bytes.Clone(data)
	data[len(data)+at] ^= 0x55
	return data
}

// noise is text that hardly compresses.
func noise(size int) []byte {
	var b []byte
	for x := uint64(1); len(b) < size; {
		x = x*6364136223846793005 + 1442695040888963407
		b = append(b, base64.StdEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, x)[:6])...)
	}
	return b
}

func manyParts(n int, p part) []part {
	parts := make([]part, n)
	for i := range parts {
		parts[i] = p
	}
	return parts
}

func mimeAgain(data []byte) []byte {
	return archiveOf(part{"text/plain", "base64", []byte(std64(data))})
}

// multipartAgain is n nested multiparts, each with another boundary.
func multipartAgain(n int) []byte {
	var head, tail string
	for i := range n {
		head += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n", i, i)
		tail = fmt.Sprintf("\n--b%d--\n", i) + tail
	}
	return []byte(head + "\n" + contractText + tail)
}

// aliasBomb is a file of 1,000 entries whose content is one long text.
func aliasBomb() string {
	return "x: &x " + fill(canary, 100<<10) + "\nwrite_files:\n" +
		strings.Repeat("- {path: /etc/slipway/config.yaml, append: true, content: *x}\n", 1000)
}

// longText is the beginning of a cloud-config with gzip of nearly 1 MiB, in base64.
func longText() string {
	return "x: &x " + std64(gzipped([]byte(strings.Repeat(string(noise(16<<10)), 60)))) + "\nwrite_files:\n"
}

// parameters is a media type with the maximum number of parameters.
func parameters() string {
	all := "text/plain"
	for i := range 200 {
		all += fmt.Sprintf(";%c%c=", 'a'+i/26, 'a'+i%26)
	}
	return all
}

func everyPlace(entry string) string {
	var all string
	for _, place := range places {
		all += fmt.Sprintf(entry, place)
	}
	return all
}

// TestMalformed: a problem has the right type of error, and a text without any of the data.
func TestMalformed(t *testing.T) {
	for _, c := range cases {
		_, err := envelope.Open(c.data, places)
		if outcome(err) != c.want || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %q error %v, want %q with %q", c.name, outcome(err), err, c.want, c.says)
		}
		if err == nil {
			continue
		}
		detail, jsonErr := json.Marshal(err)
		if text := fmt.Sprintf("%v %+v %#v %s", err, err, err, detail); jsonErr != nil || strings.Contains(text, "canary") {
			t.Errorf("%s: the error shows the data: %.300s", c.name, text)
		}
	}
}

// heavy are valid and invalid inputs with the highest costs.
func heavy() []malformed {
	contract := contractText + "x: " + string(noise(900<<10)) + "\n"
	json := `{"version":"v1",` + fill(`"a":0,`, 900<<10) + `"b":0}`
	return append(cases[:len(cases):len(cases)],
		malformed{name: "contract of 900 KiB", data: []byte(contract)},
		malformed{name: "contract of 900 KiB in base64", data: []byte(std64(contract))},
		malformed{name: "contract of 900 KiB in gzip", data: gzipped([]byte(contract))},
		malformed{name: "contract of 900 KiB in zstd", data: zstandard([]byte(contract))},
		malformed{name: "JSON of many fields", data: []byte(json)},
		malformed{name: "cloud-config of 500 KiB", data: with("content: " + string(noise(500<<10)))},
		malformed{name: "cloud-config of many values", data: bare("x: [" + fill("a,", 15<<10) + "]")},
		malformed{name: "cloud-config of many maps", data: bare("x: [" + fill("{},", 11<<10) + "]")},
		malformed{name: "cloud-config of many fields", data: bare("x: {" + fill("?,", 7<<10) + "}")},
		malformed{name: "cloud-config of many items", data: bare(fill("-\n", 15<<10))},
		malformed{name: "cloud-config of many comments", data: bare("x: y\n" + fill("#\n", 15<<10))},
		malformed{name: "cloud-config of long comments", data: bare("x: y\n" + fill("#"+strings.Repeat("a", 100)+"\n", 500<<10))},
		malformed{name: "cloud-config of many comments and items", data: bare(fill("-\n#\n", 15<<10))},
		malformed{name: "cloud-config of a file many times", data: bare(longText() + strings.Repeat("- {path: /etc/slipway/config.yaml, content: *x}\n", 800))},
		malformed{name: "cloud-config of all places in gzip", data: bare(longText() + everyPlace("- {path: %s, encoding: gz+b64, content: *x}\n"))},
		malformed{name: "cloud-config of many lines", data: bare("x: \"" + fill("\n", 500<<10) + "\"")},
		malformed{name: "cloud-config of many anchors", data: bare("x: [" + fill("&a a,", 38<<10) + "]")},
		malformed{name: "cloud-config of deep items", data: bare(fill("- ", 15<<10))},
		malformed{name: "cloud-config of deep lists", data: bare(fill("[", 7<<10))},
		malformed{name: "Ignition of many values", data: []byte(`{"ignition":{},"x":[` + fill("0,", 15<<10) + `0]}`)},
		malformed{name: "Ignition of many lists", data: []byte(`{"ignition":{},"x":[` + fill("[],", 11<<10) + `0]}`)},
		malformed{name: "Ignition of 500 KiB", data: ignitionOf(`{"source":"data:;base64,` + std64(noise(370<<10)) + `"}`)},
		malformed{name: "boothook of many lines", data: []byte("#!/bin/sh\n" + fill("put '\n", 1000<<10))},
		malformed{name: "MIME of one line after another", data: []byte("Content-Type: multipart/mixed; boundary=b\n\n--b\n\n" + fill("\n", 1000<<10) + "--b--")},
		malformed{name: "nested base64", data: nested(3, noise(430<<10), func(b []byte) []byte { return []byte(std64(b)) })},
		malformed{name: "Ignition of all that it may have", data: []byte(`{"ignition":{},"x":[` + fill("0,", 14<<10) + `0],` + string(ignitionOf(`{"source":"data:;base64,` + std64(noise(360<<10)) + `"}`)[len(`{"ignition":{"version":"3.4.0"},`):]))},
		malformed{name: "cloud-config of all that it may have", data: append(with("encoding: b64\n  content: "+string(noise(450<<10))), "\nx:\n  "+fill("- ", 15<<10)...)},
		malformed{name: "many gzip members", data: bytes.Repeat(gzipped(nil), 40000)},
		malformed{name: "many zstd frames", data: bytes.Repeat(zstandard([]byte("a")), 60000)},
		malformed{name: "parts of gzip", data: archiveOf(manyParts(100, part{"", "base64", []byte(std64(gzipped([]byte("!"))))})...)},
		malformed{name: "parts of zstd", data: archiveOf(manyParts(100, part{"", "base64", []byte(std64(zstandard([]byte(strings.Repeat("! ", 15<<10)))))})...)},
		malformed{name: "parts of quoted-printable", data: archiveOf(manyParts(100, part{"", "quoted-printable", []byte(fill("=", 9<<10))})...)},
		malformed{name: "parts of cloud-config", data: archiveOf(manyParts(100, part{"", "", bare("x: [" + fill("a,", 9<<10) + "]")})...)},
		malformed{name: "parts of small cloud-configs", data: archiveOf(manyParts(100, part{"", "", bare("x: y")})...)},
		malformed{name: "parts of large cloud-configs", data: archiveOf(manyParts(4, part{"", "base64", []byte(std64(gzipped(bare("x: " + strings.Repeat(string(noise(8<<10)), 100)))))})...)},
		malformed{name: "parts of Ignition configs", data: archiveOf(manyParts(100, part{"", "", []byte(`{"ignition":[` + fill("0,", 9<<10) + `0]}`)})...)},
		malformed{name: "parts of folded types", data: archiveOf(manyParts(60, part{"text/plain;" + fill("\n a", 15<<10), "", nil})...)},
		malformed{name: "parts of folded encodings", data: archiveOf(manyParts(60, part{"", "x" + fill("\n a", 15<<10), nil})...)[:900<<10]},
		malformed{name: "parts of many parameters", data: archiveOf(manyParts(100, part{parameters(), "", []byte("!")})...)},
		malformed{name: "parts of many fields", data: archiveOf(manyParts(60, part{"text/plain" + fill("\na:", 15<<10), "", []byte("!")})...)},
		malformed{name: "entries of gzip", data: bare("x: &x " + std64(gzipped([]byte("a"))) + "\nwrite_files:\n" +
			strings.Repeat("- {path: /etc/slipway/config.yaml, append: 1, encoding: gz+b64, content: *x}\n", 800))},
		malformed{name: "all of it", data: []byte(std64(gzipped(with("encoding: b64\n  content: " + string(noise(450<<10)) + "\nx:\n  " + fill("- ", 15<<10)))))},
	)
}

// TestMemory: no input makes the total of Open's allocations exceed the limit.
func TestMemory(t *testing.T) {
	detector.Skip(t)
	for _, c := range heavy() {
		_, n, err := measured(c.data)
		if n > maxAllocated {
			t.Errorf("%s: allocated %d KiB (%v)", c.name, n>>10, err)
		}
	}
}
