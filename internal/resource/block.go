package resource

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Block is a marked part of a text file that other programs also write: /etc/hosts, /etc/environment, /etc/fstab. The
// lines before and after it stay.
type Block struct {
	Path string `json:"path"`
	// Label distinguishes it from the file's other blocks: letters, digits and dashes.
	Label string `json:"label"`
	// Content are whole lines. In all of these files a line that begins with # is a comment.
	Content string `json:"content"`
	// First puts the block at the beginning of the file. Other blocks are at its end, or stay where they were.
	First bool `json:"first,omitempty"`
}

// MaxBlockFile is the maximum size of a file with a block, in bytes.
const MaxBlockFile = 1 << 20

// Kind implements Spec.
func (*Block) Kind() string { return "Block" }

// Name implements Spec.
func (b *Block) Name() string { return b.Path + "#" + b.Label }

// Paths implements Spec.
func (b *Block) Paths() []string { return whole(b.Path) }

// Valid implements Spec.
func (b *Block) Valid() error {
	switch {
	case b.Label == "" || strings.Trim(b.Label, "abcdefghijklmnopqrstuvwxyz0123456789-") != "":
		return fmt.Errorf("block %q of %s: a label has small letters, digits and dashes", b.Label, b.Path)
	case b.Content == "" || !strings.HasSuffix(b.Content, "\n") || strings.ContainsRune(b.Content, 0):
		return fmt.Errorf("block %s of %s is no text of whole lines", b.Label, b.Path)
	case len(b.Content) > MaxBlockFile/2:
		return fmt.Errorf("block %s of %s has more than %d bytes", b.Label, b.Path, MaxBlockFile/2)
	case strings.Contains(b.Content, blockBegin) || strings.Contains(b.Content, blockEnd):
		return fmt.Errorf("block %s of %s holds a mark of a block", b.Label, b.Path)
	}
	return checkPath(b.Path)
}

// Describe implements Spec.
func (b *Block) Describe() Description {
	return Description{Title: b.Path, What: fmt.Sprintf("block %s, lines: %d", b.Label, strings.Count(b.Content, "\n"))}
}

// text is the block as a file.
func (b *Block) text() *File { return &File{Path: b.Path, Content: []byte(b.Content)} }

// The marks, each a comment on a separate line.
const (
	blockBegin = "# BEGIN slipway "
	blockEnd   = "# END slipway "
)

// Into returns a file's content with the block in it: at the beginning if First is set, else at its earlier position or
// at the end.
func (b *Block) Into(content []byte) ([]byte, error) {
	before, after, found := b.cut(content)
	if b.First {
		before, after = nil, slices.Concat(before, after)
	}
	if !found && len(before) > 0 && before[len(before)-1] != '\n' {
		before = append(bytes.Clone(before), '\n')
	}
	var out bytes.Buffer
	out.Grow(len(content) + len(b.Content) + 2*(len(blockBegin)+len(b.Label)+1))
	out.Write(before)
	out.WriteString(blockBegin + b.Label + "\n" + b.Content + blockEnd + b.Label + "\n")
	out.Write(after)
	if out.Len() > MaxBlockFile {
		return nil, errors.New("the file would be larger than any that has a block of Slipway's")
	}
	return out.Bytes(), nil
}

// OutOf returns a file's content without the block, and reports whether it was there.
func (b *Block) OutOf(content []byte) ([]byte, bool) {
	before, after, found := b.cut(content)
	return bytes.Join([][]byte{before, after}, nil), found
}

// cut returns the lines before and after the block. An administrator may have copied the block, or removed one of its
// marks: cut removes every complete copy, and of a lone mark only the mark. The other lines stay, because they may be
// the administrator's.
func (b *Block) cut(content []byte) (before, after []byte, found bool) {
	begin, end := []byte(blockBegin+b.Label), []byte(blockEnd+b.Label)
	var kept [][]byte
	place, open := -1, -1 // the position of the block, and of the last begin mark, both as counts of kept lines
	for line := range bytes.Lines(content) {
		switch mark := bytes.TrimRight(line, " \t\r\n"); {
		case bytes.Equal(mark, begin):
			found, open = true, len(kept)
			if place < 0 {
				place = open
			}
		case bytes.Equal(mark, end):
			found = true
			if open >= 0 {
				kept = kept[:open]
			}
			if open = -1; place < 0 {
				place = len(kept)
			}
		default:
			kept = append(kept, line)
		}
	}
	if place < 0 || place > len(kept) {
		place = len(kept)
	}
	return bytes.Join(kept[:place], nil), bytes.Join(kept[place:], nil), found
}
