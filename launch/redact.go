package launch

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// Files, units and commands of a class may hold secrets in plain texts. So output and records show them as they show [UserParts]: by
// name, size and the beginning of the digest.

func filesText(files []nodeconfig.File) string {
	return ownText(files, func(f *nodeconfig.File) (name, content string, secret bool) {
		secret = !f.Secret.IsZero()
		f.Secret = nodeconfig.Secret{} // it is in no digest
		return f.Path, f.Content + f.Base64, secret
	})
}

func unitsText(units []nodeconfig.Unit) string {
	return ownText(units, func(u *nodeconfig.Unit) (name, content string, secret bool) {
		content = u.Content
		for _, d := range u.DropIns {
			content += d.Content
		}
		return u.Name, content, false
	})
}

func commandsText(commands []nodeconfig.ShellCommand) string {
	return ownText(commands, func(c *nodeconfig.ShellCommand) (name, content string, secret bool) { return "", c.Text, false })
}

// ownText returns the names, sizes and digests of a list's items. about returns an item's name and content, and removes the secret
// from its copy of the item. The digest covers the rest.
func ownText[T any](list []T, about func(*T) (name, content string, secret bool)) string {
	texts := make([]string, len(list))
	for i, item := range list {
		name, content, secret := about(&item)
		size := fmt.Sprintf("%d bytes", len(content))
		if secret {
			size = nodeconfig.Redacted
		}
		data, err := json.Marshal(item)
		if err != nil {
			panic("launch: " + err.Error()) // a type with a secret that about has left
		}
		texts[i] = strings.TrimSpace(fmt.Sprintf("%s (%s, %s)", name, size, shortDigest(data)))
	}
	return strings.Join(texts, ", ")
}

// hideOwnTexts replaces those texts by the beginnings of their digests. The contract's plan stays the same, except for the contents of
// its files, units and commands.
func hideOwnTexts(c *nodeconfig.NodeConfig) {
	for i := range c.Files {
		f := &c.Files[i]
		hideText(&f.Content, "", "")
		if f.Base64 != "" {
			f.Base64 = base64.StdEncoding.EncodeToString([]byte(shortDigest([]byte(f.Base64))))
		}
	}
	for i := range c.Units {
		u := &c.Units[i]
		hideText(&u.Content, unitHead, "\n[Install]\nWantedBy="+strings.Join(u.WantedBy(), " ")+"\n") // the plan has a link for each
		for j := range u.DropIns {
			hideText(&u.DropIns[j].Content, unitHead, "\n")
		}
	}
	for i := range c.Commands {
		hideText(&c.Commands[i].Text, "# ", "")
	}
}

// unitHead begins a systemd unit that has only a digest.
const unitHead = "[Unit]\nDescription="

func hideText(text *string, before, after string) {
	if *text != "" {
		*text = before + shortDigest([]byte(*text)) + after
	}
}

// UserParts are what a machine gets beside its contract, in their order: scripts and other parts that cloud-init accepts. They may hold
// secrets, so output and records have only their names, their sizes and the beginnings of their digests.
type UserParts []userdata.Part

// shownDigest is the number of bytes of a digest that are shown. With 8 bytes, two digests are not the same by chance.
const shownDigest = 8

// shortDigest returns the beginning of the digest of data that may hold a secret.
func shortDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:shownDigest])
}

// keptPart is the type of the one part that has the names of all parts of a record.
const keptPart = "kept"

// UnmarshalText reads what String has written.
func (p *UserParts) UnmarshalText(text []byte) error {
	*p = UserParts{{Type: keptPart, Name: string(text)}}
	return nil
}

// String names the parts.
func (p UserParts) String() string {
	if len(p) == 1 && p[0].Type == keptPart {
		return p[0].Name
	}
	named := make([]string, len(p))
	for i := range p {
		digest := shortDigest([]byte(p[i].Type + "\x00" + string(p[i].Content)))
		named[i] = strings.TrimSpace(fmt.Sprintf("%s (%d bytes, %s)", p[i].Name, len(p[i].Content), digest))
	}
	return strings.Join(named, ", ")
}

// Format writes String for every verb.
func (p UserParts) Format(f fmt.State, _ rune) { fmt.Fprint(f, p.String()) }

// MarshalText returns String, for JSON, YAML and logs.
func (p UserParts) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// PublicKey is the SSH key of a user who may log in, in the form of authorized_keys. It is not secret, but it identifies a person. So
// output and records have only its fingerprint.
type PublicKey string

// keyBegin is how the base64 of a key begins: the length of its algorithm's name is below 2^16 (RFC 4253, 6.6).
const keyBegin = "AAAA"

// fingerprint begins each fingerprint.
const fingerprint = "SHA256:"

// String returns the key's fingerprint as "ssh-keygen -l" shows it. If the text is not a key, it returns the text's digest.
func (k PublicKey) String() string {
	if k == "" || strings.HasPrefix(string(k), fingerprint) { // of a record
		return string(k)
	}
	blob := []byte(k)
	for field := range strings.FieldsSeq(string(k)) { // options may stand before the algorithm, and a comment after the key
		if data, err := base64.StdEncoding.DecodeString(field); err == nil && strings.HasPrefix(field, keyBegin) {
			blob = data
			break
		}
	}
	sum := sha256.Sum256(blob)
	return fingerprint + base64.RawStdEncoding.EncodeToString(sum[:])
}

// MarshalText is the fingerprint.
func (k PublicKey) MarshalText() ([]byte, error) { return []byte(k.String()), nil }
