package boot

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// documents are those that show results.
var documents = []string{"README.md", filepath.Join("docs", "boot.md")}

// FillDocuments writes the tables into the repository's documents, between the lines "<!-- boot table -->" and
// "<!-- end of boot table -->", or "boot timeline". Each must be in one of the documents at least.
func FillDocuments(repo string, results []Result) error {
	tables := map[string]string{"boot table": Summary(results).Markdown(), "boot timeline": Timelines(results).Markdown()}
	found := make(map[string]bool)
	for _, name := range documents {
		path := filepath.Join(repo, name)
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := string(content)
		for mark, table := range tables {
			filled, err := fill(text, mark, table)
			if errors.Is(err, errNoMark) {
				continue
			}
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			text, found[mark] = filled, true
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	for mark := range tables {
		if !found[mark] {
			return fmt.Errorf("no document has a line <!-- %s -->", mark)
		}
	}
	return nil
}

var errNoMark = errors.New("the document has no such mark")

// fill puts a text between a mark's lines.
func fill(document, mark, text string) (string, error) {
	begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->\n"
	before, rest, found := strings.Cut(document, begin)
	if !found {
		return "", errNoMark
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("no %q after %q", strings.TrimSpace(end), strings.TrimSpace(begin))
	}
	return before + begin + text + end + after, nil
}
