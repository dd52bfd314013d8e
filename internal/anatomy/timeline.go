package anatomy

import "github.com/slipway-dev/slipway/internal/anatomy/record"

// APIVersion and Kind identify a timeline.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "BootTimeline"
)

// Timeline is one boot of a machine.
type Timeline struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	// Host is the machine's name, and Boot is the ID of the boot.
	Host string `json:"host,omitempty"`
	Boot string `json:"boot,omitempty"`
	// Goal is the event at which the boot ends: the Node is Ready, or the last step before that which is known.
	Goal   string `json:"goal"`
	GoalUs int64  `json:"goalUs"`
	Clock  Clock  `json:"clock"`
	// Spans are the parts of the boot, by their start.
	Spans  []Span  `json:"spans"`
	Events []Event `json:"events"`
	// Path is the critical path: without gaps from the first record to the goal.
	Path []Link `json:"criticalPath"`
	// Waits are the longest parts of the path, each with a sentence, the longest first.
	Waits []Wait `json:"waits"`
	// Idle are the times in which nothing ran, as far as the records show.
	Idle []Interval `json:"idle"`
	// Files are files that a program placed, or that lie on the machine, and Runs are scripts with the program that ran them.
	Files []File `json:"files"`
	Runs  []Run  `json:"runs"`
	// Story is the boot in sentences, in its order.
	Story   []string        `json:"story"`
	Sources []record.Source `json:"sources"`
	Unread  []record.Unread `json:"unread"`
	// Omitted is the number of entries that Unread does not have.
	Omitted int `json:"unreadOmitted,omitempty"`
}

// Clock is how the machine's clock relates to the monotonic one.
type Clock struct {
	// From is the document with the pairs of both clocks. If it is empty, no document has any, and records with the machine's clock
	// alone have no place.
	From string `json:"from,omitempty"`
	// Relative reports that all records have the machine's clock alone, and no document has both: the axis begins with the first record.
	Relative bool `json:"relative,omitempty"`
	// AccuracyUs is the pairs' accuracy.
	AccuracyUs int64 `json:"accuracyUs"`
	// Segments are the times between the clock's steps.
	Segments []Segment `json:"segments"`
	// Steps are the changes of the clock.
	Steps []Step `json:"steps,omitempty"`
}

// Segment is a time in which the machine's clock ran without a step.
type Segment struct {
	StartUs int64 `json:"startUs"`
	EndUs   int64 `json:"endUs"`
	// OffsetUs is the machine's clock, in microseconds since 1970, minus the monotonic clock, at the start.
	OffsetUs int64 `json:"offsetUs"`
}

// Step is a change of the machine's clock.
type Step struct {
	AtUs int64 `json:"atUs"`
	ByUs int64 `json:"byUs"`
}

// Span is a part of the boot.
type Span struct {
	ID      int          `json:"id"`
	Stage   record.Stage `json:"stage"`
	Name    string       `json:"name"`
	StartUs int64        `json:"startUs"`
	EndUs   int64        `json:"endUs"`
	// Open reports that the span has not ended in the records.
	Open   bool   `json:"open,omitempty"`
	Failed bool   `json:"failed,omitempty"`
	Detail string `json:"detail,omitempty"`
	// After are the units that this unit is ordered after.
	After []string `json:"after,omitempty"`
	// In is the span that this one is a part of, By the unit whose process does it, and Starts the unit that it starts.
	In     string `json:"in,omitempty"`
	By     string `json:"by,omitempty"`
	Starts string `json:"starts,omitempty"`
	// For is the event that the span waits for.
	For string `json:"for,omitempty"`
	// Critical reports whether the span is on the critical path.
	Critical bool `json:"critical,omitempty"`
	// AccuracyUs is how exact the span's times are.
	AccuracyUs int64  `json:"accuracyUs,omitempty"`
	Document   string `json:"document,omitempty"`
}

// Event is a point in the boot.
type Event struct {
	Stage      record.Stage `json:"stage"`
	Name       string       `json:"name"`
	AtUs       int64        `json:"atUs"`
	Detail     string       `json:"detail,omitempty"`
	AccuracyUs int64        `json:"accuracyUs,omitempty"`
	Document   string       `json:"document,omitempty"`
}

// The kinds of a Link.
const (
	Runs  = "runs"  // the span works
	Waits = "waits" // the span waits for an event
	Idle  = "idle"  // no record says what happens
)

// Link is a part of the critical path.
type Link struct {
	// Span is the ID of the span, or of the span that begins next if the link is idle.
	Span    int    `json:"span"`
	Kind    string `json:"kind"`
	StartUs int64  `json:"startUs"`
	EndUs   int64  `json:"endUs"`
}

// Wait is a long part of the critical path.
type Wait struct {
	StartUs  int64  `json:"startUs"`
	EndUs    int64  `json:"endUs"`
	Sentence string `json:"sentence"`
}

// Interval is a part of the time.
type Interval struct {
	StartUs int64 `json:"startUs"`
	EndUs   int64 `json:"endUs"`
}

// File is a file on the machine.
type File struct {
	Path string `json:"path"`
	// By is what wrote the file. It is empty if no log says it.
	By   string `json:"by,omitempty"`
	AtUs *int64 `json:"atUs,omitempty"`
}

// Run is a script that a program ran.
type Run struct {
	Path string `json:"path"`
	By   string `json:"by"`
	AtUs *int64 `json:"atUs,omitempty"`
}
