// Package cloudconfig writes the parts of a #cloud-config (cloud-init docs, module reference) that Slipway uses: files and
// commands. It decides nothing. The renderers of user data use it.
package cloudconfig

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
)

// Header is the first line of a cloud-config.
const Header = "#cloud-config\n"

// FilesHeader is the line before the files.
const FilesHeader = "write_files:\n"

// AppendFile appends a file that belongs to root, as text if people can read it. cloud-init writes a file first and then sets its
// mode. So a file that not all users may read is there twice: first as an empty file that gets the mode, then with its content.
func AppendFile(out []byte, path string, mode uint32, content []byte) []byte {
	if !text(content) {
		return AppendEncoded(out, path, mode, content)
	}
	out = append(appendEntries(out, path, mode), "  content: |\n"...)
	for line := range strings.Lines(string(content)) {
		if line != "\n" {
			out = append(out, "    "...)
		}
		out = append(out, line...)
	}
	return out
}

// AppendEncoded is AppendFile for a content that is not readable text.
func AppendEncoded(out []byte, path string, mode uint32, content []byte) []byte {
	// It is quoted, because base64 can look like a number, a boolean or null.
	out = append(appendEntries(out, path, mode), "  encoding: b64\n  content: \""...)
	out = base64.StdEncoding.AppendEncode(out, content)
	return append(out, "\"\n"...)
}

func appendEntries(out []byte, path string, mode uint32) []byte {
	if mode&0o044 != 0o044 {
		out = appendEntry(out, path, mode)
	}
	return appendEntry(out, path, mode)
}

func appendEntry(out []byte, path string, mode uint32) []byte {
	out = append(out, "- path: "...)
	out = append(out, Word(path)...)
	return fmt.Appendf(out, "\n  owner: root:root\n  permissions: \"%04o\"\n", mode)
}

// text reports whether a content can be written as a literal block that every YAML reader reads as the same bytes (YAML 1.2,
// section 8.1): visible ASCII that does not begin with a space and ends with one line break.
func text(content []byte) bool {
	s := string(content)
	return s != "" && s[0] > ' ' && strings.HasSuffix(s, "\n") && !strings.HasSuffix(s, "\n\n") &&
		strings.IndexFunc(s, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) < 0
}

// AppendCommands appends a list of commands under a name, "runcmd" or "bootcmd". No shell interprets their words.
func AppendCommands(out []byte, name string, commands ...[]string) []byte {
	out = append(out, name+":\n"...)
	for _, argv := range commands {
		words := make([]string, len(argv))
		for i, arg := range argv {
			words[i] = Word(arg)
		}
		out = append(out, "- ["+strings.Join(words, ", ")+"]\n"...)
	}
	return out
}

// Word writes a string as one word of YAML, in quotes if a reader could take it for another type.
func Word(s string) string {
	first := strings.TrimLeft(s, "-")
	plain := first != "" && strings.IndexFunc(s, func(r rune) bool { return !isPlain(r) }) < 0 && (first[0] == '/' || isLetter(rune(first[0])))
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		plain = false
	}
	if plain {
		return s
	}
	return strconv.QuoteToASCII(s)
}

func isLetter(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }

func isPlain(r rune) bool {
	return isLetter(r) || r >= '0' && r <= '9' || strings.ContainsRune("/._-", r)
}
