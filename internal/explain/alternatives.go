package explain

import (
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// marker is in every generated name and value, so that their effects can be distinguished from the document's.
const marker = "explain"

// plausible are strings in the formats that fields accept.
var plausible = []string{
	marker,
	"1.20.0",
	"1.99.0",
	"10.99.98.97",
	"10.99.0.0/16",
	"https://explain.example:6443",
	"http://explain.example:3128",
	"https://explain.example/explain-1.99.0-linux-amd64.tar.gz",
	"explain.example",
	"explain.example:1234",
	"/var/lib/explain",
	"/etc/kubernetes/explain.yaml",
	"97s",
	"17",
	"true",
	"default",
	"never",
	"MIG1g",
	"Mixed",
	"IPv6",
	"20000 65535",
	"explain=x:NoSchedule",
	"ZXhwbGFpbg==",
	"{}",
	"-----BEGIN PRIVATE KEY-----\nZXhwbGFpbg==\n-----END PRIVATE KEY-----\n",
}

// madeUpNames are names of a map's fields, in the formats that maps accept.
var madeUpNames = []string{marker, "net.explain", "NOFILE"}

// alternatives returns other values that a field could have: text, a number, a boolean, or, for a field without a
// value, a list or map with one element. certificate is a valid certificate.
func (c *catalog) alternatives(s *shape, n *document.Node, certificate string) []document.Node {
	s = c.follow(s)
	var all []document.Node
	switch {
	case len(s.Enum) > 0:
		all = enumerated(s)
	case s.isFree():
		all = likewise(n)
	case s.Items != nil:
		for _, one := range c.alternatives(s.Items, nil, certificate) {
			all = append(all, document.Node{Kind: document.List, Items: []document.Node{one}})
		}
	case s.isMap():
		for _, name := range madeUpNames {
			for _, one := range c.alternatives(s.Additional.shape, nil, certificate) {
				all = append(all, mapOf(name, one))
			}
		}
	case s.isStruct():
		all = append(all, c.filled(s, certificate))
	case s.takes("boolean"):
		all = []document.Node{boolNode("true"), boolNode("false")}
	case s.takes("integer"), s.takes("number"):
		all = numbers(n)
	default:
		all = texts(n, certificate)
	}
	return all
}

// enumerated are the values of an enumeration.
func enumerated(s *shape) []document.Node {
	var all []document.Node
	for _, value := range s.Enum {
		if text, ok := value.(string); ok && strings.Trim(text, "0123456789") != "" {
			all = append(all, textNode(text))
		}
	}
	return all
}

// filled is a map with every field set to its first alternative.
func (c *catalog) filled(s *shape, certificate string) document.Node {
	n := document.Node{Kind: document.Map}
	for _, name := range c.names(s) {
		below, _, _ := c.property(s, name)
		if values := c.alternatives(below, nil, certificate); len(values) > 0 {
			n.Fields = append(n.Fields, document.Field{Name: name, Value: values[0]})
		}
	}
	return n
}

// likewise are values of the same type as a value, for a field that accepts any.
func likewise(n *document.Node) []document.Node {
	switch {
	case n == nil:
		return []document.Node{mapOf(marker, textNode(marker)), boolNode("true"), numberNode("17"), textNode(marker)}
	case n.Kind == document.Bool:
		return []document.Node{boolNode("true"), boolNode("false")}
	case n.Kind == document.Number:
		return numbers(n)
	case n.Kind == document.List:
		return []document.Node{{Kind: document.List, Items: []document.Node{textNode(marker)}}}
	case n.Kind == document.Map:
		return []document.Node{mapOf(marker, textNode(marker))}
	}
	return texts(n, "")
}

func numbers(n *document.Node) []document.Node {
	all := []document.Node{numberNode("1"), numberNode("17"), numberNode("250")}
	if n != nil {
		if i, err := strconv.ParseInt(n.Text, 10, 32); err == nil {
			all = append([]document.Node{numberNode(strconv.FormatInt(i+1, 10))}, all...)
		}
	}
	return all
}

// texts are strings: the value with a suffix, and strings in every format.
func texts(n *document.Node, certificate string) []document.Node {
	var all []document.Node
	if n != nil && n.Text != "" {
		all = append(all, textNode(n.Text+"-"+marker), textNode(n.Text+"\n"))
		if decoded, err := base64.StdEncoding.DecodeString(n.Text); err == nil {
			all = append(all, textNode(base64.StdEncoding.EncodeToString(append(decoded, '\n'))))
		}
	}
	for _, p := range plausible {
		all = append(all, textNode(p))
	}
	if certificate != "" {
		all = append(all, textNode(certificate+"\n"), textNode(base64.StdEncoding.EncodeToString([]byte(certificate+"\n"))))
	}
	return all
}

func textNode(value string) document.Node   { return document.Node{Kind: document.String, Text: value} }
func numberNode(value string) document.Node { return document.Node{Kind: document.Number, Text: value} }
func boolNode(value string) document.Node   { return document.Node{Kind: document.Bool, Text: value} }

func mapOf(name string, value document.Node) document.Node {
	return document.Node{Kind: document.Map, Fields: []document.Field{{Name: name, Value: value}}}
}
