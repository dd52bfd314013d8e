package status

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/slipway-dev/slipway/internal/state"
)

// example is the result of a successful provisioning.
func example() CSEStatus {
	kernel := time.Date(2024, 11, 12, 17, 23, 33, 0, time.UTC)
	at := func(seconds int) string { return SystemdTime(kernel.Add(time.Duration(seconds) * time.Second)) }
	cse := DateTime(kernel.Add(33 * time.Second))
	return CSEStatus{
		ExitCode:                "0",
		Output:                  "decode <config> && plan\n\"apply\" \\ done\tok",
		ExecDuration:            "18",
		KernelStartTime:         at(0),
		CloudInitLocalStartTime: at(2),
		CloudInitStartTime:      at(6),
		CloudFinalStartTime:     at(32),
		NetworkdStartTime:       at(4),
		CSEStartTime:            cse,
		GuestAgentStartTime:     at(20),
		BootDatapoints: BootDatapoints{
			KernelStartTime:     at(0),
			CSEStartTime:        cse,
			GuestAgentStartTime: at(20),
			KubeletStartTime:    at(47),
		},
	}
}

func TestCSEMarshal(t *testing.T) {
	data, err := example().Marshal()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "cse.json.golden", data)
	back, err := ParseCSE(data)
	if err != nil || back != example() {
		t.Errorf("read back as %+v, %v", back, err)
	}
}

func TestCSEMarshalIsBounded(t *testing.T) {
	long := strings.Repeat("0123456789", 1000)
	before, behind := "[cut: /var/lib/slipway/status.json has more]\n", " [cut: /var/lib/slipway/status.json has more]"
	euros, accents := (maxCSEOutput-len(before))/3, (maxCSEError-len(behind))/2
	for name, test := range map[string]struct {
		output, error       string
		wantOutput, wantErr string
	}{
		"long output":  {output: long, wantOutput: before + long[len(long)-maxCSEOutput+len(before):]},
		"long error":   {error: long, wantErr: long[:maxCSEError-len(behind)] + behind},
		"longest":      {output: long[:maxCSEOutput], wantOutput: long[:maxCSEOutput]},
		"longest too":  {error: long[:maxCSEError], wantErr: long[:maxCSEError]},
		"inner bytes":  {output: strings.Repeat("€", 2000), wantOutput: before + strings.Repeat("€", euros), error: strings.Repeat("é", 501), wantErr: strings.Repeat("é", accents) + behind},
		"broken runes": {output: "a\xffb", wantOutput: "a\ufffdb", error: "\xc3", wantErr: "\ufffd"},
	} {
		t.Run(name, func(t *testing.T) {
			// Without times, the maximum of all parts fits.
			data, err := CSEStatus{ExitCode: "240", Output: test.output, Error: test.error}.Marshal()
			if err != nil {
				t.Fatal(err)
			}
			got, err := ParseCSE(data)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasSuffix(test.wantOutput, strings.TrimPrefix(got.Output, before)) || got.Error != test.wantErr {
				t.Errorf("output of %d bytes, error of %d bytes", len(got.Output), len(got.Error))
			}
			if test.error == "" && got.Output != test.wantOutput {
				t.Errorf("output of %d bytes, want %d", len(got.Output), len(test.wantOutput))
			}
		})
	}
}

// TestCSEMarshalFitsTheExtension checks that a result with any texts reaches its reader complete.
func TestCSEMarshalFitsTheExtension(t *testing.T) {
	for _, unit := range []string{"a", "\n", "\"", "\x00", "é", "😀", "\xffa", "line of a log\n"} {
		s := example()
		s.ExitCode, s.Output, s.Error, s.SystemdSummary = "51", strings.Repeat(unit, 9000), strings.Repeat(unit, 9000), strings.Repeat("s", 999)
		data, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > maxCSEDocument || len(data) < maxCSEDocument-100 {
			t.Errorf("of %q: %d bytes", unit, len(data))
		}
		if !utf8.Valid(data) || !json.Valid(data) {
			t.Errorf("of %q: not valid: %s", unit, data)
		}
		back, err := ParseCSE(data)
		if err != nil {
			t.Fatal(err)
		}
		if code, err := back.Code(); code != 51 || err != nil {
			t.Errorf("of %q: exit code %d, %v", unit, code, err)
		}
		if back.Error == "" || back.BootDatapoints != example().BootDatapoints {
			t.Errorf("of %q: lost what matters: %s", unit, data)
		}
	}
}

func TestParseCSEIsTolerant(t *testing.T) {
	for name, test := range map[string]struct {
		data string
		want CSEStatus
	}{
		"other case":          {`{"exitCode": "0", "ERROR": "e", "bootDatapoints": {"kubeletstarttime": "k"}}`, CSEStatus{ExitCode: "0", Error: "e", BootDatapoints: BootDatapoints{KubeletStartTime: "k"}}},
		"unknown keys":        {`{"ExitCode": "0", "New": {"a": [1, {}]}, "BootDatapoints": {"New": []}}`, CSEStatus{ExitCode: "0"}},
		"a number":            {`{"ExitCode": 51}`, CSEStatus{ExitCode: "51"}},
		"null":                {`{"ExitCode": "0", "Error": null, "BootDatapoints": null}`, CSEStatus{ExitCode: "0"}},
		"other types":         {`{"ExitCode": "0", "Output": ["a"], "BootDatapoints": "none"}`, CSEStatus{ExitCode: "0", Output: `["a"]`}},
		"the later of two":    {`{"ExitCode": "1", "exitcode": "2"}`, CSEStatus{ExitCode: "2"}},
		"space around":        {"\n {\"ExitCode\": \"0\"}\r\n\n", CSEStatus{ExitCode: "0"}},
		"what is not a run":   {`{}`, CSEStatus{}},
		"text that is broken": {"{\"Output\": \"a\xffb\"}", CSEStatus{Output: "a\ufffdb"}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := ParseCSE([]byte(test.data)); err != nil || got != test.want {
				t.Errorf("ParseCSE = %+v, %v, want %+v", got, err, test.want)
			}
		})
	}
}

func TestParseCSERefuses(t *testing.T) {
	for name, test := range map[string]struct{ data, want string }{
		"nothing":       {" \n", "empty"},
		"a list":        {`["ExitCode"]`, "one JSON object"},
		"null":          {`null`, "one JSON object"},
		"text":          {`exit 0`, "one JSON object"},
		"half of one":   {`{"ExitCode": "0", "Output": "tru`, "unexpected EOF"},
		"an open end":   {`{"ExitCode": "0"`, "unexpected EOF"},
		"two":           {`{"ExitCode": "0"}{"ExitCode": "1"}`, "text after"},
		"text behind":   {`{"ExitCode": "0"} done`, "text after"},
		"a colon short": {`{"ExitCode" "0"}`, "one JSON object"},
		"too much":      {`{"ExitCode": "0"}` + strings.Repeat(" ", int(state.Result.Limit)), "the limit is"},
		"too deep":      {`{"Output": ` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, "depth"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseCSE([]byte(test.data))
			if err == nil || !strings.Contains(err.Error(), test.want) || got != (CSEStatus{}) {
				t.Errorf("ParseCSE = %+v, %v, want an error with %q", got, err, test.want)
			}
		})
	}
}

func TestCSECode(t *testing.T) {
	for text, want := range map[string]int{"0": 0, "51": 51, "240": 240, "-1": -1} {
		if got, err := (CSEStatus{ExitCode: text}).Code(); err != nil || got != want {
			t.Errorf("Code of %q = %d, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "no ExitCode", "  ": "no ExitCode", "zero": `"zero"`, " 0": `" 0"`, "0.0": `"0.0"`, "{}": `"{}"`,
		"99999999999999999999": "not an integer", strings.Repeat("0", 65) + "5": "not an integer",
	} {
		if got, err := (CSEStatus{ExitCode: text}).Code(); err == nil || got != 0 || !strings.Contains(err.Error(), want) {
			t.Errorf("Code of %q = %d, %v, want an error with %q", text, got, err, want)
		}
	}
}

func TestTimes(t *testing.T) {
	if got := SystemdTime(start); got != "Tue 2024-11-12 16:24:06 UTC" {
		t.Errorf("SystemdTime = %q", got)
	}
	if got := DateTime(start); got != "Tue Nov 12 16:24:06 UTC 2024" {
		t.Errorf("DateTime = %q", got)
	}
	if got := DateTime(start.AddDate(0, 0, -11)); got != "Fri Nov  1 16:24:06 UTC 2024" {
		t.Errorf("DateTime = %q", got)
	}
	if got := SystemdTime(time.Time{}) + DateTime(time.Time{}); got != "" {
		t.Errorf("the zero time is %q", got)
	}
}

func FuzzParseCSE(f *testing.F) {
	data, err := example().Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	for _, s := range []string{
		`{}`, `{"exitcode": 0}`, `{"ExitCode": "51", "Output": "\u0000\ud800", "BootDatapoints": {"": null}}`,
		`{"ExitCode": "0", "exitCODE": "00000000000000000000000000000000000000000000000000000000000000001"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := ParseCSE(data)
		if err != nil {
			return
		}
		code, codeErr := s.Code()
		first, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseCSE(first)
		if err != nil {
			t.Fatalf("does not read what it wrote: %v\n%s", err, first)
		}
		if again, err := back.Code(); again != code || (err == nil) != (codeErr == nil) {
			t.Fatalf("exit code %d, %v, read back as %d, %v", code, codeErr, again, err)
		}
		second, err := back.Marshal()
		if err != nil || string(second) != string(first) {
			t.Fatalf("%v: wrote\n%s\nand then\n%s", err, first, second)
		}
	})
}
