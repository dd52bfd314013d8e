package userdata

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/internal/envelope"
)

// MaxParts limits the parts of a machine beside its contract. A node that searches for its contract opens 100.
const MaxParts = 50

// Part is one of the user's own parts beside a machine's contract. Treat it as secret, like the contract.
type Part struct {
	// Name is a file name of letters, digits and "._-". cloud-init keeps a script under it, and runs scripts in the order of their
	// names. If it is empty, cloud-init numbers the part. Ignition has no names.
	Name string
	// Type is one of PartTypes. If it is empty, the beginning of Content decides, as in cloud-init.
	Type string
	// Content is the part itself: a script, a cloud-config, an Ignition config.
	Content []byte
}

// String names the part without its content.
func (p Part) String() string {
	return fmt.Sprintf("part %s (%d bytes) [redacted]", p.Name, len(p.Content))
}

// Format writes String for every verb.
func (p Part) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.String()) }

// MarshalText returns String, for JSON, YAML and logs.
func (p Part) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// The types of parts with special rules.
const (
	typeBoothook    = "text/cloud-boothook"
	typeCloudConfig = "text/cloud-config"
	typeScript      = "text/x-shellscript"
	typeIgnition    = "application/vnd.coreos.ignition+json"
)

// partTypes are the types of parts and their prefixes. Scripts that run more than once have no prefix. Longer prefixes come first.
// Source: cloud-init, "User data formats" and cloudinit/handlers/__init__.py; IANA's registry of media types.
var partTypes = []struct{ begins, name string }{
	{"#cloud-config-archive", "text/cloud-config-archive"},
	{"#cloud-config-jsonp", "text/cloud-config-jsonp"},
	{"## template: jinja", "text/jinja2"},
	{"#cloud-boothook", typeBoothook},
	{"#include-once", "text/x-include-once-url"},
	{"#cloud-config", typeCloudConfig},
	{"#part-handler", "text/part-handler"},
	{"#include", "text/x-include-url"},
	{"#!", typeScript},
	{"", typeScript + "-per-boot"},
	{"", typeScript + "-per-instance"},
	{"", typeScript + "-per-once"},
	{"{", typeIgnition},
}

// PartTypes returns the allowed types of a [Part]: cloud-init's, and Ignition's.
func PartTypes() []string {
	var names []string
	for _, t := range partTypes {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return names
}

// kind returns the part's type, or "" if it is unknown.
func (p *Part) kind() string {
	if p.Type != "" {
		return p.Type
	}
	begin := strings.ToLower(strings.TrimLeft(string(p.Content[:min(len(p.Content), 256)]), " \t\r\n"))
	for _, t := range partTypes {
		if t.begins != "" && strings.HasPrefix(begin, t.begins) {
			return t.name
		}
	}
	return ""
}

// partCheck reports problems of a contract's parts for their reader on the machine.
type partCheck func(c *Contract, add reporter)

// refuseParts is for a document that cannot contain parts.
func refuseParts(_ *Contract, add reporter) {
	add("Parts", "a plain cloud-config has no place for them; use MIME")
}

// checkForCloudInit reports problems of parts for cloud-init.
func checkForCloudInit(c *Contract, add reporter) {
	names := make(map[string]bool)
	for i := range c.Parts {
		p, field := &c.Parts[i], fmt.Sprintf("Parts[%d]", i)
		if reason := wrongName(p.Name); reason != "" {
			add(field+".Name", "%s", reason)
		} else if names[p.Name] {
			add(field+".Name", "is the name of another part too, and cloud-init would keep one of them")
		}
		names[p.Name] = p.Name != ""
		if reason := p.wrongForCloudInit(); reason != "" {
			add(field, "%s", reason)
		}
	}
}

// wrongName returns what is wrong with a part's name. cloud-init removes all other characters from it.
func wrongName(name string) string {
	allowed := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)
	}
	switch {
	case strings.ContainsFunc(name, func(r rune) bool { return !allowed(r) }), strings.Trim(name, ".") == "" && name != "", len(name) > 100:
		return "must be a file name of at most 100 letters, digits and characters of \"._-\""
	case strings.HasPrefix(name, "part-"):
		return "must not begin with part-, because cloud-init gives such names to parts without one"
	}
	return ""
}

func (p *Part) wrongForCloudInit() string {
	kind := p.kind()
	switch {
	case len(p.Content) == 0:
		return "is empty"
	case kind == typeIgnition:
		return "is an Ignition config, which cloud-init does not read"
	case kind == "":
		return "begins as nothing that cloud-init knows, such as #! or #cloud-config; give its type"
	case !slices.Contains(PartTypes(), kind):
		return "has a type that is not known; use one of " + strings.Join(PartTypes(), ", ")
	case !utf8.Valid(p.Content) || strings.IndexByte(string(p.Content), 0) >= 0:
		return "is not text in UTF-8"
	}
	switch script, isHook := strings.CutPrefix(string(p.Content), "#cloud-boothook"); {
	case kind == typeBoothook && !strings.HasPrefix(strings.TrimLeft(script, " \t\r\n"), "#!"), strings.HasPrefix(kind, typeScript) && (isHook || !strings.HasPrefix(script, "#!")):
		return "is a script, and must begin with #! and its interpreter"
	case kind == typeCloudConfig:
		if reason := wrongCloudConfig(p.Content); reason != "" {
			return reason
		}
	}
	return p.contract()
}

// wrongCloudConfig returns why cloud-init would ignore a cloud-config.
func wrongCloudConfig(content []byte) string {
	var top yaml.Node
	if err := yaml.Unmarshal(content, &top); err != nil {
		return "is not YAML; cloud-init would leave it out" + place(content)
	}
	if len(top.Content) != 1 || top.Content[0].Kind != yaml.MappingNode {
		return "is not a map; cloud-init would leave it out"
	}
	return ""
}

// place is the position at which a text is not YAML, if it is known.
func place(content []byte) string {
	_, err := document.Parse(content)
	if syntax, ok := errors.AsType[*document.SyntaxError](err); ok {
		return fmt.Sprintf(" (line %d, column %d)", syntax.Line, syntax.Column)
	}
	return ""
}

// contract reports whether a node that searches for its contract in the user data would take the part for one, or would stop at it.
func (p *Part) contract() string {
	message := "MIME-Version: 1.0\r\nContent-Type: " + p.kind() + "\r\nContent-Transfer-Encoding: base64\r\n\r\n"
	_, err := envelope.Open(append([]byte(message), base64.StdEncoding.EncodeToString(p.Content)...), contractPlaces)
	switch {
	case errors.Is(err, envelope.ErrNone):
		return ""
	case err == nil:
		return "has its own contract, or writes one; a node takes one contract"
	}
	return "would keep the node from finding its contract: " + err.Error()
}

// ownParts returns the user's own parts of a MIME document, each with its boundary before it. It is nil if there are no parts. They
// are base64, so their content cannot be a boundary or a header.
func (c *Contract) ownParts() []byte {
	var dst []byte
	for i := range c.Parts {
		p := &c.Parts[i]
		dst = append(append(dst, nextOpen+"\r\nContent-Type: "...), p.kind()...)
		dst = append(dst, "; charset=\"utf-8\"\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: base64\r\n"...)
		if p.Name != "" {
			dst = append(append(append(dst, "Content-Disposition: attachment; filename=\""...), p.Name...), "\"\r\n"...)
		}
		dst = appendLines(append(dst, "\r\n"...), p.Content)
	}
	return dst
}
