package unitfile

import (
	"strconv"
	"strings"
)

// units are the units of time. If one begins with another, the longer one comes first (src/basic/time-util.c,
// extract_multiplier).
var units = strings.Fields("seconds second sec s minutes minute min months month msec ms m M hours hour hr h days day d weeks week w years year y usec us µs μs")

// isTime and timespan check a time such as 1h 30min; for a timer, specifiers are expanded.
func isTime(_, value string) (int, verdict) {
	return takesOrIgnores(isSpan(value), "is no time such as 90s or 1h 30min")
}

func timespan(unit, value string) (int, verdict) { return isTime(unit, expand(unit, value)) }

// isSpan parses a time span (src/basic/time-util.c, parse_time).
func isSpan(text string) bool {
	text = strings.Trim(text, blanks)
	if text == "infinity" {
		return true
	}
	for first := true; first || text != ""; first = false {
		digits := trimDigits(text)
		whole := len(text) - len(digits)
		if fraction, ok := strings.CutPrefix(digits, "."); ok {
			if digits = trimDigits(fraction); digits == fraction {
				return false
			}
			whole += len(fraction) - len(digits)
		}
		if whole == 0 || whole > 18 {
			return false
		}
		rest := strings.TrimLeft(digits, blanks)
		for _, unit := range units {
			if after, ok := strings.CutPrefix(rest, unit); ok {
				rest = after
				break
			}
		}
		if rest == digits && rest != "" {
			return false
		}
		text = strings.TrimLeft(rest, blanks)
	}
	return true
}

func trimDigits(text string) string { return strings.TrimLeft(text, "0123456789") }

func calendar(unit, value string) (int, verdict) {
	return takesOrIgnores(isCalendar(expand(unit, value)), "is no time that systemd-analyze calendar takes, such as Mon..Fri 02:30 or daily")
}

const specialTimes = "minutely hourly daily weekly monthly quarterly yearly annually anually biannually bi-annually semiannually semi-annually"

// isCalendar parses a calendar event (src/shared/calendarspec.c, calendar_spec_from_string).
func isCalendar(text string) bool {
	if zone := strings.LastIndexByte(text, ' '); zone > 0 && isZone(text[zone+1:]) {
		text = strings.TrimRight(text[:zone], " ")
	}
	if has(strings.Fields(specialTimes), strings.ToLower(text)) {
		return true
	}
	if seconds, ok := strings.CutPrefix(text, "@"); ok {
		return isNumber(seconds, 0, 1<<62)
	}
	if text == "" {
		return false
	}
	rest, ok := cutWeekdays(text)
	if !ok {
		return false
	}
	if rest, ok = cutDate(rest); !ok {
		return false
	}
	return rest == "" || isClock(rest)
}

// isZone reports whether a word is a time zone: UTC, or an area and a location (tzfile(5)).
func isZone(word string) bool {
	return strings.EqualFold(word, "UTC") || strings.Contains(word, "/") && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/_+-") == "" &&
		word[0] >= 'A' && word[0] <= 'Z'
}

var weekdays = strings.Fields("monday tuesday wednesday thursday friday saturday sunday")

// cutWeekdays cuts days such as Mon,Wed..Fri off the beginning.
func cutWeekdays(text string) (rest string, ok bool) {
	from := -1
	for first := true; ; first = false {
		day, length := weekday(text)
		if day < 0 {
			return text, first
		}
		if text = text[length:]; text != "" && strings.IndexByte("-., ", text[0]) < 0 || from > day {
			return "", false
		}
		switch {
		case text == "", text[0] == ' ':
			return strings.TrimLeft(text, " "), true
		case text[0] == ',':
			from, text = -1, text[1:]
		case from >= 0:
			return "", false
		case strings.HasPrefix(text, ".."):
			from, text = day, text[2:]
		case text[0] == '-':
			from, text = day, text[1:]
		default:
			return "", false
		}
		if text == "" || text[0] == ' ' {
			return strings.TrimLeft(text, " "), from < 0
		}
	}
}

// weekday is the number of the day at a text's beginning, in full or in three letters, and the length of its name.
func weekday(text string) (day, length int) {
	lower := strings.ToLower(text)
	for i, name := range weekdays {
		for _, form := range [...]string{name, name[:3]} {
			if strings.HasPrefix(lower, form) {
				return i, len(form)
			}
		}
	}
	return -1, 0
}

// span is the range of a part of a time.
type span struct{ least, most int }

// cutDate cuts a date such as 2026-*-01 or *-*-01 off the beginning. It leaves a time of day.
func cutDate(text string) (rest string, ok bool) {
	end := strings.IndexByte(text, ' ')
	if end < 0 {
		end = len(text)
	}
	date := text[:end]
	if strings.ContainsRune(date, ':') || date == "" {
		return text, true
	}
	parts := strings.Split(strings.ReplaceAll(date, "~", "-"), "-")
	if len(parts) < 2 || len(parts) > 3 || strings.Contains(date, "~") && strings.LastIndexByte(date, '~') < strings.LastIndexByte(date, '-') {
		return "", false
	}
	spans := []span{{1970, 2199}, {1, 12}, {1, 31}}[3-len(parts):]
	for i, part := range parts {
		if !isPart(part, spans[i]) {
			return "", false
		}
	}
	return strings.TrimLeft(text[end:], " "), true
}

// isClock parses a time of day such as 10:00, *:0/15 or 10:00:30.5.
func isClock(text string) bool {
	parts := strings.Split(text, ":")
	if len(parts) < 2 || len(parts) > 3 {
		return false
	}
	for i, part := range parts {
		if !isPart(part, []span{{0, 23}, {0, 59}, {0, 59}}[i]) {
			return false
		}
	}
	return true
}

// isPart parses "*", or numbers, ranges and repetitions separated by commas.
func isPart(text string, of span) bool {
	if text == "*" {
		return true
	}
	for item := range strings.SplitSeq(text, ",") {
		item, step, repeats := strings.Cut(item, "/")
		from, to, isRange := strings.Cut(item, "..")
		low, ok := part(from, of)
		high, every := of.most, 1
		if isRange {
			n, isNumber := part(to, of)
			high, ok = n, ok && isNumber
		}
		if repeats {
			n, err := strconv.Atoi(wholeOf(step))
			every, ok = n, ok && err == nil && n > 0
		}
		if !ok || (isRange || repeats) && low+every > high {
			return false
		}
	}
	return true
}

// part is a number within its range. A year has two digits or four, a second can have a fraction.
func part(text string, of span) (int, bool) {
	if of.most == 59 {
		text = wholeOf(text)
	}
	n, err := strconv.Atoi(text)
	if of.most == 2199 && n < 100 {
		if n += 1900; n < 1970 {
			n += 100
		}
	}
	return n, err == nil && trimDigits(text) == "" && n >= of.least && n <= of.most
}

// wholeOf is a number's text without its fraction.
func wholeOf(text string) string {
	whole, fraction, ok := strings.Cut(text, ".")
	if ok && fraction != "" && trimDigits(fraction) == "" {
		return whole
	}
	return text
}
