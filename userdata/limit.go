package userdata

import (
	"encoding/base64"
	"errors"
	"fmt"
)

// Cloud gives a document to a new machine. Each cloud limits its size.
type Cloud string

// The clouds whose limits are known.
const (
	// Azure takes it as customData, in base64.
	Azure Cloud = "azure"
	// EC2 takes it as UserData, in base64.
	EC2 Cloud = "ec2"
)

// Azure accepts 64 KiB of custom data. The documentation states that in bytes, and the API refuses base64 of more than 87,380
// characters. Base64 has groups of three bytes and four characters: 87,380 characters hold at most 65,535 bytes, while 65,536 bytes
// need 87,384 characters. So the API refuses the 65,536th byte, and the limit is one less than 64 KiB.
const (
	// MaxCustomData is the size in bytes, before base64, of the largest document that Azure accepts.
	MaxCustomData = 65_535
	// MaxCustomDataBase64 is the length of its base64.
	MaxCustomDataBase64 = 87_380
	// MaxUserData is the size in bytes, before base64, of the largest document that EC2 accepts: 16 KB (Amazon EC2 API Reference,
	// RunInstances, UserData).
	MaxUserData = 16_384
)

// limits are the clouds' limits.
var limits = []struct {
	cloud Cloud
	name  string
	bytes int
	// provider is the contract's name for the cloud.
	provider string
}{
	{Azure, "Azure", MaxCustomData, "azure"},
	{EC2, "EC2", MaxUserData, "aws"},
}

// Provider returns the contract's name for the cloud (cloud.provider), or "" for an unknown cloud.
func (c Cloud) Provider() string {
	for _, l := range limits {
		if l.cloud == c {
			return l.provider
		}
	}
	return ""
}

// Clouds returns the clouds whose limits are known.
func Clouds() []Cloud {
	var clouds []Cloud
	for _, l := range limits {
		clouds = append(clouds, l.cloud)
	}
	return clouds
}

// Check returns a [*TooLargeError] if the cloud does not accept a document of this size in bytes, before base64. An unknown cloud
// has no limit.
func (c Cloud) Check(size int) error {
	for _, l := range limits {
		if l.cloud == c && size > l.bytes {
			return &TooLargeError{Cloud: c, Size: size, Limit: l.bytes}
		}
	}
	return nil
}

// String returns the cloud's name for people.
func (c Cloud) String() string {
	for _, l := range limits {
		if l.cloud == c {
			return l.name
		}
	}
	return string(c)
}

// TooLargeError is the error of a document that is larger than the cloud accepts.
type TooLargeError struct {
	Cloud Cloud
	// Size and Limit are in bytes before base64.
	Size, Limit int
	// Parts are the parts of the document, and Settings the largest settings of the contract in it, in bytes of JSON, the largest
	// one first. They are empty if the document's origin is unknown, as in [Cloud.Check].
	Parts, Settings []Size
}

// tooLarge is the error of a contract's document that a cloud does not accept, or nil. form makes the document.
func (c *Contract) tooLarge(cloud Cloud, size int, form func(Contract) ([]byte, error)) error {
	err := cloud.Check(size)
	if e, ok := errors.AsType[*TooLargeError](err); ok {
		e.Parts, e.Settings = c.Sizes(form), c.LargestSettings()
	}
	return err
}

// Error includes the sizes, by how much the contract must shrink, and its large parts: the document contains it as base64, in lines
// of 57 bytes each.
func (e *TooLargeError) Error() string {
	over := e.Size - e.Limit
	text := fmt.Sprintf("the document has %d bytes (%d characters in base64), and %s takes %d (%d): "+
		"shorten the contract by about %d bytes; large certificates, scripts and files belong in the node image",
		e.Size, base64.StdEncoding.EncodedLen(e.Size), e.Cloud, e.Limit, base64.StdEncoding.EncodedLen(e.Limit), over*3/4+3)
	for i, s := range e.Settings[:min(len(e.Settings), mostTold)] {
		if i == 0 {
			text += "; the largest settings are"
		} else {
			text += ","
		}
		text += fmt.Sprintf(" %.*s (%d bytes", widestTold, s.What, s.Bytes)
		if s.Instead != "" {
			text += "; " + s.Instead
		}
		text += ")"
	}
	return text
}

// mostTold limits the settings in an error's text, and widestTold the characters of a path in it, because a key may have any
// length.
const mostTold, widestTold = 3, 100
