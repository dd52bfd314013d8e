package status

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// aksMessage is the example in AKS's own documentation (aks-node-controller, "Extracting Provision Status"), unchanged.
func aksMessage(t testing.TB) string {
	t.Helper()
	data, err := os.ReadFile("testdata/cse-message.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const (
	failed = "Enable failed: failed to execute command: command terminated with exit status="
	// kept is how much of an output Azure keeps.
	kept = 4096
)

// ofNode is a message with a result of Slipway.
func ofNode(t testing.TB, code, output string) string {
	t.Helper()
	s := example()
	s.ExitCode, s.Output = code, output
	data, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	return "[stdout]\n" + string(data) + "\n[stderr]\n"
}

func TestParseCSEMessage(t *testing.T) {
	long := ofNode(t, "51", strings.Repeat("a line of the log { \"not\": one }\n", 60))
	for name, c := range map[string]struct {
		message string
		code    string // empty for an error
		kubelet string
	}{
		"AKS's example":                 {aksMessage(t), "0", "Tue 2024-11-12 17:24:20 UTC"},
		"with a sentence":               {"Enable succeeded: \n" + aksMessage(t) + "warning: something\n", "0", "Tue 2024-11-12 17:24:20 UTC"},
		"a failure":                     {failed + "51\n" + ofNode(t, "51", ""), "51", "Tue 2024-11-12 17:24:20 UTC"},
		"cut at the end":                {long[:len(long)/2], "51", ""},
		"cut at the end, with sentence": {(failed + "51\n" + long)[:kept/2], "51", ""},
		"cut at the beginning":          {long[len(long)-kept/4:], "", ""},
		"cut at the beginning, but the sentence is there": {failed + "51\n[stdout]\n" + long[len(long)-kept/4:], "51", ""},
		"cut within the code":                             {"[stdout]\n{\n    \"ExitCode\": \"5", "", ""},
		"without JSON":                                    {failed + "124\n[stdout]\n\n[stderr]\ntimeout\n", "124", ""},
		"nothing printed":                                 {"Enable failed: failed to execute command: command terminated with exit status=1", "1", ""},
		"neither":                                         {"[stdout]\nready\n[stderr]\n", "", ""},
		"empty":                                           {"", "", ""},
		"two results":                                     {ofNode(t, "50", "") + ofNode(t, "0", ""), "0", "Tue 2024-11-12 17:24:20 UTC"},
		"two on one line":                                 {`[stdout] {"ExitCode":"0"} {"ExitCode":"34"} [stderr]`, "34", ""},
		"a result in a text":                              {ofNode(t, "34", `{"ExitCode":"0"}`), "34", "Tue 2024-11-12 17:24:20 UTC"},
		"objects that are no result":                      {`[stdout] {"a":1} {} ${X} {"ExitCode":"7"} {"b":{"ExitCode":"0"}} [stderr]`, "7", ""},
		"braces without an object":                        {`[stdout] { "x" y {"ExitCode": "9"} [stderr]`, "9", ""},
		"the command says more":                           {failed + "4\n" + ofNode(t, "0", ""), "4", "Tue 2024-11-12 17:24:20 UTC"},
		"the result says more":                            {failed + "1\n" + ofNode(t, "51", ""), "51", "Tue 2024-11-12 17:24:20 UTC"},
		"an invalid code":                                 {failed + "many\n[stdout]\n\n[stderr]\n", "", ""},
		"a code that is too large":                        {failed + "4000\n[stdout]\n\n[stderr]\n", "", ""},
		"printed as if it were the extension's":           {"Enable succeeded: \n[stdout]\nexit status=0\n[stderr]\n", "", ""},
		"too many objects":                                {"[stdout]\n" + strings.Repeat(`{"a"`, maxObjects+1) + `{"ExitCode":"0"}`, "", ""},
		"too long":                                        {ofNode(t, "0", "") + strings.Repeat(" ", maxCSEMessage), "", ""},
		"provision.json":                                  {strings.TrimPrefix(ofNode(t, "34", ""), "[stdout]\n"), "34", "Tue 2024-11-12 17:24:20 UTC"},
	} {
		s, err := ParseCSEMessage(c.message)
		if c.code == "" {
			if !errors.Is(err, ErrNoResult) || s != (CSEStatus{}) {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
			continue
		}
		if err != nil || s.ExitCode != c.code || s.BootDatapoints.KubeletStartTime != c.kubelet {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// FuzzParseCSEMessage: for every output, a message with the extension's own error code never becomes a success by another code, and
// a complete result is found behind any noise without braces.
func FuzzParseCSEMessage(f *testing.F) {
	whole := ofNode(f, "34", "x")
	f.Add(aksMessage(f))
	f.Add(whole[:100])
	f.Add(whole[300:])
	f.Add(`{"a":`)
	f.Fuzz(func(t *testing.T, printed string) {
		if s, err := ParseCSEMessage(failed + "50\n[stdout]\n" + printed); err == nil && s.ExitCode == "0" || err != nil && len(printed) < kept {
			t.Errorf("%+v, %v", s, err)
		}
		if noise := strings.ReplaceAll(printed, "{", ""); len(noise) < kept {
			if s, err := ParseCSEMessage("[stdout]\n" + noise + whole); err != nil || s.ExitCode != "34" {
				t.Errorf("%+v, %v", s, err)
			}
		}
	})
}
