package launch

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// treeOf is a document for people and for digests. A list of texts is a list; each other one is a text, so that it is one value.
func treeOf(d *Document) *document.Node { return document.TreeOf(d, shown) }

// shown is the text that people see in place of a value: a secret as [nodeconfig.Redacted], a public key as its fingerprint,
// parts by their names, a list as JSON.
func shown(v reflect.Value) (string, bool) {
	switch {
	case v.Type() == secretType:
		return nodeconfig.Redacted, true
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() != reflect.String:
		return listText(v.Interface()), true
	}
	return kept(v)
}

// kept is the text of a value of a type that writes itself as a text, or of a secret of a document without secrets.
func kept(v reflect.Value) (string, bool) {
	switch v.Type() {
	case secretType:
		return v.Interface().(nodeconfig.Secret).Reveal(), true
	case durationType:
		return nodeconfig.Duration(v.Int()).String(), true
	case publicType:
		return PublicKey(v.String()).String(), true
	case partsType:
		return v.Interface().(UserParts).String(), true
	}
	return "", false
}

var (
	secretType   = reflect.TypeFor[nodeconfig.Secret]()
	durationType = reflect.TypeFor[nodeconfig.Duration]()
	publicType   = reflect.TypeFor[PublicKey]()
	partsType    = reflect.TypeFor[UserParts]()
)

// listText is a list for people.
func listText(list any) string {
	switch list := list.(type) {
	case UserParts:
		return list.String()
	case []nodeconfig.Flag:
		return flagsText(list)
	case []nodeconfig.File:
		return filesText(list)
	case []nodeconfig.Unit:
		return unitsText(list)
	case []nodeconfig.ShellCommand:
		return commandsText(list)
	}
	data, err := json.Marshal(list)
	if err != nil { // it has a secret
		return nodeconfig.Redacted
	}
	return string(data)
}

// textOf is a value of a tree for people.
func textOf(n *document.Node) string {
	if n.Kind == document.List {
		return string(n.AppendJSON(nil))
	}
	return n.Text
}

// flagsText shows flags as a command line has them, but for values that may be credentials.
func flagsText(flags []nodeconfig.Flag) string {
	words := make([]string, len(flags))
	for i, f := range flags {
		if words[i] = "--" + f.Name + "=" + f.Value; f.IsSecret() {
			words[i] = "--" + f.Name + "=" + nodeconfig.Redacted
		}
	}
	return strings.Join(words, " ")
}
