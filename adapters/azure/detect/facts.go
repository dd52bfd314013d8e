package detect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// FactError is why a fact is unknown or cannot be used.
type FactError struct {
	// Fact is the fact's name in the document: "securityGroups".
	Fact string
	Err  error
}

// Error names the fact.
func (e *FactError) Error() string { return e.Fact + ": " + e.Err.Error() }

// Unwrap returns the reason.
func (e *FactError) Unwrap() error { return e.Err }

// AmbiguousError lists several candidates of which none is clearly the right one.
type AmbiguousError struct {
	// Why names the kind of the candidates, and what the user must give.
	Why string
	// Candidates are sorted.
	Candidates []string
}

// Error lists the candidates.
func (e *AmbiguousError) Error() string { return e.Why + ": " + strings.Join(e.Candidates, ", ") }

// likely is the confidence of a fact that is derived from something else.
const likely = "likely"

// finding is a document of facts under construction.
type finding struct {
	document *azure.Detected
	time     string
	wrong    []error
	// stopped is why detection ended early: the time is up, or the user has interrupted it.
	stopped error
}

func newFinding(time string) *finding {
	return &finding{document: &azure.Detected{APIVersion: nodeconfig.APIVersion, Kind: azure.DetectedKind}, time: time}
}

// fact makes a fact of a value, with its source and time.
func (f *finding) fact(value, source string) *azure.Fact {
	return &azure.Fact{Value: value, Source: source, Time: f.time}
}

// fail records why a fact is unknown. If err is nil, it does nothing.
func (f *finding) fail(fact string, err error) {
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		f.stopped = err // recorded once, not for each fact
	default:
		f.wrong = append(f.wrong, &FactError{fact, err})
	}
}

// result returns the document and all errors. It removes a fact that a launch would refuse, and reports the reason of
// launch/azure's own check, so that a launch can always read the document.
func (f *finding) result() (*azure.Detected, error) {
	data, err := json.Marshal(f.document)
	if err != nil {
		return f.document, errors.Join(append(f.wrong, err)...)
	}
	_, problems := azure.ReadDetected(data)
	for name, at := range f.document.Facts() {
		for _, p := range problems {
			if strings.HasPrefix(p.Path, "$."+name+".") {
				f.fail(name, fmt.Errorf("is %s, which a launch refuses: %s", shown(*at), p.Reason))
				*at = nil
				break
			}
		}
	}
	if f.stopped != nil {
		f.wrong = append(f.wrong, fmt.Errorf("not everything was asked: %w", f.stopped))
	}
	return f.document, errors.Join(f.wrong...)
}

// shown formats a fact's value for people.
func shown(f *azure.Fact) string {
	if f.Values != nil {
		return fmt.Sprintf("%q", f.Values)
	}
	return fmt.Sprintf("%q", f.Value)
}

// Merge merges two documents. The first one's facts win: give the API server's own answers first. Two facts that differ are an
// error each, because the documents may describe two clusters.
func Merge(first, second *azure.Detected) (*azure.Detected, error) {
	merged := *first
	others := make(map[string]*azure.Fact)
	for name, at := range second.Facts() {
		others[name] = *at
	}
	var wrong []error
	for name, at := range merged.Facts() {
		other := others[name]
		switch {
		case other == nil:
		case *at == nil:
			*at = other
		case !same(name, *at, other):
			wrong = append(wrong, &FactError{name, fmt.Errorf("%s and %s do not say the same; are they of one cluster?", (*at).Source, other.Source)})
		}
	}
	return &merged, errors.Join(wrong...)
}

// same compares two facts with the same name.
func same(name string, a, b *azure.Fact) bool {
	value := func(f *azure.Fact) string { return f.Value }
	switch name {
	case "kubernetesVersion": // v1.34.2 is 1.34.2
		value = func(f *azure.Fact) string { return strings.TrimPrefix(f.Value, "v") }
	case "certificateAuthority":
		value = func(f *azure.Fact) string { return strings.TrimSpace(f.Value) }
	}
	return value(a) == value(b) && slices.Equal(a.Values, b.Values)
}
