package envelope

import (
	"bytes"
	"slices"
)

// heredoc is how a boothook writes a file: a line with a path between two texts, lines of base64, and a line that ends
// them. The rest of a script is ignored, and nothing is run.
type heredoc struct {
	before, after, end string
	gzip               bool
}

// heredocs are the known forms. Sources: this module's userdata (boothook.go); AKS's nodeconfigutils.CustomData, and
// its boothooks with a compressed contract.
var heredocs = []heredoc{
	{before: "put '", after: "' <<'SLIPWAY_END'", end: "SLIPWAY_END"},
	{before: "cat <<'EOF' | base64 -d >", end: "EOF"},
	{before: "cat <<'EOF' | base64 -d | gzip -d >", end: "EOF", gzip: true},
}

// path returns the path of a here-document, if the line is its first.
func (h *heredoc) path(line []byte) (string, bool) {
	rest, found := bytes.CutPrefix(line, []byte(h.before))
	if !found {
		return "", false
	}
	path, found := bytes.CutSuffix(rest, []byte(h.after))
	return string(bytes.TrimSpace(path)), found
}

// written is a here-document in a script.
type written struct {
	*heredoc
	path string
	body []byte
}

// script opens the files that a boothook writes at the places. Of several at one path the last counts.
func (o *opener) script(l layer) error {
	files, ended := o.heredocs(l.data)
	l = l.in("boothook", nil)
	if !ended {
		return l.broken("a here-document does not end")
	}
	if len(files) == 0 {
		o.see(script.String())
	}
	for _, place := range o.places {
		last := -1
		for i := range files {
			if files[i].path == place {
				last = i
			}
		}
		if last < 0 {
			continue
		}
		data, err := o.decode64(&l, files[last].body)
		if err == nil && files[last].gzip {
			data, err = o.gunzip(&l, data)
		}
		if err != nil {
			return err
		}
		if err := o.open(l.at(place, data)); err != nil {
			return err
		}
	}
	return nil
}

// heredocs finds the here-documents for the places, and skips those for other files with their content. ended is false
// if one does not end.
func (o *opener) heredocs(data []byte) (files []written, ended bool) {
	var (
		open  *heredoc
		file  written
		begin int
		at    int
	)
	for raw := range bytes.Lines(data) {
		start := at
		at += len(raw)
		line := bytes.TrimRight(raw, "\r\n")
		if open != nil {
			if string(line) == open.end {
				file.body = data[begin:start]
				if slices.Contains(o.places, file.path) {
					files = append(files, file)
				}
				open = nil
			}
			continue
		}
		for i := range heredocs {
			if path, found := heredocs[i].path(line); found {
				open, file, begin = &heredocs[i], written{heredoc: &heredocs[i], path: path}, at
				break
			}
		}
	}
	return files, open == nil
}
