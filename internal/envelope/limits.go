package envelope

import "github.com/slipway-dev/slipway/internal/document"

// The limits of user data. Clouds give a machine some 16 to 64 KiB (EC2: 16 KiB, Azure: 64 KiB); a file
// that stands for it may be larger. What decodes to a document that is too large for the next reader
// need not be read here.
const (
	// maxInput is the size of user data as it is given: a document's, in base64 with a line end of two
	// bytes after each 76 characters (RFC 2045, section 6.8), and some white space around it.
	maxInput      = maxDocument64 + maxDocument64/76*2 + 64
	maxDocument64 = (document.MaxBytes + 2) / 3 * 4
	// maxProduced is how many bytes all steps together may make by decoding.
	maxProduced = 4 * document.MaxBytes
	// maxNesting is how many wrappings may be in each other.
	maxNesting = 8

	// maxRatio is how many bytes a decompression may make of one. A contract in JSON has less than 10;
	// DEFLATE allows some 1,000.
	maxRatio = 100
	// freeOutput is what a decompression may make of however little.
	freeOutput = 64 << 10
	// maxWindow is the memory of its past that a zstd frame may ask for: what RFC 8878, section 3.1.1.1.2,
	// recommends that a decoder supports. It is not allocated.
	maxWindow = 8 << 20

	// maxParts is how many parts all MIME archives of the user data may have together.
	maxParts = 100
	// maxHeader is the size of one part's header, and maxContentType that of the one field of it that has
	// parameters: a boundary has at most 70 characters (RFC 2046, section 5.1.1).
	maxHeader      = 16 << 10
	maxContentType = 1 << 10

	// maxFiles is how many entries a cloud-config's write_files, or an Ignition config's files, may have.
	maxFiles = 1000
	// maxParsed is the size of all cloud-configs and Ignition configs together of which a tree is made, and
	// maxSigns is how many signs they may have that structure it. They bound the trees before they are made.
	maxParsed = document.MaxBytes / 2
	maxSigns  = 8000
)

// admit counts a text from which a tree will be made, and refuses what would make too large a tree.
func (o *opener) admit(l *layer, content []byte) error {
	if o.parsed += len(content); o.parsed > maxParsed {
		return l.beyond("bytes of configs", maxParsed)
	}
	if o.signs += document.Signs(content); o.signs > maxSigns {
		return l.beyond("structural characters", maxSigns)
	}
	return nil
}
