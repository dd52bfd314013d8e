package userdata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"slices"
)

// The pieces of the MIME document. The boundary is always the same: it cannot occur in a part, because the static text does not
// have it and base64 has no _. So the text before and after a value of the contract does not depend on the value, and [Blank] can
// leave a gap for one.
const (
	boundary = "=_slipway_part"

	mimeOpen        = "MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"" + boundary + "\"\r\n"
	nextOpen        = "\r\n--" + boundary
	boothookType    = "\r\nContent-Type: text/cloud-boothook" + partHeader
	cloudConfigType = "\r\nContent-Type: text/cloud-config" + partHeader
	// mergedConfigType is for a cloud-config that follows others: it appends to their lists, and keeps their other values. Without
	// it cloud-init replaces their whole runcmd. (cloud-init: "Merging user data sections")
	mergedConfigType = "\r\nMerge-Type: list(append)+dict(no_replace,recurse_list)+str()" + cloudConfigType
	mimeEnd          = nextOpen + "--\r\n"

	partHeader = "; charset=\"utf-8\"\r\nMIME-Version: 1.0\r\nContent-Transfer-Encoding: 7bit\r\n\r\n"
	// hookOpen is the text before the boothook.
	hookOpen  = mimeOpen + nextOpen + boothookType
	frameSize = len(hookOpen + nextOpen + cloudConfigType + mimeEnd)
)

// MIME returns the document for cloud-init, not encoded: a boothook that writes the contract and starts the agent, the user's own
// parts, and a cloud-config. The error is an [*InvalidError]. The size is not limited, because the document can be compressed and
// clouds have different limits; see [Cloud.Check] and [CustomData].
func MIME(c Contract) ([]byte, error) { return appendMIME(nil, &c, "") }

// CustomData returns the base64 of [MIME], as Azure's API takes it. The error is an [*InvalidError] or a [*TooLargeError].
func CustomData(c Contract) (string, error) {
	document, err := appendMIME(nil, &c, Azure)
	if err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(document), nil
}

// appendMIME appends the document for a cloud, or returns dst and an error.
func appendMIME(dst []byte, c *Contract, cloud Cloud) ([]byte, error) {
	names, err := c.check(checkForCloudInit)
	if err != nil {
		return dst, err
	}
	script, features := boothooks[c.Path], c.features(names)
	config := script.config
	own, configType := c.ownParts(), cloudConfigType
	if own != nil {
		configType = mergedConfigType
	}
	size := frameSize + script.size(c.Document, features) + len(own) + len(configType) - len(cloudConfigType) + len(config)
	if err := c.tooLarge(cloud, size, MIME); err != nil {
		return dst, err
	}

	dst = slices.Grow(dst, size)
	dst = append(dst, hookOpen...)
	dst = script.append(dst, c.Document, features)
	dst = append(dst, own...)
	dst = append(dst, nextOpen...)
	dst = append(dst, configType...)
	dst = append(dst, config...)
	return append(dst, mimeEnd...), nil
}

// Base64 has lines of 76 characters, as MIME requires: 7bit allows no line of 1,000.
const (
	lineBytes = 57
	lineChars = 76
)

// appendLines appends the base64 of src in lines, each with its line end.
func appendLines(dst, src []byte) []byte {
	for len(src) > 0 {
		n := min(len(src), lineBytes)
		dst = base64.StdEncoding.AppendEncode(dst, src[:n])
		dst = append(dst, '\n')
		src = src[n:]
	}
	return dst
}

// linesSize is the number of bytes that appendLines appends for n bytes.
func linesSize(n int) int {
	size := n / lineBytes * (lineChars + 1)
	if rest := n % lineBytes; rest > 0 {
		size += base64.StdEncoding.EncodedLen(rest) + 1
	}
	return size
}

// Gzip compresses a document, for a cloud with a smaller limit. cloud-init decompresses its user data, and so does the agent, which
// searches for its contract by itself. Ignition does not: see [GzipIgnition].
//
// The same document gives the same bytes with the same version of Go.
func Gzip(document []byte) []byte {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // a level that exists
	_, _ = w.Write(document)                                // to memory: it cannot fail
	_ = w.Close()
	return out.Bytes()
}
