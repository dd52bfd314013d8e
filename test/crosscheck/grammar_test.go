//go:build crosscheck

package crosscheck

import (
	"math/rand/v2"
	"strings"
)

// choice is one way to write a symbol. Its text may have other symbols, in angle brackets.
type choice struct {
	weight int
	text   string
}

// grammar describes how cloud-configs are written, correctly and wrongly. Symbols that are not in it are made by terminals.
var grammar = map[string][]choice{
	"document": {
		{30, "<header><before>write_files:\n<entries><after>"},
		{3, "<header><before>write_files:\n<indented><after>"},
		{4, "<header><before>write_files: [<flow>]\n<after>"},
		{2, "<header><before>write_files: [\n  <flow>,\n  <flow>\n]\n<after>"},
		{2, "<header>{\"write_files\": [<json>]}<end>"},
		{1, "<header>{\"write_files\": [<json>, <json>]}<end>"},
		{1, "<header>{write_files: [<flow>], <flowother>}\n"},
		{1, "<header>--- \nwrite_files:\n<entries>...\n"},
		{1, "<header>---\nwrite_files:\n<entries>---\nwrite_files:\n<entries>"},
		{1, "<header>write_files:\n<entries>...\n<comment>---\n<before>"},
		{1, "<header>write_files:\n<entries>write_files:\n<entries>"},
		{1, "<header>{write_files:[<flow>]}\n"},
		{1, "<header><oddtop>"},
	},
	"header": {
		{60, "#cloud-config\n"}, {2, "#cloud-config\n\n"}, {2, "#cloud-config # mine\n"}, {1, "#Cloud-Config\n"},
		{1, "\n \n#cloud-config\n"}, {1, "#cloud-config\n%YAML 1.1\n---\n"}, {1, "## template: jinja\n#cloud-config\n"},
		{1, "#cloud-config\n# config.yaml config.json\n"}, {1, "#cloud-config-archive\n"}, {1, "# cloud-config\n"},
		{1, "#cloud-config\n%TAG ! tag:example.com,2000:\n---\n"}, {1, "#cloud-config\r\n"},
		{1, "#cloud-config\n%FOO bar\n---\n"}, {1, "\u2028#cloud-config\n"},
	},
	"before": {
		{30, ""}, {4, "hostname: node\n"}, {2, "<comment>"}, {2, "runcmd:\n- [echo, 'a b']\n- |\n  echo <plain>\n"},
		{2, "users: [default, {name: a, groups: \"b, c\"}]\n"}, {1, "bootcmd: !!seq\n  - ls\n"},
		{1, "anchors:\n  path: &path <path>\n  content: &content <scalar>\n  entry: &entry {path: <place>, content: <flowscalar>}\n"},
		{1, "<oddother>"},
	},
	"after": {
		{30, ""}, {3, "packages: [jq]\n"}, {2, "<comment>"}, {2, "final_message: >-\n  ready\n\n  now\n"}, {1, "...\n"},
		{1, "# the end"}, {1, "<oddother>"},
	},
	// oddother is beside write_files, and does not affect it.
	"oddother": {
		{1, "x: !unknown y\n"}, {1, "x: !!python/object:os.system y\n"}, {1, "x: !!binary \"a\"\n"}, {1, "x: =\n"},
		{1, "x: 2001-02-31\n"}, {1, "x: !!int y\n"}, {1, "? [a, b]\n: c\n"}, {1, "? {a: b}\n: c\n"}, {1, "x: {{ v1.name }}\n"},
		{1, "x: *nowhere\n"}, {1, "x: &a [*a]\n"}, {1, "x: 'it''s'\n"}, {1, "x: \"it\\'s\"\n"}, {1, "x: \"\\x41\\u00e9\\U0001F600\"\n"}, {1, "x: a: b\n"},
		{1, "x: @a\n"}, {1, "x: %a\n"}, {1, "x: [a, b\n"}, {1, "x: \ty\n"}, {1, "\tx: y\n"}, {1, "x: 0x\n"}, {1, "1: 2\n"}, {1, "? x\n"},
		{1, "x: é☃😀\n"}, {1, "x: 1_0\n"}, {1, "x: !!set {a, b}\n"}, {1, "x: !!omap [a: b]\n"}, {1, "x: !!str [a]\n"}, {1, "x: &x\ny: *x\n"},
		{1, "x: &x 1\ny: &x 2\nz: *x\n"}, {1, "<<: {x: y}\n"}, {1, "x: 12:30:45\n"}, {1, "x: ! y\n"}, {1, "x: !<tag:yaml.org,2002:str> y\n"},
		{1, "x: <<\n"}, {1, "x: !!timestamp y\n"}, {1, "x: !!null y\n"}, {1, "x: !!float y\n"}, {1, "null: y\n"}, {1, "- x\n"}, {1, "x\n"},
	},
	"oddtop": {
		{1, "write_files:\n"}, {1, "write_files: ~\n# config.yaml\n"}, {1, "write_files: {}\n# config.yaml\n"}, {1, "write_files: <flow>\n"},
		{1, "write_files: <scalar>\n"}, {1, "- write_files: [<flow>]\n"}, {1, "write_files: [<flow>"}, {1, "write_files: !!set {<flow>}\n"},
		{1, "write_files: !!omap [<flow>]\n"}, {1, "base: &base\n  write_files:\n  - {path: <place>, content: <flowscalar>}\n<<: *base\n"},
		{1, "base: &base\n  write_files:\n  - {path: <place>, content: <flowscalar>}\n<<: *base\nwrite_files: [<flow>]\n"},
		{1, "key: &key write_files\n? *key\n: [<flow>]\n"}, {1, "? write_files\n: - path: <place>\n    content: <flowscalar>\n"},
		{1, "\"write_files\": [<flow>]\n"}, {1, "\"write\\x5ffiles\": [<flow>]\n"}, {1, "!!str write_files: [<flow>]\n"}, {1, "WRITE_FILES: [<flow>]\n"},
		{1, "files: &files [<flow>]\nwrite_files: *files\n"}, {1, "write_files: &files\n- &one {path: <place>, content: <flowscalar>}\n- *one\n"},
		{1, "write_files: [~, <flow>]\n"}, {1, "write_files: [<flow>, x]\n"}, {1, "write_files: [[<flow>]]\n"}, {1, "write_files: [<flow>, 5]\n"},
		{1, "write_files: !!seq [<flow>]\n"}, {1, "write_files: [!!map <flow>]\n"}, {1, "write_files: [!!omap [path: <place>, content: <flowscalar>]]\n"},
		{1, "!!binary d3JpdGVfZmlsZXM=: [<flow>]\n"}, {1, "write_files: [path: <place>]\n"}, {1, "write_files : [<flow>]\n"}, {1, "write_files:[<flow>]\n"},
	},
	"comment": {{2, "# about config.yaml\n"}, {1, "  # é\n"}, {1, "#\n\n\n"}},
	"end":     {{3, "\n"}, {1, ""}, {1, "\n\n"}, {1, " \n"}},

	"entries":  {{12, "<entry>"}, {6, "<entry><entry>"}, {2, "<entry><entry><entry>"}, {1, "<entry><comment><entry>"}, {1, ""}},
	"indented": {{1, "  <place2>"}, {1, "    - <flow>\n"}},
	"place2":   {{1, "- path: <path>\n    content: <flowscalar>\n  - path: <path>\n    content: <flowscalar>\n"}},
	"entry": {
		{20, "- path: <path>\n  <payload><more>"},
		{8, "- <payload>  path: <path>\n<more>"},
		{3, "- owner: root:root\n  path: <path>\n  permissions: '0600'\n  <payload><more>"},
		{2, "-\n  path: <path>\n  <payload>"},
		{2, "-   path: <path>\n    content: <flowscalar>\n"},
		{2, "- <flow>\n"},
		{1, "- path: <path>\n<more>"},
		{1, "- <payload>"},
		{1, "- path: <path>\n  path: <path>\n  <payload>"},
		{1, "- <<: {path: <path>}\n  <payload>"},
		{1, "- <<: {content: <flowscalar>}\n  path: <path>\n  <payload>"},
		{1, "- *entry\n"},
		{1, "- \"path\": <path>\n  'content': <scalar>\n"},
		{1, "- ? path\n  : <path>\n  ? content\n  : <scalar>\n"},
		{1, "- path: <path>\n  source:\n    uri: https://example.com/a\n  content: <scalar>\n"},
		{1, "- path: /etc/motd\n  <oddpayload>"},
	},
	"flow": {
		{10, "{path: <path>, content: <flowscalar>}"},
		{3, "{content: <flowscalar>, path: <path>, append: <bool>}"},
		{3, "{path: <path>, encoding: <enc64>, content: <base64>}"},
		{2, "{path: <path>, encoding: <encgz64>, content: \"<gz64>\"}"},
		{1, "{\"path\":\"<place>\",\"content\":<double>}"},
		{1, "{path: <path>, content: <flowscalar>, defer: <bool>}"},
		{1, "{path: <path>, content: <flowscalar>,}"},
	},
	"flowother": {{1, "x: y"}, {1, "x: [a, {b: c}]"}, {1, "? x"}, {1, "\"x\":y"}},
	"json": {
		{4, "{\"path\": \"<place>\", \"content\": <double>}"},
		{2, "{\"path\": \"<place>\", \"encoding\": \"<encname>\", \"content\": \"<base64>\"}"},
		{1, "{\"path\": \"<place>\", \"content\": <double>, \"append\": true}"},
		{1, "{\"path\": \"<place>\", \"content\": null}"},
	},

	"path": {
		{40, "<place>"}, {3, "\"<place>\""}, {3, "'<place>'"}, {5, "/etc/motd"}, {1, "!!str <place>"}, {1, "&p <place>"}, {1, "*path"},
		{1, "/etc/slipway/../slipway/config.yaml"}, {1, "/etc//slipway/./config.json"}, {1, "/etc/slipway/config.yaml/"}, {1, "//etc/slipway/config.json"},
		{1, "etc/slipway/config.yaml"}, {1, "../etc/slipway/config.yaml"}, {1, "\"/etc\\/slipway/conf\\x69g.yaml\""}, {1, "\"/etc/slipway/\\\n    config.json\""},
		{1, "/etc/slipway/config.yaml # here"}, {1, "/etc/slipway/config.yml"}, {1, "' /etc/slipway/config.yaml'"}, {1, "/ETC/slipway/config.yaml"},
		{1, "!!binary L2V0Yy9zbGlwd2F5L2NvbmZpZy55YW1s"}, {1, "[/etc/slipway/config.yaml]"}, {1, "5"}, {1, "~"}, {1, "''"}, {1, ">-\n    <place>"},
		{1, "|\n    <place>"}, {1, "true"}, {1, "/etc/slipway/config.yaml\\0"}, {1, "\"/etc/slipway/config.yaml\\0\""}, {1, "! <place>"},
	},
	"place": {{3, "/etc/slipway/config.yaml"}, {2, "/etc/slipway/config.json"}},

	"payload": {
		{30, "content: <scalar>"},
		{8, "encoding: <enc64>\n  content: <base64scalar>"},
		{4, "content: <base64scalar>  encoding: <enc64>\n"},
		{6, "encoding: <encgz64>\n  content: <gzscalar>"},
		{4, "encoding: <encgz>\n  content: !!binary <gzscalar>"},
		{4, "content: !!binary <base64scalar>"},
		{1, "encoding: <enc64>\n  content: !!binary <base64twice>\n"},
		{2, "encoding: <encany>\n  content: <scalar>"},
		{2, "encoding: <encany>\n  content: <base64scalar>"},
		{3, "<oddpayload>"},
	},
	"oddpayload": {
		{2, "content:\n"}, {1, "content: ~\n"}, {1, "content: \"\"\n"}, {1, "content: [a]\n"}, {1, "content: {version: v1}\n"}, {1, "content: <number>\n"}, {1, "content: <bool>\n"},
		{1, "content: <number>\n  encoding: b64\n"}, {1, "encoding: b64\n  content: \"\"\n"}, {1, "encoding: gz\n  content: \"\"\n"}, {1, "encoding: gz\n  content: <scalar>"},
		{1, "encoding: gzip\n  content: \"<gz64>\"\n"}, {1, "encoding: b64\n  content: <scalar>"}, {1, "content: *content\n"}, {1, "content: !!binary \"<oddbase64>\"\n"},
		{4, "encoding: b64\n  content: \"<oddbase64>\"\n"}, {1, "encoding: gz+b64\n  content: <base64>\n"}, {4, "encoding: gz+b64\n  content: \"<oddgz64>\"\n"},
		{1, "content: <scalar>  content: <scalar>"}, {1, "content: !unknown a\n"}, {1, "content: !!str <number>\n"}, {1, "content: ! <number>\n"}, {1, "content: &a <plain>\n"},
		{1, "content: !!int 5\n"}, {1, "content: a: b\n"}, {1, "content: \"\\ud83d\\ude00: 1\"\n"}, {1, "content: 'a: b'\n  x: \"\\ud83d\\ude00\"\n"}, {1, "content: \"a: \\U0001F600\\L\\N\\_\"\n"}, {1, "Content: a\n"},
		{1, "content: !!binary |\n    <oddbase64>\n"}, {1, "content: !!python/str 'a: b'\n"}, {1, "content: !!python/unicode 'a: b'\n"},
	},
	"more": {
		{30, ""}, {3, "  append: <bool>\n"}, {3, "  defer: <bool>\n"}, {2, "  append: true\n"}, {2, "  defer: true\n"}, {1, "  append: true\n  defer: true\n"}, {1, "  permissions: 0600\n"},
		{1, "  permissions: \"0644\"\n"}, {1, "  owner: root:root\n"}, {1, "  owner: <number>\n"}, {1, "  permissions: <scalar>"}, {1, "  owner: [a]\n"}, {1, "  x: *nowhere\n"}, {1, "  # a comment\n"},
	},
	"bool": {
		{4, "true"}, {2, "false"}, {1, "True"}, {1, "TRUE"}, {1, "yes"}, {1, "no"}, {1, "on"}, {1, "off"}, {1, "y"}, {1, "1"}, {1, "0"}, {1, "\"true\""}, {1, "'yes '"}, {1, "\"1\""},
		{1, "0x1"}, {1, "01"}, {1, "+1"}, {1, "1.0"}, {1, "~"}, {1, "maybe"}, {1, "[true]"}, {1, "!!str true"}, {1, "!!bool \"true\""}, {1, "!!bool 1"}, {1, "\"\\ttrue\\x1f\""}, {1, "\"\""}, {1, "2"},
		{1, "!!binary dHJ1ZQ=="}, {1, "!!float 1"}, {1, "0b1"}, {1, "0o1"}, {1, "1_"}, {1, "tRuE"}, {1, "!!int \"1\""},
	},
	"number": {
		{1, "5"}, {1, "-1"}, {1, "1.5"}, {1, ".inf"}, {1, "0x1F"}, {1, "0o17"}, {1, "017"}, {1, "1e3"}, {1, "1.0e+3"}, {1, "12:30"}, {1, "2001-12-14"}, {1, "2001-12-14t21:59:43.10-05:00"}, {1, "1_000"},
		{1, "="}, {1, "yes"}, {1, "No"}, {1, "null"}, {1, "Null"}, {1, ".nan"}, {1, "0b11"}, {1, "1234"}, {1, "<<"}, {1, "12345678"}, {1, "y"}, {1, "+.5"}, {1, "2001-99-99"}, {1, "09"}, {1, "1__:0"}, {1, "."}, {1, "1e+5"}, {1, "1.e5"},
	},
	"enc64":   {{6, "b64"}, {6, "base64"}, {1, "B64"}, {1, "\"base64\""}, {1, "' b64 '"}, {1, "BASE64"}, {1, "\"b64\\n\""}, {1, "!!str b64"}, {1, "\"\\x1cb64\""}, {1, "\"b64\\u00a0\""}, {1, "\"\\u2003b64\""}},
	"encgz":   {{4, "gz"}, {4, "gzip"}, {1, "GZ"}, {1, "Gzip"}, {1, "\"gz\\u0130p\""}, {1, "\"gz\\u0131p\""}},
	"encgz64": {{2, "gz+b64"}, {2, "gz+base64"}, {2, "gzip+b64"}, {2, "gzip+base64"}, {1, "GZ+B64"}, {1, "b64+gz"}, {1, "gz + b64"}},
	"encname": {{2, "b64"}, {1, "base64"}},
	"encany": {
		{2, "text/plain"}, {1, "none"}, {1, "utf-8"}, {1, "~"}, {1, "''"}, {1, "0"}, {1, "5"}, {1, "false"}, {1, "yes"}, {1, "[]"}, {1, "[b64]"}, {1, "{}"}, {1, "!!binary YjY0"}, {1, "b 64"}, {1, "base 64"}, {1, "zstd"},
	},

	"scalar": {
		{5, "<single>\n"}, {5, "<double>\n"}, {8, "|\n<literal>"}, {4, "|-\n<literal>"}, {4, "|+\n<literal>"}, {3, ">\n<literal>"}, {2, ">-\n<literal>"}, {2, "|2\n<literal>"}, {1, "|4-\n<literal>"}, {1, "|2+ # as it is\n<literal>"},
		{1, "| \n<literal>"}, {2, "<plain>\n"}, {1, "|\n\n<literal>"}, {1, "|-2\n<literal>"}, {1, "|0\n<literal>"}, {1, "&s |\n<literal>"}, {1, "!!str |\n<literal>"}, {1, ">+1\n<literal>"}, {1, "|\n<literal>  \n\n"}, {1, "|#\n<literal>"},
	},
	"flowscalar":   {{4, "<single>"}, {4, "<double>"}, {1, "<plain>"}, {1, "!!str <single>"}, {1, "<number>"}, {1, "[<single>]"}},
	"base64scalar": {{4, "<base64>\n"}, {2, "\"<base64>\"\n"}, {3, "|\n<base64lines>"}, {2, ">\n<base64lines>"}, {2, "|-\n<base64lines>"}, {1, "|\n<base64lines>\n\n"}},
	"gzscalar":     {{3, "<gz64>\n"}, {2, "\"<gz64>\"\n"}, {2, "|\n<gz64lines>"}, {1, ">-\n<gz64lines>"}},
	"plain":        {{2, "plain text"}, {1, "http://example.com/a"}, {1, "a\n    b"}, {1, "a#b"}, {1, "-a"}, {1, "?b"}, {1, "it's"}, {1, "version:v1"}, {1, "é"}},
}

// maxExpansions limits the size of a document.
const maxExpansions = 400

// generator makes documents. The same seed gives the same documents.
type generator struct {
	*rand.Rand
	left int
}

// document makes a document from the grammar.
func (g *generator) document(symbol string) string {
	g.left = maxExpansions
	return g.expand("<" + symbol + ">")
}

// spoilt damages a document, or leaves it unchanged.
func (g *generator) spoilt(text string) string {
	for range g.weighted(spoilings) {
		text = spoils[g.IntN(len(spoils))](g, text)
	}
	return text
}

// spoilings are the weights of how often a document is damaged.
var spoilings = []int{60, 25, 10, 5}

// weighted returns a random index, according to the weights.
func (g *generator) weighted(weights []int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := g.IntN(sum)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	return 0
}

// expand expands a text's symbols.
func (g *generator) expand(text string) string {
	var b strings.Builder
	for {
		begin := strings.IndexByte(text, '<')
		end := begin + 1 + strings.IndexByte(text[begin+1:], '>')
		if begin < 0 || end <= begin {
			b.WriteString(text)
			return b.String()
		}
		symbol := text[begin+1 : end]
		choices, known := grammar[symbol]
		make, isTerminal := terminals[symbol]
		switch {
		case known && g.left > 0:
			g.left--
			b.WriteString(text[:begin] + g.expand(g.choose(choices)))
		case isTerminal:
			b.WriteString(text[:begin] + make(g))
		default: // not a symbol: the merge key
			b.WriteString(text[:begin+1])
			text = text[begin+1:]
			continue
		}
		text = text[end+1:]
	}
}

func (g *generator) choose(choices []choice) string {
	weights := make([]int, len(choices))
	for i, c := range choices {
		weights[i] = c.weight
	}
	return choices[g.weighted(weights)].text
}
