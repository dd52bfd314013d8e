package scenario

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/capacity"
	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// launched is the user data of the launch template that "slipway launch" makes from a stream of objects: settings, pool, class,
// claim, cluster and images. The template is kept for the step "launched".
func (r *caseRun) launched(ctx context.Context, m lab.Machine, objects string) ([]byte, error) {
	if err := os.MkdirAll(m.Dir, 0o755); err != nil {
		return nil, err
	}
	skus := filepath.Join(r.Dir, "skus.json")
	size, err := onlySize(skus)
	if err != nil {
		return nil, err
	}
	token, data := filepath.Join(m.Dir, "token"), filepath.Join(m.Dir, "user-data.b64")
	if err := os.WriteFile(token, []byte(r.Lab.Token), 0o600); err != nil {
		return nil, err
	}
	template, err := r.slipway(ctx, "launch", "--objects", objects, "--instance-type", size, "--instance-types", skus,
		"--token-file", token, "--user-data", data, "-o", "json")
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(r.templatePath(), template, 0o644); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(data)
	if err != nil {
		return nil, err
	}
	return base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
}

// templatePath is the path of the case's launch template.
func (r *caseRun) templatePath() string { return filepath.Join(r.out, "template.json") }

// onlySize is the name of the only instance type in a file.
func onlySize(path string) (string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var types []struct{ Name string }
	if err := json.Unmarshal(data, &types); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	if len(types) != 1 {
		return "", fmt.Errorf("%s has %d instance types, want the one of the case's machine", path, len(types))
	}
	return types[0].Name, nil
}

// launchTemplate has the fields of "slipway launch -o json" that the test reads.
type launchTemplate struct {
	Document struct {
		Node struct {
			Kubelet struct {
				Labels map[string]string
				Taints []struct{ Key, Value, Effect string }
				Config map[string]any
			}
		}
		Machine struct{ Capacity, Allocatable map[string]string }
	}
}

// checkLaunched compares the Node with its launch template.
func (r *caseRun) checkLaunched(ctx context.Context, _ struct{}) error {
	data, err := os.ReadFile(r.templatePath())
	if err != nil {
		return err
	}
	var want launchTemplate
	if err := json.Unmarshal(data, &want); err != nil {
		return fmt.Errorf("%s: %w", r.templatePath(), err)
	}
	return r.eventually(ctx, func() error {
		var have node
		if err := r.Lab.API.Get(ctx, collectionOfNodes+"/"+r.node.nodeName(), &have); err != nil {
			return err
		}
		return want.compare(&have)
	})
}

// compare compares a Node with the template. All differences are reported at once.
func (want *launchTemplate) compare(have *node) error {
	kubelet, machine := want.Document.Node.Kubelet, want.Document.Machine
	expected := nodeArgs{Labels: kubelet.Labels, MaxPods: machine.Capacity["pods"]}
	for _, taint := range kubelet.Taints {
		expected.Taints = append(expected.Taints, taint.Key+"="+taint.Value+":"+taint.Effect)
	}
	errs := []error{expected.compare(have)}
	amount := func(what string, amounts map[string]string, name string) int64 {
		value, err := milli(amounts[name])
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", what, name, err))
		}
		return value
	}
	status := have.Status
	for _, c := range []struct {
		resource string
		unit     int64 // package capacity's unit, in thousandths
		told     bool
	}{{"cpu", 1, true}, {"memory", 1000, true}, {"ephemeral-storage", 1000, false}} { // the lab's disks have another size than the template's
		total, free := amount("capacity", status.Capacity, c.resource)/c.unit, amount("allocatable", status.Allocatable, c.resource)/c.unit
		kept, err := capacity.Kept(kubelet.Config, c.resource, total)
		errs = append(errs, err)
		if total-free != kept {
			errs = append(errs, fmt.Errorf("the node keeps %d of %s back, and package capacity says %d", total-free, c.resource, kept))
		}
		// If a scheduler counts on more than the node has, it launches machines that the pods do not fit on.
		if !c.told {
			continue
		}
		if told := amount("the template", machine.Allocatable, c.resource) / c.unit; told > free {
			errs = append(errs, fmt.Errorf("a scheduler counts on %d of %s, and the node has %d", told, c.resource, free))
		}
	}
	return errors.Join(errs...)
}

// suffixes are those in quantities of a kubelet and of a template, as thousandths (Kubernetes' documentation, "Quantity").
var suffixes = map[string]int64{"m": 1, "": 1000, "Ki": 1000 << 10, "Mi": 1000 << 20, "Gi": 1000 << 30}

// milli converts a quantity to thousandths.
func milli(quantity string) (int64, error) {
	digits := strings.TrimRight(quantity, "KMGim")
	factor, known := suffixes[quantity[len(digits):]]
	value, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || !known {
		return 0, fmt.Errorf("%q is no whole number with one of %q behind it", quantity, slices.Sorted(maps.Keys(suffixes)))
	}
	return value * factor, nil
}
