package status

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/state"
)

// CSEStatus is AKS's result of a provisioning: provision.json, and what the custom script extension
// returns. All values are strings; times are formatted by [SystemdTime], CSEStartTime by [DateTime].
type CSEStatus struct {
	ExitCode                string
	Output                  string // the end of the log
	Error                   string
	ExecDuration            string // whole seconds
	KernelStartTime         string
	CloudInitLocalStartTime string
	CloudInitStartTime      string
	CloudFinalStartTime     string
	NetworkdStartTime       string
	CSEStartTime            string
	GuestAgentStartTime     string
	SystemdSummary          string
	BootDatapoints          BootDatapoints
}

// BootDatapoints are the times at which the machine got how far.
type BootDatapoints struct {
	KernelStartTime     string
	CSEStartTime        string
	GuestAgentStartTime string
	KubeletStartTime    string
}

// How long the parts of a result may be, in bytes. The extension keeps about 4000 bytes of what is
// printed; a longer document would reach its reader without its beginning, and so without ExitCode.
const (
	maxCSEDocument = 4000
	maxCSEOutput   = 3000
	maxCSEError    = 1000
	maxCSESummary  = 256
	maxCSEValue    = 64
)

// Code returns the exit code. A result that has none, or something else in its place, is an error.
func (s CSEStatus) Code() (int, error) {
	if strings.TrimSpace(s.ExitCode) == "" {
		return 0, errors.New("the result has no ExitCode")
	}
	code, err := strconv.Atoi(s.ExitCode)
	// A number this long would not survive Marshal, whose reader must come to the same answer.
	if err != nil || len(s.ExitCode) > maxCSEValue/2 {
		return 0, fmt.Errorf("the result's ExitCode is not an integer: %q", head(s.ExitCode, maxCSEValue/2))
	}
	return code, nil
}

// Marshal writes the result as AKS does: indented by four spaces, all keys present. Texts are made
// valid UTF-8 and shortened, Output to its end and Error to its beginning, with a note that says so; Output gives way first
// where the document would be too long for the extension.
func (s CSEStatus) Marshal() ([]byte, error) {
	s = s.bounded()
	for {
		data, err := encode(s, "    ")
		excess := len(data) - maxCSEDocument
		switch {
		case err != nil || excess <= 0:
			return data, err
		case s.Output != "":
			s.Output = cutBefore(s.Output, len(s.Output)-shorten(excess))
		case s.Error != "":
			s.Error = cutBehind(s.Error, len(s.Error)-shorten(excess))
		default:
			return data, nil
		}
	}
}

func (s CSEStatus) bounded() CSEStatus {
	for _, f := range s.fields() {
		*f.value = valid(*f.value)
		if f.value != &s.Output && f.value != &s.Error {
			*f.value = head(*f.value, f.limit)
		}
	}
	for _, f := range s.BootDatapoints.fields() {
		*f.value = head(valid(*f.value), f.limit)
	}
	s.Output = cutBefore(s.Output, maxCSEOutput)
	s.Error = cutBehind(s.Error, maxCSEError)
	return s
}

// cutNote is in the place of what a text of a result had to lose: only a part of it is seen where the extension's result is.
var cutNote = "[cut: " + state.Status.Path + " has more]"

// cutBefore is the end of a text that has more than n bytes, with the note before it; it has n bytes at most.
func cutBefore(text string, n int) string {
	note := cutNote + "\n"
	if len(text) <= n {
		return text
	}
	if n <= len(note) {
		return ""
	}
	return note + tail(strings.TrimPrefix(text, note), n-len(note))
}

// cutBehind is the beginning of a text, with the note behind it.
func cutBehind(text string, n int) string {
	note := " " + cutNote
	if len(text) <= n {
		return text
	}
	if n <= len(note) {
		return head(text, n)
	}
	return head(strings.TrimSuffix(text, note), n-len(note)) + note
}

// cseField is one text of a result.
type cseField struct {
	key   string
	value *string
	limit int
}

func (s *CSEStatus) fields() []cseField {
	return []cseField{
		{"ExitCode", &s.ExitCode, maxCSEValue},
		{"Output", &s.Output, maxCSEOutput},
		{"Error", &s.Error, maxCSEError},
		{"ExecDuration", &s.ExecDuration, maxCSEValue},
		{"KernelStartTime", &s.KernelStartTime, maxCSEValue},
		{"CloudInitLocalStartTime", &s.CloudInitLocalStartTime, maxCSEValue},
		{"CloudInitStartTime", &s.CloudInitStartTime, maxCSEValue},
		{"CloudFinalStartTime", &s.CloudFinalStartTime, maxCSEValue},
		{"NetworkdStartTime", &s.NetworkdStartTime, maxCSEValue},
		{"CSEStartTime", &s.CSEStartTime, maxCSEValue},
		{"GuestAgentStartTime", &s.GuestAgentStartTime, maxCSEValue},
		{"SystemdSummary", &s.SystemdSummary, maxCSESummary},
	}
}

func (b *BootDatapoints) fields() []cseField {
	return []cseField{
		{"KernelStartTime", &b.KernelStartTime, maxCSEValue},
		{"CSEStartTime", &b.CSEStartTime, maxCSEValue},
		{"GuestAgentStartTime", &b.GuestAgentStartTime, maxCSEValue},
		{"KubeletStartTime", &b.KubeletStartTime, maxCSEValue},
	}
}

// SystemdTime is t as systemd prints its timestamps, in UTC: "Tue 2024-11-12 17:23:33 UTC". The zero
// time is empty, as systemd's is for a unit that never started.
func SystemdTime(t time.Time) string { return format(t, "Mon 2006-01-02 15:04:05 MST") }

// DateTime is t as date(1) prints it, in UTC: "Tue Nov 12 17:24:06 UTC 2024". The zero time is empty.
func DateTime(t time.Time) string { return format(t, time.UnixDate) }

func format(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}
