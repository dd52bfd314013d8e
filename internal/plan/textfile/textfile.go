// Package textfile writes the plain files of a node, whatever characters the values have: environment files, JSON, YAML, assignments.
// It decides nothing. The packages of internal/plan call it.
package textfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/document"
)

// What is escaped, and how, in each kind of text.
var (
	environmentEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`)
	wordEscapes        = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
)

// Environment writes an EnvironmentFile= of the given variables in the given order.
func Environment(variables ...[2]string) []byte {
	var b bytes.Buffer
	for _, v := range variables {
		b.WriteString(v[0] + "=" + environmentValue(v[1]) + "\n")
	}
	return b.Bytes()
}

// Shell is the same for a file that a shell reads, too (systemd.exec(5), EnvironmentFile=; POSIX: shell command language,
// double-quotes).
func Shell(variables ...[2]string) []byte {
	var b bytes.Buffer
	for _, v := range variables {
		value := v[1]
		if strings.IndexFunc(value, func(r rune) bool { return !plainShell(r) }) >= 0 {
			value = `"` + environmentEscapes.Replace(value) + `"`
		}
		b.WriteString(v[0] + "=" + value + "\n")
	}
	return b.Bytes()
}

// plainShell are the characters that need no quotes in such a file.
func plainShell(r rune) bool {
	return PlainEnvironment(r) && !strings.ContainsRune("!&()<>^{|}~", r)
}

// PlainEnvironment are the characters that need no quotes in an environment file.
func PlainEnvironment(r rune) bool {
	return r > ' ' && r < 0x7f && !strings.ContainsRune("\"'`$\\#;", r)
}

// environmentValue quotes a value if systemd would otherwise read another one (systemd.exec(5),
// EnvironmentFile=: within double quotes only these four are special). Single spaces between plain
// words stay unquoted, because people read the file, too.
func environmentValue(s string) string {
	plain := !strings.HasPrefix(s, " ") && !strings.HasSuffix(s, " ") && strings.IndexFunc(s, func(r rune) bool {
		return r != ' ' && !PlainEnvironment(r)
	}) < 0
	if plain {
		return s
	}
	return `"` + environmentEscapes.Replace(s) + `"`
}

// word makes a value one word where systemd splits a variable at spaces, which honours quotes and
// backslashes (systemd.service(5), "Command lines").
func word(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune("\"'\\", r) }) < 0 {
		return s
	}
	return `"` + wordEscapes.Replace(s) + `"`
}

// Assignments writes a line for each value, by name: a file of sysctl.d(5), or of variables.
func Assignments(values map[string]string, separator string) []byte {
	var b bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "%s%s%s\n", name, separator, values[name])
	}
	return b.Bytes()
}

// JSON writes data as JSON, indented by four spaces as AKS's files are.
func JSON(data any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "    ")
	if err := enc.Encode(data); err != nil {
		panic("plan: data that came from JSON is no JSON: " + err.Error())
	}
	return b.Bytes()
}

// YAML writes data as YAML.
func YAML(data document.Node) []byte { return data.AppendYAML(nil) }

// Lines is a text that ends with its last line.
func Lines(text string) []byte {
	return []byte(strings.TrimSuffix(text, "\n") + "\n")
}

// Flags writes flags, each a name and a value, as systemd will split them again.
func Flags(flags [][2]string) string {
	words := make([]string, len(flags))
	for i, f := range flags {
		words[i] = word("--" + f[0] + "=" + f[1])
	}
	return strings.Join(words, " ")
}
