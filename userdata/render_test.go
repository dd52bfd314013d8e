package userdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The contracts of the golden files. They are not real ones, because no code here looks into a
// document.
var (
	aksContract = Contract{
		Document: []byte(`{"version":"v1","cluster_config":{"location":"westeurope"},"bootstrapping_config":` +
			`{"tls_bootstrapping_token":"abcdef.0123456789abcdef"}}` + "\n"),
		Path:     AKSPath,
		Features: map[string]string{"ENABLE_PROVISIONING_HOTFIX": "true", "A_SWITCH": "", "lower2": "x/y:1.2"},
	}
	nativeContract = Contract{
		Document: []byte(`{"apiVersion":"slipway.dev/v1","kind":"NodeConfig"}`),
		Path:     NativePath,
	}
	yamlContract = Contract{
		Document: []byte("apiVersion: slipway.dev/v1\nkind: NodeConfig\n"),
		Path:     NativeYAMLPath,
	}
)

func TestGolden(t *testing.T) {
	for _, test := range []struct {
		file     string
		render   func(Contract) ([]byte, error)
		contract Contract
	}{
		{"aks.mime", MIME, aksContract},
		{"native.mime", MIME, nativeContract},
		{"native-yaml.mime", MIME, yamlContract},
		{"aks.cloud-config.yaml", CloudConfig, aksContract},
		{"native.cloud-config.yaml", CloudConfig, nativeContract},
		{"native-parts.mime", MIME, withParts(nativeContract, ownParts...)},
		{"native-parts.ign.json", Ignition, withParts(nativeContract, ownIgnition)},
		{"aks.ign.json", Ignition, aksContract},
		{"native.ign.json", Ignition, nativeContract},
	} {
		t.Run(test.file, func(t *testing.T) {
			got, err := test.render(test.contract)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", test.file)
			if *update {
				if err := os.WriteFile(file, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("differs from %s; run with -update and review the difference:\n%s", file, got)
			}
		})
	}
}

// hostile are documents with a special meaning in a shell, in YAML or in MIME.
var hostile = []string{
	"\x00", "\xff\xfe\x00", "'", `"`, "`id`", "$(id)", "${HOME}", "\\", "!", "#", "\r\n", "\r", "\n",
	"SLIPWAY_END\nid\n", "\nSLIPWAY_END\n", "EOF\n", "'; id #", "--=_slipway_part\r\n", "\n--\n",
	"true", "null", "1234", "~", "- a\n- b", "{{ version }}", "$version", "## template: jinja\n",
	strings.Repeat("x", lineBytes), strings.Repeat("\r\n", lineBytes), strings.Repeat("\xff", 3*lineBytes+1),
}

// randomContract makes a valid contract of at most max bytes.
func randomContract(random *rand.Rand, max int) Contract {
	c := Contract{Path: []string{AKSPath, NativePath, NativeYAMLPath}[random.Intn(3)]}
	c.Document = make([]byte, 1+random.Intn(max))
	random.Read(c.Document)
	for range random.Intn(3) {
		at := random.Intn(len(c.Document))
		copy(c.Document[at:], hostile[random.Intn(len(hostile))])
	}
	if n := random.Intn(4); n > 0 && c.Path == AKSPath {
		const first = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_"
		const next, value = first + "0123456789", first + "0123456789.,:/@%+=-"
		pick := func(from string) string { return string(from[random.Intn(len(from))]) }
		c.Features = map[string]string{}
		for range n {
			k, v := pick(first), ""
			for range random.Intn(20) {
				k += pick(next)
			}
			for range random.Intn(40) {
				v += pick(value)
			}
			c.Features[k] = v
		}
	}
	return c
}

// checkRoundTrip checks that every rendering of c contains c, and nothing else.
func checkRoundTrip(t *testing.T, c Contract) {
	t.Helper()
	text, err := CustomData(c)
	if err != nil {
		t.Fatalf("%s: %v", c, err)
	}
	fromMIME := parseCustomData(t, text)
	plain, _ := MIME(c)
	cloudConfig, _ := CloudConfig(c)
	ignition, _ := Ignition(c)
	for name, p := range map[string]parsed{
		"custom data":  fromMIME,
		"mime":         parseMIME(t, plain),
		"cloud-config": parseCloudConfig(t, cloudConfig),
		"ignition":     parseIgnition(t, ignition),
	} {
		if !same(p.contract(t), c) {
			t.Fatalf("%s of %s (%q) does not say the same", name, c, c.Document)
		}
	}

	// Without the base64 blocks, the script is the static one.
	empty := boothooks[c.Path].append(nil, nil, nil)
	if got := putBlock.ReplaceAllString(fromMIME.script, ""); got != putBlock.ReplaceAllString(string(empty), "") {
		t.Fatalf("the script has something else of the contract:\n%s", got)
	}
}

func TestRoundTrip(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 300 {
		checkRoundTrip(t, randomContract(random, 4000))
	}
	for range 5 {
		checkRoundTrip(t, randomContract(random, 45_000))
	}
	for n := 1; n <= 2*lineBytes+3; n++ {
		document := make([]byte, n)
		random.Read(document)
		checkRoundTrip(t, Contract{Document: document, Path: AKSPath})
	}
	for _, document := range hostile {
		for _, path := range []string{AKSPath, NativePath, NativeYAMLPath} {
			checkRoundTrip(t, Contract{Document: []byte(document), Path: path})
		}
	}
}

func TestDeterministic(t *testing.T) {
	c := aksContract
	c.Features = map[string]string{"A": "1", "B": "2", "C": "3", "D": "4", "E": "5", "F": "6"}
	want, err := CustomData(c)
	if err != nil {
		t.Fatal(err)
	}
	wantConfig, _ := CloudConfig(c)
	wantIgnition, _ := Ignition(c)
	for range 10_000 {
		if got, err := CustomData(c); err != nil || got != want {
			t.Fatalf("custom data differs from the first, %v", err)
		}
		if got, err := CloudConfig(c); err != nil || !bytes.Equal(got, wantConfig) {
			t.Fatalf("cloud-config differs from the first, %v", err)
		}
		if got, err := Ignition(c); err != nil || !bytes.Equal(got, wantIgnition) {
			t.Fatalf("ignition config differs from the first, %v", err)
		}
	}
}

// TestBoundary checks that no part can contain the boundary, and that the boundary does not depend
// on the document.
func TestBoundary(t *testing.T) {
	document, err := MIME(aksContract)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(document), boundary); n != 4 {
		t.Errorf("the boundary occurs %d times, not 4", n)
	}
	for path, script := range boothooks {
		if strings.Contains(script.head+script.features+script.tail+script.config, boundary) {
			t.Errorf("the static text for %s has the boundary", path)
		}
	}
}

// TestBlank: a filled gap gives the same as a contract with that text, at any position.
func TestBlank(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for range 2000 {
		c := randomContract(random, 400)
		if random.Intn(4) == 0 {
			c = withParts(c, ownParts...)
		}
		at := random.Intn(len(c.Document) + 1)
		length := random.Intn(len(c.Document) - at + 1)
		blank, err := NewBlank(c, at, length)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			text := make([]byte, length)
			random.Read(text)
			filled := c
			filled.Document = slices.Concat(c.Document[:at], text, c.Document[at+length:])
			want, err := MIME(filled)
			if err != nil {
				t.Fatal(err)
			}
			if got := unpacked(t, blank.Fill(string(text))); got != string(want) {
				t.Fatalf("a gap of %d at %d of %s: got\n%s\nwant\n%s", length, at, c, got, want)
			}
		}
		if shown := fmt.Sprintf("%v %+v %s %x", blank, *blank, blank, *blank); strings.Contains(shown, blank.before) || strings.Contains(shown, fmt.Sprintf("%x", blank.before)) {
			t.Fatal("a blank is shown")
		}
	}
	if _, err := NewBlank(Contract{Path: NativePath}, 0, 0); err == nil {
		t.Error("a contract without a document is taken")
	}
}

// unpacked is the content of custom data, as cloud-init reads it.
func unpacked(t *testing.T, customData string) string {
	packed, err := base64.StdEncoding.DecodeString(customData)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	document, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(document)
}

// TestUnits checks which unit is started, and that no placeholder remains.
func TestUnits(t *testing.T) {
	for _, test := range []struct {
		contract                       Contract
		mime, cloudConfig, wantEnabled string
	}{
		{aksContract,
			"final_message: ",
			"runcmd:\n- [systemctl, enable, --now, --no-block, aks-node-controller.service]\n",
			"aks-node-controller.service enabled=true\n"},
		{nativeContract,
			"runcmd:\n- [systemctl, start, --no-block, slipway-provision.service]\n",
			"runcmd:\n- [systemctl, enable, --now, --no-block, slipway-provision.service]\n",
			"slipway-provision.service enabled=true\n"},
	} {
		document, _ := MIME(test.contract)
		parts := parseMIME(t, document)
		if rest, ok := strings.CutPrefix(parts.config, "#cloud-config\n"+test.mime); !ok {
			t.Errorf("cloud-config part of %s: %s", test.contract, parts.config)
		} else if strings.Count(rest, "$") != strings.Count(rest, "${") {
			t.Errorf("a bare variable takes the dot after it for a part of its name: %s", rest)
		}
		if strings.Contains(parts.script, "@") {
			t.Errorf("a placeholder is left in the script of %s:\n%s", test.contract, parts.script)
		}
		document, _ = CloudConfig(test.contract)
		if got := parseCloudConfig(t, document).config; got != test.cloudConfig {
			t.Errorf("cloud-config of %s: %s", test.contract, got)
		}
		document, _ = Ignition(test.contract)
		if got := parseIgnition(t, document).config; got != test.wantEnabled {
			t.Errorf("units of %s: %s", test.contract, got)
		}
	}
}

func TestAllocations(t *testing.T) {
	c := benchContract(true)
	if n := testing.AllocsPerRun(100, func() { _, _ = CustomData(c) }); n > 14 {
		t.Errorf("CustomData allocates %v times, more than 14", n)
	}
}
