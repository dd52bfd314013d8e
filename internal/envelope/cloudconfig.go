package envelope

import (
	"bytes"
	"path"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/document"
)

// cloudConfig opens the files that a cloud-config writes at the places.
//
// If it names no such path, it is left to cloud-init unread. So is everything beside write_files.
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
	top, err := parseYAML(&l, content)
	if err != nil {
		return err
	}
	entries, err := o.writeFiles(&l, top)
	if err != nil {
		return err
	}
	before := len(o.found)
	for _, place := range o.places {
		data, err := o.fileAt(&l, entries, place)
		if err != nil {
			return err
		}
		if len(data) == 0 {
			continue
		}
		if err := o.open(l.at(place, data)); err != nil {
			return err
		}
	}
	if len(o.found) == before {
		o.see(cloudConfig.String())
	}
	return nil
}

// names reports whether a cloud-config contains the last name of one of the places. It does not search for the
// directories: a path can be spelt in more than one way.
func (o *opener) names(content []byte) bool {
	return slices.ContainsFunc(o.places, func(place string) bool {
		return bytes.Contains(content, []byte(path.Base(place)))
	})
}

// fileEntry is an entry of write_files.
type fileEntry struct {
	path string
	// appended and waited are the values of append and defer.
	appended, waited bool
	// encoding and content are nil if they are missing.
	encoding, content *yaml.Node
}

// writeFiles returns the entries of write_files for the places (cloud-init's documentation, module "Write Files").
func (o *opener) writeFiles(l *layer, top *yaml.Node) ([]fileEntry, error) {
	if top.Kind != yaml.MappingNode {
		return nil, nil
	}
	list, err := field(l, top, "write_files")
	if err != nil || isNull(list) {
		return nil, err
	}
	if list.Kind != yaml.SequenceNode || list.ShortTag() != "!!seq" {
		return nil, l.broken("write_files is not a list")
	}
	if len(list.Content) > maxFiles {
		return nil, l.beyond("entries of write_files", maxFiles)
	}
	var entries []fileEntry
	for _, n := range list.Content {
		entry, err := o.fileEntry(l, resolved(n))
		if err != nil {
			return nil, err
		}
		if entry != nil {
			entries = append(entries, *entry)
		}
	}
	return entries, nil
}

// fileEntry reads an entry of write_files. It returns nil if the entry is for another path.
func (o *opener) fileEntry(l *layer, n *yaml.Node) (*fileEntry, error) {
	if n.Kind != yaml.MappingNode || n.ShortTag() != "!!map" {
		return nil, l.broken("an entry of write_files is not a map")
	}
	values := make(map[string]*yaml.Node)
	for _, name := range []string{"path", "encoding", "content", "owner", "append", "defer", "source"} {
		value, err := field(l, n, name)
		if err != nil {
			return nil, err
		}
		values[name] = value
	}
	at, owner := values["path"], values["owner"]
	switch {
	case at == nil:
		return nil, nil
	case at.ShortTag() == "!!binary":
		return nil, l.broken("the path of a file is binary")
	case !isText(at) || !slices.Contains(o.places, absolute(at.Value)):
		return nil, nil
	case !isNull(owner) && !isText(owner):
		return nil, l.broken("the owner of a file is not text")
	case !isNull(values["source"]):
		return nil, l.broken("the content of a file comes from a URL, which is not fetched") // newer versions of cloud-init fetch it; others ignore it
	}
	e := &fileEntry{path: absolute(at.Value), encoding: values["encoding"], content: values["content"]}
	var err error
	if e.appended, err = flag(l, values["append"], "append"); err == nil {
		e.waited, err = flag(l, values["defer"], "defer")
	}
	return e, err
}

// absolute returns a path relative to the root, as cloud-init does (cc_write_files.py, write_files).
func absolute(p string) string { return path.Clean("/" + p) }

// fileAt returns a file's content after all entries for it, in cloud-init's order: deferred entries come last, and each
// replaces the content unless it appends. An undecodable entry is refused even if another replaces it: cloud-init stops
// there.
func (o *opener) fileAt(l *layer, entries []fileEntry, place string) ([]byte, error) {
	var file []byte
	for _, waited := range []bool{false, true} {
		for i := range entries {
			e := &entries[i]
			if e.path != place || e.waited != waited {
				continue
			}
			data, err := o.content(l, e)
			if err != nil {
				return nil, err
			}
			if !e.appended {
				file = nil
			}
			if len(file)+len(data) > document.MaxBytes {
				return nil, l.beyond("bytes of one file", document.MaxBytes)
			}
			file = append(file, data...)
		}
	}
	return file, nil
}

// encoding is how the content of an entry is encoded.
type encoding struct{ base64, gzip bool }

// encodings are cloud-init's encodings (cloudinit/config/cc_write_files.py); it treats any other as plain text.
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

// content decodes an entry's content. cloud-init fails to write anything but text; missing content is empty.
func (o *opener) content(l *layer, e *fileEntry) ([]byte, error) {
	if !isNull(e.encoding) && !isText(e.encoding) {
		return nil, l.broken("the encoding of a file is not text")
	}
	if e.content == nil {
		return nil, nil
	}
	binary := e.content.ShortTag() == "!!binary"
	if e.content.Kind != yaml.ScalarNode || !binary && !isText(e.content) {
		return nil, l.broken("the content of a file is not text: put it in quotes, or below a |")
	}
	data := []byte(e.content.Value)
	if err := o.spend(l, len(data)); err != nil {
		return nil, err
	}
	var how encoding
	if e.encoding != nil {
		how = encodings[lowered(e.encoding.Value)]
	}
	var err error
	if binary {
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
