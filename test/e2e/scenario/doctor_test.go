package scenario

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/doctor"
)

// TestTablesOfFaultsCanBeRead reads the tables that the cases' steps name, with all steps of all faults.
func TestTablesOfFaultsCanBeRead(t *testing.T) {
	cases, err := Load(filepath.Join("..", "cases"))
	if err != nil {
		t.Fatal(err)
	}
	faults := 0
	for _, c := range cases {
		for _, step := range c.Steps {
			var args doctorArgs
			node, is := step["doctor"]
			if !is {
				continue
			}
			if err := decodeArgs(&node, &args); err != nil {
				t.Fatal(err)
			}
			for _, name := range args.Faults {
				table, err := readFaults(filepath.Join(c.Dir, name))
				if err != nil {
					t.Error(err)
				}
				faults += len(table)
				for _, f := range table {
					isBash(t, f.Apply)
					isBash(t, f.Mend)
				}
			}
		}
	}
	if faults < 35 {
		t.Errorf("the tables have %d faults, want at least 35", faults)
	}
}

// isBash checks the command lines of steps, which bash runs in the machine.
func isBash(t *testing.T, list stepList) {
	t.Helper()
	for _, step := range list {
		var args guestArgs
		node, is := step["guest"]
		if !is {
			continue
		}
		if err := decodeArgs(&node, &args); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), "bash", "-n", "-c", args.Run).CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", args.Run, err, out)
		}
	}
}

func TestFaultInAllItsForms(t *testing.T) {
	faults, err := parseFaults([]byte(`
- fault: a
  apply: echo
  verdict: names/silent
- fault: b
  apply: [echo, apiServer: {running: false}]
  mend:
    - guest: {run: "true", until: true}
  verdict: route/none
  beside: [names/none]
`))
	if err != nil {
		t.Fatal(err)
	}
	var args guestArgs
	line := faults[1].Apply[0]["guest"]
	if err := decodeArgs(&line, &args); err != nil || args.Run != "echo" || args.Until {
		t.Errorf("a line is the step %+v, %v", args, err)
	}
	if _, is := faults[1].Apply[1]["apiServer"]; !is || len(faults[0].Apply) != 1 || len(faults[0].Mend) != 0 {
		t.Errorf("the faults are %+v", faults)
	}
}

func TestInvalidFaults(t *testing.T) {
	const whole = "- {fault: a, apply: x, mend: y, verdict: names/silent}\n"
	for text, want := range map[string]string{
		"[]":    "the last fault must be mended",
		"a: b":  "cannot unmarshal",
		"- {c}": "field c",
		"- {fault: a, apply: x, verdict: names/silent}": "the last fault must be mended",
		"- {fault: a, mend: x, verdict: names/silent}":  "nothing applies it",
		whole + whole: `fault 2: "a" is no name`,
		"- {fault: a, apply: x, mend: y, verdict: names}":                   `"names" is no check`,
		"- {fault: a, apply: x, mend: y, verdict: names/x}":                 `"names/x" is no check`,
		"- {fault: a, apply: x, mend: y, verdict: names/none, beside: [q]}": `"q" is no check`,
		"- {fault: a, apply: [explode: {}], mend: y, verdict: names/none}":  `no step "explode"`,
		"- {fault: a, apply: {guest: {rum: x}}, mend: y, verdict: k/l}":     "field rum",
	} {
		if _, err := parseFaults([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
	_, err := parseFaults([]byte("- {fault: a, apply: x, verdict: q}\n- {fault: b, mend: x, verdict: r}"))
	if err == nil || strings.Count(err.Error(), "fault ") != 3 {
		t.Errorf("not all faults of a table are reported: %v", err)
	}
}

func TestJudge(t *testing.T) {
	report := func(health doctor.Health, verdicts ...string) *doctor.Report {
		r := &doctor.Report{Health: health}
		for _, v := range verdicts {
			name, cause, isWrong := strings.Cut(v, "/")
			state := doctor.Unknown
			if isWrong {
				state = doctor.Wrong
			}
			r.Checks = append(r.Checks, doctor.Result{Check: name, Cause: cause, State: state, Verdict: "says " + v})
		}
		return r
	}
	f := fault{Verdict: "names/silent", Beside: []string{"registry/denied"}}
	for _, c := range []struct {
		report *doctor.Report
		want   []string
	}{
		{report(doctor.Sick, "names/silent"), nil},
		{report(doctor.Sick, "names/silent", "kubelet", "registry/denied"), nil},
		{report(doctor.Healthy), []string{"no fault is claimed (healthy), want names/silent"}},
		{report(doctor.NotKnown, "names"), []string{"no fault is claimed (not known), want names/silent"}},
		{report(doctor.Sick, "route/none"), []string{"the first verdict is route/none, want names/silent: says route/none"}},
		{report(doctor.Sick, "route/none", "swap/swap", "names/none"), []string{
			"the first verdict is route/none, want names/silent: says route/none", "swap/swap stands beside it: says swap/swap", "names/none stands beside it: says names/none",
		}},
	} {
		err := f.judge(c.report)
		if (err == nil) != (c.want == nil) || err != nil && err.Error() != strings.Join(c.want, "\n") {
			t.Errorf("%s: %v, want %q", claims(c.report), err, c.want)
		}
	}
}

func TestParseExamination(t *testing.T) {
	report, seconds, err := parseExamination("1 100.25 103.5\n" + `{"health":"sick","checks":[{"check":"names","state":"wrong","cause":"none"}]}` + "\n")
	if err != nil || seconds != 3.25 || len(report.Wrong()) != 1 {
		t.Errorf("%v, %g seconds, %v", report, seconds, err)
	}
	for _, out := range []string{"", "1 2 3\n", "x 2 3\n{}", "0 1 2\n{\"health\":\"sick\"}", "64 1 2\nusage"} {
		if _, _, err := parseExamination(out); err == nil {
			t.Errorf("%q passes for an examination", out)
		}
	}
}

// TestExaminationPrintsOneReport runs the line of an examination with another doctor.
func TestExaminationPrintsOneReport(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "slipway-node"), []byte("#!/bin/sh\necho still >&2\necho '{\"health\":'\necho '\"not known\"}'\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "bash", "-c", strings.ReplaceAll(examination, "/opt/slipway/bin", dir)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if report, _, err := parseExamination(string(out)); err != nil || report.Health != doctor.NotKnown {
		t.Errorf("%v: %q", err, out)
	}
}
