package commands

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/image/changes"
)

// meter shows on a terminal what is being downloaded, in one line. On any other stream it shows nothing.
type meter struct {
	out      io.Writer
	terminal bool
	style    cli.Style

	mu    sync.Mutex
	bytes map[string]int64
	last  time.Time
	shown bool
}

// interval is the time between two lines.
const interval = 100 * time.Millisecond

func newMeter(out io.Writer) *meter {
	return &meter{out: out, terminal: cli.IsTerminal(out), style: cli.StyleOf(out), bytes: make(map[string]int64)}
}

// update notes how much of a file has come.
func (m *meter) update(name string, bytes, total int64) {
	if !m.terminal {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bytes[name] = bytes
	now := time.Now()
	if now.Sub(m.last) < interval {
		return
	}
	m.last, m.shown = now, true
	var sum int64
	for _, n := range m.bytes {
		sum += n
	}
	line := fmt.Sprintf("%s of %s; %s", changes.Size(sum), cli.Plural(len(m.bytes), "file"), cli.Line(name))
	if total > 0 {
		line += fmt.Sprintf(" %d %%", bytes*100/total)
	}
	_, _ = fmt.Fprintf(m.out, "\r\x1b[K%s", cli.Shorten(line, m.style.Width()-1))
}

// say prints a line that stays.
func (m *meter) say(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
	_, _ = fmt.Fprintln(m.out, line)
}

// clear removes the line.
func (m *meter) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
}

func (m *meter) erase() {
	if m.shown {
		_, _ = io.WriteString(m.out, "\r\x1b[K")
	}
	m.shown = false
}
