package scenario

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOneAtATime: timelines of two nodes, valid and invalid ones.
func TestOneAtATime(t *testing.T) {
	const changed = "start a, start b, change a, report a, change b, report b, "
	for text, wrong := range map[string]string{
		changed + "start c, stop a, gone a, start d, stop b, gone b":                                  "",
		changed + "start c, stop a, start d, gone a, stop b, gone b":                                  "",
		changed + "start c, start d, stop a, gone a, stop b, gone b":                                  "two are replaced at the same time",
		changed + "stop a, gone a, start c, start d, stop b, gone b":                                  "another one was not there before",
		"start a, start b, change a, change b, report a, report b":                                    "is told to change before a has reported",
		"start a, start b, change a, change a, report a, start c, gone a, start d, gone b":            "1 changed",
		changed + "change a, report a, start c, gone a, start d, gone b":                              "2 changed, with 3 changes",
		changed + "start c, stop a, gone a":                                                           "3 machines were started",
		"start a, report a, start b, report b, change a, report b, change b, start c, gone a, gone b": "is told to change before a has reported",
	} {
		var happened timeline
		for step := range strings.SplitSeq(text, ", ") {
			verb, name, _ := strings.Cut(step, " ")
			happened.add(map[string]string{
				"start": machineStarted, "stop": machineStopping, "gone": machineGone, "change": machineChanging, "report": machineReported,
			}[verb], name)
		}
		err := happened.oneAtATime(2)
		if wrong == "" && err != nil || wrong != "" && (err == nil || !strings.Contains(err.Error(), wrong)) {
			t.Errorf("%s: %v, want %q", text, err, wrong)
		}
		if lines := strings.Count(happened.String(), "\n"); lines != len(happened) {
			t.Errorf("%d lines for %d moments", lines, len(happened))
		}
	}
}

// TestVersionSaid: the last line of the last program counts.
func TestVersionSaid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	for log, ok := range map[string]bool{
		"":                    false,
		versionLine + "one\n": false,
		versionLine + "two":   true,
		versionLine + "one\nx\n" + versionLine + "two\ny\n": true,
		versionLine + "two\nx\n" + versionLine + "one\ny\n": false,
	} {
		if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := versionSaid(path, "two"); (err == nil) != ok {
			t.Errorf("%q: %v", log, err)
		}
	}
	if versionSaid(path+"x", "two") == nil {
		t.Error("there is no log")
	}
}

// TestTurnTo: the steps use the machine that was named last, and each place of the network has one machine.
func TestTurnTo(t *testing.T) {
	r := &caseRun{provisioner: &provisioner{}}
	p := r.provisioner
	for i, name := range []string{"a", "b", "c"} {
		if i > 0 {
			r.aside()
		}
		place, err := p.freePlace()
		if err != nil || place != i {
			t.Fatal(place, err)
		}
		p.name, p.place = name, place
	}
	if err := r.turnTo("a"); err != nil || p.name != "a" || p.place != 0 || len(p.others) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
	if err := r.turnTo("nobody"); err == nil || p.name != "a" {
		t.Errorf("%+v, %v", p, err)
	}
	r.aside()
	if _, err := p.freePlace(); err == nil {
		t.Error("there is a place for a fourth machine")
	}
}

// TestMissingConditions: a condition is true, true for one reason alone, or not true with a text.
func TestMissingConditions(t *testing.T) {
	have := []condition{{Type: "Launched", Status: "True", Reason: "Launched"}, {Type: "Provisioned", Status: "False", Reason: "TokenRefused", Message: "expired"}}
	for want, missing := range map[*conditionsArgs]string{
		{Conditions: []string{"Launched"}, False: map[string]string{"Provisioned": "TokenRefused: exp"}}: "",
		{Reasons: map[string]string{"Launched": "Launched"}}:                                             "",
		{Reasons: map[string]string{"Launched": "Launch"}}:                                               "Launched because of Launch",
		{Conditions: []string{"Provisioned"}, Reasons: map[string]string{"Drifted": "x"}}:                "Provisioned, Drifted because of x",
		{False: map[string]string{"Launched": ""}}:                                                       "Launched with ",
	} {
		if got := want.missing(have); got != missing {
			t.Errorf("%+v: %q, want %q", want, got, missing)
		}
	}
}
