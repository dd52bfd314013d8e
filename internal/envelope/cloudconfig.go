package envelope

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/document"
)

// cloudConfig opens the files that a cloud-config writes at the places.
//
// One in which no place is named is left to cloud-init unread. So is whatever it says beside write_files.
func (o *opener) cloudConfig(l layer) error {
	content := trimmed(l.data)
	l = l.in("cloud-config", nil)
	if !o.names(content) {
		o.see(cloudConfig.String())
		return nil
	}
	if err := o.admit(&l, content); err != nil {
		return err
	}
	var top yaml.Node
	if err := yaml.Unmarshal(content, &top); err != nil || len(top.Content) == 0 {
		return l.broken("the cloud-config cannot be read as YAML") // the error itself may show some of it
	}
	entries, err := writeFiles(&l, top.Content[0])
	if err != nil {
		return err
	}
	before := len(o.found)
	for _, place := range o.places {
		inner := l.at(place)
		if inner.data, err = o.fileAt(&l, entries, place); err != nil {
			return err
		}
		if len(inner.data) == 0 {
			continue
		}
		if err := o.open(inner); err != nil {
			return err
		}
	}
	if len(o.found) == before {
		o.see(cloudConfig.String())
	}
	return nil
}

// names tells whether the last name of one of the places is in a cloud-config. The directories before it are
// not looked for: YAML allows to escape a slash.
func (o *opener) names(content []byte) bool {
	return slices.ContainsFunc(o.places, func(place string) bool {
		return bytes.Contains(content, []byte(path.Base(place)))
	})
}

// fileEntry is an entry of write_files.
type fileEntry struct {
	path, encoding   string
	content          *yaml.Node // nil where there is none
	appended, waited bool
}

// writeFiles returns the entries of write_files (cloud-init's documentation, module "Write Files").
func writeFiles(l *layer, top *yaml.Node) ([]fileEntry, error) {
	list, err := field(l, resolved(top), "write_files")
	if err != nil || list == nil || list.ShortTag() == "!!null" {
		return nil, err
	}
	if list.Kind != yaml.SequenceNode {
		return nil, l.broken("write_files is no list")
	}
	if len(list.Content) > maxFiles {
		return nil, l.beyond("entries of write_files", maxFiles)
	}
	entries := make([]fileEntry, 0, len(list.Content))
	for _, n := range list.Content {
		entry, err := newFileEntry(l, resolved(n))
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry)
	}
	return entries, nil
}

// newFileEntry reads an entry of write_files.
func newFileEntry(l *layer, n *yaml.Node) (fileEntry, error) {
	var values [5]*yaml.Node
	for i, name := range []string{"path", "encoding", "content", "append", "defer"} {
		value, err := field(l, n, name)
		if err != nil {
			return fileEntry{}, err
		}
		values[i] = value
	}
	return fileEntry{
		path:     textNode(values[0]),
		encoding: strings.ToLower(strings.TrimSpace(textNode(values[1]))),
		content:  values[2],
		appended: isTrue(values[3]),
		waited:   isTrue(values[4]),
	}, nil
}

// fileAt returns what a file holds after all entries for it, in cloud-init's order: those that are deferred
// come last, and each takes the place of what was there unless it is appended.
func (o *opener) fileAt(l *layer, entries []fileEntry, place string) ([]byte, error) {
	var kept []*fileEntry
	for _, waited := range []bool{false, true} {
		for i := range entries {
			e := &entries[i]
			if e.path != place || e.waited != waited {
				continue
			}
			if !e.appended {
				kept = kept[:0]
			}
			kept = append(kept, e)
		}
	}
	var file []byte
	for _, e := range kept {
		data, err := o.content(l, e)
		if err != nil {
			return nil, err
		}
		if len(file)+len(data) > document.MaxBytes {
			return nil, l.beyond("bytes of one file", document.MaxBytes)
		}
		file = append(file, data...)
	}
	return file, nil
}

// encoding is how the content of an entry is encoded.
type encoding struct{ base64, gzip bool }

// encodings are those that cloud-init knows (cloudinit/config/cc_write_files.py); it takes any other for
// plain text.
var encodings = map[string]encoding{
	"b64":         {base64: true},
	"base64":      {base64: true},
	"gz":          {gzip: true},
	"gzip":        {gzip: true},
	"gz+b64":      {base64: true, gzip: true},
	"gz+base64":   {base64: true, gzip: true},
	"gzip+b64":    {base64: true, gzip: true},
	"gzip+base64": {base64: true, gzip: true},
}

// content decodes an entry's content.
func (o *opener) content(l *layer, e *fileEntry) ([]byte, error) {
	if e.content == nil || e.content.ShortTag() == "!!null" {
		return nil, nil
	}
	if e.content.Kind != yaml.ScalarNode {
		return nil, l.broken("the content of a file is no text: put it in quotes, or below a |")
	}
	data := []byte(e.content.Value)
	if err := o.spend(l, len(data)); err != nil {
		return nil, err
	}
	how := encodings[e.encoding]
	var err error
	if e.content.ShortTag() == "!!binary" {
		data, err = o.decode64(l, data)
	}
	if err == nil && how.base64 {
		data, err = o.decode64(l, data)
	}
	if err == nil && how.gzip {
		data, err = o.gunzip(l, data)
	}
	return data, err
}

// field returns the value of a map's field, nil where it has none. A field that is there twice is refused,
// and so is a merge key: which value was meant is not to be guessed.
func field(l *layer, m *yaml.Node, name string) (*yaml.Node, error) {
	if m.Kind != yaml.MappingNode {
		return nil, nil
	}
	var value *yaml.Node
	for i := 0; i+1 < len(m.Content); i += 2 {
		switch key := m.Content[i]; {
		case key.Kind == yaml.ScalarNode && key.Value == name:
			if value != nil {
				return nil, l.broken("%s is there twice", name)
			}
			value = resolved(m.Content[i+1])
		case key.Tag == "!!merge" && name != "write_files":
			return nil, l.broken("an entry of write_files has a merge key")
		}
	}
	return value, nil
}

// resolved follows an alias to what it stands for. An anchor is never on an alias itself.
func resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// textNode returns a scalar's text, empty for anything else.
func textNode(n *yaml.Node) string {
	if n == nil || n.Kind != yaml.ScalarNode {
		return ""
	}
	return n.Value
}

// isTrue tells whether a value is one of those that cloud-init takes for true (cloudinit/util.py, is_true).
func isTrue(n *yaml.Node) bool {
	return slices.Contains([]string{"true", "1", "on", "yes"}, strings.ToLower(strings.TrimSpace(textNode(n))))
}
