// Package record reads what a machine has recorded about a boot: logs, journals, states and results, from named documents to
// records. Each kind of document has one row in a table ([Kinds]) and one parser, which names what it could not read. The
// package decides nothing about the boot; package anatomy does.
package record

// Stage is the part of a boot that a record belongs to.
type Stage string

// The stages, in the order of a boot.
const (
	Firmware   Stage = "firmware"
	Loader     Stage = "loader"
	Kernel     Stage = "kernel"
	InitRD     Stage = "initrd"
	Systemd    Stage = "systemd"
	UnitStage  Stage = "unit"
	CloudInit  Stage = "cloud-init"
	GuestAgent Stage = "guest agent"
	Extension  Stage = "extension"
	Slipway    Stage = "slipway"
	Containerd Stage = "containerd"
	Kubelet    Stage = "kubelet"
	Node       Stage = "node"
)

// The axes on which a moment is known.
const (
	unknown uint8 = iota
	monotonic
	wall
)

// Moment is a time on one of two clocks. The zero value means that the time is unknown.
type Moment struct {
	// Us are microseconds since the kernel's start, or since 1970.
	Us   int64
	axis uint8
	// Accuracy is the resolution of the source, in microseconds.
	Accuracy int64
}

// Monotonic returns a time in microseconds since the kernel's start.
func Monotonic(us int64) Moment { return Moment{Us: us, axis: monotonic, Accuracy: 1} }

// Wall returns a time of the machine's clock, in microseconds since 1970.
func Wall(us, accuracy int64) Moment { return Moment{Us: us, axis: wall, Accuracy: accuracy} }

// IsMonotonic reports whether the time counts from the kernel's start, and IsWall whether it is one of the machine's clock.
func (m Moment) IsMonotonic() bool { return m.axis == monotonic }

// IsWall reports whether the time is one of the machine's clock.
func (m Moment) IsWall() bool { return m.axis == wall }

// IsZero reports whether the time is unknown.
func (m Moment) IsZero() bool { return m.axis == unknown }

// Span is a part of the boot with a beginning and an end.
type Span struct {
	Stage Stage
	Name  string
	Begin Moment
	// End is unknown if the span has not ended.
	End    Moment
	Failed bool
	Detail string
	// After are the units that this unit is ordered after.
	After []string
	// In is the name of the span that this one is a part of, and By is the unit whose process does it.
	In, By string
	// Starts is the unit that the span starts.
	Starts string
	// For is the event that the span waits for. Empty means that it works.
	For string
	// Document is the name of the document.
	Document string
}

// Event is a point in the boot.
type Event struct {
	Stage    Stage
	Name     string
	At       Moment
	Detail   string
	Document string
}

// Pair is one moment on both clocks.
type Pair struct {
	// Monotonic counts microseconds since the kernel's start, and Wall since 1970.
	Monotonic, Wall int64
	// Accuracy is the larger resolution of the two, in microseconds.
	Accuracy int64
	Document string
}

// File is a file on the machine.
type File struct {
	Path string
	// By is the program that wrote it, as its log says. Empty means that the file is only listed.
	By       string
	At       Moment
	Document string
}

// Run is a program or script that another one has run.
type Run struct {
	Path     string
	By       string
	At       Moment
	Document string
}

// Fact is a sentence that a document says about the machine.
type Fact struct {
	Stage Stage
	// At is when this became true. It may be unknown. The story leaves out facts of another boot.
	At Moment
	// Planned means that the document describes what the machine is made from, and not what has happened.
	Planned  bool
	Text     string
	Document string
}

// Unread is what a parser could not read.
type Unread struct {
	Document string `json:"document"`
	// Line is the line's number, from 1. 0 means the whole document.
	Line int `json:"line,omitempty"`
	// Bytes is how many bytes were passed over.
	Bytes  int    `json:"bytes,omitempty"`
	Reason string `json:"reason"`
}

// Source is a document that was read.
type Source struct {
	Document string `json:"document"`
	Kind     string `json:"kind"`
	// Records is the number of records for this boot, and OtherBoots of other ones.
	Records    int `json:"records"`
	OtherBoots int `json:"otherBoots,omitempty"`
}

// Boot is a boot that a journal has.
type Boot struct {
	ID string
	// First and Last are the wall-clock times of its records, in microseconds since 1970.
	First, Last int64
}

// Records are the records of all documents.
type Records struct {
	// Host is the machine's name, and Boot is the ID of the boot. Either may be empty.
	Host, Boot string
	// Boots are the journal's boots, in their order.
	Boots   []Boot
	Pairs   []Pair
	Spans   []Span
	Events  []Event
	Files   []File
	Runs    []Run
	Facts   []Fact
	Sources []Source
	Unread  []Unread
	// Omitted is how many entries of Unread were left out.
	Omitted int

	// nodeName is the name of the machine's Node.
	nodeName string
}
