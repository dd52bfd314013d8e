// Package svg draws a boot's timeline as one SVG picture: without scripts, fonts or links, readable without colour and on a light or
// dark page.
package svg

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/anatomy"
)

// The picture's measures, in pixels.
const (
	width      = 1000
	rowHeight  = 18
	nameWidth  = 260
	timeWidth  = 110
	right      = 20
	top        = 74
	mostRows   = 60
	mostName   = 38
	chart      = width - nameWidth - timeWidth - right
	scaleMarks = 8
)

// style has the picture's colours. A bar on the critical path is filled, another one is only framed, so that no colour is needed.
const style = `
text { font: 12px sans-serif; fill: #222 }
.small { font-size: 11px; fill: #555 }
.title { font-size: 16px; font-weight: bold }
.bold { font-weight: bold }
.right { text-anchor: end }
.page { fill: #fff }
.grid { stroke: #ccc; stroke-width: 1 }
.goal { stroke: #222; stroke-width: 1.5; stroke-dasharray: 4 3 }
.path { fill: #b03a1c; stroke: #7a2612; stroke-width: 1 }
.beside { fill: #dfe7ee; stroke: #6b7f90; stroke-width: 1 }
.idle { fill: none; stroke: #7a2612; stroke-width: 1; stroke-dasharray: 2 2 }
`

// Picture draws a timeline.
func Picture(t *anatomy.Timeline) []byte {
	rows := anatomy.Rows(t, mostRows)
	from, to := anatomy.Extent(t)
	height := top + rowHeight*len(rows) + 56
	p := &page{timeline: t, from: from, to: to}
	p.write(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img">`, width, height, width, height)
	p.out.WriteString("\n<title>" + escape(heading(t)) + "</title>\n<style>" + style + "</style>\n")
	p.write(`<rect class="page" width="%d" height="%d"/>`, width, height)
	p.text(10, 24, "title", heading(t))
	p.text(10, 44, "small", "Filled bars are on the critical path, framed ones beside it; a dashed frame is a wait. Times count from the kernel's start.")
	bottom := top + rowHeight*len(rows)
	step := anatomy.RoundStep(to-from, scaleMarks)
	for at := (from + step - 1) / step * step; at <= to; at += step {
		x := p.x(at)
		p.write(`<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, x, top-6, x, bottom)
		p.text(x+2, top-10, "small", fmt.Sprintf("%g s", float64(at)/1e6))
	}
	for i, s := range rows {
		p.row(top+rowHeight*i, s)
	}
	x := p.x(t.GoalUs)
	p.write(`<line class="goal" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`, x, top-6, x, bottom+8)
	p.text(x, bottom+22, "bold right", t.Goal+" "+anatomy.Seconds(t.GoalUs))
	if len(t.Waits) > 0 {
		p.text(10, bottom+42, "small", "Longest: "+shorten(t.Waits[0].Sentence, 150))
	}
	p.out.WriteString("</svg>\n")
	return p.out.Bytes()
}

func heading(t *anatomy.Timeline) string {
	host := t.Host
	if host == "" {
		host = "a machine"
	}
	return shorten(fmt.Sprintf("One boot of %s: %s after %s", host, t.Goal, anatomy.Seconds(t.GoalUs)), 100)
}

// page is the picture while it is drawn.
type page struct {
	timeline *anatomy.Timeline
	out      bytes.Buffer
	from, to int64
}

func (p *page) write(format string, args ...any) {
	fmt.Fprintf(&p.out, format+"\n", args...)
}

// text draws a text, whose characters are escaped.
func (p *page) text(x float64, y int, class, content string) {
	p.write(`<text x="%.1f" y="%d" class="%s">%s</text>`, x, y, class, escape(content))
}

// x is a time's place.
func (p *page) x(us int64) float64 {
	share := float64(us-p.from) / float64(max(p.to-p.from, 1))
	return nameWidth + timeWidth + chart*min(max(share, 0), 1)
}

func (p *page) row(y int, s anatomy.Span) {
	class, name := "beside", ""
	if s.Critical {
		class, name = "path", "bold"
	}
	if s.For != "" {
		class = "idle"
	}
	label := anatomy.Label(p.timeline, s)
	if s.Failed {
		label += " (failed)"
	}
	p.text(10, y+13, name, shorten(label, mostName))
	took := anatomy.Seconds(s.EndUs - s.StartUs)
	if s.Open {
		took = "runs on"
	}
	p.text(nameWidth+timeWidth-10, y+13, "small right", took)
	x := p.x(s.StartUs)
	p.write(`<rect class="%s" x="%.1f" y="%d" width="%.1f" height="%d"><title>%s</title></rect>`, class, x, y+2, max(1.5, p.x(s.EndUs)-x), rowHeight-5,
		escape(fmt.Sprintf("%s: %s, from %s to %s", s.Stage, s.Name, anatomy.Seconds(s.StartUs), anatomy.Seconds(s.EndUs))))
}

// escape makes a text safe within XML: markup is escaped, and characters that XML does not allow are replaced.
func escape(content string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(strings.ToValidUTF8(content, "?"))) // a strings.Builder does not fail
	return out.String()
}

func shorten(content string, n int) string {
	if utf8.RuneCountInString(content) <= n {
		return content
	}
	return string([]rune(content)[:n-1]) + "…"
}
