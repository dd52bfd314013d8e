package systemd_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/internal/systemd"
)

// entry is a record of a journal: its time in microseconds, its fields and its text. A text with a control character is a list
// of bytes, as in the output of journalctl.
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
			found = append(found, e.record())
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

func (e entry) record() []byte {
	record := map[string]any{"__REALTIME_TIMESTAMP": strconv.Itoa(e.at), "MESSAGE": e.text}
	if strings.ContainsFunc(e.text, func(r rune) bool { return r < ' ' && r != '\n' }) {
		var numbers []int
		for _, b := range []byte(e.text) {
			numbers = append(numbers, int(b))
		}
		record["MESSAGE"] = numbers
	}
	line, err := json.Marshal(record)
	if err != nil {
		panic(err)
	}
	return append(line, '\n')
}
