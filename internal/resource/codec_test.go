package resource_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

const minute = resource.Duration(time.Minute)

// specs are one of each kind, with every field set.
var reach = resource.Reach{
	Authorities: "ca", Direct: []string{"localhost"},
	Identity: &resource.RegistryIdentity{Registry: "r.example", ClientID: "c", TenantID: "t", ResourceManager: "https://management.azure.com/"},
}

var specs = []resource.Spec{
	&resource.File{Path: "/etc/f", Mode: 0o640, UID: 1, GID: 2, Content: []byte("line <&> é\n\t\"\\ \x01"), Secret: false, Until: []string{"/etc/g", "/etc/h"}, Stays: true},
	&resource.Directory{Path: "/etc/d", Mode: 0o1750, UID: 1, GID: 2},
	&resource.Symlink{Path: "/etc/l", Target: "../x"},
	&resource.Copy{Path: "/opt/cni/bin/x", Source: "/opt/cni/downloads/v1/x", Over: []string{"/opt/cni/downloads/v2/x"}, Optional: true},
	&resource.Sysctl{Key: "net.ipv4.ip_forward", Value: "1", Optional: true},
	&resource.Module{Module: "br_netfilter"},
	&resource.Unit{Unit: "kubelet.service", Stays: true, Ahead: "/x"},
	&resource.UnitState{Unit: "x.timer", State: resource.UnitDisabled, Was: []string{resource.WasEnabled}},
	&resource.Block{Path: "/etc/hosts", Label: "private", Content: "10.0.0.1 a\n", First: true},
	&resource.Attribute{Path: "/sys/kernel/mm/transparent_hugepage/enabled", Value: "madvise", Optional: true},
	&resource.Mount{Where: "/var/lib/kubelet", What: "/mnt/kubelet", Disk: "/mnt"},
	&resource.Swap{Path: "/mnt/swapfile", Disk: "/mnt", Bytes: 1 << 20, ExitCodes: map[resource.Cause]int{resource.CauseNoRoom: 131}},
	&resource.Command{Label: "c", Argv: []string{"/bin/true", "", "a b"}, Env: map[string]string{"A": "b"}, Timeout: minute, Inputs: []string{"/etc/a"}, Once: "o", While: "c.service", Done: &resource.Printed{Argv: []string{"/bin/show"}, Lines: []string{"a: b"}}, Optional: true, OwnCode: true, Unconfined: true, Advisory: true, Confirms: []string{"/etc/b"}},
	&resource.TrustStore{Label: "t", Bundle: "/etc/b", Anchors: "/etc/a", Packages: "/usr/p", Selection: "/etc/s", Links: "/etc/l", Added: []string{"/etc/a/1"}},
	&resource.Certificate{
		Label: "client", APIServer: resource.APIServer{Server: "https://api", CertificateAuthority: "ca"}, Node: "n", Usages: []string{"client auth"}, Directory: "/var/lib/kubelet/pki",
		Kubeconfig: "/k", KubeconfigContent: "k", Unit: "kubelet.service", Patience: minute, ExitCodes: map[resource.Cause]int{resource.CauseDenied: 51},
	},
	&resource.ServingCertificate{Label: "serving", Node: "n", Certificate: "/c", Key: "/k", Unit: "kubelet.service"},
	&resource.Download{
		Component: "kubelet", Version: "1.33.1", From: []string{"/opt/kubelet/downloads/a.deb", "https://example/k.tar.gz"}, SHA256: strings.Repeat("0a", 32), OSVersion: "ubuntu 24.04",
		Files: []resource.Unpacked{{Name: "kubelet", Members: []string{"usr/bin/kubelet"}, Optional: true}}, Reach: reach,
		ExitCodes: map[resource.Cause]int{resource.CauseUnpack: 204},
	},
	&resource.Image{
		Image: "registry.k8s.io/pause:3.10", Socket: "/run/s", Timeout: minute, Provider: "/opt/provider", ProviderEnv: map[string]string{"A": "b"}, Reach: reach,
		ExitCodes: map[resource.Cause]int{resource.CauseIdentity: 210},
	},
	&resource.Check{
		Label: "api", Unless: "/y", Advisory: true, Timeout: minute, ExitCodes: map[resource.Cause]int{resource.CauseDNS: 52}, PathExists: "/x", UnitActive: "u.service", Foreign: true, Steady: minute, Well: &resource.Healthz{URL: "http://127.0.0.1:1/w"}, Restarts: 2,
		APIServer:    &resource.APIServer{Server: "https://api", CertificateAuthority: "ca"},
		RuntimeReady: &resource.RuntimeReady{Socket: "/run/s"},
		Healthz:      &resource.Healthz{URL: "http://127.0.0.1:1/healthz"},
		Holds:        "x.service",
		FreeName: &resource.FreeName{Node: "n", AsNode: resource.AsNode{
			Server: "https://api", CertificateAuthority: "ca", Bootstrap: "/b", Credentials: []resource.KeyPair{{Certificate: "/c", Key: "/k"}},
		}},
		Reachable: &resource.Reachable{Server: "mcr.example:443", Proxy: "/etc/p"},
		Manifest:  &nodeconfig.ManifestRequirement{SHA256: "ab", Signers: []string{"a ssh-ed25519 A"}},
		Digest:    &resource.Digest{Path: "/p", SHA256: "ab"},
		Network:   &resource.Network{Addresses: []string{"10.0.0.4"}, Resolver: "/etc/resolv.conf", HostName: true, After: "network-online.target"},
		LeaseRenewed: &resource.LeaseRenewed{
			Server: "https://api", CertificateAuthority: "ca", Credentials: []resource.KeyPair{{Certificate: "/c", Key: "/k"}, {Certificate: "/ck"}},
			Node: "n", Since: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC),
		},
	},
}

// unset are the fields that the specs above leave unset, because separate tests set them.
var unset = map[string]bool{"File.Secret": true, "APIServer.Token": true, "Command.Stdin": true, "Reach.HTTP": true, "Reach.HTTPS": true}

func TestSpecsAreWhole(t *testing.T) {
	var whole func(v reflect.Value)
	whole = func(v reflect.Value) {
		v = reflect.Indirect(v)
		for i := range v.NumField() {
			f, name := v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name
			if f.IsZero() != unset[name] {
				t.Errorf("%s is set: %v", name, !f.IsZero())
			}
			if f.Kind() == reflect.Pointer && !f.IsNil() {
				whole(f)
			}
		}
	}
	for _, spec := range specs {
		whole(reflect.ValueOf(spec))
	}
}

func TestSpecsHaveEveryKind(t *testing.T) {
	for name := range resource.Kinds {
		if !slices.ContainsFunc(specs, func(s resource.Spec) bool { return s.Kind() == name }) {
			t.Errorf("%s: add one to specs, with every field set", name)
		}
	}
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readPlan(t *testing.T, data []byte) resource.Plan {
	t.Helper()
	var p resource.Plan
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	return p
}

func planOf(specs ...resource.Spec) resource.Plan {
	p := resource.Plan{Config: "digest", Dialect: "aks"}
	for _, spec := range specs {
		p.Resources = append(p.Resources, resource.Resource{
			Phase: resource.Join, Requires: []resource.ID{"Unit:a"}, ExitCode: 7, Reason: "because <of>", Spec: spec,
			Effects: resource.Effects{Restarts: []string{"b.service"}, Reloads: []string{"c.service"}, Class: resource.Drain, Why: "why", Source: "here"},
		})
	}
	return p
}

func TestRoundTrip(t *testing.T) {
	for _, spec := range specs {
		want := planOf(spec)
		data := marshal(t, want)
		if got := readPlan(t, data); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\n got %+v\nwant %+v", data, got.Resources[0].Spec, spec)
		}
		var generic struct{ Resources []map[string]any }
		if err := json.Unmarshal(data, &generic); err != nil || generic.Resources[0]["kind"] != spec.Kind() || generic.Resources[0]["id"] != spec.Kind()+":"+spec.Name() {
			t.Errorf("%s: %v", data, err)
		}
		minimal := resource.Plan{Resources: []resource.Resource{{Spec: reflect.New(reflect.TypeOf(spec).Elem()).Interface().(resource.Spec)}}}
		if got := marshal(t, readPlan(t, marshal(t, minimal))); !bytes.Equal(got, marshal(t, minimal)) {
			t.Errorf("an empty %s becomes %s", spec.Kind(), got)
		}
	}
	all := planOf(specs...)
	if got := readPlan(t, marshal(t, all)); !reflect.DeepEqual(got, all) {
		t.Error("a plan of all kinds becomes another")
	}
}

func TestFileContents(t *testing.T) {
	for _, content := range []string{"", "x", "\n", "a\r\nb", "\x00", "\xff\xfe", "\u2028", "<&>", strings.Repeat("é", 1000), "\xf0\x9f\x99\x82", "ends in \xf0\x9f"} {
		for _, mode := range []uint32{0, 0o600, 0o644, 0o1777, 0o4755} {
			want := &resource.File{Path: "/f", Mode: mode, Content: []byte(content)}
			got := readPlan(t, marshal(t, planOf(want))).Resources[0].Spec.(*resource.File)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		}
	}
}

// People read JSON, too: only what must be escaped is escaped, and modes are octal.
func TestReadable(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(planOf(specs...)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`line <&> é\n`, `because <of>`, `"mode":"0640"`, `"mode":"1750"`, `"timeout":"1m0s"`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %s in %s", want, b.String())
		}
	}
}

// The JSON of a plan contains a secret's content in no form, and reading it does not restore it.
func TestSecretsAreNotShown(t *testing.T) {
	const secret = "canary-0123456789"
	p := planOf(
		&resource.File{Path: "/etc/secret", Mode: 0o600, Content: []byte(secret), Secret: true},
		&resource.Check{Label: "api", APIServer: &resource.APIServer{Token: resource.Hidden{Secret: nodeconfig.NewSecret(secret)}}},
		&resource.Command{Label: "join", Argv: []string{"join"}, Stdin: resource.Hidden{Secret: nodeconfig.NewSecret(secret)}},
	)
	for _, shown := range []string{string(marshal(t, p)), fmt.Sprintf("%+v %#v", p.Resources[1].Spec.(*resource.Check).APIServer, *p.Resources[1].Spec.(*resource.Check).APIServer), fmt.Sprintf("%+v %#v", p.Resources[2].Spec, p.Resources[2].Spec)} {
		for _, form := range []string{secret, base64.StdEncoding.EncodeToString([]byte(secret)), fmt.Sprintf("%x", secret)} {
			if strings.Contains(shown, form) {
				t.Errorf("the secret is in %s", shown)
			}
		}
	}
	back := readPlan(t, marshal(t, p))
	if f := back.Resources[0].Spec.(*resource.File); !f.Secret || f.Fingerprint() != p.Resources[0].Spec.(*resource.File).Fingerprint() {
		t.Errorf("read back as %+v", f)
	}
	if got := marshal(t, back); !bytes.Equal(got, marshal(t, p)) {
		t.Errorf("read back, it is %s", got)
	}
}

func TestFingerprint(t *testing.T) {
	seen := make(map[string]string)
	for _, content := range []string{"", "a", "b", "sha256/32:", "sha256/32:01234567"} {
		got := resource.File{Content: []byte(content)}.Fingerprint()
		if len(got) != len("sha256/32:")+8 || !strings.HasPrefix(got, "sha256/32:") || seen[got] != "" {
			t.Errorf("%q: %s", content, got)
		}
		seen[got] = content
		if again := (resource.File{Content: []byte(content)}).Fingerprint(); again != got {
			t.Errorf("%q: %s, then %s", content, got, again)
		}
	}
	if got := (resource.File{}).Fingerprint(); got != "sha256/32:e3b0c442" {
		t.Errorf("of nothing: %s", got)
	}
	if got := (resource.File{Secret: true, Content: []byte("sha256/32:e3b0c442")}).Fingerprint(); got != "sha256/32:e3b0c442" {
		t.Errorf("of a secret that was read back: %s", got)
	}
}

func TestDamagedPlans(t *testing.T) {
	plan := func(resources string) string {
		return `{"apiVersion":"slipway.dev/v1","kind":"Plan","resources":` + resources + `}`
	}
	for document, want := range map[string]string{
		``:   "unexpected end",
		`[]`: "cannot unmarshal",
		`{}`: `want "slipway.dev/v1" "Plan"`,
		`{"apiVersion":"slipway.dev/v2","kind":"Plan"}`: `want "slipway.dev/v1" "Plan"`,
		plan(`[null]`):                                                            "unknown kind",
		plan(`[{}]`):                                                              "unknown kind",
		plan(`[{"id":"x","kind":"Pod"}]`):                                         `resource "x" has unknown kind "Pod"`,
		plan(`[{"kind":"file","spec":{}}]`):                                       "unknown kind",
		plan(`[{"kind":"File"}]`):                                                 "unexpected end",
		plan(`[{"kind":"File","spec":[]}]`):                                       "cannot unmarshal",
		plan(`[{"kind":"Unit","spec":"x"}]`):                                      "cannot unmarshal",
		plan(`[{"kind":"File","spec":{"path":"/f","mode":"rw"}}]`):                `mode "rw"`,
		plan(`[{"kind":"File","spec":{"path":"/f","mode":"0o644"}}]`):             `mode "0o644"`,
		plan(`[{"kind":"File","spec":{"path":"/f","mode":"888"}}]`):               `mode "888"`,
		plan(`[{"kind":"File","spec":{"path":"/f","mode":420}}]`):                 "",
		plan(`[{"kind":"File","spec":{"path":"/f","mode":"-1"}}]`):                `mode "-1"`,
		plan(`[{"kind":"File","spec":{"path":"/f","mode":"0644","base64":"!"}}]`): "illegal base64",
		plan(`[{"kind":"Command","spec":{"timeout":"-1s"}}]`):                     "duration",
		plan(`[{"kind":"Check","spec":{"timeout":5}}]`):                           "",
	} {
		var p resource.Plan
		err := json.Unmarshal([]byte(document), &p)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", document, err)
		}
	}
}

func TestDeadline(t *testing.T) {
	for timeout, want := range map[resource.Duration]time.Duration{0: 5 * time.Second, minute: time.Minute, 1: 1} {
		if got := (&resource.Check{Timeout: timeout}).Deadline(); got != want {
			t.Errorf("%s: got %s, want %s", timeout, got, want)
		}
	}
}
