// Package envelope finds the contract in a machine's user data, in any wrapping: base64, gzip, zstd, a MIME archive, a
// cloud-config, a boothook, an Ignition config, or several of these in each other.
//
// It takes bytes and returns bytes. It runs nothing, renders no template, fetches nothing, and does not decode the
// contract: it only recognizes that a document could be one. Everything else in the user data is left to cloud-init or
// Ignition. All input is untrusted and secret: each step has a limit, and no error holds a byte of it.
//
// The sources of a contract on a node call it, and so does userdata, which prevents that a part beside the contract is
// taken for one.
package envelope

import (
	"bytes"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// Open returns the contract in user data. places are the paths at which user data may write one; files at other paths
// are ignored.
//
// If valid user data has no contract, the error is [ErrNone], as a [*NoneError]. Other errors are a [*LimitError], a
// [*BrokenError], or an [*AmbiguousError] for several different contracts.
func Open(userData []byte, places []string) (Contract, error) {
	top := layer{data: userData}
	if len(userData) > maxInput {
		return Contract{}, top.beyond("bytes", maxInput)
	}
	o := opener{places: places}
	if err := o.open(top); err != nil {
		return Contract{}, err
	}
	return o.result()
}

// opener is the state of opening user data.
type opener struct {
	places []string
	// found are the documents that could be the contract, and seen is what else was there.
	found []layer
	seen  []string
	// produced counts the decoded bytes, parsed the bytes that were parsed as a tree, signs their structural
	// characters, and parts the parts of all MIME archives.
	produced, parsed, signs, parts int

	inflater inflater
}

// layer is some data and its wrappings.
type layer struct {
	data []byte
	// wrapping is what the data was in, outermost first; trail is the same for a person, with the numbers of MIME
	// parts.
	wrapping, trail []string
	// path is the path at which the data is written, or "".
	path string
	// declared is the kind that the wrapping declares, or unknown.
	declared kind
}

// where names a layer in an error.
func (l *layer) where() string {
	if len(l.trail) == 0 {
		return "user data"
	}
	return "user data, " + strings.Join(l.trail, ", ")
}

// in returns data from a wrapping at l.
func (l layer) in(wrapping string, data []byte) layer {
	l.wrapping = append(slices.Clip(l.wrapping), wrapping)
	l.trail = append(slices.Clip(l.trail), wrapping)
	l.data = data
	return l
}

// at returns l as a file at a path, which makes it a contract.
func (l layer) at(path string, data []byte) layer {
	l.path, l.declared, l.data = path, contractText, data
	return l
}

// nested refuses a layer with too many wrappings.
func (l *layer) nested() error {
	if len(l.wrapping) > maxNesting {
		return l.beyond("nested wrappings", maxNesting)
	}
	return nil
}

// open looks for contracts in a layer, and adds them to o.found.
func (o *opener) open(l layer) error {
	if err := l.nested(); err != nil {
		return err
	}
	k := l.kind()
	if len(l.data) > document.MaxBytes && k != base64Text {
		return l.beyond("bytes", document.MaxBytes)
	}
	switch k {
	case gzipped, zstandard:
		return o.decompressed(l, k)
	case base64Text:
		return o.base64(l)
	case archive:
		return o.message(l, o.part)
	case cloudConfig:
		return o.cloudConfig(l)
	case script:
		return o.script(l)
	case jsonText:
		return o.json(l)
	case contractText:
		o.found = append(o.found, l)
	default:
		o.see(k.String())
	}
	return nil
}

// see records something without a contract, once.
func (o *opener) see(what string) {
	if !slices.Contains(o.seen, what) {
		o.seen = append(o.seen, what)
	}
}

// spend counts the bytes that a layer was decoded to.
func (o *opener) spend(l *layer, n int) error {
	if o.produced += n; o.produced > maxProduced {
		return l.beyond("bytes once everything is decoded", maxProduced)
	}
	return nil
}

// result returns the single contract that was found. Several are one if they are byte for byte equal; then the first
// one with a path represents all.
func (o *opener) result() (Contract, error) {
	if len(o.found) == 0 {
		return Contract{}, &NoneError{Seen: o.seen}
	}
	chosen := &o.found[0]
	for i := range o.found {
		if !bytes.Equal(o.found[i].data, chosen.data) {
			return Contract{}, o.ambiguous()
		}
	}
	if i := slices.IndexFunc(o.found, func(l layer) bool { return l.path != "" }); i >= 0 {
		chosen = &o.found[i]
	}
	return Contract{Data: bytes.Clone(chosen.data), Path: chosen.path, Wrapping: chosen.wrapping}, nil
}

func (o *opener) ambiguous() error {
	e := new(AmbiguousError)
	for i := range o.found {
		e.Parts = append(e.Parts, o.found[i].where())
	}
	return e
}
