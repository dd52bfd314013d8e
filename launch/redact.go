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

// Files, units and commands of a class may hold secrets in texts that are none by their type. So they are shown, and kept, as [UserParts]
// are: by their names, their sizes and the beginnings of their digests.

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

// ownText names what is in a list. About says what each is called and holds, and takes its secret out of the copy that it is given. The
// digest is of all that is left.
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

// hideOwnTexts puts the beginnings of digests in the place of those texts. The plan of the contract is that of the true one, but for what
// its files, units and commands hold.
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

// unitHead is the head of a file of systemd's that says nothing but a digest.
const unitHead = "[Unit]\nDescription="

func hideText(text *string, before, after string) {
	if *text != "" {
		*text = before + shortDigest([]byte(*text)) + after
	}
}

// UserParts are what a machine is given beside its contract, in their order: scripts and whatever else cloud-init takes. They may hold
// secrets: what is made for people, or kept, has their names, their sizes and the beginnings of their digests.
type UserParts []userdata.Part

// shownDigest is how many bytes of a digest are shown: enough that two are not alike by chance.
const shownDigest = 8

// shortDigest is the beginning of the digest of what may hold a secret.
func shortDigest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:shownDigest])
}

// keptPart is the type of a part that stands for all parts of a record, by their names.
const keptPart = "kept"

// UnmarshalText takes what String has written.
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

// PublicKey is who may log in, in the form of authorized_keys. It is no secret, but it says who somebody is: what is made for people, or
// kept, has its fingerprint alone.
type PublicKey string

// keyBegin is how the base64 of a key begins: the length of its algorithm's name is below 2^16 (RFC 4253, 6.6).
const keyBegin = "AAAA"

// fingerprint is how one begins.
const fingerprint = "SHA256:"

// String is the fingerprint of the key as "ssh-keygen -l" shows it, and of a text that is no key the digest of the text.
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
