package document

import (
	"fmt"
	"strings"
	"testing"
)

// Thousands of unknown fields are one more problem, not thousands of them.
func TestManyUnknownFields(t *testing.T) {
	const fields = MaxUnknown + 800
	var b strings.Builder
	for i := range fields {
		fmt.Fprintf(&b, "unknown%d: 1\n", i)
	}
	n, err := Parse([]byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	var target struct{}
	Decode(n, &target, Options{Names: JSONNames, Report: func(f Fault) { reasons = append(reasons, f.Reason) }})
	if len(reasons) != MaxUnknown+1 || reasons[MaxUnknown] != "has 800 more unknown fields, all ignored" {
		t.Errorf("%d problems, the last: %s", len(reasons), reasons[len(reasons)-1])
	}
}
