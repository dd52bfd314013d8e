package kubeadm

import (
	"bytes"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// maxStream limits the documents in a stream.
const maxStream = 16

// groups are the API groups of kubeadm's documents in one file (cmd/kubeadm/app/apis/kubeadm/v1beta4/doc.go).
var groups = []string{apiGroup, "kubelet.config.k8s.io/", "kubeproxy.config.k8s.io/"}

// ReadText reads a text that is not a single JSON or YAML document: a command line, or a stream of YAML documents that contains a
// JoinConfiguration. is reports whether the text is one of these.
func ReadText(data []byte) (tree *document.Node, problems []nodeconfig.Problem, is bool) {
	if len(data) > document.MaxBytes {
		return nil, nil, false
	}
	if tree, problems, is = ReadLine(data); is {
		return tree, problems, true
	}
	return readStream(data)
}

// Embedded finds a command line "kubeadm join" in a text that is not a document: after a word or in quotes on its line, or after a
// line that kubeadm does not print. If it finds no command line, it returns nil.
func Embedded(data []byte) *nodeconfig.Problem {
	s := scanner{rest: strings.TrimPrefix(string(data[:min(len(data), document.MaxBytes)]), "\ufeff"), line: 1, column: 1}
	at := strings.Index(s.rest, "kubeadm "+joinCommand+" ")
	if at < 0 {
		return nil
	}
	s.skip(at)
	p := word{line: s.line, column: s.column}.problem("has something around a kubeadm join that Slipway does not read; keep the command line alone")
	return &p
}

// readStream reads the JoinConfiguration of a stream. kubeadm join reads no other document in it, and warns of the others
// (cmd/kubeadm/app/util/config/joinconfiguration.go: documentMapToJoinConfiguration).
func readStream(data []byte) (tree *document.Node, problems []nodeconfig.Problem, is bool) {
	if !bytes.Contains(data, []byte(joinKind)) {
		return nil, nil, false
	}
	parts := document.Stream(data)
	if len(parts) < 2 || len(parts) > maxStream {
		return nil, nil, false
	}
	var other *document.Node
	for _, part := range parts {
		n, err := document.Parse(part)
		if err != nil || !slices.ContainsFunc(groups, func(group string) bool { return strings.HasPrefix(n.GetText("apiVersion"), group) }) {
			return nil, nil, false
		}
		switch {
		case n.GetText("kind") != joinKind && other != nil:
		case n.GetText("kind") != joinKind:
			other = n
		case tree != nil: // it is unclear which one the author means
			return nil, nil, false
		default:
			tree = n
		}
	}
	if tree == nil {
		return nil, nil, false
	}
	at := word{line: other.Line, column: other.Column}
	return tree, []nodeconfig.Problem{at.idle("has no effect: kubeadm join reads the JoinConfiguration alone, and no other document of the stream")}, true
}
