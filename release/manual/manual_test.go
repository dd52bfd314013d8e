package manual_test

import (
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/release/manual"
)

// TestWrite: what roff takes for a request or an escape is text, lines of a table stay lines, and a command has a page that names the other.
func TestWrite(t *testing.T) {
	root := &command.Described{
		Path: "tool", Usage: "tool [flags]", Short: "Do a thing",
		Long: ".hidden files begin with a dot, and 'quotes' with one.\nA back\\slash and a --flag stay.\n\n  left   right\n  .dot   'quote",
		Flags: []command.DescribedFlag{
			{Name: "output", Shorthand: "o", Value: "FORM", Usage: "print the result as FORM", Default: "text"},
			{Name: "dry-run", Usage: "change nothing, and say in a line that is longer than a line of a manual's source may be what would be changed"},
		},
		GlobalFlags: []command.DescribedFlag{{Name: "root", Value: "DIR", Usage: "work on DIR"}},
		Commands:    []command.Described{{Path: "tool part", Usage: "tool part FILE", Short: "AKS's part", Example: "  tool part ~/a-file\n  tool part .b"}},
	}
	pages := manual.Write(root, 8, "0.1.0", time.Date(2026, 11, 28, 23, 30, 0, 0, time.FixedZone("", -3600)))
	want := []manual.Page{
		{Name: "tool.8", Text: []byte(`.TH "TOOL" 8 2026-11-29 "Slipway 0.1.0"
.SH NAME
tool \- do a thing
.SH SYNOPSIS
\fBtool\fR
[flags] COMMAND
.SH DESCRIPTION
\&.hidden files begin with a dot, and 'quotes' with one. A back\eslash and
a \-\-flag stay.
.PP
.nf
  left   right
  .dot   'quote
.fi
.SH COMMANDS
.TP
\fBtool\-part\fR(8)
AKS's part
.SH OPTIONS
.TP
\fB\-o\fR, \fB\-\-output\fR \fIFORM\fR
print the result as FORM (default text)
.TP
\fB\-\-dry\-run\fR
change nothing, and say in a line that is longer than a line of a
manual's source may be what would be changed
.SH OPTIONS OF EVERY COMMAND
.TP
\fB\-\-root\fR \fIDIR\fR
work on DIR
.SH SEE ALSO
\fBtool\-part\fR(8)
`)},
		{Name: "tool-part.8", Text: []byte(`.TH "TOOL\-PART" 8 2026-11-29 "Slipway 0.1.0"
.SH NAME
tool\-part \- AKS's part
.SH SYNOPSIS
\fBtool part\fR
FILE
.SH DESCRIPTION
AKS's part
.SH EXAMPLES
.nf
  tool part \(ti/a\-file
  tool part .b
.fi
.SH SEE ALSO
\fBtool\fR(8)
`)},
	}
	if len(pages) != len(want) {
		t.Fatalf("%d pages", len(pages))
	}
	for i := range want {
		if pages[i].Name != want[i].Name || string(pages[i].Text) != string(want[i].Text) {
			t.Errorf("%s:\n%s\nwant %s:\n%s", pages[i].Name, pages[i].Text, want[i].Name, want[i].Text)
		}
	}
}
