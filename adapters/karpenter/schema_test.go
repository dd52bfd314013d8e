package karpenter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definition "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch/azure"
)

// apiServer validates a class as an API server with the CRD does (k8s.io/apiextensions-apiserver).
type apiServer struct {
	structural *schema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator
}

// newAPIServer fails for a CRD that an API server would refuse, for example because its rules may take too long.
func newAPIServer(t testing.TB) *apiServer {
	t.Helper()
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(karpenter.ClassDefinition, &crd); err != nil {
		t.Fatal(err)
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	internal := new(apiextensions.CustomResourceDefinition)
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, internal, nil); err != nil {
		t.Fatal(err)
	}
	internal.Status.StoredVersions = []string{"v1beta1"}
	if wrong := definition.ValidateCustomResourceDefinition(t.Context(), internal); len(wrong) > 0 {
		t.Fatal(wrong.ToAggregate())
	}
	props := new(apiextensions.JSONSchemaProps)
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(crd.Spec.Versions[0].Schema.OpenAPIV3Schema, props, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := new(apiServer)
	if s.structural, err = schema.NewStructural(props); err != nil {
		t.Fatal(err)
	}
	if s.values, _, err = validation.NewSchemaValidator(props); err != nil {
		t.Fatal(err)
	}
	s.rules = cel.NewValidator(s.structural, true, celconfig.PerCallLimit)
	return s
}

// classObject is a class with a spec, as the API server reads it: whole numbers remain integers.
func classObject(t testing.TB, spec map[string]any) map[string]any {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"apiVersion": azure.ClassVersion, "kind": azure.ClassKind, "metadata": map[string]any{"name": "default", "generation": 3}, "spec": spec,
	})
	if err != nil {
		t.Fatal(err)
	}
	class := make(map[string]any)
	if err := kubejson.Unmarshal(data, &class); err != nil {
		t.Fatal(err)
	}
	return class
}

// accept sets the defaults in a class, and returns all problems, including unknown fields, as kubectl asks for.
func (s *apiServer) accept(class map[string]any) (wrong []string) {
	defaulting.PruneNonNullableNullsWithoutDefaults(class, s.structural)
	for _, path := range pruning.PruneWithOptions(class, s.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		wrong = append(wrong, "unknown field "+path)
	}
	defaulting.Default(class, s.structural)
	found := validation.ValidateCustomResource(nil, class, s.values)
	found = append(found, listtype.ValidateListSetsAndMaps(nil, s.structural, class)...)
	if len(found) == 0 { // the API server has the same order
		more, _ := s.rules.Validate(context.Background(), field.NewPath("root"), s.structural, class, nil, celconfig.RuntimeCELCostBudget)
		found = append(found, more...)
	}
	for _, one := range found {
		wrong = append(wrong, one.Error())
	}
	return wrong
}

// vector is a class with its expected result.
type vector struct {
	About   string
	Spec    map[string]any
	Refused bool
	// Later: only launch/azure refuses it. Written: only the API server refuses it, because a file may write a number as a text.
	Later, Written bool
}

// vectors are those of the file, the zones of a DNS cache, and both sides of each of the schema's bounds.
func vectors(t testing.TB, s *apiServer) []vector {
	t.Helper()
	data, err := os.ReadFile("testdata/classes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []vector
	if err := yaml.UnmarshalStrict(data, &all); err != nil {
		t.Fatal(err)
	}
	for length, refused := range map[int]bool{256: false, 257: true} {
		all = append(all, vector{About: fmt.Sprint("a tag's value of characters: ", length), Spec: at([]string{"tags", "team"}, strings.Repeat("é", length)), Refused: refused})
	}
	for length, refused := range map[int]bool{512: false, 513: true} {
		all = append(all, vector{About: fmt.Sprint("a tag's name of characters: ", length), Spec: at([]string{"tags", strings.Repeat("é", length)}, "blue"), Refused: refused})
	}
	all = append(all, zoneVectors()...)
	spec := s.structural.Properties["spec"]
	for path, values := range bounds(nil, &spec) {
		for _, v := range values {
			all = append(all, vector{About: fmt.Sprintf("%s: %v", path, v.value), Spec: at(strings.Split(path, "."), v.value), Refused: v.refused != good, Later: v.refused == later, Written: v.refused == written})
		}
	}
	return all
}

// verdict is which of the two refuses a value.
type verdict int

const (
	good verdict = iota
	bad
	later   // only launch/azure
	written // only the API server
)

// value is a value at a bound.
type value struct {
	value   any
	refused verdict
}

// bounds are values of each field that has bounds, by its path.
func bounds(path []string, s *schema.Structural) map[string][]value {
	all := make(map[string][]value)
	var values []value
	if v := s.ValueValidation; v != nil {
		if v.Minimum != nil {
			values = append(values, value{int64(*v.Minimum), good}, value{int64(*v.Minimum) - 1, bad})
		}
		if v.Maximum != nil {
			values = append(values, value{int64(*v.Maximum), good}, value{int64(*v.Maximum) + 1, bad})
		}
		for _, one := range v.Enum {
			values = append(values, value{one.Object, good})
		}
		if len(v.Enum) > 0 {
			values = append(values, value{"Other", bad})
		}
	}
	switch s.Type {
	case "boolean":
		values = append(values, value{true, good}, value{false, good}, value{"true", bad}, value{int64(1), bad})
	case "integer":
		values = append(values, value{"one", bad}, value{true, bad})
	case "string":
		values = append(values, value{int64(1), bad}, value{false, bad})
	case "object":
		values = append(values, value{"text", bad})
	}
	if len(path) > 0 && !strings.HasPrefix(path[len(path)-1], "imageGC") { // these two depend on each other
		all[strings.Join(path, ".")] = values
	}
	for name, child := range s.Properties {
		maps.Copy(all, bounds(append(slices.Clone(path), name), &child))
	}
	return all
}

// at is a spec with a value at a path, and with the fields that the value depends on.
func at(path []string, v any) map[string]any {
	spec := map[string]any{path[len(path)-1]: v}
	for _, name := range slices.Backward(path[:len(path)-1]) {
		spec = map[string]any{name: spec}
	}
	if strings.Join(path, ".") == "localDNS.mode" {
		spec = withDNS(func(_ map[string]any, dns map[string]any) { dns["mode"] = v })
	}
	return spec
}

// withDNS is a spec with a changed DNS cache. change gets the zone in the network's list and the whole cache.
func withDNS(change func(zone, dns map[string]any)) map[string]any {
	zone := func(name, destination string) map[string]any {
		return map[string]any{
			"zone": name, "queryLogging": "Error", "protocol": "PreferUDP", "forwardDestination": destination, "forwardPolicy": "Sequential",
			"maxConcurrent": int64(1000), "cacheDuration": "1h", "serveStaleDuration": "1h", "serveStale": "Immediate",
		}
	}
	changed := zone("example.com", "VnetDNS")
	dns := map[string]any{
		"mode":             "Required",
		"vnetDNSOverrides": []any{zone(".", "VnetDNS"), zone("cluster.local", "ClusterCoreDNS"), changed},
		"kubeDNSOverrides": []any{zone(".", "ClusterCoreDNS"), zone("cluster.local", "ClusterCoreDNS")},
	}
	change(changed, dns)
	return map[string]any{"localDNS": dns}
}

// zoneVectors are those of the DNS cache: a network zone with one field changed, and lists that lack an entry.
func zoneVectors() []vector {
	var all []vector
	add := func(about string, refused verdict, change func(zone, dns map[string]any)) {
		all = append(all, vector{About: "DNS: " + about, Spec: withDNS(change), Refused: refused != good, Later: refused == later, Written: refused == written})
	}
	add("as it is", good, func(_, _ map[string]any) {})
	for name, values := range map[string][]value{
		"zone": {
			{"example.com.", good}, {"a_b.example", good}, {"sub.cluster.local", bad}, {"x {\n}\nevil.example", bad}, {"a b", bad}, {"-bad..example", bad},
			{"bad-.example", bad}, {"..", bad}, {"", bad}, {"éxample.com", bad}, {strings.Repeat("a", 64) + ".com", bad}, {strings.Repeat("a", 63) + ".com", good},
			{strings.Repeat("a.", 127), good}, {strings.Repeat("a.", 127) + "a", bad}, {".", bad}, {"*.example.com", bad}, {int64(1), bad}, {nil, bad},
		},
		"queryLogging":       {{"Log", good}, {"log", bad}, {"", bad}, {nil, bad}},
		"protocol":           {{"ForceTCP", good}, {"TCP", bad}},
		"forwardDestination": {{"ClusterCoreDNS", bad}, {"Other", bad}},
		"forwardPolicy":      {{"RoundRobin", good}, {"Random", good}, {"First", bad}},
		"maxConcurrent":      {{int64(0), good}, {int64(-1), bad}, {int64(1) << 31, bad}, {"1000", written}, {nil, bad}},
		"cacheDuration":      {{"90s", good}, {"1h30m", good}, {"0s", later}, {"1.5h", bad}, {"100ms", bad}, {"-1h", bad}, {"1d", bad}, {"1", bad}, {"", bad}},
		"serveStaleDuration": {{"5m", good}, {"5 m", bad}},
		"serveStale":         {{"Verify", good}, {"Disable", good}, {"Never", bad}},
		"other":              {{"field", bad}},
	} {
		for _, v := range values {
			add(fmt.Sprintf("%s %v", name, v.value), v.refused, func(zone, _ map[string]any) { zone[name] = v.value })
		}
	}
	add("stale answers verified by TCP", bad, func(zone, _ map[string]any) { zone["serveStale"], zone["protocol"] = "Verify", "ForceTCP" })
	add("a zone below the cluster's", good, func(zone, _ map[string]any) {
		zone["zone"], zone["forwardDestination"] = "sub.cluster.local", "ClusterCoreDNS"
	})
	add("a zone twice", bad, func(zone, dns map[string]any) {
		dns["vnetDNSOverrides"] = append(dns["vnetDNSOverrides"].([]any), zone)
	})
	add("no mode", bad, func(_, dns map[string]any) { delete(dns, "mode") })
	add("no list of the pods", bad, func(_, dns map[string]any) { delete(dns, "kubeDNSOverrides") })
	add("an empty list", bad, func(_, dns map[string]any) { dns["kubeDNSOverrides"] = []any{} })
	add("no zone of the cluster", bad, func(_, dns map[string]any) { dns["kubeDNSOverrides"] = dns["kubeDNSOverrides"].([]any)[:1] })
	add("no zone of all others", bad, func(_, dns map[string]any) { dns["kubeDNSOverrides"] = dns["kubeDNSOverrides"].([]any)[1:] })
	add("101 zones", bad, func(zone, dns map[string]any) {
		for i := range 98 {
			more := maps.Clone(zone)
			more["zone"] = fmt.Sprintf("z%d.example", i)
			dns["vnetDNSOverrides"] = append(dns["vnetDNSOverrides"].([]any), more)
		}
	})
	return all
}

// TestSchema: an API server accepts the CRD, and with it accepts and refuses the right classes.
func TestSchema(t *testing.T) {
	s := newAPIServer(t)
	for _, v := range vectors(t, s) {
		t.Run(v.About, func(t *testing.T) {
			if wrong := s.accept(classObject(t, v.Spec)); (len(wrong) > 0) != (v.Refused && !v.Later) {
				t.Errorf("%q", wrong)
			}
		})
	}
}
