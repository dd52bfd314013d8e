package launch_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/quantity"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// inCases are a text in capital and small letters.
func inCases(s string) []string {
	mixed := []byte(strings.ToLower(s))
	for i := 0; i < len(mixed); i += 2 {
		mixed[i] = strings.ToUpper(string(mixed[i]))[0]
	}
	half := len(s) / 2
	return []string{strings.ToUpper(s), strings.ToLower(s), string(mixed), strings.ToUpper(s[:half]) + strings.ToLower(s[half:]), strings.ToLower(s[:half]) + strings.ToUpper(s[half:])}
}

// spellings are at least five for each meaning of a text that has more than one.
var spellings = map[string]func(string) []string{
	"GUID": inCases, "host name": inCases, "cloud's name": inCases,
	"ID": func(s string) []string { return append(inCases(s), s+"/") },
	"location": func(s string) []string {
		return append(inCases(s), s[:len(s)/2]+" "+s[len(s)/2:])
	},
	"URL": func(s string) []string {
		scheme, rest, _ := strings.Cut(s, "://")
		if strings.Contains(rest, "/") { // in a path capital letters count
			return nil
		}
		return append(inCases(s), strings.ToUpper(scheme)+"://"+rest, s+"/")
	},
	"version": func(s string) []string {
		return []string{"v" + s, s + "+build", s + "+build.2", "v" + s + "+k3s1", s + "+1"}
	},
	"address": func(s string) []string {
		if strings.Contains(s, ":") {
			return []string{strings.ToUpper(s)}
		}
		return []string{"::ffff:" + s, "::FFFF:" + s, "0:0:0:0:0:ffff:" + s, "0000:0:0:0:0:ffff:" + s, "::0:ffff:" + s}
	},
	"certificates": func(s string) []string {
		return []string{s + "\n", "\n" + s, strings.ReplaceAll(s, "\n", "\r\n"), strings.TrimSpace(s), strings.ReplaceAll(s, "\n", "\n ")}
	},
	"script": func(s string) []string {
		bare := strings.TrimRight(s, "\n")
		return []string{bare, bare + "\n", bare + "\n\n", bare + "\r\n", bare + "\n\n\n\n"}
	},
	"duration": func(s string) []string {
		d, err := time.ParseDuration(s)
		if err != nil {
			return nil
		}
		return []string{
			fmt.Sprintf("%dns", d), fmt.Sprintf("%gs", d.Seconds()), fmt.Sprintf("%gms", float64(d)/1e6), fmt.Sprintf("%gus", float64(d)/1e3),
			fmt.Sprintf("0h%s", d), "+" + s,
		}
	},
	"quantity": func(s string) []string {
		q, ok := quantity.Parse(s)
		if !ok {
			return nil // a percentage
		}
		n := q.Milli()
		all := []string{fmt.Sprintf("%dm", n), fmt.Sprintf("%d000u", n), fmt.Sprintf("%d000000n", n), fmt.Sprintf("%de-3", n), "+" + s}
		if n%1000 == 0 {
			all = append(all, fmt.Sprintf("%d", n/1000), fmt.Sprintf("%d.0", n/1000))
		}
		if n%(1000<<10) == 0 {
			all = append(all, fmt.Sprintf("%dKi", n/1000>>10))
		}
		return all
	},
}

// respelled are other spellings of a value at a path, as functions that write them.
func respelled(path string, v reflect.Value) (all []func(reflect.Value) bool) {
	meaning, set, _ := launch.MeaningOf(path)
	others := spellings[meaning]
	text := func(s string) func(reflect.Value) bool {
		return func(v reflect.Value) bool { v.SetString(s); return true }
	}
	switch {
	case v.Type() == reflect.TypeFor[json.Number](), v.Type() == reflect.TypeFor[launch.PublicKey]():
	case v.Kind() == reflect.String && others != nil && v.String() != "":
		for _, s := range others(v.String()) {
			all = append(all, text(s))
		}
	case v.Type() == reflect.TypeFor[launch.UserParts]():
		for n := range 5 {
			all = append(all, func(v reflect.Value) bool {
				parts := slices.Clone(v.Interface().(launch.UserParts))
				for i := range parts {
					if turned := others(string(parts[i].Content)); strings.HasPrefix(turned[0], "#!") {
						parts[i].Content = []byte(turned[n])
					}
				}
				v.Set(reflect.ValueOf(parts))
				return true
			})
		}
	case v.Kind() == reflect.Slice:
		items := func(v reflect.Value, change func([]string) []string) bool {
			switch list := v.Interface().(type) {
			case []string:
				v.Set(reflect.ValueOf(change(slices.Clone(list))))
			case []any:
				var texts []string
				for _, item := range list {
					texts = append(texts, item.(string))
				}
				var turned []any
				for _, s := range change(texts) {
					turned = append(turned, s)
				}
				v.Set(reflect.ValueOf(turned))
			default:
				return false
			}
			return true
		}
		if set {
			for _, change := range []func([]string) []string{
				func(s []string) []string { slices.Reverse(s); return s },
				func(s []string) []string { return append(s, s...) },
				func(s []string) []string { return append(s, s[0]) },
				func(s []string) []string { return append([]string{s[len(s)-1]}, s...) },
				func(s []string) []string { slices.Sort(s); return slices.Concat(s, s, s) },
			} {
				all = append(all, func(v reflect.Value) bool { return v.Len() > 0 && items(v, change) })
			}
		}
		if others != nil {
			for n := range 5 {
				all = append(all, func(v reflect.Value) bool {
					return items(v, func(texts []string) []string {
						for i, s := range texts {
							if turned := others(s); len(turned) > 0 {
								texts[i] = turned[n%len(turned)]
							}
						}
						return texts
					})
				})
			}
		}
	}
	return all
}

// respellingCloud respells one value of its cloud's layers.
type respellingCloud struct {
	launch.Cloud
	source launch.Source
	path   string
	write  func(reflect.Value) bool
	done   bool
}

func (c *respellingCloud) Layers() ([]launch.Layer, []nodeconfig.Problem) {
	layers, problems := c.Cloud.Layers()
	layers = slices.Clone(layers)
	for i := range layers {
		if layers[i].Source == c.source && layers[i].Document != nil {
			copied := launch.Copied(layers[i].Document)
			if launch.Rewrite(copied, c.path, c.write) {
				layers[i].Document, c.done = copied, true
			}
		}
	}
	return layers, problems
}

var respellings = flag.Int("respellings", 3000, "how many respellings TestSpellings tries")

// TestSpellings writes what the sources say in other spellings that mean the same, one value at a time: no node drifts, in either direction,
// and most have the same key.
func TestSpellings(t *testing.T) {
	type trial struct {
		cloud   launch.Cloud
		request launch.Request
		kept    *launch.Record
		before  *launch.Launch
		path    string
		source  launch.Source
		write   func(reflect.Value) bool
	}
	var trials []trial
	meant := make(map[string]int)
	for _, path := range append(cases(t), pairs(t)...) {
		c := parse(t, read(t, path))
		if over, ok := c.Get("wanted"); ok {
			c = over
		}
		cloud, request, problems := with(t, c).decode(t)
		if cloud.Settings == nil || request.Claim == nil && request.Pool == nil {
			continue
		}
		made := launch.Render(cloud, request)
		if len(nodeconfig.Fatal(append(problems, made.Problems()...))) > 0 {
			continue
		}
		kept, err := launch.ParseRecord([]byte(made.Record().Text()))
		if err != nil {
			t.Fatal(err)
		}
		layers, _ := cloud.Layers()
		for _, l := range layers {
			if l.Source == launch.Hardcoded || l.Document == nil {
				continue
			}
			launch.Walk(l.Document, func(at string, v reflect.Value) {
				if strings.HasPrefix(at, "$.machine.type.") && at != "$.machine.type.name" {
					return // it is looked up
				}
				writes := respelled(at, v)
				if name, _, _ := launch.MeaningOf(at); len(writes) > 0 {
					meant[name] = max(meant[name], len(writes))
				}
				for _, write := range writes {
					trials = append(trials, trial{cloud, request, kept, made, at, l.Source, write})
				}
			})
		}
	}
	for _, name := range []string{"GUID", "cloud's name", "ID", "location", "URL", "version", "address", "certificates", "quantity"} {
		if meant[name] < 5 {
			t.Errorf("the cases have %d spellings of a %s", meant[name], name)
		}
	}
	keys := 0
	rand.New(rand.NewSource(1)).Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
	for n := range *respellings {
		try := trials[n%len(trials)]
		cloud := &respellingCloud{Cloud: try.cloud, source: try.source, path: try.path, write: try.write}
		made := launch.Render(cloud, try.request)
		if !cloud.done {
			t.Fatalf("%s was not written", try.path)
		}
		for _, both := range []struct {
			running *launch.Record
			wanted  *launch.Launch
		}{{try.kept, launch.Unrefused(made)}, {made.Record(), try.before}} {
			c, err := launch.Compare(both.running, both.wanted)
			if err != nil || len(c.Changes) > 0 {
				t.Errorf("%s, respelled: %v, %+v", try.path, err, c)
			}
		}
		if made.Key() == try.before.Key() {
			keys++
		}
	}
	t.Logf("%d trials of %d values; %d with the same key", *respellings, len(trials), keys)
	if keys < *respellings*9/10 {
		t.Errorf("only %d of %d respellings have the same key", keys, *respellings)
	}
}

// TestStandards: what a field is where no source says it may be written out.
func TestStandards(t *testing.T) {
	for _, path := range []string{
		"$.machine.image.fips", "$.machine.security.encryptionAtHost", "$.machine.security.secureBoot", "$.machine.security.vtpm", "$.machine.streaming",
		"$.node.kubelet.config.cpuCFSQuota", "$.node.kubelet.config.cpuCFSQuotaPeriod", "$.node.kubelet.config.cpuManagerPolicy",
		"$.node.kubelet.config.failSwapOn", "$.node.kubelet.config.topologyManagerPolicy",
	} {
		_, _, standard := launch.MeaningOf(path)
		if standard == "" {
			t.Errorf("%s has no standard", path)
			continue
		}
		without, with := new(launch.Document), new(launch.Document)
		without.Node.Kubelet.Config, with.Node.Kubelet.Config = map[string]any{}, map[string]any{}
		on := standard == "true"
		switch name, ofKubelet := strings.CutPrefix(path, "$.node.kubelet.config."); {
		case ofKubelet && (on || standard == "false"):
			with.Node.Kubelet.Config[name] = on
		case ofKubelet:
			with.Node.Kubelet.Config[name] = standard
		default:
			field := map[string]**bool{
				"$.machine.image.fips": &with.Machine.Image.FIPS, "$.machine.security.encryptionAtHost": &with.Machine.Security.EncryptionAtHost,
				"$.machine.security.secureBoot": &with.Machine.Security.SecureBoot, "$.machine.security.vtpm": &with.Machine.Security.VTPM,
				"$.machine.streaming": &with.Machine.Streaming,
			}[path]
			value, err := strconv.ParseBool(standard)
			if err != nil {
				t.Fatal(err)
			}
			*field = &value
		}
		for _, both := range [][2]*launch.Document{{without, with}, {with, without}} {
			running, wanted := launch.Of(launch.Copied(both[0])), launch.Of(launch.Copied(both[1]))
			if c := comparedWith(t, running, wanted); len(c.Changes) > 0 || running.Key() != wanted.Key() {
				t.Errorf("%s, written out: %+v", path, c)
			}
		}
	}
}

// TestEveryTextHasAMeaning: no field of texts is compared letter by letter because its author forgot to say what it means.
func TestEveryTextHasAMeaning(t *testing.T) {
	eachField(reflect.TypeFor[launch.Document](), "$", func(path string, set func(*launch.Document)) {
		d := new(launch.Document)
		set(d)
		isText := false
		launch.Walk(d, func(at string, v reflect.Value) {
			isText = isText || v.Kind() == reflect.String || v.Kind() == reflect.Slice
		})
		if name, _, _ := launch.MeaningOf(path); isText && name == "" {
			t.Errorf("%s has no meaning in the table of fields", path)
		}
	})
}
