package lab

import (
	"compress/gzip"
	"encoding/base64"
	"io"
	"strings"
)

// gunzip decodes base64 of gzip.
func gunzip(text string) (string, error) {
	r, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	if err != nil {
		return "", err
	}
	plain, err := io.ReadAll(r)
	return string(plain), err
}
