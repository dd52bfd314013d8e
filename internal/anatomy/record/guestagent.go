package record

import (
	"bytes"
	"strings"
	"time"
)

// agentTimes are the forms of a line's time in waagent.log: of version 2.2 and before, and since.
var agentTimes = []string{time.RFC3339Nano, "2006/01/02 15:04:05.000000"}

// isAgent reports whether a program in a log is the guest agent. It runs in Python, under different names.
func isAgent(identifier string) bool {
	switch identifier {
	case "python3", "python", "waagent", "WALinuxAgent":
		return true
	}
	return false
}

// agentEvents are texts in the guest agent's messages.
var agentEvents = []struct{ text, event string }{
	{"Azure Linux Agent Version", "guest agent runs"},
	{"Agent WALinuxAgent-", "guest agent runs"},
	{"Provisioning complete", "guest agent has provisioned"},
	{"Initializing extension ", "extension initialized"},
	{"Downloading extension", "extension downloaded"},
	{"Update settings file: ", "extension settings written"},
	{"Install extension [", "extension installed"},
	{"Enable extension: [", "extension enabled"},
	{"Enable extension [", "extension enabled"},
	{"ProcessExtensionsGoalState started", "goal state begins"},
	{"ProcessExtensionsGoalState completed", "goal state done"},
}

// parseGuestAgent reads waagent.log.
func parseGuestAgent(s *sink, data []byte) {
	s.lines(data, func(number int, line []byte) {
		if !s.agentMessage(Moment{}, string(line)) && line[0] >= '0' && line[0] <= '9' && bytes.Contains(line, []byte(" INFO ")) {
			s.unread(number, len(line), "the line has no time")
		}
	})
}

// agentMessage reads a message of the guest agent, which has its own time in front, and reports whether it has. Another program's
// time, of the log in which the message is, counts if it is on the monotonic clock.
func (s *sink) agentMessage(at Moment, text string) bool {
	stamp, rest, _ := strings.Cut(text, " ")
	t, err := time.Parse(agentTimes[0], stamp)
	if err != nil {
		date := stamp
		clock, after, _ := strings.Cut(rest, " ")
		if t, err = time.Parse(agentTimes[1], date+" "+clock); err != nil {
			return strings.HasPrefix(text, "time=") && s.handlerLine(at, text)
		}
		rest = after
	}
	if t.Year() < 1970 {
		return false
	}
	if !at.IsMonotonic() {
		at = Wall(t.UnixMicro(), 1)
	}
	s.count++
	for _, e := range agentEvents {
		if n := strings.Index(rest, e.text); n >= 0 {
			name := extensionName(rest)
			detail := rest[n:]
			if name != "" && !strings.Contains(detail, name) {
				detail = name + ": " + detail
			}
			s.Events = append(s.Events, Event{Stage: GuestAgent, Name: e.event, At: at, Detail: Clean(detail), Document: s.document})
			break
		}
	}
	return true
}

// extensionName is the extension in brackets of a message: "[Microsoft.Azure.Extensions.CustomScript-2.1.7]".
func extensionName(text string) string {
	for part := range strings.SplitSeq(text, "[") {
		if name, _, found := strings.Cut(part, "]"); found && strings.HasPrefix(name, "Microsoft.") {
			return name
		}
	}
	return ""
}
