package envelope

import "github.com/slipway-dev/slipway/internal/document"

// The limits of user data. Clouds give a machine some 16 to 64 KiB (EC2: 16 KiB, Azure: 64 KiB); a file that replaces
// it may be larger. Data that decodes to a document too large for the next reader need not be read here.
const (
	// maxInput is the maximum size of user data: a document's, in base64 with a line end of two bytes after each 76
	// characters (RFC 2045, section 6.8), and some white space around it.
	maxInput      = maxDocument64 + maxDocument64/76*2 + 64
	maxDocument64 = (document.MaxBytes + 2) / 3 * 4
	// maxProduced is how many bytes all decoding steps may produce together.
	maxProduced = 4 * document.MaxBytes
	// maxNesting is how many wrappings may be nested.
	maxNesting = 8

	// maxRatio is how many bytes one compressed byte may produce. A JSON contract has less than 10; DEFLATE allows some
	// 1,000.
	maxRatio = 100
	// freeOutput is how much output is always allowed.
	freeOutput = 64 << 10
	// maxWindow is the largest window of a zstd frame: the size that RFC 8878, section 3.1.1.1.2, recommends that a
	// decoder supports. It is not allocated.
	maxWindow = 8 << 20

	// maxParts is the limit for the parts of all MIME archives in the user data.
	maxParts = 100
	// maxHeader is the maximum size of a part's header, and maxContentType that of its only field with parameters: a
	// boundary has at most 70 characters (RFC 2046, section 5.1.1).
	maxHeader      = 16 << 10
	maxContentType = 1 << 10

	// maxFiles is the limit for the entries of a cloud-config's write_files, or of an Ignition config's files.
	maxFiles = 1000
	// maxParsed is the limit for the size of all cloud-configs and Ignition configs that are parsed as trees, and
	// maxSigns for their structural characters. They limit the trees before they are built.
	maxParsed = document.MaxBytes / 2
	maxSigns  = 8000
)

// admit counts a text that will be parsed as a tree, and refuses it if the tree would be too large.
func (o *opener) admit(l *layer, content []byte) error {
	if o.parsed += len(content); o.parsed > maxParsed {
		return l.beyond("bytes of configs", maxParsed)
	}
	if o.signs += document.Signs(content); o.signs > maxSigns {
		return l.beyond("structural characters", maxSigns)
	}
	return nil
}
