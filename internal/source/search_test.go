package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/userdata"
)

// delivery is a way in which a machine gets user data.
type delivery struct {
	source, platform string
	// deliver delivers the data, before the search or while it waits.
	deliver func(m *machine, s *Search, data []byte)
	// hostname is the name that comes with the data, and where the place that was read.
	hostname, where string
}

const oemTable = "/sys/firmware/dmi/tables/DMI"

var deliveries = []delivery{
	{"credential", "", func(m *machine, _ *Search, data []byte) {
		m.put("/run/credentials/@system/slipway.contract", string(data))
	},
		"", "/run/credentials/@system/slipway.contract"},
	{"credential", facts.Azure, func(m *machine, _ *Search, data []byte) {
		text := "io.systemd.credential.binary:slipway.contract=" + base64.StdEncoding.EncodeToString(data)
		m.put(oemTable, "\x0b\x05\x00\x00\x01"+text+"\x00\x00"+"\x7f\x04\x00\x00\x00\x00")
	}, "", oemTable},
	{"azure-ovf", facts.Azure, func(m *machine, _ *Search, data []byte) {
		m.put("/dev/sr0", string(iso("rd_rdfe_stable", map[string]string{"ovf-env.xml": ovf("Node-1", data)})))
	}, "node-1", "/dev/sr0:ovf-env.xml"},
	{"waagent", facts.Azure, func(m *machine, _ *Search, data []byte) { m.put("/var/lib/waagent/ovf-env.xml", ovf("node-1", data)) },
		"node-1", "/var/lib/waagent/ovf-env.xml"},
	{"waagent", facts.Azure, func(m *machine, _ *Search, data []byte) { m.put("/var/lib/waagent/CustomData", string(data)) },
		"", "/var/lib/waagent/CustomData"},
	{"cloud-init", facts.EC2, func(m *machine, _ *Search, data []byte) {
		m.put("/run/cloud-init/.instance-id", "i-0123\n")
		m.put("/var/lib/cloud/instances/i-0123/user-data.txt", string(data))
	}, "", "/var/lib/cloud/instances/i-0123/user-data.txt"},
	{"nocloud-seed", "", func(m *machine, _ *Search, data []byte) {
		m.put("/var/lib/cloud/seed/nocloud/user-data", string(data))
		m.put("/var/lib/cloud/seed/nocloud/meta-data", "instance-id: 17\nlocal-hostname: seeded\n")
	}, "seeded", "/var/lib/cloud/seed/nocloud/user-data"},
	{"nocloud-seed", facts.NoCloud, func(m *machine, s *Search, data []byte) {
		s.Facts.DMI.ProductSerial = "ds=nocloud;s=file:///srv/seed/"
		m.put("/srv/seed/user-data", string(data))
	}, "", "/srv/seed/user-data"},
	{"nocloud-disk", "", func(m *machine, _ *Search, data []byte) {
		m.put("/dev/vdb", string(iso("CIDATA", map[string]string{
			"user-data": string(data), "meta-data": "instance-id: i\nlocal-hostname: on-disk\n"})))
	}, "on-disk", "/dev/vdb:user-data"},
	{"config-drive", facts.OpenStack, func(m *machine, _ *Search, data []byte) {
		m.put("/dev/vdb", string(iso("config-2", map[string]string{
			"openstack/latest/user_data": string(data), "openstack/latest/meta_data.json": `{"uuid": "u", "hostname": "driven", "availability_zone": 7}`})))
	}, "driven", "/dev/vdb:openstack/latest/user_data"},
	{"nocloud-url", facts.NoCloud, func(m *machine, s *Search, data []byte) {
		s.Fetch = func(_ context.Context, base, name string) ([]byte, error) {
			return map[string][]byte{"user-data": data, "meta-data": []byte("local-hostname: fetched")}[name], nil
		}
		close(m.address)
	}, "fetched", "http://10.0.0.1:8000/"},
	{"azure-imds", facts.Azure, func(m *machine, s *Search, data []byte) {
		s.Service = &service{data: data, instance: facts.Instance{Platform: facts.Azure, Hostname: "asked"}}
		close(m.address)
	}, "asked", "http://169.254.169.254/user-data"},
	{"ec2-imds", facts.EC2, func(m *machine, s *Search, data []byte) {
		s.Service = &service{data: data, instance: facts.Instance{Platform: facts.EC2, Hostname: "asked"}}
		close(m.address)
	}, "asked", "http://169.254.169.254/user-data"},
}

// wrappings are ways to put a contract into user data.
var wrappings = []func([]byte) []byte{
	func(document []byte) []byte { return document },
	func(document []byte) []byte { return []byte(base64.StdEncoding.EncodeToString(document)) },
	func(document []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(document)
		w.Close()
		return b.Bytes()
	},
	func(document []byte) []byte {
		wrapped, err := userdata.MIME(userdata.Contract{Document: document, Path: userdata.NativePath})
		if err != nil {
			panic(err)
		}
		return wrapped
	},
	func(document []byte) []byte {
		wrapped, err := userdata.CloudConfig(userdata.Contract{Document: document, Path: userdata.AKSPath})
		if err != nil {
			panic(err)
		}
		return wrapped
	},
}

// contractOf is a unique contract.
func contractOf(r *rand.Rand) []byte {
	return fmt.Appendf(nil, `{"apiVersion": "slipway.dev/v1", "kind": "NodeConfig", "metadata": {"name": "%x"}}`, r.Uint64())
}

// Any source and any wrapping: document in, document out. A search that waits finds the same as one that looks once,
// and also what comes while it waits.
func TestDocumentInDocumentOut(t *testing.T) {
	seed := rand.New(rand.NewPCG(1, 2))
	for _, d := range deliveries {
		for i, wrap := range wrappings {
			for _, how := range []string{"once", "waiting", "late"} {
				document := contractOf(seed)
				m := newMachine(t)
				s := m.on(d.platform)
				s.Wait = how != "once"
				if how == "late" {
					s.Waiting = func() {
						d.deliver(m, s, wrap(document))
						go func() { m.disks <- struct{}{} }()
					}
				} else {
					d.deliver(m, s, wrap(document))
				}
				if how == "late" && !d.wakes() {
					continue // no event reports it
				}
				ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
				got, err := s.Find(ctx)
				cancel()
				if err != nil || !bytes.Equal(got.Data, document) || got.Source != d.source || got.Path != d.where || got.Instance.Hostname != d.hostname {
					t.Errorf("%s, wrapping %d, %s: %q from %s, %s, %q, %v", d.source, i, how, got.Data, got.Source, got.Path, got.Instance.Hostname, err)
				}
			}
		}
	}
}

// wakes reports whether it wakes up a waiting search.
func (d *delivery) wakes() bool {
	return d.source == "azure-ovf" || d.source == "nocloud-disk" || d.source == "config-drive" || d.source == "cloud-init"
}

// A contract's path on the disk comes first, and then the metadata service is not asked.
func TestOrder(t *testing.T) {
	m := newMachine(t)
	s := m.on(facts.Azure)
	asked := &service{data: []byte(`{"from": "imds"}`)}
	s.Service = asked
	m.put("/dev/sr0", string(iso("x", map[string]string{"ovf-env.xml": ovf("n", []byte(`{"from": "ovf"}`))})))
	m.put("/var/lib/waagent/CustomData", `{"from": "agent"}`)
	got, err := s.Find(t.Context())
	if err != nil || got.Source != "azure-ovf" || asked.asked.Load() != 0 {
		t.Errorf("got %s, %v; the service was asked %d times", got.Source, err, asked.asked.Load())
	}
	m.put(Paths[0], `{"from": "file"}`)
	if got, err = s.Find(t.Context()); err != nil || got.Source != FileSource {
		t.Errorf("got %s, %v", got.Source, err)
	}
	s.Only = "waagent"
	if got, err = s.Find(t.Context()); err != nil || string(got.Data) != `{"from": "agent"}` {
		t.Errorf("got %q, %v", got.Data, err)
	}
	s.Only = "nowhere"
	if _, err = s.Find(t.Context()); err == nil || errors.Is(err, ErrNotFound) {
		t.Errorf("an unknown source: %v", err)
	}
}

// If one place is broken, another is still found. If no place has a contract, the broken one is reported.
func TestBroken(t *testing.T) {
	for name, break_ := range map[string]func(m *machine){
		"no XML": func(m *machine) {
			m.put("/dev/sr0", string(iso("x", map[string]string{"ovf-env.xml": "<Environment>"})))
		},
		"no base64": func(m *machine) {
			m.put("/var/lib/waagent/ovf-env.xml", strings.Replace(ovf("n", nil), "<ns1:CustomData>", "<ns1:CustomData>%canary", 1))
		},
		"a document type": func(m *machine) {
			m.put("/var/lib/waagent/ovf-env.xml", `<!DOCTYPE x [<!ENTITY canary "x">]><Environment/>`)
		},
		"truncated gzip": func(m *machine) {
			m.put("/var/lib/waagent/CustomData", string(wrappings[2]([]byte(`{"canary": 1}`))[:15]))
		},
		"a damaged disk": func(m *machine) {
			image := iso("x", map[string]string{"ovf-env.xml": ovf("n", []byte("canary"))})
			m.put("/dev/sr0", string(image[:19*sector]))
		},
		"no ID": func(m *machine) { m.put(cloudInitID, "../../canary") },
	} {
		m := newMachine(t)
		s := m.on(facts.Azure)
		break_(m)
		_, err := s.Find(t.Context())
		if err == nil || errors.Is(err, ErrNotFound) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", name, err)
		}
		m.put("/run/credentials/@system/slipway.contract", `{"kind": "NodeConfig"}`)
		if got, err := s.Find(t.Context()); err != nil || got.Source != "credential" {
			t.Errorf("%s, and a credential: %s, %v", name, got.Source, err)
		}
	}
}

// A search ends when every place has answered that it has none, or after the timeout. It does not end earlier if a
// contract may come.
func TestEnd(t *testing.T) {
	for _, c := range []struct {
		name, platform string
		service        *service
		cloudInit      bool
		// early reports whether it ends before the timeout, and notFound the kind of error.
		notFound bool
		says     []string
	}{
		{"nothing", "", nil, false, true, []string{"file: ", "nocloud-disk: ", "no disk is labelled cidata", "--provision-config"}},
		{"a silent service", facts.EC2, &service{slow: true}, false, false, []string{"ec2-imds: "}},
		{"a broken service", facts.Azure, &service{err: errors.New("answers 500")}, false, false, []string{"azure-imds: user data cannot be read: answers 500"}},
		{"a service without", facts.EC2, &service{}, true, true, []string{"ec2-imds: "}},
	} {
		m := newMachine(t)
		close(m.address)
		s := m.on(c.platform)
		if s.Wait = true; c.service != nil {
			s.Service = c.service
		}
		s.Facts.CloudInit = c.cloudInit
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		_, err := s.Find(ctx)
		if ctx.Err() == nil {
			t.Errorf("%s: ended before its time", c.name)
		}
		cancel()
		if err == nil || errors.Is(err, ErrNotFound) != c.notFound {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, text := range c.says {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q is not in %v", c.name, text, err)
			}
		}
	}
}

// If only the metadata service could have a contract, and it has none, the search does not wait.
func TestEndsEarly(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	close(m.address)
	s := m.on(facts.EC2)
	s.Service, s.Wait = &service{}, true
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := s.Find(ctx); !errors.Is(err, ErrNotFound) || ctx.Err() != nil {
		t.Errorf("%v, %v", err, ctx.Err())
	}
}

// The error names a network that never comes up.
func TestNoAddress(t *testing.T) {
	m := newMachine(t)
	s := m.on(facts.EC2)
	s.Service, s.Wait = &service{data: []byte("{}")}, true
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := s.Find(ctx); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Error(err)
	}
}

// Another machine's data on the disk is not used; its contract is the last resort.
func TestOtherMachine(t *testing.T) {
	m := newMachine(t)
	m.put(Paths[0], `{"of": "the other"}`)
	m.put("/var/lib/waagent/CustomData", `{"of": "the other"}`)
	old, err := m.on(facts.Azure).Find(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s := m.on(facts.Azure)
	s.Other, s.OtherSum = true, old.Sum()
	if got, err := s.Find(t.Context()); err != nil || got.Source != FileSource {
		t.Errorf("the last resort: %s, %v", got.Source, err)
	}
	s = m.on(facts.Azure)
	s.Other, s.OtherSum = true, old.Sum()
	m.put("/dev/sr0", string(iso("x", map[string]string{"ovf-env.xml": ovf("n", []byte(`{"of": "this one"}`))})))
	if got, err := s.Find(t.Context()); err != nil || got.Source != "azure-ovf" {
		t.Errorf("this machine's: %s, %v", got.Source, err)
	}
	m.put(Paths[0], `{"of": "this one, written by cloud-init"}`)
	if got, err := s.Find(t.Context()); err != nil || got.Source != FileSource {
		t.Errorf("a new file: %s, %v", got.Source, err)
	}
}

// Each place is reported once, with its last result.
func TestTried(t *testing.T) {
	m := newMachine(t)
	s := m.on(facts.Azure)
	m.put("/dev/sr0", string(iso("x", map[string]string{"ovf-env.xml": ovf("n", wrappings[1](contractOf(rand.New(rand.NewPCG(1, 2)))))})))
	if _, err := s.Find(t.Context()); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, a := range s.Tried() {
		names = append(names, a.Source)
		if a.Found != (a.Source == "azure-ovf") || a.Result == "" {
			t.Errorf("%+v", a)
		}
	}
	if want := []string{FileSource, "credential", "azure-ovf"}; !slices.Equal(names, want) {
		t.Errorf("tried %v, want %v", names, want)
	}
	if last := s.Tried()[2].Result; !strings.Contains(last, "/dev/sr0:ovf-env.xml, in base64") {
		t.Errorf("the result is %q", last)
	}
}

// A contract is written to the path in its user data, or to its dialect's path.
func TestPlaceFor(t *testing.T) {
	for _, c := range []struct{ place, dialect, data, want string }{
		{"/etc/slipway/config.yaml", "aks", "{}", "/etc/slipway/config.yaml"},
		{"", "aks", "{}", "/opt/azure/containers/aks-node-controller-config.json"},
		{"", "native", "{}", "/etc/slipway/config.json"},
		{"", "native", "kind: NodeConfig", "/etc/slipway/config.yaml"},
		{"/etc/passwd", "native", "kind: NodeConfig", "/etc/slipway/config.yaml"},
	} {
		if got := PlaceFor(Contract{Place: c.place, Data: []byte(c.data)}, c.dialect); got != c.want {
			t.Errorf("%+v: got %s", c, got)
		}
	}
}

// A seed that the firmware names cannot refer to another place.
func TestSeedEscape(t *testing.T) {
	m := newMachine(t)
	outside := filepath.Join(filepath.Dir(m.root), "outside")
	if err := os.MkdirAll(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(outside, "user-data"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := m.on(facts.NoCloud)
	s.Facts.DMI.ProductSerial = "ds=nocloud;s=/../outside/"
	if got, err := s.Find(t.Context()); err == nil {
		t.Errorf("read %s", got.Path)
	}
}

// FuzzOVF: no settings document crashes the parser, takes long, or shows its content in an error.
func FuzzOVF(f *testing.F) {
	f.Add([]byte(ovf("node", []byte("{}"))))
	f.Add([]byte("<a><b></a></b>"))
	f.Add([]byte("<Environment><ProvisioningSection><LinuxProvisioningConfigurationSet><CustomData>e30=</CustomData>"))
	f.Add([]byte(strings.Repeat("<a>", 100)))
	f.Fuzz(func(t *testing.T, document []byte) {
		settings, err := parseOVF(document)
		if err != nil && settings.customData == nil && strings.Contains(err.Error(), "canary") {
			t.Error(err)
		}
	})
}

// FuzzMetaData: the machine's name from a seed or a drive is a valid name or empty.
func FuzzMetaData(f *testing.F) {
	f.Add([]byte("instance-id: i\nlocal-hostname: n\n"))
	f.Add([]byte(`{"uuid": "u", "hostname": ["x"], "availability_zone": "z"}`))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, instance := range []facts.Instance{seedInstance(data), driveInstance(data)} {
			if name := instance.Hostname; name != facts.CleanHostname(name) || strings.ContainsAny(instance.ID, "\n\x00\x1b") {
				t.Errorf("%+v", instance)
			}
		}
	})
}

// unwatched is a machine on which no file changes. Waiting for inotify would stop the test's clock.
type unwatched struct{ *machine }

func (unwatched) FollowFiles(ctx context.Context, changed func(), _ ...string) error {
	changed()
	<-ctx.Done()
	return nil
}

// A search that continues reports that every ten seconds, with the result of each place.
func TestSearchReportsThatItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		s := m.on(facts.NoCloud)
		s.Machine, s.Wait = unwatched{m}, true
		var at []time.Duration
		began := time.Now()
		s.Still = func() {
			if at = append(at, time.Since(began)); len(s.Tried()) == 0 {
				t.Error("no place was tried")
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), 35*time.Second)
		defer cancel()
		if _, err := s.Find(ctx); err == nil {
			t.Error("it found a missing contract")
		}
		if want := []time.Duration{10 * time.Second, 20 * time.Second, 30 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("it said so at %v, want %v", at, want)
		}
	})
}
