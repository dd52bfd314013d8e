// Package anatomy makes a timeline of one boot of a machine, from firmware to a Ready node, out of what the machine has recorded:
// documents in, timeline out. It does no input or output and reads no clock.
//
// All times are on the monotonic clock, in microseconds since the kernel's start; firmware and boot loader are before zero. Records
// with the machine's clock alone are placed by pairs of both clocks. A step of the machine's clock is an event, and moves nothing.
package anatomy

import "github.com/slipway-dev/slipway/internal/anatomy/record"

// Document is a named text from a machine; see [record.Kinds].
type Document = record.Document

// Options choose what is read.
type Options struct {
	// Boot is the ID of the boot, or its beginning. If empty, it is the newest boot of the journal.
	Boot string
}

// Read makes the timeline of a boot. A node's set of documents counts as these documents, and a timeline as its records.
func Read(documents []Document, options Options) *Timeline {
	documents, missing := opened(documents)
	rest, saved := splitSaved(documents)
	known := record.Options{Boot: options.Boot}
	for _, s := range saved {
		known.Host = record.Clean(s.timeline.Host)
		if known.Boot == "" {
			known.Boot = record.Clean(s.timeline.Boot)
		}
	}
	records := record.Read(rest, known)
	records.Unread = append(records.Unread, missing...)
	for _, s := range saved {
		s.restore(records)
	}
	return build(records)
}
