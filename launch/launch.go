package launch

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// Launch is what a request makes in a cloud: the machine, its user data but for the credential that the node joins with, the record of
// both, where each value is from, and all that is wrong. It never changes, so it may be kept and used for any number of machines, by
// several goroutines. A launch that is refused has no user data, and no node is compared with it.
type Launch struct {
	// document is the node's contract and the machine. The contract has no bootstrap token.
	document Document
	// base and own are what the launch was decided of, and given is what their sources give together.
	base  *base
	own   Layer
	given func() *Document
	// problems are all that is wrong with it, and reported are their paths, also those that they had before they were placed.
	problems Problems
	reported []string
	// annotations are those of the claim.
	annotations map[string]string
	// complete is the contract with its defaults, and a placeholder for the token.
	complete *nodeconfig.NodeConfig
	// What follows is made at the first call: the contract in JSON, the user data, the key and the record.
	parts  func() (head, tail []byte)
	blank  func() (*userdata.Blank, error)
	key    func() string
	record func() *Record
}

// tokenLength is that of a bootstrap token (Kubernetes: bootstrap.kubernetes.io/token).
const tokenLength = len("abcdef.0123456789abcdef")

// placeholders are texts in the form of a token. They differ in every character that is not the dot.
var placeholders = [2]nodeconfig.Secret{nodeconfig.NewSecret("000000.0000000000000000"), nodeconfig.NewSecret("111111.1111111111111111")}

// finish completes the contract of a launch.
func (l *Launch) finish() {
	l.parts, l.blank, l.key, l.record = sync.OnceValues(l.split), sync.OnceValues(l.makeBlank), sync.OnceValue(l.makeKey), sync.OnceValue(l.makeRecord)
	l.complete = nodeconfig.Merge(&l.document.Node)
	nodeconfig.Default(l.complete)
	if l.NeedsToken() {
		l.complete.Join.BootstrapToken = placeholders[0]
	}
}

// Format writes the launch's key, for every verb: the launch holds the contract's secrets.
func (l *Launch) Format(f fmt.State, _ rune) { fmt.Fprint(f, "launch "+l.Key()) }

// Problems are all that is wrong, fatal ones first. If one is fatal, no machine is to be started.
func (l *Launch) Problems() Problems { return slices.Clone(l.problems) }

// Document is a copy of the node's contract and the machine. The contract has no bootstrap token.
func (l *Launch) Document() *Document { return overlay(&l.document) }

// NeedsToken reports whether the node joins with a bootstrap token, which is then filled in for each machine.
func (l *Launch) NeedsToken() bool { return l.complete.Join.Method == nodeconfig.JoinBootstrapToken }

// split finds the place of the token: where two contracts begin to differ that differ in their token alone. No text of the
// contract is searched for.
func (l *Launch) split() (head, tail []byte) {
	c := l.document.Node
	c.APIVersion, c.Kind = nodeconfig.APIVersion, nodeconfig.Kind
	if !l.NeedsToken() {
		return nodeconfig.Encode(&c), nil
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
	return with[0][:at:at], with[0][at+tokenLength:]
}

var (
	// ErrToken is the error of a text that is not a token. It does not repeat the text.
	ErrToken = errors.New("the bootstrap token is not of the form abcdef.0123456789abcdef")
	// errNoLaunch is the error of a launch that is nil.
	errNoLaunch = errors.New("there is no launch; launch.Render returns one")
)

// Contract is the node's contract with a token, for any form of package userdata. If the node joins without a token, the contract has
// none. The error is [Problems] if the launch is refused, or [ErrToken].
func (l *Launch) Contract(token nodeconfig.Secret) (userdata.Contract, error) {
	value, err := l.credential(token)
	if err != nil {
		return userdata.Contract{}, err
	}
	return l.contract(value), nil
}

// credential is what is filled in for a token: the token, or nothing if the node joins without one.
func (l *Launch) credential(token nodeconfig.Secret) (string, error) {
	if l == nil {
		return "", errNoLaunch
	}
	if err := l.problems.Err(); err != nil {
		return "", err
	}
	switch {
	case !l.NeedsToken():
		return "", nil
	case !nodeconfig.IsBootstrapToken(token.Reveal()):
		return "", ErrToken
	}
	return token.Reveal(), nil
}

// contract is the node's contract with a credential.
func (l *Launch) contract(value string) userdata.Contract {
	head, tail := l.parts()
	return userdata.Contract{Document: slices.Concat(head, []byte(value), tail), Path: userdata.NativePath, Parts: l.document.Machine.UserData}
}

// UserData is the base64 of the document for cloud-init, as Azure's API takes it. The error is [Problems] if the launch is refused,
// [ErrToken], or one of [userdata.CustomData].
func (l *Launch) UserData(token nodeconfig.Secret) (string, error) {
	value, err := l.credential(token)
	if err != nil {
		return "", err
	}
	blank, err := l.blank()
	if err != nil {
		return "", err
	}
	return blank.Fill(value), nil
}

// placeholder stands for the token; empty if the node joins without one.
func (l *Launch) placeholder() string {
	if l.NeedsToken() {
		return placeholders[0].Reveal()
	}
	return ""
}

// makeBlank is the user data without its token.
func (l *Launch) makeBlank() (*userdata.Blank, error) {
	value := l.placeholder()
	head, _ := l.parts()
	return userdata.NewBlank(l.contract(value), len(head), len(value))
}

// ExtensionCommand waits on the machine until its node is made, prints the result, and has its exit code: an extension of the cloud runs it, so
// that the cloud knows. It is the agent's, so a machine that is made with a script for an image without it has none. It holds no secret.
func (l *Launch) ExtensionCommand() string {
	return userdata.Contract{Path: userdata.NativePath}.CSE()
}
