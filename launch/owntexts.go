package launch

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/nodeconfig"
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
