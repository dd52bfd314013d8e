package status

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/state"
)

// CSEStatus is AKS's result of a provisioning: provision.json, which is also the output of the custom script extension. All values
// are strings; times are formatted by [SystemdTime], CSEStartTime by [DateTime].
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

// BootDatapoints are times of the machine's boot.
type BootDatapoints struct {
	KernelStartTime     string
	CSEStartTime        string
	GuestAgentStartTime string
	KubeletStartTime    string
}

// The maximum lengths of the parts of a result, in bytes. The extension keeps about the last 4000 bytes of the output; a longer
// document would lose its beginning, and with it ExitCode.
const (
	maxCSEDocument = 4000
	maxCSEOutput   = 3000
	maxCSEError    = 1000
	maxCSESummary  = 256
	maxCSEValue    = 64
)

// Code returns the exit code. A result with a missing or invalid code is an error.
func (s CSEStatus) Code() (int, error) {
	if strings.TrimSpace(s.ExitCode) == "" {
		return 0, errors.New("the result has no ExitCode")
	}
	code, err := strconv.Atoi(s.ExitCode)
	// Marshal would cut a number this long, and its reader must get the same answer.
	if err != nil || len(s.ExitCode) > maxCSEValue/2 {
		return 0, fmt.Errorf("the result's ExitCode is not an integer: %q", head(s.ExitCode, maxCSEValue/2))
	}
	return code, nil
}

// Marshal writes the result as AKS does: indented by four spaces, with all keys. It makes texts valid UTF-8 and shortens them,
// Output to its end and Error to its beginning, with a note. If the document would be too long for the extension, it shortens
// Output first.
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

// cutNote replaces the cut part of a text: the extension's result only shows the rest.
var cutNote = "[cut: " + state.Status.Path + " has more]"

// cutBefore returns the end of a text that has more than n bytes, with the note before it, at most n bytes.
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

// cutBehind returns the beginning of a text, with the note behind it.
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

// SystemdTime formats t as systemd prints its timestamps, in UTC: "Tue 2024-11-12 17:23:33 UTC". The zero time is empty, as
// systemd's is for a unit that never started.
func SystemdTime(t time.Time) string { return format(t, "Mon 2006-01-02 15:04:05 MST") }

// DateTime formats t as date(1) does, in UTC: "Tue Nov 12 17:24:06 UTC 2024". The zero time is empty.
func DateTime(t time.Time) string { return format(t, time.UnixDate) }

func format(t time.Time, layout string) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(layout)
}
