package scenario

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// collections are the API paths of the cluster-wide objects of which a case with Karpenter leaves none, by kind.
var collections = map[string]string{
	"Node":         collectionOfNodes,
	"NodePool":     "/apis/karpenter.sh/v1/nodepools",
	"AKSNodeClass": "/apis/karpenter.azure.com/v1beta1/aksnodeclasses",
}

// roles are the API paths of cluster-wide roles and their bindings, by kind. The cluster has others than the case's.
var roles = map[string]string{
	"ClusterRole":        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
	"ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
}

// namespaced are the API paths of namespaced objects, by kind: the API's path, and the collection's name below the namespace.
var namespaced = map[string][2]string{
	"ConfigMap":   {"/api/v1", "configmaps"},
	"Role":        {"/apis/rbac.authorization.k8s.io/v1", "roles"},
	"RoleBinding": {"/apis/rbac.authorization.k8s.io/v1", "rolebindings"},
}

// The API paths of other objects.
const (
	collectionOfClaims = "/apis/karpenter.sh/v1/nodeclaims"
	collectionOfNodes  = "/api/v1/nodes"
	collectionOfPods   = "/api/v1/namespaces/default/pods"
)

// object is an object of the cluster that the case has made or changes.
type object map[string]any

func (o object) path() (collection, name string, err error) {
	kind, _ := o["kind"].(string)
	metadata, _ := o["metadata"].(object) // YAML decodes nested objects with this type
	name, _ = metadata["name"].(string)
	collection = cmp.Or(collections[kind], roles[kind])
	if api, ok := namespaced[kind]; ok {
		namespace, _ := metadata["namespace"].(string)
		collection = fmt.Sprintf("%s/namespaces/%s/%s", api[0], cmp.Or(namespace, "default"), api[1])
	}
	if collection == "" || name == "" {
		return "", "", fmt.Errorf("an object of the kind %q with the name %q: want a name, and one of the kinds %s", kind, name,
			strings.Join(slices.Sorted(maps.Keys(collections)), ", ")+", "+strings.Join(slices.Sorted(maps.Keys(roles)), ", ")+", "+strings.Join(slices.Sorted(maps.Keys(namespaced)), ", "))
	}
	return collection, name, nil
}

// createArgs name the objects to create.
type createArgs struct {
	// Objects is a file of the case.
	Objects string `yaml:"objects"`
}

// create creates the objects of a file, each as soon as the cluster knows its kind.
func (r *caseRun) create(ctx context.Context, args createArgs) error {
	file := filepath.Join(r.Dir, args.Objects)
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for _, part := range document.Stream(data) {
		var o object
		if err := yaml.Unmarshal(part, &o); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		collection, name, err := o.path()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if err := r.eventually(ctx, func() error { return r.Lab.API.Create(ctx, collection, o) }); err != nil {
			return err
		}
		if collections[o["kind"].(string)] == "" { // Karpenter's own objects are removed with it
			r.created = append(r.created, collection+"/"+name)
		}
	}
	return nil
}

// removeCreated removes the objects that the case has created.
func (r *caseRun) removeCreated(ctx context.Context) error {
	var errs []error
	for _, path := range r.created {
		errs = append(errs, r.Lab.API.Delete(ctx, path))
	}
	return errors.Join(errs...)
}

// patch merges a change over an object of the cluster.
func (r *caseRun) patch(ctx context.Context, o object) error {
	collection, name, err := o.path()
	if err != nil {
		return err
	}
	return r.Lab.API.Merge(ctx, collection+"/"+name, o)
}

// shownArgs are an object of the cluster, and its required conditions.
type shownArgs struct {
	Kind           string `yaml:"kind"`
	Name           string `yaml:"name"`
	conditionsArgs `yaml:",inline"`
}

// shown waits until an object has the required conditions.
func (r *caseRun) shown(ctx context.Context, want shownArgs) error {
	collection, name, err := object{"kind": want.Kind, "metadata": object{"name": want.Name}}.path()
	if err != nil {
		return err
	}
	return r.eventually(ctx, func() error {
		var have struct {
			Status struct{ Conditions []condition }
		}
		if err := r.Lab.API.Get(ctx, collection+"/"+name, &have); err != nil {
			return err
		}
		if missing := want.missing(have.Status.Conditions); missing != "" {
			return fmt.Errorf("the conditions of the %s %s are %v, and do not show %s", want.Kind, want.Name, have.Status.Conditions, missing)
		}
		return nil
	})
}

// eventArgs are the reason and text of an event.
type eventArgs struct {
	Reason string `yaml:"reason"`
}

// event waits until the cluster has an event with a reason.
func (r *caseRun) event(ctx context.Context, want eventArgs) error {
	return r.eventually(ctx, func() error {
		var list struct {
			Items []struct{ Reason, Message string }
		}
		if err := r.Lab.API.Get(ctx, "/api/v1/namespaces/default/events", &list); err != nil {
			return err
		}
		var seen []string
		for _, e := range list.Items {
			if e.Reason == want.Reason {
				return nil
			}
			seen = append(seen, e.Reason)
		}
		return fmt.Errorf("there is no event %s among %q", want.Reason, slices.Compact(slices.Sorted(slices.Values(seen))))
	})
}

// classesArgs name the classes to validate.
type classesArgs struct {
	// File has specs of classes with their expected results, in the format of adapters/karpenter's tests.
	File string `yaml:"file"`
}

// classes sends each class to the API server as a dry run, and checks the result. Only the provider refuses a class that is marked
// later.
func (r *caseRun) classes(ctx context.Context, args classesArgs) error {
	data, err := os.ReadFile(filepath.Join(r.Dir, args.File))
	if err != nil {
		return err
	}
	var all []struct {
		About          string
		Spec           object
		Refused, Later bool
	}
	if err := yaml.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("%s: %w", args.File, err)
	}
	const kind = "AKSNodeClass"
	if err := r.eventually(ctx, func() error { return r.Lab.API.Get(ctx, collections[kind], new(object)) }); err != nil {
		return err
	}
	var wrong []error
	for _, v := range all {
		class := object{"apiVersion": "karpenter.azure.com/v1beta1", "kind": kind, "metadata": object{"name": "judged"}, "spec": v.Spec}
		err := r.Lab.API.Create(ctx, collections[kind]+"?dryRun=All&fieldValidation=Strict", class)
		refusal, refused := errors.AsType[*lab.StatusError](err)
		if err != nil && (!refused || refusal.Code != http.StatusBadRequest && refusal.Code != http.StatusUnprocessableEntity) {
			return err
		}
		if want := v.Refused && !v.Later; want != refused {
			wrong = append(wrong, fmt.Errorf("%s: it is refused: %t, want %t (%v)", v.About, refused, want, err))
		}
	}
	return errors.Join(wrong...)
}
