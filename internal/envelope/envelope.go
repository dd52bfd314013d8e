// Package envelope finds the contract in a machine's user data, whatever it is wrapped in: base64, gzip,
// zstd, a MIME archive, a cloud-config, a boothook, an Ignition config, or several of these in each other.
//
// It takes bytes and returns bytes. It runs nothing, renders no template, fetches nothing, and does not
// decode the contract: of a document it finds only that it could be one. What is not about a contract is
// left to cloud-init or Ignition, whose user data it is. All that comes in is untrusted and secret: each
// step has a limit, and no error holds a byte of it.
//
// The sources of a contract on a node call it, and userdata, which lets nothing beside a contract be taken for one.
package envelope

import (
	"bytes"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// Open returns the contract that user data carries. places are the paths at which user data may write one;
// what it writes elsewhere is not looked at.
//
// The error of user data that is in order and has no contract is [ErrNone], as a [*NoneError]. Others are a
// [*LimitError], a [*BrokenError], or an [*AmbiguousError] where it has several contracts that differ.
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

// opener is what is known while user data is opened.
type opener struct {
	places []string
	// found are the documents that could be the contract, and seen is what else there was.
	found []layer
	seen  []string
	// produced counts the bytes that were made by decoding, parsed those of which a tree was made, with its
	// signs, and parts those of all MIME archives.
	produced, parsed, signs, parts int

	inflater inflater
}

// layer is some data and what is around it.
type layer struct {
	data []byte
	// wrapping is what the data was in, outermost first; trail is the same for a person, with the numbers
	// of MIME parts.
	wrapping, trail []string
	// path is the place at which the data is written, empty where nothing said one.
	path string
	// declared is what the data was said to be by what is around it, unknown where that said nothing.
	declared kind
}

// where names a layer in an error.
func (l *layer) where() string {
	if len(l.trail) == 0 {
		return "user data"
	}
	return "user data, " + strings.Join(l.trail, ", ")
}

// in returns data as what was found in a wrapping at l.
func (l layer) in(wrapping string, data []byte) layer {
	l.wrapping = append(slices.Clip(l.wrapping), wrapping)
	l.trail = append(slices.Clip(l.trail), wrapping)
	l.data = data
	return l
}

// at returns l as what is written at a place, which makes it a contract.
func (l layer) at(path string, data []byte) layer {
	l.path, l.declared, l.data = path, contractText, data
	return l
}

// nested refuses a layer that is in too many others.
func (l *layer) nested() error {
	if len(l.wrapping) > maxNesting {
		return l.beyond("nested wrappings", maxNesting)
	}
	return nil
}

// open looks for contracts in a layer, and adds those to o.found.
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

// see notes something that has no contract, once.
func (o *opener) see(what string) {
	if !slices.Contains(o.seen, what) {
		o.seen = append(o.seen, what)
	}
}

// spend counts bytes that were made of a layer.
func (o *opener) spend(l *layer, n int) error {
	if o.produced += n; o.produced > maxProduced {
		return l.beyond("bytes once everything is decoded", maxProduced)
	}
	return nil
}

// result returns the one contract that was found. Several are one where they are the same to the byte; then
// the first that has a place stands for all.
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
