package generation

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/place"
	"github.com/slipway-dev/slipway/internal/resource"
)

// The JSON form of a generation and of the index.
const (
	apiVersion = "slipway.dev/v1"
	kind       = "Generation"
	indexKind  = "GenerationIndex"
)

// record is a complete generation. Only the superuser can read its file: it holds secrets.
type record struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Entry
	// LastGood is the generation to restore from this one, in case the index is lost. 0 means none.
	LastGood int `json:"lastGood,omitempty"`
	// Resources is the whole plan, without the content of secret files.
	Resources resource.Plan `json:"resources"`
	// Secrets are the contents of the secret files, by path. Temporary files are left out: their content is not
	// recorded.
	Secrets map[string][]byte `json:"secrets,omitempty"`
	// Left are resources of earlier generations that are still on the machine and that this plan does not replace;
	// files are without their contents. So a generation's resources are known when that generation is not kept any
	// more.
	Left []resource.Resource `json:"left,omitempty"`
	// Baseline is what changes what the node runs, and existed when Slipway first had the units and files of it
	// (integrity.Marks).
	Baseline map[string]string `json:"baseline,omitempty"`
	// Originals are the files before the first generation that has something at the path.
	Originals []original `json:"originals,omitempty"`
}

// original is a file or link from before Slipway.
type original struct {
	Path    string          `json:"path"`
	Kind    apply.EntryKind `json:"kind"`
	Mode    uint32          `json:"mode,omitempty"`
	UID     int             `json:"uid,omitempty"`
	GID     int             `json:"gid,omitempty"`
	Content []byte          `json:"content,omitempty"`
	Target  string          `json:"target,omitempty"`
}

func (o original) spec() resource.Spec {
	if o.Kind == apply.Symlink {
		return &resource.Symlink{Path: o.Path, Target: o.Target}
	}
	return &resource.File{Path: o.Path, Mode: o.Mode, UID: o.UID, GID: o.GID, Content: o.Content}
}

// newRecord creates a generation's record from its plan.
func newRecord(e Entry, plan resource.Plan, left []resource.Resource, originals []original) *record {
	r := &record{APIVersion: apiVersion, Kind: kind, Entry: e, Resources: recorded(plan), Left: left, Originals: originals}
	for _, res := range plan.Resources {
		if f, ok := res.Spec.(*resource.File); ok && f.Secret && !f.Temporary() {
			if r.Secrets == nil {
				r.Secrets = make(map[string][]byte)
			}
			r.Secrets[f.Path] = f.Content
		}
	}
	return r
}

// parseRecord reads a generation's file.
func parseRecord(data []byte) (*record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, err
	}
	if r.APIVersion != apiVersion || r.Kind != kind {
		return nil, fmt.Errorf("is %q %q, want %q %q", r.APIVersion, r.Kind, apiVersion, kind)
	}
	if r.Number < 1 {
		return nil, fmt.Errorf("has the number %d", r.Number)
	}
	if r.Config != r.Resources.Config {
		return nil, errors.New("has the plan of another config")
	}
	if err := checkPlan(r.Resources); err != nil {
		return nil, err
	}
	for _, res := range r.Resources.Resources {
		f, ok := res.Spec.(*resource.File)
		if !ok {
			continue
		}
		content, kept := r.Secrets[f.Path]
		if f.Secret && !f.Temporary() && !kept {
			return nil, fmt.Errorf("lacks the content of %s", f.Path)
		}
		if kept {
			f.Content = content
		}
	}
	for _, res := range r.Left {
		if err := res.Spec.Valid(); err != nil {
			return nil, err
		}
	}
	for _, o := range r.Originals {
		if err := checkPath(o.Path); err != nil {
			return nil, err
		}
		if o.Kind != apply.RegularFile && o.Kind != apply.Symlink {
			return nil, fmt.Errorf("has an original %s that is a %q", o.Path, o.Kind)
		}
	}
	return &r, nil
}

// checkPlan requires that a record may hold the plan's resources.
func checkPlan(plan resource.Plan) error {
	for _, res := range plan.Resources {
		if err := res.Spec.Valid(); err != nil {
			return err
		}
	}
	for _, res := range plan.Health {
		if _, ok := res.Spec.(*resource.Check); !ok {
			return fmt.Errorf("has a %s among its health checks", res.ID())
		}
		if err := res.Spec.Valid(); err != nil {
			return err
		}
	}
	return nil
}

// recorded is a plan as its record has it: without the identity that an image would keep from a cluster's contract.
func recorded(plan resource.Plan) resource.Plan {
	plan.Resources = slices.Clone(plan.Resources)
	for i := range plan.Resources {
		r := &plan.Resources[i]
		r.Spec = resource.Stored(r.Spec)
	}
	return plan
}

// checkPath requires a path that a plan could have, because a file of an earlier generation is removed.
func checkPath(name string) error {
	if reason := place.Check(name); reason != "" {
		return fmt.Errorf("names path %q, which %s", name, reason)
	}
	return nil
}

// Lasting is the part of a plan that can be applied again: without temporary files, commands that read a secret, tokens
// of checks, and proxies of downloads. None of these is recorded.
func Lasting(plan resource.Plan) resource.Plan {
	kept := plan
	kept.Resources = nil
	for _, res := range plan.Resources {
		if res.Spec = resource.Kept(res.Spec); res.Spec != nil {
			kept.Resources = append(kept.Resources, res)
		}
	}
	return kept
}

// Digest identifies a plan: plans with the same digest have the same resources, secrets included, except the credential
// that a node joins with, whatever their configs and health checks are.
func Digest(plan resource.Plan) (string, error) {
	plan = resource.Plan{Resources: Lasting(plan).Resources}
	for i := range plan.Resources {
		e := &plan.Resources[i].Effects
		e.Class, e.Why, e.Source = resource.None, "", "" // the class of a change is not on the machine
	}
	document, err := json.Marshal(plan)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	sum.Write(document)
	for _, res := range plan.Resources {
		if f, ok := res.Spec.(*resource.File); ok && f.Secret {
			content := sha256.Sum256(f.Content)
			sum.Write(content[:])
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// Name sets a generation's plan digest, if it is not set yet: computing it takes longer than most comparisons save.
func (e *Entry) Name(plan resource.Plan) (err error) {
	if e.Plan == "" {
		e.Plan, err = Digest(plan)
	}
	return err
}

// index is the file that lists all generations.
type index struct {
	APIVersion  string  `json:"apiVersion"`
	Kind        string  `json:"kind"`
	Generations []Entry `json:"generations"`
}

// parseIndex reads the index. Its generations are in the order of their numbers.
func parseIndex(data []byte) ([]Entry, error) {
	var x index
	if err := json.Unmarshal(data, &x); err != nil {
		return nil, err
	}
	if x.APIVersion != apiVersion || x.Kind != indexKind {
		return nil, fmt.Errorf("is %q %q, want %q %q", x.APIVersion, x.Kind, apiVersion, indexKind)
	}
	last := 0
	for _, e := range x.Generations {
		if e.Number <= last {
			return nil, fmt.Errorf("has generation %d after %d", e.Number, last)
		}
		last = e.Number
	}
	return x.Generations, nil
}

// marshal writes a readable document: without HTML escapes, and with a newline at its end.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}
