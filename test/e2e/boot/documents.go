package boot

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/anatomy/svg"
	"github.com/slipway-dev/slipway/test/e2e/marked"
)

// FillDocuments writes the tables into docs/boot.md and README.md, between the lines "<!-- boot table -->" and "<!-- end of boot
// table -->", or "boot floor", "boot founding", "boot timeline", "boot picture" or "boot summary". The tables of results include the date of the
// measurement and the number of runs. It changes both documents or none, and then draws docs/boot.svg.
func FillDocuments(repo string, results []Result, measured time.Time) error {
	type part struct{ mark, text string }
	documents := []struct {
		path  string
		parts []part
		text  string
	}{
		{path: filepath.Join(repo, "docs", "boot.md"), parts: []part{
			{"boot table", measuredOn(measured, results) + Summary(results).Markdown()},
			{"boot floor", AgainstFloor(results).Markdown()},
			{"boot founding", Founding(results).Markdown()},
			{"boot timeline", Timelines(results).Markdown()},
		}},
		{path: filepath.Join(repo, "README.md"), parts: []part{
			{"boot summary", measuredOn(measured, few(results)) + Short(results).Markdown()},
		}},
	}
	typical := typicalBoot(results)
	if typical != nil {
		documents[0].parts = append(documents[0].parts, part{"boot picture", pictureOf(measured, "anatomy.md", "boot.svg")})
		documents[1].parts = append(documents[1].parts, part{"boot picture", pictureOf(measured, "docs/anatomy.md", "docs/boot.svg")})
	}
	for i := range documents {
		d := &documents[i]
		content, err := os.ReadFile(d.path)
		if err != nil {
			return err
		}
		d.text = string(content)
		for _, p := range d.parts {
			if d.text, err = marked.Fill(d.text, p.mark, p.text); err != nil {
				return fmt.Errorf("%s: %w", d.path, err)
			}
		}
	}
	for _, d := range documents {
		if err := os.WriteFile(d.path, []byte(d.text), 0o644); err != nil {
			return err
		}
	}
	if typical == nil {
		return nil
	}
	return os.WriteFile(filepath.Join(repo, "docs", "boot.svg"), svg.Picture(typical), 0o644)
}

// drawn is the variant whose boot docs/boot.md and README.md show.
const drawn = "azure"

// typicalBoot is the timeline of that variant's typical boot, or nil if it was not measured.
func typicalBoot(results []Result) *anatomy.Timeline {
	for _, r := range results {
		if r.Variant == drawn {
			return r.Typical
		}
	}
	return nil
}

// pictureOf shows the picture of the boot in a document; about is the path of docs/anatomy.md from there.
func pictureOf(measured time.Time, about, picture string) string {
	return "This is one boot of `" + drawn + "` on " + measured.UTC().Format(time.DateOnly) + ", as [slipway anatomy](" + about + ") draws it from the machine's own records:\n\n![one boot of " + drawn + "](" + picture + ")\n"
}

// measuredOn describes when results were measured, and how many runs each variant had.
func measuredOn(measured time.Time, results []Result) string {
	most := 0
	for _, r := range results {
		most = max(most, len(r.Runs))
	}
	text := fmt.Sprintf("Measured on %s, %d runs of each variant", measured.UTC().Format(time.DateOnly), most)
	for _, r := range results {
		if len(r.Runs) < most {
			text += fmt.Sprintf(", %d of %s", len(r.Runs), r.Variant)
		}
	}
	return text + ".\n\n"
}
