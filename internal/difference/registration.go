package difference

import (
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/resource"
)

// registers are the kubelet's settings that it reads only to register its Node (k8s.io/kubernetes v1.36.3
// pkg/kubelet/kubelet_node_status.go, initialNode). Of --node-labels it takes a few that name the machine into an existing Node when it
// starts (updateDefaultLabels); the agent does so too.
var (
	registerFlags  = []string{"node-labels", "register-with-taints"}
	registerFields = []string{"registerWithTaints"}
)

// OnlyRegistration returns the files that differ in nothing but what a kubelet registers with, sorted by ID. No unit has to read such a
// file again: the kubelet that runs has a Node already. If it is not certain that nothing else differs, a file is not among them.
func OnlyRegistration(before, after *resource.Plan) []resource.ID {
	if !sameSettings(&before.Node, &after.Node) {
		return nil
	}
	wanted := after.ByID()
	var ids []resource.ID
	for _, res := range before.Resources {
		old, wasFile := res.Spec.(*resource.File)
		now, isFile := wanted[res.ID()].Spec.(*resource.File)
		if !wasFile || !isFile || string(old.Content) == string(now.Content) {
			continue
		}
		if withoutLists(old.Content, &before.Node) == withoutLists(now.Content, &after.Node) || withoutFields(old.Content) != "" && withoutFields(old.Content) == withoutFields(now.Content) {
			ids = append(ids, res.ID())
		}
	}
	slices.Sort(ids)
	return ids
}

// sameSettings reports whether two nodes have the same kubelet settings, apart from those that the kubelet registers with.
func sameSettings(a, b *resource.Node) bool {
	arguments := func(n *resource.Node) map[string]resource.Argument {
		all := maps.Clone(n.Arguments)
		maps.DeleteFunc(all, func(name string, _ resource.Argument) bool { return slices.Contains(registerFlags, name) })
		return all
	}
	fields := func(n *resource.Node) map[string]string {
		all := maps.Clone(n.Kubelet)
		maps.DeleteFunc(all, func(name, _ string) bool { return slices.Contains(registerFields, name) })
		return all
	}
	return a.Version == b.Version && maps.Equal(arguments(a), arguments(b)) && maps.Equal(fields(a), fields(b))
}

// withoutLists is a text without the labels and taints of a node, without the flags that they are the values of, and without blanks.
func withoutLists(content []byte, n *resource.Node) string {
	text := strings.ReplaceAll(string(content), "\\\n", " ")
	var items []string
	for _, flag := range registerFlags {
		items = slices.AppendSeq(items, strings.SplitSeq(n.Arguments[flag].Value, ","))
	}
	slices.SortFunc(items, func(a, b string) int { return len(b) - len(a) })
	for _, item := range items {
		text = withoutItem(text, item)
	}
	var rest strings.Builder // without blanks: a flag that is gone leaves some
	for word := range strings.FieldsSeq(text) {
		word, quote := strings.TrimRight(word, `"`), word[len(strings.TrimRight(word, `"`)):]
		for _, flag := range registerFlags {
			word = strings.TrimSuffix(word, "--"+flag+"=")
			if variable, ok := strings.CutPrefix(word, "--"+flag+"=${"); ok && strings.IndexByte(variable, '}') == len(variable)-1 {
				word = "" // the file of the variable has the list
			}
		}
		if strings.Trim(word, `"`) != "" {
			rest.WriteString(word + quote)
		}
	}
	return rest.String()
}

// withoutItem removes an item of lists with commas, with one comma beside it, wherever it stands as a whole.
func withoutItem(text, item string) string {
	const ends = "=,\"' \n\t\\"
	var out strings.Builder
	for item != "" {
		at := strings.Index(text, item)
		if at < 0 {
			break
		}
		before, rest := text[:at], text[at+len(item):]
		whole := (before == "" || strings.ContainsRune(ends, rune(before[len(before)-1]))) && (rest == "" || strings.ContainsRune(ends[1:], rune(rest[0])))
		switch {
		case !whole:
			before += item
		case strings.HasPrefix(rest, ","):
			rest = rest[1:]
		default:
			before = strings.TrimSuffix(before, ",")
		}
		out.WriteString(before)
		text = rest
	}
	out.WriteString(text)
	return out.String()
}

// withoutFields returns a KubeletConfiguration without the fields that the kubelet registers with; empty for any other text.
func withoutFields(content []byte) string {
	tree, err := document.Parse(content)
	if err != nil || tree.GetText("kind") != "KubeletConfiguration" {
		return ""
	}
	tree.Fields = slices.DeleteFunc(tree.Fields, func(f document.Field) bool { return slices.Contains(registerFields, f.Name) })
	return string(tree.AppendJSON(nil))
}
