package facts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// howToGet is where a user gets facts from.
const howToGet = `give what "slipway-node facts -o json" prints on such a machine`

// ParseGiven reads facts that a user gives. Unlike [Parse], which reads the agent's own records, it refuses every other document: with
// the facts of no machine, the plan would be another one without a warning.
func ParseGiven(data []byte) (Facts, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(data, &fields); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return Facts{}, fmt.Errorf("is not facts but a JSON %s; %s", wrong.Value, howToGet)
		}
		return Facts{}, fmt.Errorf("is not facts, because it is not valid JSON: %w; %s", err, howToGet)
	}
	var kind string
	_ = json.Unmarshal(fields["kind"], &kind)
	switch {
	case kind != "":
		return Facts{}, fmt.Errorf("is not facts but a document of kind %q; %s", kind, howToGet)
	case len(fields) == 0:
		return Facts{}, fmt.Errorf("has no facts: it is empty; %s", howToGet)
	}
	var f Facts
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&f); err != nil {
		return Facts{}, fmt.Errorf("is not facts: %w; %s", err, howToGet)
	}
	return f, nil
}
