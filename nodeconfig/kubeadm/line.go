package kubeadm

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// line is a command line while it is parsed.
type line struct {
	tree     document.Node
	problems []nodeconfig.Problem
	token    *word
	given    map[string]bool
}

// ReadLine reads a command line "kubeadm join" as the JoinConfiguration that kubeadm makes of it. is reports whether the text is
// one, or is kubeadm's output around one. Each value has its position in the text. All problems are returned. If a shell would do
// more with a text than split it, the tree is nil.
func ReadLine(data []byte) (tree *document.Node, problems []nodeconfig.Problem, is bool) {
	c, problems, is := find(strings.TrimPrefix(string(data), "\ufeff"))
	if !is || len(nodeconfig.Fatal(problems)) > 0 {
		return nil, problems, is
	}
	l := &line{problems: problems, given: make(map[string]bool)}
	if plain := ordinary(c.arguments); len(plain) > 1 && plain[1].text == "phase" {
		return nil, []nodeconfig.Problem{plain[1].problem("runs one phase of a join; give the whole command, kubeadm join HOST:PORT")}, true
	}
	first := c.words[0]
	l.tree = document.Node{Kind: document.Map, Line: first.line, Column: first.column}
	l.set("apiVersion", document.Node{Kind: document.String, Text: apiVersions[0]})
	l.set("kind", document.Node{Kind: document.String, Text: joinKind})
	for _, r := range c.remarks {
		l.report(r.fatal, document.FieldPath("$", r.about), r.at, r.reason)
	}
	l.arguments(c.arguments)
	if len(ordinary(c.arguments)) == 1 && len(nodeconfig.Fatal(l.problems)) > 0 {
		return nil, l.problems, true // the missing value may be in a file that the line names
	}
	if l.token != nil { // it is used for both tokens if one is not set
		if !l.given["--discovery-token"] {
			l.set(tokenAt, l.token.node())
		} else if !l.given["--tls-bootstrap-token"] {
			l.set(tlsAt, l.token.node())
		}
	}
	return &l.tree, l.problems, true
}

func (l *line) report(fatal bool, path string, at word, reason string) {
	kind := nodeconfig.NoEffect
	if fatal {
		kind = nodeconfig.Invalid
	}
	l.problems = append(l.problems, nodeconfig.Problem{
		Kind: kind, Path: path, Reason: reason, Fatal: fatal, Line: int(at.line), Column: int(at.column),
	})
}

// arguments processes flags and their values, and the other words: the command's name and the server.
func (l *line) arguments(all []argument) {
	controlPlane := joinsControlPlane(all)
	plain := ordinary(all)[1:]
	for i, w := range plain {
		if i > 0 {
			l.report(true, "$", w, "has a second word that is no flag's; kubeadm join takes one server, HOST:PORT")
			continue
		}
		l.set("discovery.bootstrapToken.apiServerEndpoint", w.node())
	}
	for _, a := range all {
		path := document.FieldPath("$", shownName(a.name))
		switch {
		case a.name == "":
		case a.flag == nil:
			l.report(true, path, a.at, "is no flag of kubeadm join that Slipway knows")
		case a.missing:
			l.report(true, path, a.at, "has no value: the command line is cut off, or the value is missing")
		case a.flag.controlPlane && controlPlane:
			l.report(true, path, a.at, workers)
		case a.flag.controlPlane && a.flag.name != controlPlaneFlag:
			l.report(false, path, a.at, "has no effect without "+controlPlaneFlag)
		default:
			l.flag(a.flag, path, a.value)
		}
	}
}

// flag processes a flag with its value.
func (l *line) flag(f *flag, path string, given word) {
	node := given.node()
	_, err := strconv.ParseBool(given.text)
	switch {
	case f.alone && err != nil:
		l.report(true, path, given, "is true or false")
		return
	case f.refused != "":
		l.report(true, path, given, f.refused)
		return
	case f.idle != "":
		l.report(false, path, given, f.idle)
		return
	case given.text == "":
		l.report(false, path, given, "has no effect: its value is empty")
		return
	case l.given[f.name] && !f.list:
		l.report(false, path, given, "is given more than once, and the last one counts, as for kubeadm")
	}
	switch {
	case f.alone:
		node.Kind, node.Text = document.Bool, strconv.FormatBool(isTrue(given.text))
	case f.list:
		node = document.Node{Kind: document.List, Line: given.line, Column: given.column}
		for item := range strings.SplitSeq(given.text, ",") {
			node.Items = append(node.Items, word{item, given.line, given.column}.node())
		}
	}
	l.given[f.name] = true
	switch f.name {
	case tokenFlag:
		l.token = &given
	case controlPlaneFlag: // it is false here
	default:
		l.set(f.path, node)
	}
}

// isTrue reports whether a flag's value is true (github.com/spf13/pflag, bool.go).
func isTrue(value string) bool {
	is, _ := strconv.ParseBool(value)
	return is
}

// shownName returns the name of a flag or variable in a form that may be shown: a text that does not look like a name may be a
// credential.
func shownName(name string) string {
	if len(name) > 60 || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_") != "" {
		return "-"
	}
	return cmp.Or(name, "-")
}

// set sets a value in the tree. A list is appended to an existing one.
func (l *line) set(path string, value document.Node) {
	n := &l.tree
	for step := range strings.SplitSeq(path, ".") {
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
