package doctor_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/doctor"
)

// is is a check that has found something.
func is(name string, finding *doctor.Finding, needs ...string) doctor.Check {
	return doctor.Check{Name: name, Needs: needs, Look: func(context.Context, *doctor.Patient) *doctor.Finding { return finding }}
}

// hangs is a check that does not end before its context, or never.
func hangs(name string, never bool, needs ...string) doctor.Check {
	return doctor.Check{Name: name, Needs: needs, Look: func(ctx context.Context, _ *doctor.Patient) *doctor.Finding {
		<-ctx.Done()
		if never {
			time.Sleep(time.Hour)
		}
		return &doctor.Finding{State: doctor.Wrong, Cause: "slow", Says: "does not answer"}
	}}
}

// told is a report in a line for each check.
func told(r *doctor.Report) string {
	lines := []string{string(r.Health)}
	for _, c := range r.Checks {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s: %s: %s %s", c.Check, c.State, c.Verdict, c.Action)))
	}
	return strings.Join(lines, "\n")
}

var (
	isFine    = &doctor.Finding{State: doctor.Fine, Says: "runs"}
	isWrong   = &doctor.Finding{State: doctor.Wrong, Cause: "down", Says: "is down"}
	isUnknown = &doctor.Finding{State: doctor.Unknown, Says: "cannot be read"}
)

func TestWhatFollowsFromAFaultIsNotLookedAt(t *testing.T) {
	live := is("live", isFine)
	live.Live = true
	panics := doctor.Check{Name: "panics", Look: func(context.Context, *doctor.Patient) *doctor.Finding { panic("out of range") }}
	broken := is("broken", isWrong)
	broken.Causes = []doctor.Cause{{Name: "up"}, {Name: "down", Action: "start it"}}
	secret := is("secret", &doctor.Finding{State: doctor.Fine, Says: "runs with --token=abcdef.0123456789abcdef\n\x1b[31m"})
	for name, test := range map[string]struct {
		checks    []doctor.Check
		directory bool
		want      string
	}{
		"healthy": {[]doctor.Check{is("a", isFine), is("b", isFine, "a")}, false, "healthy\na: fine: runs\nb: fine: runs"},
		"a chain": {[]doctor.Check{broken, is("b", isFine, "broken"), is("c", isFine, "b"), is("d", isFine)}, false,
			"sick\nbroken: wrong: is down start it\nb: not looked at: it rests on broken\nc: not looked at: it rests on broken\nd: fine: runs"},
		"unknown stops nothing": {[]doctor.Check{is("a", isUnknown), is("b", isFine, "a")}, false, "not known\na: not known: cannot be read\nb: fine: runs"},
		"a directory":           {[]doctor.Check{live, is("b", isFine, "live")}, true, "healthy\nlive: not looked at: a directory shows only files\nb: fine: runs"},
		"nothing to see":        {[]doctor.Check{live}, true, "not known\nlive: not looked at: a directory shows only files"},
		"a panic":               {[]doctor.Check{panics, is("b", isFine, "panics")}, false, "not known\npanics: not known: the check has failed: out of range\nb: fine: runs"},
		"a secret":              {[]doctor.Check{secret}, false, "healthy\nsecret: fine: runs with --token=[redacted] [31m"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &doctor.Patient{Now: time.Now, Directory: test.directory}
			if got := told(doctor.Examine(t.Context(), test.checks, p)); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// No check holds up the examination for longer than 15 seconds of an ordinary machine, not even many that never end.
func TestExaminationEnds(t *testing.T) {
	for _, pace := range []float64{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			var checks []doctor.Check
			for i := range 30 {
				check := hangs(fmt.Sprint(i), i%2 == 0)
				if i > 0 {
					check.Needs = []string{fmt.Sprint(i - 1)}
				}
				if i%2 == 1 {
					check.Look = func(ctx context.Context, _ *doctor.Patient) *doctor.Finding { <-ctx.Done(); return isUnknown }
				}
				checks = append(checks, check)
			}
			var waiting []string
			begin := time.Now()
			p := &doctor.Patient{Now: time.Now, Pace: pace, Waiting: func(names []string) { waiting = append(waiting, names...) }}
			report := doctor.Examine(t.Context(), checks, p)
			if took := time.Since(begin); took > p.Patience(15*time.Second) {
				t.Errorf("took %s at pace %v", took, pace)
			}
			if report.Health != doctor.NotKnown || len(report.Checks) != len(checks) || !slices.Contains(waiting, "1") {
				t.Errorf("%s, waited for %q", told(report), waiting)
			}
			time.Sleep(2 * time.Hour) // until all have ended
		})
	}
}

func TestCheckReportsWhatItFoundUntilItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		report := doctor.Examine(t.Context(), []doctor.Check{hangs("a", false), hangs("b", true)}, &doctor.Patient{Now: time.Now})
		want := "sick\na: wrong: does not answer\nb: not known: the check did not end within 1s"
		if got := told(report); got != want || time.Since(begin) > 2*time.Second {
			t.Errorf("after %s\n%s", time.Since(begin), got)
		}
		time.Sleep(2 * time.Hour)
	})
}

func TestNamedChecksBringTheirNeeds(t *testing.T) {
	checks := []doctor.Check{is("a", isFine), is("b", isFine, "a"), is("c", isFine), is("d", isFine, "b")}
	var names []string
	for _, check := range doctor.Named(checks, "d", "missing") {
		names = append(names, check.Name)
	}
	if got := strings.Join(names, " "); got != "a b d" {
		t.Errorf("got %s", got)
	}
}

// Each row of the table is complete, and needs only rows before it.
func TestTable(t *testing.T) {
	var names []string
	for _, check := range doctor.Checks {
		switch {
		case check.Name == "" || check.Asks == "" || check.Group == "" || check.Look == nil || len(check.Causes) == 0:
			t.Errorf("%q is not complete", check.Name)
		case slices.Contains(names, check.Name):
			t.Errorf("%s is there twice", check.Name)
		}
		for _, need := range check.Needs {
			if !slices.Contains(names, need) {
				t.Errorf("%s needs %s, which is not before it", check.Name, need)
			}
		}
		var causes []string
		for _, cause := range check.Causes {
			if cause.Name == "" || cause.Means == "" || cause.Action == "" || slices.Contains(causes, cause.Name) {
				t.Errorf("%s: the cause %q is not complete, or there twice", check.Name, cause.Name)
			}
			causes = append(causes, cause.Name)
		}
		names = append(names, check.Name)
	}
}
