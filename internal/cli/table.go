package cli

import (
	"strings"
	"unicode/utf8"
)

// Cell is one field of a table.
type Cell struct {
	Text string
	// Paint colours the text. If nil, the text stays unchanged.
	Paint func(string) string
}

// Table aligns rows of cells in columns, two spaces apart.
type Table struct {
	// Indent is before each row.
	Indent string
	// Widest limits the width of every column except the last: a wider cell shifts the rest of its row only.
	Widest int
	rows   [][]Cell
}

// Row appends a row.
func (t *Table) Row(cells ...Cell) {
	for i := range cells {
		cells[i].Text = Line(cells[i].Text)
	}
	t.rows = append(t.rows, cells)
}

// String returns the rows as lines. An empty column takes no space.
func (t *Table) String() string {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := utf8.RuneCountInString(cell.Text); n > widths[i] && (t.Widest == 0 || n <= t.Widest) {
				widths[i] = n
			}
		}
	}
	var out strings.Builder
	for _, row := range t.rows {
		line := t.Indent
		pending := 0 // spaces to write before the next text
		for i, cell := range row {
			if cell.Text != "" {
				line += strings.Repeat(" ", pending)
				pending = 0
				if cell.Paint != nil {
					line += cell.Paint(cell.Text)
				} else {
					line += cell.Text
				}
			}
			if widths[i] > 0 || cell.Text != "" {
				pending += max(0, widths[i]-utf8.RuneCountInString(cell.Text)) + 2
			}
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}
