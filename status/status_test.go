package status

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/test/detector"
)

func TestStatusMarshal(t *testing.T) {
	for name, s := range map[string]*Status{"success": success(), "failure": failure(), "empty": {}} {
		t.Run(name, func(t *testing.T) {
			data, err := s.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json.golden", data)

			back, err := Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			want := *s
			want.APIVersion, want.Kind = APIVersion, Kind
			want.StartedAt, want.FinishedAt = s.StartedAt.UTC(), s.FinishedAt.UTC()
			if !reflect.DeepEqual(*back, want) {
				t.Errorf("read back as %+v, want %+v", *back, want)
			}
			again, err := back.Marshal()
			if err != nil || string(again) != string(data) {
				t.Errorf("written again: %v\n%s", err, again)
			}
		})
	}
}

func TestStatusMarshalLeavesTheStatusAlone(t *testing.T) {
	s := failure()
	s.Error.Message = strings.Repeat("é", maxMessage)
	s.Errors[0].Message = s.Error.Message
	data, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if got := back.Error.Message; len(got) > maxMessage || !strings.HasPrefix(s.Error.Message, got) || got == "" {
		t.Errorf("the message has %d bytes", len(got))
	}
	if len(s.Error.Message) != 2*maxMessage || len(s.Errors[0].Message) != 2*maxMessage || s.Kind != "" {
		t.Error("Marshal changed the status")
	}
}

// Every status can be written and parsed again, and counts the omitted entries.
func TestStatusHasABound(t *testing.T) {
	detector.Skip(t)
	long := strings.Repeat("\x01", 5000)
	for _, n := range []int{1, 200, 700} {
		s := &Status{Outcome: long, CodeName: long, AgentVersion: long, Identity: long, Config: Config{long, long, long, long}}
		s.Error = &Failure{long, long, long, long, long}
		for range n {
			s.Errors, s.Warnings = append(s.Errors, *s.Error), append(s.Warnings, *s.Error)
			s.Sources = append(s.Sources, Source{Name: long, Result: long})
			s.Problems = append(s.Problems, nodeconfig.Problem{Kind: nodeconfig.ProblemKind(long), Path: long, Reason: long})
			s.Changes = append(s.Changes, Change{long, Action(long)})
			s.Steps = append(s.Steps, Step{Name: long, Detail: long})
			s.Skipped, s.CriticalPath = append(s.Skipped, long), append(s.CriticalPath, long)
		}
		first, err := s.Marshal()
		if err != nil || int64(len(first)) > state.Status.Limit {
			t.Fatalf("%d: %d bytes, %v", n, len(first), err)
		}
		back, err := Parse(first)
		if err != nil {
			t.Fatalf("%d: %v", n, err)
		}
		left := Omitted{}
		if back.Omitted != nil {
			left = *back.Omitted
		}
		all := Omitted{
			Errors: len(back.Errors) + left.Errors, Warnings: len(back.Warnings) + left.Warnings, Sources: len(back.Sources) + left.Sources, Problems: len(back.Problems) + left.Problems,
			Changes: len(back.Changes) + left.Changes, Steps: len(back.Steps) + left.Steps, Skipped: len(back.Skipped) + left.Skipped,
		}
		if all != (Omitted{n, n, n, n, n, n, n}) {
			t.Errorf("%d: accounted for are %+v", n, all)
		}
		second, err := back.Marshal()
		if err != nil || string(second) != string(first) {
			t.Errorf("%d: written again it is another: %v", n, err)
		}
	}
}

// Of many problems the fatal ones are kept, and the report also counts all of them.
func TestManyProblems(t *testing.T) {
	s := success()
	for i := range 40000 {
		s.Problems = append(s.Problems, nodeconfig.Problem{Path: "$.node.labels", Reason: "is no label", Fatal: i%1000 == 999})
	}
	data, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	back, err := Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if fatal := nodeconfig.Fatal(back.Problems); len(fatal) != 40 || len(back.Problems) != MaxProblems || back.Omitted.Problems != 40002-MaxProblems {
		t.Errorf("%d fatal of %d, %+v", len(fatal), len(back.Problems), back.Omitted)
	}
	for name, of := range map[string]*Status{"as it was": s, "as it is read": back} {
		var b strings.Builder
		of.Print(&b, false)
		if text := b.String(); !strings.Contains(text, "and 20 more") || !strings.Contains(text, "and 39942 more") {
			t.Errorf("%s: the report is\n%s", name, text)
		}
	}
}

// Every action is counted by its own name.
func TestEveryActionHasAName(t *testing.T) {
	s := &Status{}
	for _, action := range actions {
		s.Changes = append(s.Changes, Change{"x", action})
	}
	var b strings.Builder
	s.Print(&b, false)
	text := strings.Join(strings.Fields(b.String()), " ")
	for _, action := range actions {
		if !strings.Contains(text, "1 "+string(action)) {
			t.Errorf("%s is not in\n%s", action, b.String())
		}
	}
	if strings.Contains(b.String(), "other") {
		t.Errorf("something else is in\n%s", b.String())
	}
}

func TestStatusMarshalRefusesATimeThatCannotBeWritten(t *testing.T) {
	s := Status{StartedAt: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)}
	if data, err := s.Marshal(); err == nil {
		t.Errorf("wrote %s", data)
	}
}

func TestParseRefuses(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"nothing":         {"", "cannot be read"},
		"half a document": {`{"apiVersion": "slipway.dev/v1", "kind"`, "cannot be read"},
		"a wrong type":    {`{"apiVersion": "slipway.dev/v1", "kind": "ProvisionStatus", "exitCode": "0"}`, "exitCode"},
		"another kind":    {`{"apiVersion": "slipway.dev/v1", "kind": "NodeConfig"}`, `"NodeConfig"`},
		"another version": {`{"apiVersion": "slipway.dev/v2", "kind": "ProvisionStatus"}`, `"slipway.dev/v2"`},
		"an AKS result":   {`{"ExitCode": "0"}`, `want "slipway.dev/v1"`},
		"too much":        {strings.Repeat(" ", int(state.Status.Limit)+1), "the limit is"},
	} {
		t.Run(name, func(t *testing.T) {
			if s, err := Parse([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) || s != nil {
				t.Errorf("Parse = %v, %v, want an error with %q", s, err, test.want)
			}
		})
	}
}

func TestParsePassesOverUnknownFields(t *testing.T) {
	s, err := Parse([]byte(`{"apiVersion": "slipway.dev/v1", "kind": "ProvisionStatus", "exitCode": 51, "node": {"name": "a"}}`))
	if err != nil || s.ExitCode != 51 {
		t.Errorf("Parse = %+v, %v", s, err)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []*Status{success(), failure(), {}} {
		data, err := s.Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"apiVersion": "slipway.dev/v1", "kind": "ProvisionStatus", "error": {"message": "\n\u001b[2J"}, "errors": [{}], ` +
		`"steps": [{"startMs": -9223372036854775808, "durationMs": 9223372036854775807, "name": "\t"}], "changes": [{}], "problems": [{}], "skipped": [""]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			return
		}
		checkReport(t, s)
		first, err := s.Marshal()
		if err != nil {
			return // a time whose year has five digits in UTC
		}
		back, err := Parse(first)
		if err != nil {
			t.Fatalf("does not read what it wrote: %v\n%s", err, first)
		}
		second, err := back.Marshal()
		if err != nil || string(second) != string(first) {
			t.Fatalf("%v: wrote\n%s\nand then\n%s", err, first, second)
		}
	})
}
