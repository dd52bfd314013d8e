package status

import (
	"bytes"
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/nodeconfig"
)

func printed(s *Status, colour bool) string {
	var b bytes.Buffer
	s.Print(&b, colour)
	return b.String()
}

var sequence = regexp.MustCompile("\x1b\\[[0-9]+m")

// checkReport checks the rules for every report.
func checkReport(t *testing.T, s *Status) {
	t.Helper()
	plain := printed(s, false)
	if plain != printed(s, false) {
		t.Error("two reports of one status differ")
	}
	if got := sequence.ReplaceAllString(printed(s, true), ""); got != plain {
		t.Errorf("without its colours the report is\n%s\nwant\n%s", got, plain)
	}
	if !strings.HasSuffix(plain, "\n") || strings.Contains(plain, "\n\n\n") {
		t.Errorf("line breaks of %q", plain)
	}
	for line := range strings.Lines(plain) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > width {
			t.Errorf("%d columns: %q", n, line)
		}
		if strings.TrimRight(line, " ") != line {
			t.Errorf("spaces at the end: %q", line)
		}
		if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
			t.Errorf("not printable at %d: %q", i, line)
		}
	}
}

func TestPrint(t *testing.T) {
	for name, s := range map[string]*Status{"success": success(), "failure": failure(), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			checkReport(t, s)
			golden(t, name+".txt.golden", []byte(printed(s, false)))
			golden(t, name+".colour.golden", []byte(printed(s, true)))
		})
	}
}

// TestPrintMuch prints more of everything than a report shows.
func TestPrintMuch(t *testing.T) {
	s := failure()
	long := strings.Repeat("0123456789", 30)
	s.Error.Message = strings.Repeat("some words of a message that does not end "+long+"\n", 40)
	for i := range 50 {
		s.Errors = append(s.Errors, Failure{Resource: fmt.Sprintf("File:/etc/%d", i), Message: "no space left on device"})
		s.Problems = append(s.Problems, nodeconfig.Problem{Path: fmt.Sprintf("$.labels[%d]", i), Reason: "is out of range"})
		s.Skipped = append(s.Skipped, fmt.Sprintf("Unit:%d.service", i))
		s.Steps = append(s.Steps, Step{Name: fmt.Sprint("a step with a name that is long, ", i), StartMs: int64(i) * 250, DurationMs: int64(i*37%50) * 10, Detail: long})
		s.Changes = append(s.Changes, Change{fmt.Sprint(i), "melted"})
	}
	s.Problems[0].Reason = long
	checkReport(t, s)
	golden(t, "much.txt.golden", []byte(printed(s, false)))
}

func TestPrintDoesNotSteerTheTerminal(t *testing.T) {
	evil := "a\x1b[2Jb\x07\r\n\u202ec\xff\u2028d"
	s := &Status{
		Outcome: evil, CodeName: evil, AgentVersion: evil,
		Config:   Config{evil, evil, evil, evil},
		Error:    &Failure{evil, evil, evil, evil, evil},
		Errors:   []Failure{{Message: evil}},
		Problems: []nodeconfig.Problem{{Path: evil, Reason: evil}},
		Changes:  []Change{{evil, Action(evil)}},
		Steps:    []Step{{Name: evil, Detail: evil}},
		Skipped:  []string{evil},
	}
	checkReport(t, s)
}

func TestMilliseconds(t *testing.T) {
	for ms, want := range map[int64]string{
		math.MinInt64: "0 ms", 0: "0 ms", 999: "999 ms", 1000: "1.0 s", 59_999: "59.9 s", 60_000: "1m00s",
		3_599_999: "59m59s", 3_600_000: "1h00m", 1000*3_600_000 - 1: "999h59m", 1000 * 3_600_000: ">999h", math.MaxInt64: ">999h",
	} {
		if got := milliseconds(ms); got != want || len(got) > timeColumn {
			t.Errorf("milliseconds(%d) = %q, want %q", ms, got, want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{" \n\t\n ", nil},
		{"one two three", []string{"one two", "three"}},
		{"one\ntwo", []string{"one", "two"}},
		{"one\r\ntwo", []string{"one", "two"}},
		{"a abcdefghijklmnopqrs t", []string{"a", "abcdefgh", "ijklmnop", "qrs t"}},
		{"ääääääää öööööööö", []string{"ääääääää", "öööööööö"}},
	} {
		if got := wrap(test.text, 8); strings.Join(got, "|") != strings.Join(test.want, "|") {
			t.Errorf("wrap(%q) = %q, want %q", test.text, got, test.want)
		}
	}
	if got := wrap(strings.Repeat("word\n", 99), 8); len(got) != maxParagraph || got[len(got)-1] != "..." {
		t.Errorf("a long text is %q", got)
	}
}

func TestScaleStaysInItsColumn(t *testing.T) {
	times := []int64{math.MinInt64, -1, 0, 1, 50, 100, maxTime, math.MaxInt64}
	for _, start := range times {
		for _, duration := range times {
			total := max(1, clamp(start)+clamp(duration))
			before, bar := scale(Step{StartMs: start, DurationMs: duration}, total)
			if before < 0 || bar < 1 || before+bar > barColumn {
				t.Errorf("from %d for %d: %d before %d", start, duration, before, bar)
			}
		}
	}
}
