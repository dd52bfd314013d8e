package launch

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// Template is what a machine is made from, but for the credential that its node joins with. It may be kept and used for any
// number of machines, by several goroutines.
type Template struct {
	// document is the node's contract and the machine. The contract has no bootstrap token.
	document Document
	// base and own are what the template was decided of, and said is what their sources say together.
	base *Base
	own  Layer
	said func() *Document
	// problems are all that is wrong with it.
	problems Problems
	// annotations are those of the claim.
	annotations map[string]string
	// reported are the paths of the problems of [Render], and of those among them that are told at another place, the own ones.
	reported []string
	// complete is the contract with its defaults, and a placeholder for the token.
	complete *nodeconfig.NodeConfig
	// What follows is made when it is asked for: the contract in JSON, the user data, the key and the record.
	parts  func() contractParts
	blank  func() blankData
	key    func() string
	record func() *Record
}

// contractParts are a contract in JSON before and after its token.
type contractParts struct{ head, tail []byte }

// blankData is user data without its token, or why there is none.
type blankData struct {
	form *userdata.Blank
	err  error
}

// tokenLength is that of a bootstrap token (Kubernetes: bootstrap.kubernetes.io/token).
const tokenLength = len("abcdef.0123456789abcdef")

// placeholders are tokens that are none. They differ in every character that is not the dot.
var placeholders = [2]nodeconfig.Secret{nodeconfig.NewSecret("000000.0000000000000000"), nodeconfig.NewSecret("111111.1111111111111111")}

// finish completes the contract of a template.
func (t *Template) finish() {
	t.parts, t.blank, t.key, t.record = sync.OnceValue(t.split), sync.OnceValue(t.makeBlank), sync.OnceValue(t.makeKey), sync.OnceValue(t.makeRecord)
	t.complete = nodeconfig.Merge(&t.document.Node)
	nodeconfig.Default(t.complete)
	if t.NeedsToken() {
		t.complete.Join.BootstrapToken = placeholders[0]
	}
}

// Format writes what the template is called, for every verb: what is made of it holds the contract's secrets.
func (t *Template) Format(f fmt.State, _ rune) { fmt.Fprint(f, "launch template "+t.Key()) }

// Document is a copy of the node's contract and the machine. The contract has no bootstrap token.
func (t *Template) Document() *Document { return over(&t.document, new(Document)) }

// NeedsToken reports whether the node joins with a bootstrap token, which is then filled in for each machine.
func (t *Template) NeedsToken() bool { return t.complete.Join.Method == nodeconfig.JoinBootstrapToken }

// split finds the place of the token: where two contracts begin to differ that differ in their token alone. No text of the
// contract is searched for.
func (t *Template) split() contractParts {
	c := t.document.Node
	c.APIVersion, c.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	if !t.NeedsToken() {
		return contractParts{head: nodeconfig.Encode(&c)}
	}
	var with [2][]byte
	for i := range with {
		c.Join.BootstrapToken = placeholders[i]
		with[i] = nodeconfig.Encode(&c)
	}
	at := 0
	for with[0][at] == with[1][at] {
		at++
	}
	return contractParts{with[0][:at:at], with[0][at+tokenLength:]}
}

// ErrToken says that a token is none. It does not repeat it.
var ErrToken = errors.New("the bootstrap token is not of the form abcdef.0123456789abcdef")

// Contract is the node's contract with a token, for any form of package userdata. Where the node joins without one, it is not in it. The
// error is [Problems] where no node can be made, or [ErrToken].
func (t *Template) Contract(token nodeconfig.Secret) (userdata.Contract, error) {
	value, err := t.credential(token)
	if err != nil {
		return userdata.Contract{}, err
	}
	return t.contract(value), nil
}

// credential is what is filled in for a token: the token, or nothing where the node joins without one.
func (t *Template) credential(token nodeconfig.Secret) (string, error) {
	if err := t.problems.err(); err != nil {
		return "", err
	}
	switch {
	case !t.NeedsToken():
		return "", nil
	case !nodeconfig.IsBootstrapToken(token.Reveal()):
		return "", ErrToken
	}
	return token.Reveal(), nil
}

// contract is the node's contract with a credential.
func (t *Template) contract(value string) userdata.Contract {
	p := t.parts()
	return userdata.Contract{Document: slices.Concat(p.head, []byte(value), p.tail), Path: userdata.NativePath, Parts: t.document.Machine.UserData}
}

// UserData is the base64 of the document for cloud-init, as Azure's API takes it. The error is [Problems] where no node can be made,
// [ErrToken], or one of [userdata.CustomData].
func (t *Template) UserData(token nodeconfig.Secret) (string, error) {
	value, err := t.credential(token)
	if err != nil {
		return "", err
	}
	blank := t.blank()
	if blank.err != nil {
		return "", blank.err
	}
	return blank.form.Fill(value), nil
}

// placeholder stands for the token; empty where the node joins without one.
func (t *Template) placeholder() string {
	if t.NeedsToken() {
		return placeholders[0].Reveal()
	}
	return ""
}

// makeBlank is the user data without its token.
func (t *Template) makeBlank() blankData {
	value := t.placeholder()
	form, err := userdata.NewBlank(t.contract(value), len(t.parts().head), len(value))
	return blankData{form, err}
}

// ExtensionCommand waits on the machine until its node is made, prints the result, and has its exit code: an extension of the cloud runs it, so
// that the cloud knows. It is the agent's, so a machine that is made with a script for an image without it has none. It holds no secret.
func (t *Template) ExtensionCommand() string {
	return userdata.Contract{Path: userdata.NativePath}.CSE()
}

// Annotations are the names of those that the claim wants on its node, sorted. They are the controller's to set, when the node has
// registered: a kubelet sets none, so they are in no contract, and change no machine.
func (t *Template) Annotations() []string { return slices.Sorted(maps.Keys(t.annotations)) }

// Explain says where each value of the template is from. Path restricts it to what is below it, "" does not.
func (t *Template) Explain(path string) Explanation {
	e := explain(append(slices.Clip(t.base.layers), t.own))
	e.compute(t.base.rules, &t.document)
	if path == "" {
		return e.sorted()
	}
	return e.sorted().Below(path)
}
