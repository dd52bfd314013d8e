package karpenter_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// unmapped are the fields of Karpenter's objects that package launch does not have, with the reason. Each is a prefix of a path.
var unmapped = map[string]string{
	"$.kind":                                         "the conversion says it: objects of a client have none",
	"$.apiVersion":                                   "the conversion says it: objects of a client have none",
	"$.metadata.generateName":                        "the API server makes a name of it",
	"$.metadata.namespace":                           "the objects are the whole cluster's",
	"$.metadata.selfLink":                            "the API server's",
	"$.metadata.uid":                                 "the API server's",
	"$.metadata.resourceVersion":                     "the API server's",
	"$.metadata.creationTimestamp":                   "the API server's",
	"$.metadata.deletionTimestamp":                   "the API server's",
	"$.metadata.deletionGracePeriodSeconds":          "the API server's",
	"$.metadata.ownerReferences":                     "who made an object changes no node",
	"$.metadata.finalizers":                          "who waits for an object's end changes no node",
	"$.metadata.managedFields":                       "who wrote a field changes no node",
	"$.status":                                       "what has become of an object is no wish",
	"$.spec.taints[].timeAdded":                      "it is when a taint was added to a Node; a kubelet registers none",
	"$.spec.startupTaints[].timeAdded":               "it is when a taint was added to a Node; a kubelet registers none",
	"$.spec.template.spec.taints[].timeAdded":        "it is when a taint was added to a Node; a kubelet registers none",
	"$.spec.template.spec.startupTaints[].timeAdded": "it is when a taint was added to a Node; a kubelet registers none",
}

// samples are values of types that have no fields to look at.
var samples = map[reflect.Type]any{
	reflect.TypeFor[metav1.Time]():         metav1.NewTime(noon),
	reflect.TypeFor[metav1.Duration]():     metav1.Duration{Duration: time.Minute},
	reflect.TypeFor[v1.NillableDuration](): v1.MustParseNillableDuration("30m"),
	reflect.TypeFor[corev1.ResourceList](): corev1.ResourceList{"cpu": resource.MustParse("2")},
	reflect.TypeFor[v1.Limits]():           v1.Limits{"cpu": resource.MustParse("2")},
	reflect.TypeFor[metav1.FieldsV1]():     *metav1.NewFieldsV1(`{"f":{}}`),
	reflect.TypeFor[map[string]string]():   map[string]string{"example.com/a": "b"},
}

// leaf is a field without fields below it. reach creates all parents in an object, and returns the field.
type leaf struct {
	path  string
	reach func(root reflect.Value) reflect.Value
}

// leaves are all fields of a type.
func leaves(t testing.TB, path string, typ reflect.Type, reach func(reflect.Value) reflect.Value) []leaf {
	t.Helper()
	if _, ok := samples[typ]; ok {
		return []leaf{{path, reach}}
	}
	switch typ.Kind() {
	case reflect.Pointer:
		return leaves(t, path, typ.Elem(), func(root reflect.Value) reflect.Value {
			v := reach(root)
			if v.IsNil() {
				v.Set(reflect.New(typ.Elem()))
			}
			return v.Elem()
		})
	case reflect.Slice:
		return leaves(t, path+"[]", typ.Elem(), func(root reflect.Value) reflect.Value {
			v := reach(root)
			if v.Len() == 0 {
				v.Set(reflect.MakeSlice(typ, 1, 1))
			}
			return v.Index(0)
		})
	case reflect.Struct:
		var all []leaf
		for i := range typ.NumField() {
			field := typ.Field(i)
			name, rest, _ := strings.Cut(field.Tag.Get("json"), ",")
			at := path + "." + name
			if name == "" && (field.Anonymous || rest == "inline") {
				at = path
			} else if name == "" || name == "-" {
				t.Fatalf("%s.%s has no name in JSON", typ, field.Name)
			}
			all = append(all, leaves(t, at, field.Type, func(root reflect.Value) reflect.Value { return reach(root).Field(i) })...)
		}
		return all
	}
	return []leaf{{path, reach}}
}

// fill sets a field.
func fill(t testing.TB, v reflect.Value) {
	t.Helper()
	if sample, ok := samples[v.Type()]; ok {
		v.Set(reflect.ValueOf(sample))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("7")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(7)
	default:
		t.Fatalf("no value for %s", v.Type())
	}
}

// TestNoFieldIsLost: each field of Karpenter's objects reaches launch's own, or the table has the reason why not.
func TestNoFieldIsLost(t *testing.T) {
	used := make(map[string]bool)
	lost := func(path string, same bool, problems []nodeconfig.Problem) {
		for _, p := range problems {
			if p.Kind == nodeconfig.Unknown || p.Kind == nodeconfig.WrongType {
				t.Errorf("%s: %s", path, p)
			}
		}
		for prefix := range unmapped {
			if path == prefix || strings.HasPrefix(path, prefix+".") || strings.HasPrefix(path, prefix+"[") {
				used[prefix] = true
				if !same {
					t.Errorf("%s is mapped, and there is a reason why not", path)
				}
				return
			}
		}
		if same {
			t.Errorf("%s is lost", path)
		}
	}
	identity := func(v reflect.Value) reflect.Value { return v }
	claims, pools := leaves(t, "$", reflect.TypeFor[v1.NodeClaim](), identity), leaves(t, "$", reflect.TypeFor[v1.NodePool](), identity)
	for _, l := range claims {
		before, after := new(v1.NodeClaim), new(v1.NodeClaim)
		l.reach(reflect.ValueOf(before).Elem())
		fill(t, l.reach(reflect.ValueOf(after).Elem()))
		was, _ := karpenter.ClaimOf(before)
		is, problems := karpenter.ClaimOf(after)
		lost(l.path, reflect.DeepEqual(was, is), problems)
	}
	for _, l := range pools {
		before, after := new(v1.NodePool), new(v1.NodePool)
		l.reach(reflect.ValueOf(before).Elem())
		fill(t, l.reach(reflect.ValueOf(after).Elem()))
		was, _ := karpenter.PoolOf(before)
		is, problems := karpenter.PoolOf(after)
		lost(l.path, reflect.DeepEqual(was, is), problems)
	}
	if len(claims) < 50 || len(pools) < 50 {
		t.Errorf("there are %d and %d fields", len(claims), len(pools))
	}
	for prefix := range unmapped {
		if !used[prefix] {
			t.Errorf("there is no field %s", prefix)
		}
	}
}

// TestObjectsOfTheExamples: an example that goes through Karpenter's types equals the one that launch reads itself.
func TestObjectsOfTheExamples(t *testing.T) {
	claim, pool := new(launch.NodeClaim), new(launch.NodePool)
	problems := launch.Read(read(t, "nodeclaim.yaml"), launch.KarpenterVersion, "NodeClaim", claim)
	problems = append(problems, launch.Read(read(t, "nodepool.yaml"), launch.KarpenterVersion, "NodePool", pool)...)
	gotClaim, found := karpenter.ClaimOf(object[v1.NodeClaim](t, "nodeclaim.yaml", ""))
	problems = append(problems, found...)
	gotPool, found := karpenter.PoolOf(object[v1.NodePool](t, "nodepool.yaml", ""))
	problems = append(problems, found...)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	// Karpenter's types always write these fields, and write a quantity in its shortest form.
	claim.Spec.ExpireAfter, pool.Spec.Limits = "Never", map[string]any{"cpu": "1k"}
	pool.Spec.Disruption = map[string]any{"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "Never"}
	for i, pair := range [][2]any{{gotClaim, claim}, {gotPool, pool}} {
		got, want := asJSON(t, pair[0]), asJSON(t, pair[1])
		if got != want {
			t.Errorf("%d:\n%s\n%s", i, got, want)
		}
	}
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestNodeClassIsKept: a class keeps every field of its JSON, also of its status, and copies share nothing.
func TestNodeClassIsKept(t *testing.T) {
	const text = `{"apiVersion":"karpenter.azure.com/v1beta1","kind":"AKSNodeClass","metadata":{"annotations":{"a":"b"},"name":"default"},` +
		`"spec":{"imageFamily":"AzureLinux","kubelet":{"cpuCFSQuota":false},"notYetKnown":{"a":[1,2.5,null]},"osDiskSizeGB":64},` +
		`"status":{"conditions":[{"lastTransitionTime":null,"message":"","reason":"Ready","status":"True","type":"Ready"}],"images":[{"id":"x"}],"kubernetesVersion":"1.34.2"}}`
	c := new(karpenter.NodeClass)
	if err := json.Unmarshal([]byte(text), c); err != nil {
		t.Fatal(err)
	}
	copied := c.DeepCopyObject().(*karpenter.NodeClass)
	list := (&karpenter.NodeClassList{Items: []karpenter.NodeClass{*c}}).DeepCopyObject().(*karpenter.NodeClassList)
	document, err := copied.Document()
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{asJSON(t, c), asJSON(t, copied), asJSON(t, &list.Items[0]), string(document)} {
		var was, is any
		if err := json.Unmarshal([]byte(text), &was); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(got), &is); err != nil {
			t.Fatal(err)
		}
		if meta := is.(map[string]any)["metadata"].(map[string]any); meta["creationTimestamp"] == nil {
			delete(meta, "creationTimestamp")
		}
		if !reflect.DeepEqual(was, is) {
			t.Errorf("%s", got)
		}
	}
	copied.Spec.Raw[2], copied.Annotations["a"], copied.Status.Conditions[0].Reason = 'x', "c", "Other"
	if got := asJSON(t, c); strings.Contains(got, `"c"`) || strings.Contains(got, "Other") || !strings.Contains(got, `{"imageFamily"`) {
		t.Errorf("a copy shares something: %s", got)
	}
	if empty := asJSON(t, new(karpenter.NodeClass)); strings.Contains(empty, "spec") || strings.Contains(empty, "status") {
		t.Error(empty)
	}
	if json.Unmarshal([]byte(`{"status":[]}`), new(karpenter.NodeClass)) == nil || json.Unmarshal([]byte(`{"status":{"conditions":1}}`), new(karpenter.NodeClass)) == nil {
		t.Error("a status of another kind is read")
	}
	decoded, problems := azure.ReadNodeClass(document)
	if len(problems) != 1 || problems[0].Path != "$.spec.notYetKnown" || decoded.Spec.OSDiskSizeGB == nil || *decoded.Spec.OSDiskSizeGB != 64 {
		t.Errorf("%v, %+v", problems, decoded.Spec)
	}
}
