package status

import (
	"strconv"
	"time"
)

// The levels of an event.
const (
	LevelInformational = "Informational"
	LevelWarning       = "Warning"
	LevelError         = "Error"
)

// Event is an event that Azure's guest agent reports to the platform's telemetry. The guest agent
// reads events from files in the extension's directory and drops one that lacks a key.
type Event struct {
	Timestamp   string
	OperationId string
	Version     string
	TaskName    string
	EventLevel  string
	Message     string
	EventPid    string
	EventTid    string
}

// The guest agent cuts a longer message and drops a longer event.
const (
	maxEventMessage  = 3072
	maxEventDocument = 6144
)

// eventTime is the time format of the guest agent's events.
const eventTime = "2006-01-02 15:04:05.000"

// NewEvent returns the event of a task that ran from start to end. The end time identifies the
// operation, as in AKS's own events.
func NewEvent(task, level, message string, start, end time.Time) Event {
	return Event{
		Timestamp:   format(start, eventTime),
		OperationId: format(end, eventTime),
		Version:     "1.23",
		TaskName:    task,
		EventLevel:  level,
		Message:     message,
		EventPid:    "0",
		EventTid:    "0",
	}
}

// Marshal writes the event on one line without a newline, with its message shortened to the guest
// agent's limit.
func (e Event) Marshal() ([]byte, error) {
	e.Message = head(valid(e.Message), maxEventMessage)
	for {
		data, err := encode(e, "")
		if err != nil {
			return nil, err
		}
		data = data[:len(data)-1]
		excess := len(data) - maxEventDocument
		if excess <= 0 || e.Message == "" {
			return data, nil
		}
		e.Message = head(e.Message, len(e.Message)-shorten(excess))
	}
}

// EventFileName returns the name of an event's file. It has only digits, because the guest agent
// reads no other. If the name for t exists, the next attempt returns another.
func EventFileName(t time.Time, attempt int) string {
	return strconv.FormatInt(max(0, t.UnixNano()+int64(attempt)), 10) + ".json"
}
