package systemd_test

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/systemd"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// entry is a record of a journal: its time in microseconds, its fields and its text.
type entry struct {
	at     int
	fields map[string]string
	text   string
}

// kept is a journal that answers as journalctl of systemd 252 does.
type kept struct {
	// patterns is whether it was built with regular expressions.
	patterns bool
	entries  []entry
}

func (k kept) read(_ context.Context, query systemd.JournalQuery) (records []byte, cut bool, err error) {
	option := func(name string) string {
		if i := slices.Index(query.Match, name); i >= 0 {
			return query.Match[i+1]
		}
		return ""
	}
	pattern := option("-g")
	if pattern != "" && !k.patterns {
		return nil, false, errors.New("exit status 1")
	}
	since := 0.0
	for _, word := range query.Match {
		if text, is := strings.CutPrefix(word, "--since=@"); is {
			since, _ = strconv.ParseFloat(text, 64)
		}
	}
	entries := slices.Clone(k.entries)
	if query.Newest {
		slices.Reverse(entries)
	}
	var found [][]byte
backwards:
	for _, e := range entries {
		has := func(word string) bool { return strings.Contains(e.text, word) }
		switch early := float64(e.at) < since*1e6-0.5; { // since is rounded
		case !e.matches(query.Match) || pattern != "" && !slices.ContainsFunc(strings.Split(pattern, "|"), has) || early && !query.Newest:
			continue
		case !early:
			found = append(found, hosttest.Record(e.at, e.text))
			continue
		}
		break backwards // at the first early one
	}
	if n, err := strconv.Atoi(option("-n")); err == nil {
		found = found[:min(n, len(found))]
	}
	for i, size := 0, int64(0); i < len(found); i++ {
		if size += int64(len(found[i])); size > query.Limit {
			found, cut = found[:i], true
		}
	}
	if query.Newest {
		slices.Reverse(found)
	}
	if pattern != "" && len(found) == 0 {
		err = errors.New("exit status 1")
	}
	return slices.Concat(found...), cut, err
}

// matches reports whether one of the terms between "+" names a field that the entry has. Each term has one field.
func (e entry) matches(match []string) bool {
	return slices.ContainsFunc(match, func(term string) bool {
		name, value, is := strings.Cut(term, "=")
		return is && !strings.HasPrefix(name, "-") && e.fields[name] == value
	})
}

// Whatever a program has written to the journal, the lines are few, short and without control characters, and the last text is the
// last line.
func FuzzJournal(f *testing.F) {
	for _, seed := range []string{"", "plain", "two\nlines", "\x1b[31mred", "\xff\xfe", "--token=" + token, "{\"MESSAGE\":1}", strings.Repeat("x", 5000), "\r\n\x00"} {
		f.Add(seed, []byte(seed))
		f.Add(seed, []byte(`{"MESSAGE":[1,999,-1]}`+"\n"+`{"MESSAGE":null}`+"\n[]\n{"))
	}
	f.Fuzz(func(t *testing.T, text string, raw []byte) {
		for _, records := range [][]byte{raw, append(hosttest.Record(1, "first"), hosttest.Record(2, text)...)} {
			m := hosttest.Journalled(func(context.Context, systemd.JournalQuery) ([]byte, bool, error) { return records, false, nil }, hosttest.NewBus())
			lines, err := m.Search(t.Context(), "kubelet.service")
			if err != nil || len(lines) > 40 || len(strings.Join(lines, "")) > 4<<10 {
				t.Fatalf("%d lines, %v", len(lines), err)
			}
			for _, line := range lines {
				if line == "" || len(line) > systemd.MaxLogLine || !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) || strings.Contains(line, token) {
					t.Fatalf("got %q", line)
				}
			}
			if word := strings.TrimSpace(text); len(records) != len(raw) && word != "" && len(word) < 100 && isPlain(word) && !strings.HasSuffix(lines[len(lines)-1], word) {
				t.Fatalf("%q: got %q", text, lines)
			}
		}
	})
}

// isPlain reports whether a text has only letters and spaces.
func isPlain(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && (r < 'a' || r > 'z') })
}
