package nodeconfig_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/nodeconfig"
)

func TestProblems(t *testing.T) {
	problems := []nodeconfig.Problem{
		{Path: "$.b", Reason: "1"}, {Path: "$.z", Reason: "2", Fatal: true}, {Path: "$.a", Reason: "3"},
		{Path: "$.b", Reason: "4"}, {Path: "$.a", Reason: "5", Fatal: true},
	}
	if got := nodeconfig.Fatal(problems); len(got) != 2 || got[0].Reason != "2" || got[1].Reason != "5" {
		t.Errorf("got %v as fatal", got)
	}
	if got := nodeconfig.Fatal(problems[:1]); len(got) != 0 {
		t.Errorf("got %v as fatal", got)
	}
	nodeconfig.SortProblems(problems)
	var order string
	for _, p := range problems {
		order += p.Reason
	}
	if order != "52314" {
		t.Errorf("got order %s", order)
	}
	if got := []string{problems[0].String(), problems[4].String()}; !slices.Equal(got, []string{"error: $.a: 5", "warning: $.b: 4"}) {
		t.Errorf("got %q", got)
	}
	if got, err := json.Marshal(problems[0]); err != nil || string(got) != `{"path":"$.a","reason":"5","fatal":true}` {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestTaintString(t *testing.T) {
	for want, taint := range map[string]nodeconfig.Taint{
		"a=b:NoSchedule": {Key: "a", Value: "b", Effect: "NoSchedule"},
		"a:NoExecute":    {Key: "a", Effect: "NoExecute"},
	} {
		if got := taint.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1h30m": 90 * time.Minute, "1.5m": 90 * time.Second, "0": 0, "0s": 0, "1ns": 1, "+5s": 5 * time.Second,
		"2562047h47m16.854775807s": 1<<63 - 1,
	} {
		var d nodeconfig.Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.Std() != want {
			t.Errorf("%s: got %s, %v", text, d, err)
		}
		back, err := d.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		var again nodeconfig.Duration
		if err := again.UnmarshalText(back); err != nil || again != d {
			t.Errorf("%s: got %s back, %v", text, back, err)
		}
	}
	for _, text := range []string{"", "5", "-1s", "1 s", "1d", "x", "1e3s", "9999999h", "1s\n"} {
		d := nodeconfig.Duration(7)
		if err := d.UnmarshalText([]byte(text)); err == nil || d != 7 {
			t.Errorf("%q: got %s, %v", text, d, err)
		}
	}
}
