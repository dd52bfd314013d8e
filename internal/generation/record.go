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

// record is a generation, whole. Its file is for the superuser alone: it holds secrets.
type record struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Entry
	// LastGood is the generation to go back to from this one, 0 for none: the index may be lost.
	LastGood int `json:"lastGood,omitempty"`
	// Resources is the whole plan, but for the content of secret files.
	Resources resource.Plan `json:"resources"`
	// Secrets are the contents of the secret files, by path. Files that are there until something takes
	// their place are left out: theirs are kept nowhere.
	Secrets map[string][]byte `json:"secrets,omitempty"`
	// Left are what earlier generations brought that is still on the machine, and that this plan has nothing
	// in the place of; files are without their contents. So what a generation brought is known when that
	// one is not kept any more.
	Left []resource.Resource `json:"left,omitempty"`
	// Baseline is what changes what the node runs, and was there when Slipway first had the units and files of it (integrity.Marks).
	Baseline map[string]string `json:"baseline,omitempty"`
	// Originals are what was there before the first generation that has something at the path.
	Originals []original `json:"originals,omitempty"`
}

// original is a file or link that was there before Slipway.
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

// newRecord makes a generation's record of its plan.
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

// checkPlan wants a plan of such resources as a record may hold.
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

// recorded is a plan as its record has it: an image that was prepared with a cluster's contract has nobody's identity.
func recorded(plan resource.Plan) resource.Plan {
	plan.Resources = slices.Clone(plan.Resources)
	for i := range plan.Resources {
		r := &plan.Resources[i]
		r.Spec = resource.Stored(r.Spec)
	}
	return plan
}

// checkPath wants a path that a plan could have: a file of an earlier generation is removed.
func checkPath(name string) error {
	if reason := place.Check(name); reason != "" {
		return fmt.Errorf("names path %q, which %s", name, reason)
	}
	return nil
}

// Lasting is what can be applied again of a plan: without what is there only until something takes its place, without
// commands that read a secret, and without tokens in its checks and proxies of its downloads. None of these is kept.
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

// Digest names a plan: two plans with the same have the same resources, secrets included, but for the
// credential that a node joins with, whatever the configs they were made from and however their health is checked.
func Digest(plan resource.Plan) (string, error) {
	plan = resource.Plan{Resources: Lasting(plan).Resources}
	for i := range plan.Resources {
		e := &plan.Resources[i].Effects
		e.Class, e.Why, e.Source = resource.None, "", "" // what a change takes is nothing on the machine
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

// Name sets which plan a generation is of, where that is not known yet: a digest takes longer than most of what it is
// compared for.
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

// parseIndex reads the index; its generations are in the order of their numbers.
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

// marshal writes a document for people too: without HTML's escapes, and with a newline at its end.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return buf.Bytes(), err
}
