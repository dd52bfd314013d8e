package kubeadm

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// The length of a command line, and how many words it may have.
const (
	maxLine  = 16 << 10
	maxWords = 256
)

// flag is one of kubeadm join's (k8s.io/kubernetes, cmd/kubeadm/app/cmd/join.go).
type flag struct {
	name string
	// path is where its value is in a JoinConfiguration, with dots between the names; empty for none.
	path string
	// alone says that it has no value of its own; list that it has several, and may be given more than once.
	alone, list bool
	// refused says why no node is made of it.
	refused string
}

const (
	workers  = "is for a node of the control plane, and Slipway joins worker nodes"
	tokenAt  = "discovery.bootstrapToken.token"
	tlsAt    = "discovery.tlsBootstrapToken"
	tokenFor = "--token"
)

var flags = []flag{
	{name: tokenFor},
	{name: "--discovery-token", path: tokenAt},
	{name: "--tls-bootstrap-token", path: tlsAt},
	{name: "--discovery-token-ca-cert-hash", path: "discovery.bootstrapToken.caCertHashes", list: true},
	{name: "--discovery-token-unsafe-skip-ca-verification", path: "discovery.bootstrapToken.unsafeSkipCAVerification", alone: true},
	{name: "--node-name", path: "nodeRegistration.name"},
	{name: "--cri-socket", path: "nodeRegistration.criSocket"},
	{name: "--ignore-preflight-errors", path: "nodeRegistration.ignorePreflightErrors", list: true},
	{name: "--skip-phases", path: "skipPhases", list: true},
	{name: "--dry-run", path: "dryRun", alone: true},
	{name: "--discovery-file", refused: "names a kubeconfig on the machine, or a URL; give that kubeconfig itself as the contract"},
	{name: "--config", refused: "names a file on the machine; give that file itself as the contract"},
	{name: "--patches", refused: "names a directory on the machine; use kubelet.config of a native contract"},
	{name: "--control-plane", alone: true, refused: workers},
	{name: "--certificate-key", refused: workers},
	{name: "--apiserver-advertise-address", refused: workers},
	{name: "--apiserver-bind-port", refused: workers},
}

// line is a command line that is being read.
type line struct {
	tree     document.Node
	problems []nodeconfig.Problem
	token    *word
	given    map[string]bool
}

// ReadLine reads a command line "kubeadm join" as the JoinConfiguration that kubeadm makes of it; is says whether the text is
// one. Each value has its place in the text. All problems are returned; of a text that a shell would do more with than to
// split it, there is no tree.
func ReadLine(data []byte) (tree *document.Node, problems []nodeconfig.Problem, is bool) {
	if data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")); !isLine(data) {
		return nil, nil, false
	}
	l := &line{given: make(map[string]bool)}
	all, problem := words(string(data))
	switch {
	case len(data) > maxLine || len(all) > maxWords:
		l.report("$", word{line: 1, column: 1}, fmt.Sprintf("is longer than any kubeadm join: more than %d bytes or %d words", maxLine, maxWords))
		return nil, l.problems, true
	case problem != nil:
		return nil, []nodeconfig.Problem{*problem}, true
	}
	l.tree = document.Node{Kind: document.Map, Line: all[0].line, Column: all[0].column}
	l.set("apiVersion", document.Node{Kind: document.String, Text: apiVersions[0]})
	l.set("kind", document.Node{Kind: document.String, Text: joinKind})
	if all[0].text == "sudo" {
		all = all[1:]
	}
	l.arguments(all[2:])
	if l.token != nil { // it stands for both, where one is not given
		if !l.given["--discovery-token"] {
			l.set(tokenAt, l.token.node())
		} else if !l.given["--tls-bootstrap-token"] {
			l.set(tlsAt, l.token.node())
		}
	}
	return &l.tree, l.problems, true
}

// isLine reports whether a text begins with the command, perhaps as another user.
func isLine(data []byte) bool {
	begin := bytes.Fields(data[:min(len(data), 256)])
	if len(begin) > 0 && string(begin[0]) == "sudo" {
		begin = begin[1:]
	}
	return len(begin) >= 2 && string(begin[0]) == "kubeadm" && string(begin[1]) == "join"
}

func (l *line) report(path string, at word, reason string) {
	l.problems = append(l.problems, nodeconfig.Problem{
		Kind: nodeconfig.Invalid, Path: path, Reason: reason, Fatal: true, Line: int(at.line), Column: int(at.column),
	})
}

// arguments reads flags and their values, and the one word that is none.
func (l *line) arguments(rest []word) {
	for len(rest) > 0 {
		at := rest[0]
		rest = rest[1:]
		if !strings.HasPrefix(at.text, "-") {
			if l.given[""] {
				l.report("$", at, "has a second word that is no flag's; kubeadm join takes one server, HOST:PORT")
				continue
			}
			l.given[""] = true
			l.set("discovery.bootstrapToken.apiServerEndpoint", at.node())
			continue
		}
		name, value, has := strings.Cut(at.text, "=")
		path := document.FieldPath("$", shownName(name))
		f := flagOf(name)
		if f == nil {
			l.report(path, at, "is no flag of kubeadm join that Slipway knows")
			continue
		}
		given := word{value, at.line, at.column}
		switch {
		case f.alone && !has:
			given.text = "true"
		case !f.alone && !has && (len(rest) == 0 || strings.HasPrefix(rest[0].text, "--")):
			l.report(path, at, "has no value: the command line is cut off, or the value is missing")
			continue
		case !f.alone && !has:
			given, rest = rest[0], rest[1:]
		}
		l.flag(f, path, given)
	}
}

// flag takes a flag with its value.
func (l *line) flag(f *flag, path string, given word) {
	node := given.node()
	switch {
	case f.refused != "":
		l.report(path, given, f.refused)
		return
	case l.given[f.name] && !f.list:
		l.report(path, given, "is given twice; keep one")
		return
	case given.text == "":
		l.report(path, given, "has an empty value")
		return
	case f.alone && given.text != "true" && given.text != "false":
		l.report(path, given, "is true or false")
		return
	case f.alone:
		node.Kind = document.Bool
	case f.list:
		node = document.Node{Kind: document.List, Line: given.line, Column: given.column}
		for item := range strings.SplitSeq(given.text, ",") {
			node.Items = append(node.Items, word{item, given.line, given.column}.node())
		}
	}
	l.given[f.name] = true
	if f.name == tokenFor {
		l.token = &given
		return
	}
	l.set(f.path, node)
}

func flagOf(name string) *flag {
	for i := range flags {
		if flags[i].name == name {
			return &flags[i]
		}
	}
	return nil
}

// shownName is the name of a flag as it may be repeated: what does not look like one may be a credential.
func shownName(name string) string {
	if len(name) > 60 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return "-"
	}
	return cmp.Or(name, "-")
}

// set puts a value into the tree. One list is added to another.
func (l *line) set(path string, value document.Node) {
	n := &l.tree
	steps := strings.Split(path, ".")
	for _, step := range steps {
		next, ok := n.Get(step)
		if !ok {
			n.Fields = append(n.Fields, document.Field{Name: step, Value: document.Node{Kind: document.Map, Line: value.Line, Column: value.Column}})
			next = &n.Fields[len(n.Fields)-1].Value
		}
		n = next
	}
	if n.Kind == document.List {
		value.Items = append(n.Items, value.Items...)
	}
	*n = value
}
