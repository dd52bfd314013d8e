package launch

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/gzip"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// recordKind is the kind of a [Record]; its apiVersion is the native contract's.
const recordKind = "LaunchTemplate"

// maxRecord is how long a [Record.Text] is at most, in bytes: Kubernetes gives an object's annotations 256 KiB together.
const maxRecord = 8 << 10

// maxRecordJSON is how long a record can be that is read.
const maxRecordJSON = 256 << 10

// Record says what a node was made from. It is kept with the node, and compared with what is wanted later ([Compare]). It holds nothing
// that is secret.
type Record struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Key is [Launch.Key].
	Key string `json:"key"`
	// Given is the part of the document that the sources gave, Chosen what the release has added. Secrets are the word "secret", and
	// digests stand for what files, units, commands and user data hold.
	Given  json.RawMessage `json:"given"`
	Chosen json.RawMessage `json:"chosen"`
	// Digests are of what the sources gave at paths where that is too long to be kept.
	Digests map[string]string `json:"digests,omitempty"`
	// ExtensionCommand is [Launch.ExtensionCommand]; empty for a machine that has none. It is not compared: it is the image's.
	ExtensionCommand string `json:"extensionCommand,omitempty"`
	// Annotations are the names of those that the claim wants on its node, sorted. They are the controller's to set, when the node has
	// registered: a kubelet sets none, so they are in no contract, change no machine, and are not compared.
	Annotations []string `json:"annotations,omitempty"`

	// text is of a launch's record, which is written for each of its nodes.
	text func() string
}

// Record is the launch's. It is made once.
func (l *Launch) Record() *Record {
	copied := *l.record()
	return &copied
}

func (l *Launch) makeRecord() *Record {
	r := &Record{
		APIVersion: nodeconfig.APIVersion, Kind: recordKind, Key: l.Key(),
		ExtensionCommand: l.ExtensionCommand(), Annotations: slices.Sorted(maps.Keys(l.annotations)),
	}
	given, whole := l.given().hidden().kept(), l.document.hidden().kept()
	r.Given = given.AppendJSON(nil)
	r.Chosen = whole.Without(given).AppendJSON(nil)
	r.text = sync.OnceValue(r.shortened)
	return r
}

// hidden is a copy that can be kept: without secrets, with digests for what files, units and commands hold, and of the instance type with
// its name alone, because what else is known of it is looked up again.
func (d *Document) hidden() *Document {
	copied := &Document{Node: *node.WithoutSecrets(&d.Node, "secret"), Machine: d.Machine}
	hideOwnTexts(&copied.Node)
	copied.Machine.Type = InstanceType{Name: d.Machine.Type.Name}
	return copied
}

// kept is a hidden document as a record has it.
func (d *Document) kept() *document.Node { return document.TreeOf(d, kept) }

// Text is the record for an annotation: its JSON, compressed, in base64, of at most 8 KiB. Where it would be longer, digests
// stand for the longest of what the sources gave: then a difference is known by the part of the document that it is in.
func (r *Record) Text() string {
	if r.text != nil {
		return r.text()
	}
	return r.shortened()
}

func (r *Record) shortened() string {
	short := *r
	given, err := document.Parse(r.Given)
	for text := short.compressed(); ; text = short.compressed() {
		if len(text) <= maxRecord || err != nil {
			return text
		}
		above, i, path := longest(given, "$")
		if above == nil {
			short.Chosen = json.RawMessage("{}")
			continue
		}
		short.Digests = maps.Clone(short.Digests)
		if short.Digests == nil {
			short.Digests = make(map[string]string)
		}
		short.Digests[path] = shortDigest(above.Fields[i].Value.AppendJSON(nil))
		above.Fields = slices.Delete(above.Fields, i, i+1)
		short.Given = given.AppendJSON(nil)
	}
}

// longest is the entry of a map, below a tree, that takes most room and has no maps below it; above is nil for none.
func longest(tree *document.Node, at string) (above *document.Node, index int, path string) {
	most := 0
	for i := range tree.Fields {
		f := &tree.Fields[i]
		within, where, below := tree, i, document.FieldPath(at, f.Name)
		if slices.ContainsFunc(f.Value.Fields, func(f document.Field) bool { return f.Value.Kind == document.Map }) {
			if within, where, below = longest(&f.Value, below); within == nil {
				continue
			}
		}
		if room := len(within.Fields[where].Value.AppendJSON(nil)); room > most {
			above, index, path, most = within, where, below, room
		}
	}
	return above, index, path
}

// packers are kept, because each has hundreds of kilobytes.
var packers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level that exists
	return w
}}

func (r *Record) compressed() string {
	data, err := json.Marshal(r)
	if err != nil {
		panic("launch: " + err.Error()) // of JSON and texts
	}
	var packed bytes.Buffer
	w := packers.Get().(*gzip.Writer)
	w.Reset(&packed)
	_, err = w.Write(data)
	if err = cmp.Or(err, w.Close()); err != nil {
		panic("launch: " + err.Error()) // a buffer takes everything
	}
	packers.Put(w)
	return base64.StdEncoding.EncodeToString(packed.Bytes())
}

// ErrUnknown is wrapped by the error of a record that cannot be compared. Such a node is not to be replaced for it.
var ErrUnknown = errors.New("it is not known how the node was made")

// ParseRecord reads a record: in JSON, or as [Record.Text] has written it. The error wraps [ErrUnknown].
func ParseRecord(data []byte) (*Record, error) {
	if text := bytes.TrimSpace(data); !bytes.HasPrefix(text, []byte("{")) {
		plain, err := decompressed(text)
		if err != nil {
			return nil, fmt.Errorf("%w: the record is damaged: %w", ErrUnknown, err)
		}
		data = plain
	}
	var r Record
	switch err := json.Unmarshal(data, &r); {
	case err != nil:
		return nil, fmt.Errorf("%w: the record is not one: %w", ErrUnknown, err)
	case r.APIVersion != nodeconfig.APIVersion || r.Kind != recordKind:
		return nil, fmt.Errorf("%w: the record is not a %s of %s", ErrUnknown, recordKind, nodeconfig.APIVersion)
	case !strings.HasPrefix(r.Key, keyVersion):
		return nil, fmt.Errorf("%w: the record is of a version that names nodes otherwise", ErrUnknown)
	}
	return &r, nil
}

func decompressed(text []byte) ([]byte, error) {
	packed, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxRecordJSON+1))
	if err == nil && len(data) > maxRecordJSON {
		err = fmt.Errorf("it has more than %d bytes", maxRecordJSON)
	}
	return data, err
}

// Whole is what the node has as one document, in JSON: what the sources gave, and what the release added. The error wraps
// [ErrUnknown].
func (r *Record) Whole() (json.RawMessage, error) {
	_, whole, err := r.trees()
	if err != nil {
		return nil, err
	}
	return whole.AppendJSON(nil), nil
}

// trees are what the sources gave, and what the node has.
func (r *Record) trees() (given, whole *document.Node, err error) {
	if given, err = document.Parse(r.Given); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	chosen, err := document.Parse(r.Chosen)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	return given, &document.Merge(given, chosen).Top, nil
}

// documents are what the sources gave, and what the node has.
func (r *Record) documents() (given, has *Document, err error) {
	tree, whole, err := r.trees()
	if err != nil {
		return nil, nil, err
	}
	decode := func(tree *document.Node) *Document {
		d := new(Document)
		document.Decode(tree, d, document.Options{Names: document.JSONNames, Report: func(f document.Fault) {
			if f.Kind != document.Unknown { // another release may have had it
				err = cmp.Or(err, fmt.Errorf("%w: the record's %s %s", ErrUnknown, f.Path, f.Reason))
			}
		}})
		return d
	}
	given, has = decode(tree), decode(whole)
	return given, has, err
}
