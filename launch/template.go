package launch

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// Template is what a machine is made from, but for the credential that its node joins with. It may be kept and used for any
// number of machines, by several goroutines.
type Template struct {
	// Document is the node's contract and the machine. The contract has no bootstrap token.
	Document Document

	// base and own are what the template was decided of.
	base *Base
	own  Layer
	// reported are the paths of the problems of [Render].
	reported []string
	// complete is the contract with its defaults, and a placeholder for the token.
	complete *nodeconfig.NodeConfig
	// parts are the contract in JSON before and after the token.
	parts func() (head, tail []byte)
	key   func() string
	// compact is the compact record, allEntries what it is made of.
	compact    func() string
	allEntries func() map[uint16]*entryOf
}

// tokenLength is that of a bootstrap token (Kubernetes: bootstrap.kubernetes.io/token).
const tokenLength = len("abcdef.0123456789abcdef")

// placeholder is a token that is none, of one digit.
func placeholder(digit int) nodeconfig.Secret {
	d := string(rune('0' + digit))
	return nodeconfig.NewSecret(strings.Repeat(d, 6) + "." + strings.Repeat(d, 16))
}

// finish makes the rest of a template of its document.
func (t *Template) finish() {
	t.complete = nodeconfig.Merge(&t.Document.Node)
	nodeconfig.Default(t.complete)
	if t.NeedsToken() {
		t.complete.Join.BootstrapToken = placeholder(0)
	}
	t.parts = sync.OnceValues(t.split)
	t.key = sync.OnceValue(t.makeKey)
	t.compact = sync.OnceValue(t.makeCompact)
	t.allEntries = sync.OnceValue(func() map[uint16]*entryOf { return byPath(counting(values(&t.Document, everything)), mostNames) })
}

// NeedsToken reports whether the node joins with a bootstrap token, which is then filled in for each machine.
func (t *Template) NeedsToken() bool { return t.complete.Join.Method == nodeconfig.JoinBootstrapToken }

// split finds the place of the token: where two contracts begin to differ that differ in their token alone. No text of the
// contract is searched for.
func (t *Template) split() (head, tail []byte) {
	c := t.Document.Node
	c.APIVersion, c.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	if !t.NeedsToken() {
		return nodeconfig.Encode(&c), nil
	}
	var with [2][]byte
	for i := range with {
		c.Join.BootstrapToken = placeholder(i)
		with[i] = nodeconfig.Encode(&c)
	}
	at := 0
	for with[0][at] == with[1][at] {
		at++
	}
	return with[0][:at:at], with[0][at+tokenLength:]
}

// ErrToken says that a token is none. It does not repeat it.
var ErrToken = errors.New("the bootstrap token is not of the form abcdef.0123456789abcdef")

// Contract is the node's contract with a token, for any form of package userdata. Where the node joins without one, it is not in it.
func (t *Template) Contract(token nodeconfig.Secret) (userdata.Contract, error) {
	value := token.Reveal()
	switch {
	case !t.NeedsToken():
		value = ""
	case !nodeconfig.IsBootstrapToken(value):
		return userdata.Contract{}, ErrToken
	}
	head, tail := t.parts()
	whole := make([]byte, 0, len(head)+len(value)+len(tail))
	whole = append(append(append(whole, head...), value...), tail...)
	return userdata.Contract{Document: whole, Path: userdata.NativePath}, nil
}

// UserData is the base64 of the document for cloud-init, as Azure's API takes it. The error is [ErrToken] or one of
// [userdata.CustomData].
func (t *Template) UserData(token nodeconfig.Secret) (string, error) {
	contract, err := t.Contract(token)
	if err != nil {
		return "", err
	}
	return userdata.CustomData(contract)
}

// Explain says where each value of the template is from. Path restricts it to what is below it, "" does not.
func (t *Template) Explain(path string) Explanation {
	merged, all := t.merged(), Explain(append(slices.Clone(t.base.layers), t.own))
	for _, r := range t.base.rules {
		before := values(merged, r.Sets)
		r.Run(merged)
		for at, value := range values(merged, r.Sets) {
			if was, said := before[at]; !said || was != value {
				all = slices.DeleteFunc(all, func(v Value) bool { return v.Path == at }) // of an earlier rule
				all = append(all, Value{Path: at, Value: value, Source: Computed, Origin: r.Name})
			}
		}
	}
	sortValues(all)
	if path == "" {
		return all
	}
	return all.Below(path)
}

// values are the values of a document for people, by their paths: those at some paths and below.
func values(d *Document, below []string) map[string]string {
	all := make(map[string]string)
	walkBelow(d, below, func(path string, v reflect.Value) { all[path] = text(v) })
	return all
}

// everything is the path of a whole document.
var everything = []string{"$"}
