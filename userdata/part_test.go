package userdata

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/envelope"
)

func withParts(c Contract, parts ...Part) Contract {
	c.Parts = parts
	return c
}

// ownParts are the user's own.
var ownParts = []Part{
	{Name: "10-disk.sh", Content: []byte("#!/bin/sh\nmkfs.ext4 /dev/sdb\n")},
	{Name: "tune.yaml", Content: []byte("#cloud-config\nruncmd:\n- [touch, /run/mine]\n")},
	{Type: "text/x-shellscript-per-boot", Content: []byte("#!/bin/sh\r\necho größe\r\n")},
}

var ownIgnition = Part{Content: []byte(`{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/motd"}]},` +
	`"systemd":{"units":[{"name":"slipway-provision.service","dropins":[{"name":"a.conf","contents":"[Unit]"}]}]}}`)}

// member is a part as a mail program reads it.
type member struct{ kind, name, merge, content string }

func members(t testing.TB, document []byte) []member {
	t.Helper()
	message, err := mail.ReadMessage(bytes.NewReader(document))
	if err != nil {
		t.Fatal(err)
	}
	_, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil {
		t.Fatal(err)
	}
	var all []member
	for r := multipart.NewReader(message.Body, params["boundary"]); ; {
		part, err := r.NextRawPart()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		var body io.Reader = part
		if part.Header.Get("Content-Transfer-Encoding") == "base64" {
			body = base64.NewDecoder(base64.StdEncoding, part)
		}
		content, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(part.Header.Get("Content-Type"), ";")
		all = append(all, member{kind, part.FileName(), part.Header.Get("Merge-Type"), string(content)})
	}
}

// TestParts: the user's parts are unchanged and between Slipway's own, whose cloud-config then appends to theirs.
func TestParts(t *testing.T) {
	document, err := MIME(withParts(nativeContract, ownParts...))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := MIME(nativeContract)
	if err != nil {
		t.Fatal(err)
	}
	got, alone := members(t, document), members(t, plain)
	want := []member{
		alone[0],
		{"text/x-shellscript", "10-disk.sh", "", string(ownParts[0].Content)},
		{"text/cloud-config", "tune.yaml", "", string(ownParts[1].Content)},
		{"text/x-shellscript-per-boot", "", "", string(ownParts[2].Content)},
		{"text/cloud-config", "", "list(append)+dict(no_replace,recurse_list)+str()", alone[1].content},
	}
	if !slices.Equal(got, want) || alone[1].merge != "" {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	found, err := envelope.Open(document, contractPlaces)
	if err != nil || !bytes.Equal(found.Data, nativeContract.Document) || found.Path != nativeContract.Path {
		t.Errorf("a node finds %v, %v", found, err)
	}
	if text, err := CustomData(withParts(nativeContract, ownParts...)); err != nil || text != base64.StdEncoding.EncodeToString(document) {
		t.Errorf("custom data is not the base64 of it: %v", err)
	}
	large := Part{Content: append([]byte("#!/bin/sh\n#"), bytes.Repeat([]byte("x"), 60_000)...)}
	_, err = CustomData(withParts(nativeContract, large))
	if tooLarge, ok := errors.AsType[*TooLargeError](err); !ok || tooLarge.Size < 80_000 {
		t.Errorf("a large part: %v", err)
	}
}

func TestIgnitionParts(t *testing.T) {
	document, err := Ignition(withParts(nativeContract, ownIgnition, ownIgnition))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		Ignition struct {
			Config struct{ Merge []struct{ Source string } }
		}
	}
	if err := json.Unmarshal(document, &config); err != nil {
		t.Fatal(err)
	}
	for _, m := range config.Ignition.Config.Merge {
		text, _ := strings.CutPrefix(m.Source, "data:;base64,")
		if content, err := base64.StdEncoding.DecodeString(text); err != nil || !bytes.Equal(content, ownIgnition.Content) {
			t.Errorf("%s: %v", m.Source, err)
		}
	}
	if found, err := envelope.Open(document, contractPlaces); len(config.Ignition.Config.Merge) != 2 || err != nil || !bytes.Equal(found.Data, nativeContract.Document) {
		t.Errorf("%s: a node finds %v, %v", document, found, err)
	}
}

// TestPartTypes: the beginning of a part decides its type as in cloud-init.
func TestPartTypes(t *testing.T) {
	for content, want := range map[string]string{
		"#!/bin/sh\n":                       "text/x-shellscript",
		"#cloud-config\na: b\n":             "text/cloud-config",
		"\n#CLOUD-CONFIG\na: b\n":           "text/cloud-config",
		"#cloud-config-archive\n- a\n":      "text/cloud-config-archive",
		"#cloud-config-jsonp\n[]\n":         "text/cloud-config-jsonp",
		"#cloud-boothook\n#!/bin/sh\n":      "text/cloud-boothook",
		"#include\nhttps://a\n":             "text/x-include-url",
		"#include-once\nhttps://a\n":        "text/x-include-once-url",
		"#part-handler\n":                   "text/part-handler",
		"## template: jinja\n#cloud-config": "text/jinja2",
	} {
		document, err := MIME(withParts(nativeContract, Part{Content: []byte(content)}))
		if err != nil {
			t.Errorf("%q: %v", content, err)
		} else if got := members(t, document)[1]; got.kind != want || got.content != content {
			t.Errorf("%q: %q", content, got)
		}
	}
}

// TestBadParts: a part that the machine would ignore, that would replace or hide the contract, or that no renderer accepts, is
// refused with its number.
func TestBadParts(t *testing.T) {
	script := []byte("#!/bin/sh\n")
	contract, err := MIME(nativeContract)
	if err != nil {
		t.Fatal(err)
	}
	hook := members(t, contract)[0].content
	ignition := func(rest string) Part {
		return Part{Content: []byte(`{"ignition":{"version":"3.0.0"}` + rest + "}")}
	}
	for name, c := range map[string]struct {
		render func(Contract) ([]byte, error)
		parts  []Part
		want   []string
	}{
		"empty":              {MIME, []Part{{}}, []string{"Parts[0]: is empty"}},
		"nothing known":      {MIME, []Part{{Content: []byte("echo hello")}}, []string{"Parts[0]: begins as nothing that cloud-init knows"}},
		"compressed":         {MIME, []Part{{Content: Gzip(script)}}, []string{"Parts[0]: begins as nothing that cloud-init knows"}},
		"unknown type":       {MIME, []Part{{Type: "text/html", Content: script}}, []string{"Parts[0]: has a type that is not known"}},
		"header in the type": {MIME, []Part{{Type: "text/cloud-config\r\nX: y", Content: script}}, []string{"Parts[0]: has a type that is not known"}},
		"not text":           {MIME, []Part{{Content: []byte("#!/bin/sh\n\xff")}, {Content: []byte("#!/bin/sh\x00")}}, []string{"Parts[0]: is not text", "Parts[1]: is not text"}},
		"no interpreter": {MIME, []Part{{Type: "text/x-shellscript", Content: []byte("\n#!/bin/sh")}, {Type: "text/x-shellscript-per-boot", Content: []byte("echo")}, {Content: []byte("#cloud-boothook\necho")}},
			[]string{"Parts[0]: is a script", "Parts[1]: is a script", "Parts[2]: is a script"}},
		"bad YAML":          {MIME, []Part{{Content: []byte("#cloud-config\na: [\n")}, {Content: []byte("#cloud-config\n- a\n")}, {Content: []byte("#cloud-config\n")}}, []string{"Parts[0]: is not YAML; cloud-init would leave it out (line 3, column 1)", "Parts[1]: is not a map", "Parts[2]: is not a map"}},
		"names":             {MIME, []Part{{Name: "a b", Content: script}, {Name: "part-001", Content: script}, {Name: "x", Content: script}, {Name: "x", Content: script}, {Name: "..", Content: script}, {Name: "a\"\r\nX: y", Content: script}}, []string{"Parts[0].Name: must be", "Parts[1].Name: must not begin", "Parts[3].Name: is the name of another", "Parts[4].Name: must be", "Parts[5].Name: must be"}},
		"a contract":        {MIME, []Part{{Type: "text/cloud-config", Content: []byte("apiVersion: slipway.dev/v1\nkind: NodeConfig\nwrite_files: [{path: /etc/slipway/config.yaml, content: 'apiVersion: slipway.dev/v1'}]")}}, []string{"Parts[0]: has its own contract"}},
		"the contract":      {MIME, []Part{{Content: []byte(hook)}}, []string{"Parts[0]: has its own contract"}},
		"in its place":      {MIME, []Part{{Content: []byte("#cloud-config\nwrite_files:\n- path: /etc/slipway/config.json\n  content: '{}'\n")}}, []string{"Parts[0]: has its own contract"}},
		"hides it":          {MIME, []Part{{Content: []byte("#!/bin/sh\nput '/etc/slipway/config.json' <<'SLIPWAY_END'\n")}}, []string{"Parts[0]: would keep the node from finding its contract"}},
		"for Ignition":      {MIME, []Part{ownIgnition}, []string{"Parts[0]: is an Ignition config"}},
		"many":              {MIME, make([]Part, MaxParts+1), []string{"Parts: are 51"}},
		"in a cloud-config": {CloudConfig, ownParts, []string{"Parts: a plain cloud-config"}},
		"for cloud-init":    {Ignition, ownParts[:2], []string{"Parts[0]: is no Ignition config", "Parts[1]: is no Ignition config"}},
		"no JSON":           {Ignition, []Part{{Content: []byte("{")}, {Type: "application/vnd.coreos.ignition+json", Content: []byte("variant: flatcar")}}, []string{"Parts[0]: is no Ignition config in JSON", "Parts[1]: is no Ignition config in JSON"}},
		"another version":   {Ignition, []Part{{Content: []byte(`{"ignition":{"version":"2.3.0"}}`)}}, []string{"Parts[0]: has no ignition.version 3.x"}},
		"contract's file":   {Ignition, []Part{ignition(`,"storage":{"files":[{"path":"/etc/slipway/../slipway/config.json"}],"links":[{"path":"/etc/slipway/config.yaml"}]}`)}, []string{"Parts[0]: has something at /etc/slipway/config.json", "Parts[0]: has something at /etc/slipway/config.yaml"}},
		"agent's unit":      {Ignition, []Part{ignition(`,"systemd":{"units":[{"name":"slipway-provision.service","enabled":false}]}`)}, []string{"Parts[0]: says whether slipway-provision.service is enabled"}},
	} {
		_, err := c.render(withParts(nativeContract, c.parts...))
		invalid, ok := errors.AsType[*InvalidError](err)
		if !ok || len(invalid.Problems) != len(c.want) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, p := range invalid.Problems {
			if !strings.HasPrefix(p.Field+": "+p.Reason, c.want[i]) {
				t.Errorf("%s: %s: %s, want %s", name, p.Field, p.Reason, c.want[i])
			}
		}
	}
}

// TestPartIsSecret: a part shows only its name.
func TestPartIsSecret(t *testing.T) {
	p := Part{Name: "a.sh", Content: []byte("hunter2")}
	data, err := json.Marshal(p)
	if shown := fmt.Sprintf("%v %+v %#v %x %s", p, p, p, p, data); err != nil || strings.Contains(shown, "hunter2") || strings.Contains(shown, "68756e") || !strings.Contains(shown, "part a.sh (7 bytes)") {
		t.Errorf("%s, %v", shown, err)
	}
}

// FuzzParts: a part is refused, or is unchanged, and the node still finds its contract.
func FuzzParts(f *testing.F) {
	for _, p := range ownParts {
		f.Add(p.Name, p.Type, p.Content)
	}
	f.Add("", "", []byte("#cloud-config\nwrite_files: [{path: /etc/slipway/config.json, content: a}]"))
	f.Fuzz(func(t *testing.T, name, kind string, content []byte) {
		document, err := MIME(withParts(nativeContract, Part{name, kind, content}))
		if err != nil {
			if _, ok := errors.AsType[*InvalidError](err); !ok {
				t.Fatal(err)
			}
			return
		}
		all := members(t, document)
		if len(all) != 3 || all[1].content != string(content) || all[1].name != name || kind != "" && all[1].kind != kind {
			t.Fatalf("became %q", all)
		}
		found, err := envelope.Open(document, contractPlaces)
		if err != nil || !bytes.Equal(found.Data, nativeContract.Document) {
			t.Fatalf("a node finds %v, %v", found, err)
		}
	})
}
