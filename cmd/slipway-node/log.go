package main

import (
	"context"
	"io"
	"log/slog"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/state"
)

// newLog returns the log of a run. The file, if any, and a standard error that is a pipe or a journal get JSON, one
// record in a line, for log collectors. A terminal gets readable lines, and by default only warnings and above: the
// run's outcome is printed at its end. If the user set a level, or nothing is printed at the end, the terminal gets
// everything of that level.
func (a *app) newLog(file io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(a.logLevel.Value)); err != nil {
		panic(err) // the flag accepts no other value
	}
	options := &slog.HandlerOptions{Level: level}
	var handlers []slog.Handler
	if file != nil {
		handlers = append(handlers, slog.NewJSONHandler(file, options))
	}
	if !cli.IsTerminal(a.Err) {
		return slog.New(slog.NewMultiHandler(append(handlers, slog.NewJSONHandler(a.Err, options))...))
	}
	if !a.levelGiven() && !a.follows {
		level = max(level, slog.LevelWarn)
	}
	return slog.New(slog.NewMultiHandler(append(handlers, &terminalLog{to: a.Err, level: level})...))
}

// terminalLog writes records for a person: one in a line, without the time.
type terminalLog struct {
	to    io.Writer
	level slog.Level
	attrs []slog.Attr
}

// Enabled implements slog.Handler. A record about what the program waits for is shown at every level of the terminal.
func (l *terminalLog) Enabled(_ context.Context, level slog.Level) bool {
	return level >= min(l.level, slog.LevelInfo)
}

// Handle implements slog.Handler.
func (l *terminalLog) Handle(_ context.Context, r slog.Record) error {
	if r.Level < l.level && !waits(r) {
		return nil
	}
	style := cli.StyleOf(l.to)
	paint, word := style.Dim, strings.ToLower(r.Level.String())
	switch {
	case r.Level >= slog.LevelError:
		paint = style.Red
	case r.Level >= slog.LevelWarn:
		paint, word = style.Yellow, "warning"
	}
	var details []string
	add := func(a slog.Attr) bool {
		if text := cli.Line(a.Value.Resolve().String()); text != "" && text != "<nil>" {
			details = append(details, a.Key+": "+text)
		}
		return true
	}
	for _, a := range l.attrs {
		add(a)
	}
	r.Attrs(add)
	line := paint(word+":") + " " + cli.Line(r.Message)
	if len(details) > 0 {
		line += style.Dim(" (" + strings.Join(details, ", ") + ")")
	}
	_, err := io.WriteString(l.to, line+"\n")
	return err
}

// waits reports whether a record is about what the program waits for.
func waits(r slog.Record) bool {
	found := false
	r.Attrs(func(a slog.Attr) bool {
		found = a.Key == state.WaitingKey
		return !found
	})
	return found
}

// WithAttrs implements slog.Handler.
func (l *terminalLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *l
	with.attrs = append(append([]slog.Attr(nil), l.attrs...), attrs...)
	return &with
}

// WithGroup implements slog.Handler. The terminal does not show the group's name.
func (l *terminalLog) WithGroup(string) slog.Handler { return l }
