package userdata

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// TestLimit states the arithmetic of the limit.
func TestLimit(t *testing.T) {
	if got := base64.StdEncoding.EncodedLen(MaxCustomData); got != MaxCustomDataBase64 {
		t.Errorf("the base64 of %d bytes is %d characters", MaxCustomData, got)
	}
	if got := base64.StdEncoding.EncodedLen(MaxCustomData + 1); got <= MaxCustomDataBase64 {
		t.Errorf("the base64 of one byte more is %d characters", got)
	}
	for _, tt := range []struct {
		cloud Cloud
		limit int
	}{{Azure, 65_535}, {EC2, 16_384}} {
		if err := tt.cloud.Check(tt.limit); err != nil {
			t.Error(err)
		}
		var tooLarge *TooLargeError
		if err := tt.cloud.Check(tt.limit + 1); !errors.As(err, &tooLarge) || tooLarge.Cloud != tt.cloud || tooLarge.Size != tt.limit+1 || tooLarge.Limit != tt.limit || tooLarge.Parts != nil || tooLarge.Settings != nil {
			t.Errorf("one byte more for %s: %v", tt.cloud, err)
		}
	}
	if err := Cloud("").Check(1 << 30); err != nil {
		t.Errorf("no cloud: %v", err)
	}
	want := "the document has 65536 bytes (87384 characters in base64), and Azure takes 65535 (87380): " +
		"shorten the contract by about 3 bytes; large certificates, scripts and files belong in the node image"
	if err := Azure.Check(65_536); err.Error() != want {
		t.Errorf("message: %v", err)
	}
}

// TestLimitOfCustomData tries every size of document around the limit: accepted documents fit, refused ones would not, and the
// reported size is the true one.
func TestLimitOfCustomData(t *testing.T) {
	plain := map[string]func(Contract, int) int{ // the size of the plain document for n bytes
		"CustomData": func(c Contract, n int) int {
			document, _ := MIME(c)
			return len(document) - linesSize(len(c.Document)) + linesSize(n)
		},
		"IgnitionCustomData": func(c Contract, n int) int {
			c.Document = make([]byte, n)
			document, _ := Ignition(c)
			return len(document)
		},
	}
	for name, size := range plain {
		for _, c := range []Contract{aksContract, nativeContract} {
			most := 0 // the largest document that fits
			for step := 1 << 16; step > 0; step /= 2 {
				if size(c, most+step) <= MaxCustomData {
					most += step
				}
			}
			for n := most - lineBytes; n <= most+lineBytes; n++ {
				large := c
				large.Document = make([]byte, n)
				text, err := renderers[name](large)
				if err == nil {
					if n > most || len(text) > MaxCustomDataBase64 {
						t.Fatalf("%s: %d characters for %s", name, len(text), large)
					}
					continue
				}
				var tooLarge *TooLargeError
				if !errors.As(err, &tooLarge) || n <= most || tooLarge.Size != size(c, n) || tooLarge.Limit != MaxCustomData {
					t.Fatalf("%s: %s: %v", name, large, err)
				}
			}
		}
	}
}

// TestLimitExact renders documents of exactly the limit and of one byte more. Whether a contract can have such a size depends on
// the script's length, so the test makes the script a few bytes longer.
func TestLimitExact(t *testing.T) {
	original := boothooks[NativePath]
	defer func() { boothooks[NativePath] = original }()
	for _, want := range []int{MaxCustomData, MaxCustomData + 1} {
		n, script := 0, boothook{}
		for pad := 0; pad < 4 && n == 0; pad++ {
			script = *original
			script.tail += strings.Repeat("\n", pad)
			for try := 40_000; try < 50_000; try++ {
				if frameSize+len(script.head+script.tail+script.config)+linesSize(try) == want {
					n = try
				}
			}
		}
		boothooks[NativePath] = &script
		text, err := CustomData(Contract{Document: make([]byte, n), Path: NativePath})
		var tooLarge *TooLargeError
		if want == MaxCustomData {
			if err != nil || len(text) != MaxCustomDataBase64 {
				t.Errorf("%d bytes of document: %d characters, %v", n, len(text), err)
			}
		} else if !errors.As(err, &tooLarge) || tooLarge.Size != want {
			t.Errorf("%d bytes of document: %d characters, %v", n, len(text), err)
		}
	}
}

// TestAdvice follows the error's advice: a contract that is shortened by as much is accepted.
func TestAdvice(t *testing.T) {
	random := rand.New(rand.NewSource(2))
	for range 60 {
		c := Contract{Document: make([]byte, 40_000+random.Intn(60_000)), Path: NativePath}
		for name, render := range renderers {
			_, err := render(c)
			var tooLarge *TooLargeError
			if !errors.As(err, &tooLarge) {
				continue
			}
			shorter := c
			shorter.Document = c.Document[(tooLarge.Size-tooLarge.Limit)*3/4+3:]
			if _, err := render(shorter); err != nil {
				t.Fatalf("%s: shortened from %d to %d: %v", name, len(c.Document), len(shorter.Document), err)
			}
		}
	}
}

// TestUnlimited checks that a document without a known cloud has no limit.
func TestUnlimited(t *testing.T) {
	c := Contract{Document: make([]byte, 1<<20), Path: NativePath}
	if document, err := MIME(c); err != nil || len(document) < 1<<20 {
		t.Errorf("MIME: %v", err)
	}
	if document, err := CloudConfig(c); err != nil || !same(parseCloudConfig(t, document).contract(t), c) {
		t.Errorf("cloud-config: %v", err)
	}
	if document, err := Ignition(c); err != nil || !same(parseIgnition(t, document).contract(t), c) {
		t.Errorf("ignition: %v", err)
	}
}

// TestSizes: the error of a document that is too large lists the sizes of all its parts, and contains no value.
func TestSizes(t *testing.T) {
	c := Contract{
		Document: []byte(`{"apiVersion": "slipway.dev/v1", "kind": "NodeConfig", "cluster": {"certificateAuthority": "` + strings.Repeat("canary", 500) +
			`"}, "files": [{"path": "/etc/a", "content": "` + strings.Repeat("canary", 9000) + `"}]}`),
		Path: NativePath, Parts: []Part{{Name: "setup.sh", Content: []byte("#!/bin/sh\n# " + strings.Repeat("canary", 200) + "\n")}},
	}
	for name, form := range map[string]func(Contract) (string, error){
		"MIME": CustomData,
		"Ignition": func(c Contract) (string, error) {
			c.Parts = nil
			return IgnitionCustomData(c)
		},
	} {
		_, err := form(c)
		large, ok := errors.AsType[*TooLargeError](err)
		if !ok {
			t.Fatalf("%s: %v", name, err)
		}
		total := 0
		for _, part := range large.Parts {
			total += part.Bytes
		}
		if total != large.Size || len(large.Parts) < 2 {
			t.Errorf("%s: %d of %d bytes in %v", name, total, large.Size, large.Parts)
		}
		want := []Size{{"files[0].content", 54002, "put the file into the node image"}, {"cluster.certificateAuthority", 3002, ""}}
		if len(large.Settings) != 2 || large.Settings[0].What != want[0].What || large.Settings[0].Instead != want[0].Instead || large.Settings[1].What != want[1].What {
			t.Errorf("%s: %v", name, large.Settings)
		}
		if text := fmt.Sprint(err, large.Parts, large.Settings); strings.Contains(text, "canary") || !strings.Contains(text, "; the largest settings are files[0].content (") ||
			!strings.Contains(text, "put the file into the node image)") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestInstead: each setting that can be left out is a field of a contract.
func TestInstead(t *testing.T) {
	for _, row := range instead {
		in := reflect.TypeFor[nodeconfig.NodeConfig]()
		for name := range strings.SplitSeq(row.path, ".") {
			field, found := in.FieldByNameFunc(func(field string) bool {
				f, _ := in.FieldByName(field)
				tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				return tag == name
			})
			if !found {
				t.Fatalf("a contract has no %s", row.path)
			}
			in = field.Type
		}
	}
}
