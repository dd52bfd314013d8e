package record

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
)

// eventTime is the form of the times in guest-agent events, which have no zone: the machine's, usually UTC.
const eventTime = "2006-01-02 15:04:05.000"

// stepUnits are the units that steps of AKS's scripts start (AgentBaker, parts/linux/cloud-init/artifacts/cse_main.sh).
var stepUnits = map[string]string{
	"AKS.CSE.ensureKubelet":    "kubelet.service",
	"AKS.CSE.ensureContainerd": "containerd.service",
}

// parseAzureEvent reads one guest-agent event. Its Timestamp is the step's start, and its OperationId the step's end.
func parseAzureEvent(s *sink, data []byte) {
	data = bytes.TrimSpace(data)
	var events []azureEvent
	if bytes.HasPrefix(data, []byte("[")) {
		if err := json.Unmarshal(data, &events); err != nil {
			s.unread(0, len(data), "not a list of events, or cut: %v", err)
			return
		}
	} else {
		events = make([]azureEvent, 1)
		if err := json.Unmarshal(data, &events[0]); err != nil {
			s.unread(0, len(data), "not an event, or cut: %v", err)
			return
		}
	}
	for _, e := range events {
		e.read(s)
	}
}

// azureEvent has the fields of status.Event that a boot needs.
type azureEvent struct{ Timestamp, OperationId, TaskName, EventLevel, Message string }

func (e azureEvent) read(s *sink) {
	begin, err := time.Parse(eventTime, e.Timestamp)
	if err != nil || begin.Year() < 1970 {
		s.unread(0, 0, "the event %q has no time: %q", e.TaskName, e.Timestamp)
		return
	}
	span := Span{Stage: Extension, Name: Clean(e.TaskName), Begin: Wall(begin.UnixMicro(), 1000), Failed: e.EventLevel == "Error", In: customScript, Starts: stepUnits[e.TaskName]}
	if strings.HasPrefix(e.TaskName, "AKS.AKSNodeController") || strings.HasPrefix(e.TaskName, "Slipway") {
		span.Stage = Slipway
	}
	// Bash writes "Completed: COMMAND" for each step, also for one that failed.
	if !strings.HasPrefix(e.Message, "Completed: ") && !strings.HasPrefix(e.Message, "Starting") {
		span.Detail = Clean(e.Message)
	}
	end, err := time.Parse(eventTime, e.OperationId)
	if err != nil || end.Before(begin) {
		s.event(Event{Stage: span.Stage, Name: span.Name, At: span.Begin, Detail: span.Detail})
		return
	}
	span.End = Wall(end.UnixMicro(), 1000)
	s.span(span)
}
