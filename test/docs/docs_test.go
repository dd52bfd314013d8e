package docs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/image/spec"
)

const repo = "../.."

// programs are built once, into bin.
var bin string

func TestMain(m *testing.M) { os.Exit(build(m)) }

func build(m *testing.M) int {
	dir, err := os.MkdirTemp("", "slipway-docs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	bin = filepath.Join(dir, "bin")
	cmd := exec.Command("go", "build", "-o", bin+"/", "./cmd/...")
	cmd.Dir = repo
	if out, err := cmd.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// atRoot are the documents beside docs.
var atRoot = []string{"README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"}

// documents are those at the root and all of docs, by their paths in the repository.
func documents(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(repo, "docs", "*.md"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no documents: %v", err)
	}
	for _, name := range atRoot {
		paths = append(paths, filepath.Join(repo, name))
	}
	all := make(map[string]string)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(repo, path)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(data)
	}
	return all
}

// makers are the commands whose results the examples of other commands need. They run first, the last of them before the others.
var makers = []string{"provision", "render"}

// nodeYAML returns the contract that README's reader saves, with which all other documents start.
func nodeYAML(t *testing.T) string {
	t.Helper()
	for _, b := range blocks(documents(t)["README.md"]) {
		if b.file == "node.yaml" {
			return b.text
		}
	}
	t.Fatal("README.md has no node.yaml")
	return ""
}

// TestDocuments follows each document, in its order.
func TestDocuments(t *testing.T) {
	used := new(usage)
	t.Run("do", func(t *testing.T) { // so that all have ended before the tables are checked
		for name, text := range documents(t) {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				r := newReader(t, name, used)
				for _, file := range []string{"node.yaml", deliveredContract} {
					r.write(file, nodeYAML(t))
				}
				for _, b := range blocks(text) {
					r.where = fmt.Sprintf("%s:%d", name, b.line)
					r.do(b)
				}
				r.endWalk()
				for _, code := range found(span, prose(text)) {
					r.where = name
					r.mentioned(code)
				}
			})
		}
		for _, program := range []string{"slipway", "slipway-node"} {
			t.Run(program+" --help", func(t *testing.T) {
				t.Parallel()
				r := newReader(t, program, used)
				r.readsHelp()
				commands := append(r.commands(program), "")
				slices.SortStableFunc(commands, func(a, b string) int { return slices.Index(makers, b) - slices.Index(makers, a) })
				for _, command := range commands {
					r.where = strings.TrimSpace(program + " " + command)
					for _, line := range examplesOf(r.help(program, command)) {
						r.command(line)
					}
				}
			})
		}
	})
	for _, s := range special {
		if !used.has(s.line) {
			t.Errorf("no document has %q any more: take it out of the table", s.line)
		}
	}
}

// do handles a block.
func (r *reader) do(b block) {
	if b.heading != r.walk.heading {
		r.endWalk()
		r.walk = walk{heading: b.heading}
	}
	switch b.language {
	case "commands":
		for line := range strings.Lines(b.text) {
			r.command(strings.TrimRight(line, "\n"))
		}
	case "sh", "cloud-config": // a part of the user data, which no document runs
		r.write(b.file, b.text)
	case "yaml", "json":
		if strings.Contains(b.file, "/") {
			r.change(b, b.text)
		} else {
			r.contract(b)
		}
	case "go":
		if strings.Contains(b.file, "/") {
			r.change(b, b.text)
		} else {
			r.program(b.text)
		}
	case "diff":
		r.edit(b)
	case "": // a figure
		if first := regexp.MustCompile(`(?m)^\s*(bin/)?(slipway|slipway-node|make|sudo) `).FindString(b.text); first != "" {
			r.t.Errorf("%s: %q stands between fences; indent commands by four spaces, then they are run", r.where, first)
		}
	default:
		r.t.Errorf("%s: the test does not know what to do with %q", r.where, b.language)
	}
}

// contract validates a contract, or what an image has, and saves a contract under the file name in the prose. A contract without an apiVersion is merged with the
// reader's own. It may have no warnings except those that depend on the machine.
func (r *reader) contract(b block) {
	if strings.Contains(b.text, "kind: "+spec.Kind+"\n") {
		if _, problems := spec.Parse([]byte(b.text)); len(problems) > 0 {
			r.t.Errorf("%s: %v", r.where, problems)
		}
		return
	}
	if b.file == "" {
		r.t.Errorf("%s: the text before the contract does not name its file", r.where)
		return
	}
	r.write(b.file, b.text)
	base := ""
	if !strings.Contains(b.text, "apiVersion:") {
		base = "-f node.yaml "
	}
	for line := range strings.Lines(r.run("slipway validate "+base+"-f "+b.file, 0)) {
		if strings.Contains(line, ": warning: ") && !strings.Contains(line, ": no facts say ") {
			r.t.Errorf("%s: %s", r.where, line)
		}
	}
}

// program builds a Go program and runs it.
func (r *reader) program(text string) {
	r.write("program/main.go", text)
	built := filepath.Join(r.dir, "program", "main")
	cmd := exec.Command("go", "build", "-o", built, filepath.Join(r.dir, "program", "main.go"))
	cmd.Dir = repo // the repository, whose packages it imports
	if out, err := cmd.CombinedOutput(); err != nil {
		r.t.Errorf("%s: %v\n%s", r.where, err, out)
		return
	}
	r.run(built, 0)
}

// TestLinks checks that every link to a file of the repository leads to an existing file, and to an existing heading if it names
// one.
func TestLinks(t *testing.T) {
	for name, text := range documents(t) {
		for _, to := range found(link, prose(text)) {
			if strings.Contains(to, "://") {
				continue
			}
			path, heading, _ := strings.Cut(to, "#")
			target := filepath.Join(repo, name)
			if path != "" {
				target = filepath.Join(repo, filepath.Dir(name), path)
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link %s leads nowhere", name, to)
				continue
			}
			if heading == "" {
				continue
			}
			data, err := os.ReadFile(target)
			if err != nil || !anchors(string(data))[heading] {
				t.Errorf("%s: %s has no heading for the link %s", name, path, to)
			}
		}
	}
}

// TestEveryDocumentIsLinked checks that README.md leads to every document.
func TestEveryDocumentIsLinked(t *testing.T) {
	all := documents(t)
	links := found(link, all["README.md"])
	for name := range all {
		if name != "README.md" && !slices.Contains(links, name) {
			t.Errorf("README.md has no link to %s", name)
		}
	}
}
