package agentless

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

// blockDir is where the lines of blocks are kept, from which they are put into the files of others at each boot.
const blockDir = "/etc/slipway/blocks"

// The script puts the lines of the file $1 into the file $2, at its end or its beginning, in the place of those between the
// lines $3 and $4. Whoever reads the file finds the old content or the new. The last expression ends a last line that has no end.
const (
	blockBefore = `set -e; touch "$2"; cp -a "$2" "$2.slipway-tmp"; { `
	blockOthers = `sed -e "/^$3\$/,/^$4\$/d" -e '$a\' "$2"; `
	blockLines  = `cat "$1"; `
	blockAfter  = `} >"$2.slipway-tmp"; mv "$2.slipway-tmp" "$2"`
)

func (b *builder) block(r *resource.Resource) {
	block := r.Spec.(*resource.Block)
	content, err := block.Into(nil)
	if err != nil {
		b.lose(r, true, err.Error())
		return
	}
	lines := blockDir + "/" + strings.ReplaceAll(strings.TrimPrefix(block.Path, "/"), "/", "-") + "." + block.Label
	// They may be of a file that not everybody may read.
	b.Files = append(b.Files, &resource.File{Path: lines, Mode: 0o600, Content: content})
	script := blockBefore + blockOthers + blockLines + blockAfter
	if block.First {
		script = blockBefore + blockLines + blockOthers + blockAfter
	}
	text := strings.TrimSuffix(string(content), "\n")
	begin, _, _ := strings.Cut(text, "\n")
	end := text[strings.LastIndex(text, "\n")+1:]
	b.run(false, "sh", "-c", script, "sh", lines, block.Path, begin, end)
}
