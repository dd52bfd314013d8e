package agentless

import (
	"strings"

	"github.com/slipway-dev/slipway/internal/resource"
)

const (
	// blockDir is where the lines of blocks are kept, from which each boot adds them to shared files.
	blockDir = "/etc/slipway/blocks"
	// blockScript adds them.
	blockScript = blockDir + "/put.sh"
)

// putBlock does the same as [resource.Block.Into] after the block was removed from the file. A reader of the file gets
// the old content or the new, also after a power cut.
const putBlock = `# Puts the lines of the file $1 into the file $2, at its end or, with "first", at its beginning. Those between the lines $3 and $4
# go. Of these two a line that is alone goes, and nothing beside it.
set -eu
export LC_ALL=C
touch "$2"
others= block= within=
while IFS= read -r line || [ -n "$line" ]; do
  end=${line##*[![:space:]]}
  case ${line%"$end"} in
  "$3") others=$others$block block= within=1 ;;
  "$4") block= within= ;;
  *)
    if [ "$within" ]; then
      block="$block$line
"
    else
      others="$others$line
"
    fi
    ;;
  esac
done <"$2"
cp -a "$2" "$2.slipway-tmp"
if [ "${5-}" = first ]; then
  { cat "$1"; printf %s "$others$block"; } >"$2.slipway-tmp"
else
  { printf %s "$others$block"; cat "$1"; } >"$2.slipway-tmp"
fi
if [ "$(cat "$2" && echo x)" = "$(cat "$2.slipway-tmp" && echo x)" ]; then
  rm "$2.slipway-tmp"
else
  sync "$2.slipway-tmp"
  mv "$2.slipway-tmp" "$2"
fi
`

func (b *builder) block(r *resource.Resource) {
	block := r.Spec.(*resource.Block)
	content, err := block.Into(nil)
	if err != nil {
		b.lose(r, true, err.Error())
		return
	}
	if b.blocks++; b.blocks == 1 {
		b.Files = append(b.Files, &resource.File{Path: blockScript, Mode: 0o644, Content: []byte(putBlock)})
	}
	lines := blockDir + "/" + strings.ReplaceAll(strings.TrimPrefix(block.Path, "/"), "/", "-") + "." + block.Label
	// The lines may be from a file that not every user may read.
	b.Files = append(b.Files, &resource.File{Path: lines, Mode: 0o600, Content: content})
	text := strings.TrimSuffix(string(content), "\n")
	begin, _, _ := strings.Cut(text, "\n")
	argv := []string{"sh", blockScript, lines, block.Path, begin, text[strings.LastIndex(text, "\n")+1:]}
	if block.First {
		argv = append(argv, "first")
	}
	b.run(false, argv...)
}
