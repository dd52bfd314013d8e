package record

import (
	"bytes"
	"strings"
	"time"
)

// parseSyslog reads a log of rsyslog's: with the time of RFC 5424, or with the traditional one ("Oct 10 03:13:03"), which has neither a
// year nor a zone. The year is that of a time in the messages, as the guest agent's have, and the zone is UTC.
func parseSyslog(s *sink, data []byte) {
	year := yearOf(data)
	noYear := 0
	s.lines(data, func(number int, line []byte) {
		at, rest, ok := syslogTime(line, year)
		if !ok {
			if noYear++; noYear == 1 {
				s.unread(number, len(line), "the line has no time of a known form, and names no year")
			}
			return
		}
		host, rest, _ := bytes.Cut(rest, []byte(" "))
		tag, text, found := bytes.Cut(rest, []byte(": "))
		if !found {
			return
		}
		if s.Host == "" {
			s.Host = Clean(string(host))
		}
		program, _, _ := strings.Cut(string(tag), "[")
		if program == "kernel" {
			if us, message, ok := uptimeStamp(text); ok {
				s.line(program, Monotonic(us), rawText{bytes: message})
			}
			return
		}
		s.line(program, klogTime(at, text), rawText{bytes: text})
	})
	s.endHandler()
}

// syslogTime reads the time at a line's beginning.
func syslogTime(line []byte, year string) (at Moment, rest []byte, ok bool) {
	const traditional = "Jan _2 15:04:05"
	if len(line) > len(traditional) && year != "" {
		if t, err := time.Parse("2006 "+traditional, year+" "+string(line[:len(traditional)])); err == nil {
			return Wall(t.UnixMicro(), 1e6), bytes.TrimPrefix(line[len(traditional):], []byte(" ")), true
		}
	}
	if us, rest, ok := leadingTime(line, []string{time.RFC3339Nano}, " "); ok {
		return Wall(us, 1), rest, true
	}
	return Moment{}, nil, false
}

// klogTime is the time in a message's own header, as Kubernetes' programs write it ("I1010 03:13:36.412085"), if it agrees with the
// log's time, which often has a resolution of a second.
func klogTime(at Moment, text []byte) Moment {
	const header = "0102 15:04:05.000000"
	if len(text) <= len(header) || !at.IsWall() || !bytes.ContainsRune([]byte("IWEF"), rune(text[0])) {
		return at
	}
	own, err := time.Parse(header, string(text[1:1+len(header)]))
	if err != nil {
		return at
	}
	log := time.UnixMicro(at.Us).UTC()
	own = time.Date(log.Year(), own.Month(), own.Day(), own.Hour(), own.Minute(), own.Second(), own.Nanosecond(), time.UTC)
	if d := log.Sub(own); d < -2*time.Second || d > 2*time.Second {
		return at
	}
	return Wall(own.UnixMicro(), 1)
}

// yearOf is the year of the last full time in a log's messages: after a blank or "time=", "2022-10-10T03:13:03". It is empty if no
// message has one.
func yearOf(data []byte) string {
	for end := len(data); end > 0; {
		at := bytes.LastIndex(data[:end], []byte("T"))
		if at < 0 {
			return ""
		}
		if at >= 10 && at+9 <= len(data) {
			if t, err := time.Parse("2006-01-02T15:04:05", string(data[at-10:at+9])); err == nil && t.Year() >= 1970 {
				return string(data[at-10 : at-6])
			}
		}
		end = at
	}
	return ""
}
