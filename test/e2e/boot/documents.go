package boot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// FillDocument writes the tables into docs/boot.md, between the lines "<!-- boot table -->" and
// "<!-- end of boot table -->", or "boot floor", "boot founding" or "boot timeline". The first has the day of the measurement with it.
func FillDocument(repo string, results []Result, measured time.Time) error {
	path := filepath.Join(repo, "docs", "boot.md")
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	text := string(content)
	for _, part := range []struct{ mark, text string }{
		{"boot table", "Measured on " + measured.UTC().Format(time.DateOnly) + ".\n\n" + Summary(results).Markdown()},
		{"boot floor", AgainstFloor(results).Markdown()},
		{"boot founding", Founding(results).Markdown()},
		{"boot timeline", Timelines(results).Markdown()},
	} {
		if text, err = fill(text, part.mark, part.text); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return os.WriteFile(path, []byte(text), 0o644)
}

// fill puts a text between a mark's lines.
func fill(document, mark, text string) (string, error) {
	begin, end := "<!-- "+mark+" -->\n", "<!-- end of "+mark+" -->\n"
	before, rest, found := strings.Cut(document, begin)
	if !found {
		return "", fmt.Errorf("no line %q", strings.TrimSpace(begin))
	}
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", fmt.Errorf("no %q after %q", strings.TrimSpace(end), strings.TrimSpace(begin))
	}
	return before + begin + text + end + after, nil
}
