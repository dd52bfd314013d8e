package metadata

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
)

// goalState is what a report must repeat from the wire server's goal state.
type goalState struct{ incarnation, container, instance string }

// maxNesting limits the nesting of elements; a goal state has six levels.
const maxNesting = 32

// maxID limits the names that a report repeats, in bytes.
const maxID = 256

// parseGoalState parses a goal state, and reports whether it has everything for a report. The first of each value
// counts: a machine is one role's only instance.
func parseGoalState(data []byte) (goalState, bool) {
	var g goalState
	wanted := []struct {
		path []string
		into *string
	}{
		{[]string{"GoalState", "Incarnation"}, &g.incarnation},
		{[]string{"GoalState", "Container", "ContainerId"}, &g.container},
		{[]string{"GoalState", "Container", "RoleInstanceList", "RoleInstance", "InstanceId"}, &g.instance},
	}
	decoder := xml.NewDecoder(bytes.NewReader(data))
	var path []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return goalState{}, false
		}
		switch token := token.(type) {
		case xml.StartElement:
			if len(path) == maxNesting {
				return goalState{}, false
			}
			path = append(path, token.Name.Local)
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			for _, w := range wanted {
				if *w.into == "" && slices.Equal(path, w.path) {
					*w.into = strings.TrimSpace(string(token))
				}
			}
		}
	}
	for _, w := range wanted {
		if !printable(*w.into, maxID) {
			return goalState{}, false
		}
	}
	return g, true
}
