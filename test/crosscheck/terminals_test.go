//go:build crosscheck

package crosscheck

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"strings"
)

// contents are the contents of files: contracts, and texts that look like one.
var contents = []string{
	`{"version":"v1"}`,
	"apiVersion: slipway.dev/v1\nkind: NodeConfig\n",
	"{\n  \"version\": \"v1\",\n  \"x\": \"it's 100 % é☃😀 \\\\ \\\" # : - \"\n}\n",
	"version: v1\nlabels:\n  a: 'b'\n\n\n  c: |\n    d\n     e\n",
	"# a comment\nkind: NodeConfig\nx: y # z",
	"version: v1\n\n\n",
	"  version: v1\n",
	"version: v1\ttab\n\ttab\n",
	"\tversion: v1\n",
	"version: v1   \n   \nx: y\n",
	"version: v1\u2028x: \u0085y\n",
	"\ufeffversion: v1\n",
	"hello\n",
	"",
	"\n",
	"a very long line of a contract that is to be folded somewhere, and then goes on for a while so that a writer would break it\nkind: x\n",
}

// terminals are the symbols that do not consist of others.
var terminals = map[string]func(g *generator) string{
	"single":      func(g *generator) string { return "'" + strings.ReplaceAll(g.content(), "'", "''") + "'" },
	"double":      func(g *generator) string { return quoted(g.content()) },
	"literal":     func(g *generator) string { return indented(g.content(), strings.Repeat(" ", 3+g.IntN(3))) },
	"base64":      func(g *generator) string { return encoded(g.content()) },
	"base64lines": func(g *generator) string { return lines(encoded(g.content()), 1+g.IntN(76)) },
	"base64twice": func(g *generator) string { return encoded(encoded(g.content())) },
	"gz64":        func(g *generator) string { return encoded(compressed(g.content())) },
	"gz64lines":   func(g *generator) string { return lines(encoded(compressed(g.content())), 60) },
	"oddbase64":   func(g *generator) string { return g.odd(oddBase64, encoded(g.content())) },
	"oddgz64":     func(g *generator) string { return encoded(g.odd(oddGzip, compressed(g.content()))) },
}

func (g *generator) content() string { return contents[g.IntN(len(contents))] }

// odd changes a text by one function of a list.
func (g *generator) odd(changes []func(g *generator, s string) string, s string) string {
	return changes[g.IntN(len(changes))](g, s)
}

var oddBase64 = []func(g *generator, s string) string{
	func(_ *generator, s string) string { return strings.TrimRight(s, "=") },
	func(_ *generator, s string) string { return s + "=" },
	func(_ *generator, s string) string { return s + "==" },
	func(_ *generator, s string) string { return s + "====" },
	func(_ *generator, s string) string { return "=" + s },
	func(_ *generator, s string) string {
		return strings.NewReplacer("+", "-", "/", "_", "e", "-").Replace(s)
	},
	func(g *generator, s string) string { return spliced(g, s, ":") },
	func(g *generator, s string) string { return spliced(g, s, " ") },
	func(g *generator, s string) string { return spliced(g, s, "\\n") },
	func(g *generator, s string) string { return spliced(g, s, "=") },
	func(g *generator, s string) string { return spliced(g, s, "é") },
	func(g *generator, s string) string { return s[:g.IntN(len(s)+1)] },
	func(_ *generator, s string) string { return s + s },
	func(_ *generator, _ string) string { return "QQ==QUJD" },
	func(_ *generator, _ string) string { return "QR==" },
	func(_ *generator, _ string) string { return "" },
}

var oddGzip = []func(g *generator, s string) string{
	func(g *generator, s string) string { return s[:g.IntN(len(s))] },
	func(_ *generator, s string) string { return s + "\x00\x00\x00" },
	func(_ *generator, s string) string { return s + "trailing" },
	func(_ *generator, s string) string { return s + s },
	func(g *generator, s string) string { return spliced(g, s, "\x00") },
	func(_ *generator, s string) string { return s[:3] + "\x08" + s[4:10] + "name\x00" + s[10:] },
	func(_ *generator, s string) string { return s[:3] + "\x02" + s[4:10] + "\x01\x02" + s[10:] },
	func(_ *generator, s string) string { return s[:len(s)-4] + "\x00\x00\x00\x7f" },
	func(_ *generator, s string) string { return "" },
}

// spliced inserts a text into another one, at any position.
func spliced(g *generator, s, in string) string {
	at := g.IntN(len(s) + 1)
	return s[:at] + in + s[at:]
}

// hostile are texts with a special meaning in YAML, or without one.
var hostile = []string{
	"\t", "\x00", "\r", "\n", "\r\n", " ", "  ", "#", " #", ":", ": ", "-", "- ", "'", "\"", "{", "}", "[", "]", ",", "&a ", "*a", "!", "!!binary ", "|", ">", "%", "@", "`", "?", "? ", "\\", "\x7f", "\x1b",
	"\ufeff", "\u0085", "\u2028", "\u00a0", "\xff", "é", "😀", "\n---\n", "\n...\n", "\n--- x\n", "<<: *a\n", "~", "=", "\n\n", "\ufffe", "\u200b", "\xed\xa0\x80", "\xc0\x80", "\x85",
}

// spoils change a document.
var spoils = []func(g *generator, s string) string{
	func(g *generator, s string) string { return spliced(g, s, hostile[g.IntN(len(hostile))]) },
	func(g *generator, s string) string { return spliced(g, s, hostile[g.IntN(len(hostile))]) },
	func(g *generator, s string) string { return s[:g.IntN(len(s)+1)] },
	func(g *generator, s string) string { at := g.IntN(len(s) + 1); return s[:at] + s[min(at+1, len(s)):] },
	func(_ *generator, s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
	func(_ *generator, s string) string { return strings.ReplaceAll(s, "\n", "\r") },
	func(_ *generator, s string) string { return "\ufeff" + s },
	func(_ *generator, s string) string { return strings.TrimRight(s, "\n") },
	func(g *generator, s string) string {
		return onLine(g, s, func(l []string, i int) []string { return append(l[:i+1], l[i:]...) })
	},
	func(g *generator, s string) string {
		return onLine(g, s, func(l []string, i int) []string { return append(l[:i], l[i+1:]...) })
	},
	func(g *generator, s string) string {
		return onLine(g, s, func(l []string, i int) []string { l[0], l[i] = l[i], l[0]; return l })
	},
	func(g *generator, s string) string {
		return onLine(g, s, func(l []string, i int) []string { l[i] = " " + l[i]; return l })
	},
	func(g *generator, s string) string {
		return onLine(g, s, func(l []string, i int) []string { l[i] = strings.TrimPrefix(l[i], " "); return l })
	},
	func(g *generator, s string) string {
		return onLine(g, s, func(l []string, i int) []string { l[i] = strings.Replace(l[i], "  ", "\t", 1); return l })
	},
	func(g *generator, s string) string {
		return onLine(g, s, func(l []string, i int) []string { l[i] += " \t"; return l })
	},
	func(g *generator, s string) string {
		return onLine(g, s, func(l []string, i int) []string { l[i] = strings.Replace(l[i], ": ", ":", 1); return l })
	},
}

// onLine changes a text's lines at one of them.
func onLine(g *generator, s string, change func(lines []string, i int) []string) string {
	all := strings.Split(s, "\n")
	return strings.Join(change(all[:len(all):len(all)], g.IntN(len(all))), "\n")
}

func encoded(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// quoted is a text in YAML's double quotes.
func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// indented is a text as the lines of a block.
func indented(s, by string) string {
	if s == "" {
		return ""
	}
	return by + strings.ReplaceAll(strings.TrimSuffix(s, "\n"), "\n", "\n"+by) + "\n"
}

// lines is a text cut into lines, as those of a block.
func lines(s string, width int) string {
	var b strings.Builder
	for len(s) > 0 {
		n := min(width, len(s))
		b.WriteString("    " + s[:n] + "\n")
		s = s[n:]
	}
	return b.String()
}

func compressed(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(s))
	w.Close()
	return b.String()
}
