package userdata

import (
	"encoding/base64"
	"fmt"
)

// Azure takes 64 KiB of custom data, and says so in two ways: the documentation in bytes, the API
// by refusing base64 of more than 87,380 characters. Base64 comes in groups of three bytes and four
// characters: 87,380 characters hold 65,535 bytes at most, while 65,536 bytes need 87,384
// characters. So the 65,536th byte is refused, and the limit is one less than 64 KiB.
const (
	// MaxCustomData is the size in bytes, before base64, of the largest document that Azure takes.
	MaxCustomData = 65_535
	// MaxCustomDataBase64 is the length of its base64.
	MaxCustomDataBase64 = 87_380
)

// TooLargeError says that a document is larger than the cloud takes.
type TooLargeError struct {
	// Size and Limit are in bytes before base64.
	Size, Limit int
}

// Error tells the sizes, and by how much the contract must shrink: in the document it is base64,
// in lines of 57 bytes each.
func (e *TooLargeError) Error() string {
	over := e.Size - e.Limit
	return fmt.Sprintf("custom data of %d bytes (%d base64 characters) is too large, the limit is %d (%d): "+
		"shorten the contract by about %d bytes, large certificates, scripts and files belong in the node image",
		e.Size, base64.StdEncoding.EncodedLen(e.Size), e.Limit, base64.StdEncoding.EncodedLen(e.Limit), over*3/4+3)
}

// checkSize refuses a document that is larger than Azure takes.
func checkSize(size int) error {
	if size > MaxCustomData {
		return &TooLargeError{Size: size, Limit: MaxCustomData}
	}
	return nil
}
