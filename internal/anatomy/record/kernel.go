package record

import (
	"bytes"
	"strconv"
	"strings"
)

// parseKernel reads the kernel's messages, as dmesg prints them: "[    1.234567] text". A message of a second line has no time.
func parseKernel(s *sink, data []byte) {
	last := int64(-1)
	s.lines(data, func(number int, line []byte) {
		us, text, ok := uptimeStamp(line)
		if !ok {
			return
		}
		if us < last-1e6 {
			s.unread(number, 0, "the time goes back: another boot's messages follow; they were not read")
			s.others++
			return
		}
		last = max(last, us)
		if rest, ok := bytes.CutPrefix(text, []byte("systemd[1]: ")); ok && bytes.HasPrefix(rest, []byte("systemd ")) {
			s.event(Event{Stage: Systemd, Name: "systemd runs", At: Monotonic(us), Detail: Clean(string(rest))})
			return
		}
		s.line("kernel", Monotonic(us), rawText{bytes: text})
	})
}

// uptimeStamp reads "[    1.234567] text", in microseconds.
func uptimeStamp(line []byte) (us int64, text []byte, ok bool) {
	// A serial console and kern.log have a level or a name before it.
	at := bytes.IndexByte(line, '[')
	if at < 0 || at > 64 {
		return 0, nil, false
	}
	stamp, text, found := bytes.Cut(line[at+1:], []byte("] "))
	if !found || len(stamp) > 32 {
		return 0, nil, false
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(stamp)), 64)
	const longest = 1e9
	if err != nil || seconds < 0 || seconds > longest {
		return 0, nil, false
	}
	return int64(seconds * 1e6), text, true
}
