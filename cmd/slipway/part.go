package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/userdata"
)

// splitPart splits a value of --part, FILE or FILE:TYPE. As in cloud-init's make-mime, a type may omit its text/. If
// the text after a colon is not a type, it belongs to the file.
func splitPart(named string) (file, kind string) {
	at := strings.LastIndexByte(named, ':')
	if at < 0 {
		return named, ""
	}
	for _, kind := range []string{named[at+1:], "text/" + named[at+1:]} {
		if slices.Contains(userdata.PartTypes(), kind) {
			return named[:at], kind
		}
	}
	return named, ""
}

// partFiles are the files in --part.
func (r *rendering) partFiles() []string {
	var files []string
	for _, named := range r.parts {
		file, _ := splitPart(named)
		files = append(files, file)
	}
	return files
}

// readParts reads the parts that are rendered beside the contract.
func (r *rendering) readParts(s cli.Streams) ([]userdata.Part, error) {
	var parts []userdata.Part
	for _, named := range r.parts {
		file, kind := splitPart(named)
		content, err := command.ReadInput(s, file)
		if err != nil {
			return nil, err
		}
		part := userdata.Part{Type: kind, Content: content}
		if file != command.Stdin {
			part.Name = filepath.Base(file)
		}
		parts = append(parts, part)
	}
	return parts, nil
}
