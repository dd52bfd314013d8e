package eksctl

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// commands translates the user's own shell texts, and reports those that have no effect on a node of Slipway's.
func (r *reader) commands(g *NodeGroup, f *family) {
	before, instead := r.group.path("preBootstrapCommands"), r.group.path("overrideBootstrapCommand")
	r.from(before, "$.commands")
	var texts []shellText
	list, _ := r.group.node.Get("preBootstrapCommands")
	for i, text := range g.PreBootstrapCommands {
		t := shellText{path: document.IndexPath(before, i), text: text}
		if own := items(list); len(own) == len(g.PreBootstrapCommands) {
			t.node = &own[i]
		}
		texts = append(texts, t)
	}
	if g.OverrideBootstrapCommand != "" && !f.nodeadm {
		node, _ := r.group.node.Get("overrideBootstrapCommand")
		texts = append(texts, shellText{path: instead, text: g.OverrideBootstrapCommand, node: node, replaces: true})
		if len(g.PreBootstrapCommands) == 0 {
			r.from(instead, "$.commands")
		}
	}
	exported := make(map[string]bool)
	for i := range texts {
		t := &texts[i]
		to := document.IndexPath("$.commands", len(r.NodeConfig.Commands))
		r.from(t.path, to, to+".text")
		r.NodeConfig.Commands = append(r.NodeConfig.Commands, nodeconfig.ShellCommand{Text: t.text, Replaces: t.replaces})
		r.ineffective(t, exported)
	}
}

// shellText is a shell text of a group.
type shellText struct {
	path, text string
	// node is the command's position in the document; nil if it is not known.
	node     *document.Node
	replaces bool
}

// unusedFiles are files of EKS's images that a Slipway node does not use, by the end of their paths, with what to set instead. A
// command that edits one has no effect (Amazon EKS AMI, Amazon Linux 2: runtime/bootstrap.sh; eksctl: bootstrap.al2.sh).
var unusedFiles = []struct{ path, instead string }{
	{bootstrapScript, "set maxPodsPerNode, labels, taints or kubeletExtraConfig"},
	{"kubelet-config.json", "set kubeletExtraConfig"},
	{"kubelet-extra.json", "set kubeletExtraConfig"},
	{"10-kubelet-args.conf", "set kubeletExtraConfig, labels or taints"},
	{"30-kubelet-extra-args.conf", "set kubeletExtraConfig, labels or taints"},
	{"eni-max-pods.txt", "set maxPodsPerNode"},
	{"/etc/eks/containerd/", "merge a native document with runtime.containerd.config"},
}

// bootstrapScript is the script with which these images start their own kubelet.
const bootstrapScript = "/etc/eks/bootstrap.sh"

// exports are the variables that a text exports, and variables those that it uses.
var (
	exports   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s*export\s+([A-Za-z_][A-Za-z0-9_]*)=`) })
	variables = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{?([A-Za-z_][A-Za-z0-9_]*)`) })
)

// ineffective warns of commands in a text that have no effect, with their lines. exported are the variables that earlier texts export.
func (r *reader) ineffective(t *shellText, exported map[string]bool) {
	var reasons []string
	first := -1
	add := func(line int, format string, args ...any) {
		if first < 0 {
			first = line
		}
		if reason := fmt.Sprintf(format, args...); !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
	}
	for i, line := range strings.Split(t.text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		for _, file := range unusedFiles {
			switch {
			case !strings.Contains(line, file.path):
			case file.path == bootstrapScript && runs(line, bootstrapScript):
				add(i, "runs %s, whose arguments the kubelet does not get: it has Slipway's command line, with the group's labels, taints and settings", bootstrapScript)
			default:
				add(i, "has a file that a node of Slipway's does not use (%s): %s", strings.TrimSuffix(file.path, "/"), file.instead)
			}
		}
		for _, use := range variables().FindAllStringSubmatch(line, -1) {
			if name := use[1]; exported[name] && !strings.Contains(t.text, name+"=") {
				add(i, "uses a variable that a command before it exports: each command has another shell, as with eksctl; set the variable in this command")
			}
		}
	}
	for _, export := range exports().FindAllStringSubmatch(t.text, -1) {
		exported[export[1]] = true
	}
	if first < 0 {
		return
	}
	p := nodeconfig.Problem{Kind: nodeconfig.NotApplied, Path: t.path, Reason: fmt.Sprintf("line %d ", first+1) + strings.Join(reasons, "; ")}
	if t.node != nil && t.node.Line > 0 {
		p.Line, p.Column = within(t.node, first+1, 1)
	}
	r.Add(p)
}

// wrappers are words before a command that runs it.
var wrappers = []string{"!", ".", "bash", "do", "else", "env", "exec", "if", "sh", "source", "sudo", "then", "time", "-e", "-x"}

// runs reports whether a line of a shell text runs a program.
func runs(line, program string) bool {
	for part := range strings.FieldsFuncSeq(line, func(c rune) bool { return strings.ContainsRune(";|&(", c) }) {
		for word := range strings.FieldsSeq(part) {
			if word = strings.Trim(word, `"'`); word == program {
				return true
			}
			if name, _, assigns := strings.Cut(word, "="); !slices.Contains(wrappers, path.Base(word)) && (!assigns || name == "") {
				break
			}
		}
	}
	return false
}
