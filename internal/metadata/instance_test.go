package metadata_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/metadata"
)

var instances = map[string]facts.Instance{
	"azure": {
		Platform: "azure", ID: "i-0", Hostname: "node", Type: "m5.large", Region: "us-east-1", Zone: "1", Tags: facts.Tags{Tagged: true},
		ResourceID: "/subscriptions/22222222-2222-2222-2222-222222222222/resourceGroups/MC_e2e/providers/Microsoft.Compute/virtualMachines/node",
		Interfaces: []facts.InstanceInterface{{MAC: "52:54:00:00:00:01"}},
	},
	"ec2": {
		Platform: "ec2", ID: "i-0", Hostname: "ip-10-0-0-4.us-east-1.compute.internal", Type: "m5.large",
		Region: "us-east-1", Zone: "us-east-1a", Lifecycle: "on-demand",
	},
}

func TestInstance(t *testing.T) {
	for name, want := range instances {
		service, _ := served(t, name, canary)
		if got, err := service.Instance(t.Context()); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// A temporary fault is retried; a permanent one is an error, with the data known so far.
func TestInstanceFaults(t *testing.T) {
	for _, c := range []struct {
		cloud, fault string
		kind         metadata.Kind
		want         facts.Instance
	}{
		{"azure", "status=503*3", "", instances["azure"]},
		{"azure", "status=404*3", "", instances["azure"]},
		{"azure", "down=5s", "", instances["azure"]},
		{"azure", "garbage", metadata.WrongType, facts.Instance{}},
		{"azure", "large=1MB", metadata.TooLarge, facts.Instance{}},
		{"azure", "type=text/html", metadata.WrongType, facts.Instance{}},
		{"azure", "status=404", metadata.NotFound, facts.Instance{}},
		{"ec2", "status=503*3", "", instances["ec2"]},
		{"ec2", "ec2/latest/dynamic status=404", metadata.NotFound, facts.Instance{}},
		{"ec2", "ec2/latest/dynamic garbage", metadata.WrongType, facts.Instance{}},
		{"ec2", "ec2/latest/meta-data status=404", "", without(instances["ec2"])},
		{"ec2", "ec2/latest/meta-data garbage", "", without(instances["ec2"])},
		{"ec2", "ec2/latest/meta-data status=503", metadata.Status, without(instances["ec2"])},
	} {
		synctest.Test(t, func(t *testing.T) {
			service, cloud := served(t, c.cloud, canary)
			misbehave(t, cloud, c.fault)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			got, err := service.Instance(ctx)
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%s, %s: %+v", c.cloud, c.fault, got)
			}
			var failed *metadata.Error
			if errors.As(err, &failed); (failed == nil) != (c.kind == "") || failed != nil && failed.Kind != c.kind {
				t.Errorf("%s, %s: %v, want %s", c.cloud, c.fault, err, c.kind)
			}
		})
	}
}

func without(i facts.Instance) facts.Instance {
	i.Hostname, i.Lifecycle = "", ""
	return i
}

// document answers every request for a document with the same one, and with names.
func document(text, names string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch {
		case r.Method == http.MethodPut:
			fmt.Fprint(w, "token")
		case strings.HasSuffix(r.URL.Path, "hostname"):
			fmt.Fprint(w, names)
		default:
			fmt.Fprint(w, text)
		}
	})
}

// Malformed documents: an invalid value is left empty, and no other.
func TestInstanceDocuments(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		name, cloud, text string
		want              facts.Instance
	}{
		{"nothing in it", "azure", `{}`, facts.Instance{Platform: "azure"}},
		{"another shape", "azure", `{"compute":[1]}`, facts.Instance{Platform: "azure"}},
		{"null", "azure", ` {"compute":null}`, facts.Instance{Platform: "azure"}},
		{"wrong types", "azure", `{"compute":{"vmId":1,"name":["a"],"vmSize":{"a":"b"},"location":"eastus","zone":2,"osProfile":"x","resourceId":"/r"}}`,
			facts.Instance{Platform: "azure", Region: "eastus", ResourceID: "/r"}},
		{"a region with a space", "azure", `{"compute":{"location":"East US","zone":""}}`, facts.Instance{Platform: "azure", Region: "East US"}},
		{"no profile", "azure", `{"compute":{"name":"node","osProfile":{}}}`, facts.Instance{Platform: "azure", Hostname: "node"}},
		{"a profile's name first", "azure", `{"compute":{"name":"pool_0","osProfile":{"computerName":"pool000000"}}}`,
			facts.Instance{Platform: "azure", Hostname: "pool000000"}},
		{"a name that is no host's", "azure", `{"compute":{"name":"pool_0"}}`, facts.Instance{Platform: "azure"}},
		{"control characters", "azure", `{"compute":{"vmId":"a\nb","name":"a\u0000","vmSize":"ä","zone":"\t"}}`, facts.Instance{Platform: "azure"}},
		{"a tag", "azure", `{"compute":{"tagsList":[{"name":"a","value":"b"},{"name":"skipgpudriverinstall","value":"True"}]}}`,
			facts.Instance{Platform: "azure", Tags: facts.Tags{SkipGPUDriver: true}}},
		{"other tags", "azure", `{"compute":{"tagsList":[{"name":"SkipGpuDriverInstall","value":"false"},{"name":"x","value":"true"}]}}`, facts.Instance{Platform: "azure"}},
		{"tags of another shape", "azure", `{"compute":{"tagsList":["SkipGpuDriverInstall",{"name":1,"value":"true"}],"location":"eastus"}}`,
			facts.Instance{Platform: "azure", Region: "eastus"}},
		{"a resource ID is long", "azure", `{"compute":{"resourceId":"` + long + `"}}`, facts.Instance{Platform: "azure", ResourceID: long}},
		{"and has an end", "azure", `{"compute":{"resourceId":"` + long + long + long + long + `"}}`, facts.Instance{Platform: "azure"}},
		{"wrong types", "ec2", `{"instanceId":1,"instanceType":null,"region":"r","availabilityZone":true}`, facts.Instance{Platform: "ec2", Region: "r"}},
		{"the same twice", "ec2", `{"region":"a","region":"b"}`, facts.Instance{Platform: "ec2", Region: "b"}},
	} {
		c.want.Tagged = c.cloud == "azure"
		got, err := asked(t, c.cloud, document(c.text, "")).Instance(t.Context())
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s, %s: %+v, %v", c.cloud, c.name, got, err)
		}
	}
	for _, text := range []string{"", "[]", "null", `"a"`, "{", `{"compute":{}} x`, strings.Repeat(`{"a":`, 20000)} {
		for _, name := range simulated {
			var failed *metadata.Error
			if got, err := asked(t, name, document(text, "")).Instance(t.Context()); !errors.As(err, &failed) || failed.Kind != metadata.WrongType {
				t.Errorf("%s: %+v, %v", name, got, err)
			}
		}
	}
}

func TestHostnames(t *testing.T) {
	label := strings.Repeat("a", 63)
	for names, want := range map[string]string{
		"node": "node", "Node-1.example.org": "node-1.example.org", "1.2.3": "1.2.3",
		"first.a second.b": "first.a", " node\n": "node", // one for each domain in the DHCP options
		label: label, label + "a": "",
		label + "." + label + "." + label + "." + label[:61]: label + "." + label + "." + label + "." + label[:61],
		label + "." + label + "." + label + "." + label[:62]: "",
		"": "", ".": "", "a..b": "", "a.": "a", ".a": "", "-a": "", "a-": "", "a_b": "", "ä": "", "a;reboot": "", "../etc": "", "a\x00": "",
		"<html>": "", strings.Repeat("a.", 2000) + "a": "",
	} {
		got, err := asked(t, "ec2", document("{}", names)).Instance(t.Context())
		if err != nil || got.Hostname != want {
			t.Errorf("%q: %q, %v, want %q", names, got.Hostname, err, want)
		}
	}
}

// The tags' requests, from the machine's document and from the tags' document. Anyone who may set a machine's tags may
// write anything there.
func TestTags(t *testing.T) {
	const name = "aksAPIServerIPAddress"
	one := func(value string) string { return `[{"name":"` + name + `","value":"` + value + `"}]` }
	var many strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&many, `{"name":"tag%d","value":"10.0.0.1"},`, i)
	}
	for text, want := range map[string]facts.Tags{
		"[]":                             {},
		one("10.0.0.4"):                  {APIServerAddress: "10.0.0.4"},
		one("fd00::4"):                   {APIServerAddress: "fd00::4"},
		one("FD00:0::0004"):              {APIServerAddress: "fd00::4"},
		one("::ffff:10.0.0.4"):           {APIServerAddress: "10.0.0.4"},
		strings.ToUpper(one("10.0.0.4")): {APIServerAddress: "10.0.0.4"}, // encoding/json also ignores the case of members' names
		`[{"name":"a","value":"` + name + `:10.0.0.5;"}]`:          {},
		`[{"name":"a;` + name + `","value":"10.0.0.5"}]`:           {},
		`[{"name":"` + name + ` ","value":"10.0.0.5"}]`:            {},
		`[{"name":"` + name + `","tag":"10.0.0.5"}]`:               {},
		`[{"name":"` + name + `","value":["10.0.0.5"]}]`:           {},
		`[{"name":1,"value":"10.0.0.5"}, null, 7, "` + name + `"]`: {},
		// Names that differ only in case are the same name; a machine cannot have two. The first valid one counts.
		`[{"name":"AKSapiserveripaddress","value":"10.0.0.6"},{"name":"` + name + `","value":"10.0.0.7"}]`: {APIServerAddress: "10.0.0.6"},
		`[{"name":"AKSapiserveripaddress","value":"x"},{"name":"` + name + `","value":"10.0.0.7"}]`:        {APIServerAddress: "10.0.0.7"},
		`[{"name":"SkipGpuDriverInstall","value":"false"},{"name":"SKIPGPUDRIVERINSTALL","value":"TRUE"}]`: {SkipGPUDriver: true},
		one(""):                          {},
		one(`10.0.0.4\n10.0.0.5 evil`):   {},
		one("10.0.0.4 other.example"):    {},
		one(" 10.0.0.4"):                 {},
		one("10.0.0.4/32"):               {},
		one("10.0.0.4:443"):              {},
		one("010.0.0.4"):                 {},
		one("fe80::1%eth0"):              {},
		one("0.0.0.0"):                   {},
		one("::"):                        {},
		one("127.0.0.1"):                 {},
		one("::1"):                       {},
		one("::ffff:127.0.0.1"):          {},
		one("224.0.0.1"):                 {},
		one("255.255.255.255"):           {},
		one(strings.Repeat("1", 100000)): {},
		"[" + many.String() + strings.TrimPrefix(one("10.0.0.8"), "["): {APIServerAddress: "10.0.0.8"},
	} {
		want.Tagged = true
		if got, err := asked(t, "azure", document(text, "")).Tags(t.Context()); err != nil || got != want {
			t.Errorf("%.200s: %+v, %v, want %+v", text, got, err, want)
		}
		whole := `{"compute":{"tagsList":` + text + `}}`
		if got, err := asked(t, "azure", document(whole, "")).Instance(t.Context()); err != nil || got.Tags != want {
			t.Errorf("%.200s: %+v, %v, want %+v", whole, got, err, want)
		}
	}
	for _, text := range []string{"", "{}", "null", `"a:b"`, "a:b;c:d", "[", "[] x", strings.Repeat("[", 20000)} {
		var failed *metadata.Error
		if got, err := asked(t, "azure", document(text, "")).Tags(t.Context()); !errors.As(err, &failed) || failed.Kind != metadata.WrongType {
			t.Errorf("%.100q: %+v, %v", text, got, err)
		}
	}
	if got, err := asked(t, "ec2", document("[]", "")).Tags(t.Context()); !errors.Is(err, metadata.ErrNotFound) {
		t.Errorf("EC2's tags: %+v, %v", got, err)
	}
	// A list above the limit is refused, and not read to its end.
	var failed *metadata.Error
	if got, err := asked(t, "azure", document(one(strings.Repeat("1", 1<<20)), "")).Tags(t.Context()); !errors.As(err, &failed) || failed.Kind != metadata.TooLarge {
		t.Errorf("a large list: %+v, %v", got, err)
	}
}
