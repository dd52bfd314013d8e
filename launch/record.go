package launch

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/node"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// recordKind is the kind of a [Record]; its apiVersion is the native contract's.
const recordKind = "LaunchTemplate"

// maxRecord is the maximum length of a [Record.Text], in bytes. Kubernetes allows 256 KiB for all annotations of an object together.
const maxRecord = 8 << 10

// maxRecordJSON is the maximum length of a record to read, in bytes.
const maxRecordJSON = 256 << 10

// Record describes what a node was made from. A program stores it with the node, and later compares it with a new launch ([Compare]).
// It holds no secret.
type Record struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Key is [Launch.Key].
	Key string `json:"key"`
	// Given is the part of the document that the sources set, Chosen the part that the release adds. Each secret is replaced by the
	// word "secret", and the contents of files, units, commands and user data by digests.
	Given  json.RawMessage `json:"given"`
	Chosen json.RawMessage `json:"chosen"`
	// Digests replace parts of Given that are too long to keep, by their paths.
	Digests map[string]string `json:"digests,omitempty"`
	// ExtensionCommand is [Launch.ExtensionCommand]. Empty means that the machine has no extension. [Compare] ignores it, because it
	// belongs to the image.
	ExtensionCommand string `json:"extensionCommand,omitempty"`
	// Annotations are the names of the annotations that the claim wants on its node, sorted. The controller sets them when the node has
	// registered. A kubelet cannot set annotations, so the contract does not have them, and [Compare] ignores them.
	Annotations []string `json:"annotations,omitempty"`

	// text caches Text for a launch's record, because a program writes it for each of the launch's nodes.
	text func() string
}

// Record returns the launch's record. It is made once.
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

// hidden returns a copy that a program may store: without secrets, with digests for the contents of files, units and commands. Of the
// instance type it has only the name, because a later launch looks up the rest.
func (d *Document) hidden() *Document {
	copied := &Document{Node: *node.WithoutSecrets(&d.Node, "secret"), Machine: d.Machine}
	hideOwnTexts(&copied.Node)
	copied.Machine.Type = InstanceType{Name: d.Machine.Type.Name}
	return copied
}

// kept returns the tree that a record stores of a hidden document.
func (d *Document) kept() *document.Node { return document.TreeOf(d, kept) }

// Text returns the record for an annotation: its JSON, compressed, in base64, at most 8 KiB. If it would be longer, digests replace the
// longest values of the sources. [Compare] then reports only which part of the document differs.
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

// longest returns the longest map entry of a tree that has no maps below it. If the tree has no entries, above is nil.
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

// packers are reused, because each has hundreds of kilobytes.
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

// ErrUnknown is wrapped by the error for a record that cannot be compared. Callers must not replace the node for this error.
var ErrUnknown = errors.New("it is not known how the node was made")

// ParseRecord reads a record, in JSON or in the format of [Record.Text]. The error wraps [ErrUnknown].
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

// Whole returns the node's document in JSON: what the sources set and what the release added. The error wraps [ErrUnknown].
func (r *Record) Whole() (json.RawMessage, error) {
	_, whole, err := r.trees()
	if err != nil {
		return nil, err
	}
	return whole.AppendJSON(nil), nil
}

// trees returns what the sources set, and the whole document.
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

// documents returns what the sources set, and the whole document.
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
