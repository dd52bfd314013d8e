package report_test

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/launch/report"
	"github.com/slipway-dev/slipway/status"
)

// read reads a file of the repository.
func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// statusOf is a status.json.
func statusOf(t testing.TB, code int, f *status.Failure) string {
	t.Helper()
	s := status.Status{Outcome: status.OutcomeFailure, ExitCode: code, Error: f}
	if code == 0 {
		s.Outcome = status.OutcomeSuccess
	}
	data, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRead(t *testing.T) {
	example := string(read(t, "../../status/testdata/cse-message.txt"))
	for name, c := range map[string]struct {
		text   string
		reason report.Reason // empty for an error
		retry  bool
		says   string // in the message or the action
	}{
		"AKS's example":      {example, report.Provisioned, false, "the machine is as the document asks"},
		"success":            {statusOf(t, 0, nil), report.Provisioned, false, ""},
		"token":              {statusOf(t, 51, &status.Failure{Cause: "credential", Endpoint: "https://api:443", Message: "HTTP status 401", Action: "put a new token"}), report.TokenRefused, true, "put a new token"},
		"DNS":                {statusOf(t, 52, &status.Failure{Cause: "dns", Message: "no such host"}), report.NameNotResolved, true, "no such host"},
		"no way out":         {statusOf(t, 50, &status.Failure{Cause: "dns", Message: "no such host"}), report.OutboundFailed, true, "no such host"},
		"component":          {statusOf(t, 121, &status.Failure{Cause: "missing", Message: "/usr/bin/kubelet is not there"}), report.ImageIncomplete, false, "kubelet"},
		"no error named":     {statusOf(t, 124, nil), report.TimedOut, true, "did not end within its time"},
		"provision.json":     {`{"ExitCode":"41","Output":"","Error":"bridge is not in /opt/cni/bin"}`, report.ImageIncomplete, false, "bridge"},
		"AKS's own code":     {`{"ExitCode":"240","Error":""}`, report.ProvisioningFailed, true, "the agent, the contract or a script failed"},
		"extension alone":    {"Enable failed: failed to execute command: command terminated with exit status=53\n[stdout]\n", report.NameNotResolved, true, "Azure's DNS"},
		"an unknown code":    {`{"ExitCode":"99999"}`, report.ProvisioningFailed, true, "99999"},
		"a secret in it":     {`{"ExitCode":"51","Error":"token abcdef.0123456789abcdef\nis refused"}`, report.APIServerUnreachable, true, "token [redacted] is refused"},
		"status that lies":   {strings.Replace(statusOf(t, 0, nil), "success", "failure", 1), "", false, ""},
		"status that lies 2": {strings.Replace(statusOf(t, 4, nil), "failure", "success", 1), "", false, ""},
		"code that is none":  {`{"ExitCode":"many"}`, "", false, ""},
		"nothing":            {"", "", false, ""},
	} {
		o, err := report.Read([]byte(c.text))
		if c.reason == "" {
			if o != nil || !errors.Is(err, report.ErrNoOutcome) {
				t.Errorf("%s: %+v, %v", name, o, err)
			}
			continue
		}
		if err != nil || o.Reason != c.reason || o.Retry != c.retry || !strings.Contains(o.Message+o.Action, c.says) || o.Succeeded() != (o.ExitCode == 0) {
			t.Errorf("%s: %+v, %v", name, o, err)
		}
		if o != nil && (o.Action == "") != (o.Succeeded() || c.says == "99999") {
			t.Errorf("%s: the action is %q", name, o.Action)
		}
	}
}

// TestOutcomeTable: each cause of the agent and each of its exit codes has one row, and no other code is in the table.
func TestOutcomeTable(t *testing.T) {
	source := string(read(t, "../../internal/resource/check.go"))
	causes := regexp.MustCompile(`(?m)^\tCause\w+ +Cause = "(.*?)"`).FindAllStringSubmatch(source, -1)
	if len(causes) < 16 {
		t.Fatalf("only %d causes", len(causes))
	}
	rows := report.Rows()
	for _, c := range causes {
		if rows["cause "+c[1]] != 1 {
			t.Errorf("the cause %s has %d rows", c[1], rows["cause "+c[1]])
		}
		delete(rows, "cause "+c[1])
	}
	for _, c := range exitcode.All() {
		key := report.CodeKey(c.Number)
		if n := rows[key]; n > 1 || n == 0 && c.Source == exitcode.Slipway {
			t.Errorf("the exit code %d has %d rows", c.Number, n)
		}
		delete(rows, key)
	}
	for key := range rows {
		t.Errorf("%s is not known", key)
	}
}

// FuzzRead: what a machine reports is hostile. Nothing else than a zero is a success.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"../../status/testdata/cse-message.txt", "../../status/testdata/failure.json.golden"} {
		if data, err := os.ReadFile(seed); err == nil {
			f.Add(string(data))
		}
	}
	f.Add(`{"ExitCode":"0","Error":" "}`)
	f.Fuzz(func(t *testing.T, text string) {
		o, err := report.Read([]byte(text))
		if err != nil {
			return
		}
		if o.Succeeded() != (o.ExitCode == 0) || len(o.Message) > 1024 || strings.ContainsAny(o.Message, "\n\x00") || o.Message == "" {
			t.Errorf("%+v", o)
		}
	})
}
