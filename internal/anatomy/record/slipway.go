package record

import (
	"bytes"
	"strings"

	"github.com/slipway-dev/slipway/status"
)

// agentUnit is the unit of Slipway's agent.
const agentUnit = "slipway-provision.service"

// awaited are the steps of the agent that wait for something else, and the event that ends the wait.
var awaited = map[string]string{
	"wait for address":     "address given",
	"certificate approval": "certificate approved",
}

// unitPrefix precedes a unit's name in the ID of the resource, which is the name of the step that starts it.
const unitPrefix = "Unit:"

func isStatus(head []byte) bool {
	return bytes.Contains(head, []byte(`"`+status.Kind+`"`)) && bytes.Contains(head, []byte(`"`+status.APIVersion+`"`))
}

// parseStatus reads the agent's status: its run, its sources and its steps.
func parseStatus(s *sink, data []byte) {
	result, err := status.Parse(data)
	if err != nil {
		s.unread(0, len(data), "%v", err)
		return
	}
	if result.StartedAt.IsZero() {
		s.unread(0, 0, "the status has no start time; its steps have no place on the clock")
		return
	}
	began := result.StartedAt.UnixMicro()
	at := func(ms int64) Moment { return Wall(began+min(max(ms, 0), 1<<40)*1000, 1000) }
	const run = "slipway-node"
	s.span(Span{Stage: Slipway, Name: run, Begin: at(0), End: at(result.DurationMs), Failed: result.Outcome == status.OutcomeFailure, By: agentUnit})
	s.event(Event{Stage: Slipway, Name: "agent running", At: at(0)})
	for _, source := range result.Sources {
		span := Span{Stage: Slipway, Name: "source " + Clean(source.Name), Begin: at(source.StartMs), End: at(source.StartMs + max(source.DurationMs, 0)),
			In: run, Detail: Clean(source.Result)}
		if !source.Found {
			span.For = "contract"
		}
		s.span(span)
	}
	for _, step := range result.Steps {
		span := Span{Stage: Slipway, Name: Clean(step.Name), Begin: at(step.StartMs), End: at(step.StartMs + max(step.DurationMs, 0)),
			In: run, Detail: Clean(step.Detail), For: awaited[step.Name]}
		if unit, ok := strings.CutPrefix(span.Name, unitPrefix); ok {
			span.Starts = unit
		}
		s.span(span)
	}
	if e := result.Error; e != nil {
		s.factAt(at(result.DurationMs), Slipway, "the provisioning failed: %s", Clean(e.String()))
	}
	if c := result.Config; c.Path != "" {
		s.factAt(at(0), Slipway, "the contract was in %s (%s, Kubernetes %s)", Clean(c.Path), Clean(c.Dialect), Clean(c.KubernetesVersion))
	}
}
