package cli

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Meter shows on a terminal what is being downloaded, in one line. On any other stream it shows nothing.
type Meter struct {
	out      io.Writer
	terminal bool
	style    Style

	mu    sync.Mutex
	bytes map[string]int64
	last  time.Time
	shown bool
}

// interval is the time between two lines.
const interval = 100 * time.Millisecond

// NewMeter returns a meter on a stream.
func NewMeter(out io.Writer) *Meter {
	return &Meter{out: out, terminal: IsTerminal(out), style: StyleOf(out), bytes: make(map[string]int64)}
}

// Update notes how much of a file has come.
func (m *Meter) Update(name string, bytes, total int64) {
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
	line := fmt.Sprintf("%s of %s; %s", Size(sum), Plural(len(m.bytes), "file"), Line(name))
	if total > 0 {
		line += fmt.Sprintf(" %d %%", bytes*100/total)
	}
	_, _ = fmt.Fprintf(m.out, "\r\x1b[K%s", Shorten(line, m.style.Width()-1))
}

// Say prints a line that stays.
func (m *Meter) Say(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
	_, _ = fmt.Fprintln(m.out, line)
}

// Clear removes the line.
func (m *Meter) Clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.erase()
}

func (m *Meter) erase() {
	if m.shown {
		_, _ = io.WriteString(m.out, "\r\x1b[K")
	}
	m.shown = false
}
