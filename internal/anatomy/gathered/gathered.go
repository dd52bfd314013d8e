// Package gathered is what a node hands over for the timeline of its boot: the documents, reduced to the lines that a timeline is made
// from, without secrets. The agent writes it and links nothing else of the timeline's packages, which are larger than the agent may
// grow by; the workstation's program reads it.
package gathered

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/slipway-dev/slipway/internal/redact"
)

// APIVersion and Kind identify the document.
const (
	APIVersion = "slipway.dev/v1"
	Kind       = "BootDocuments"
)

// Set is the documents of one boot.
type Set struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Documents  []Document `json:"documents"`
	// Missing is what could not be read, with the reason.
	Missing []Missing `json:"missing,omitempty"`
}

// Document is a text with its path on the machine, or its name.
type Document struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Missing is a document that could not be read, or a part of one.
type Missing struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// File is a file in a listing: its path and the time of its last change.
type File struct {
	Path     string    `json:"path"`
	Modified time.Time `json:"modified,omitzero"`
}

// Listing is a document of files, whose contents no timeline needs.
type Listing struct {
	Files []File `json:"listedFiles"`
}

// The names of the documents that are no files of the machine.
const (
	UnitsName   = "systemd/units.json"
	JournalName = "journal.json"
	ListingName = "files.json"
)

// Parse reads a set.
func Parse(data []byte) (*Set, error) {
	var s Set
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("the boot's documents cannot be read: %w", err)
	}
	if s.APIVersion != APIVersion || s.Kind != Kind {
		return nil, errors.New("the document is not the boot's documents, or is of another version")
	}
	return &s, nil
}

// The identifiers of systemd's messages about units (systemd/sd-messages.h). They do not depend on the machine's language.
const (
	UnitStarting = "7d4958e842da4a758f6c1cdc7b36dcc5"
	UnitStarted  = "39f53479d3a045ac8e11786248231fbf"
	UnitFailed   = "be02cf6855d2428ba40df7e9d022f03d"
)

// Programs are the programs whose messages mark events of a boot, by their names in the journal.
var Programs = []string{"kernel", "systemd-networkd", "containerd", "kubelet", "python3", "waagent", "WALinuxAgent"}

// Fields are the fields of the journal's records that a timeline needs, besides the times and the boot's ID, which each record has
// (systemd.journal-fields(7)).
var Fields = []string{"MESSAGE", "MESSAGE_ID", "UNIT", "_SYSTEMD_UNIT", "SYSLOG_IDENTIFIER", "_HOSTNAME", "_SOURCE_MONOTONIC_TIMESTAMP"}

// Matches are the journal's records that a timeline needs, as arguments of journalctl(1).
func Matches() []string {
	var matches []string
	for _, id := range []string{UnitStarting, UnitStarted, UnitFailed} {
		matches = append(matches, "MESSAGE_ID="+id)
	}
	matches = append(matches, "+")
	for _, program := range Programs {
		matches = append(matches, "SYSLOG_IDENTIFIER="+program)
	}
	return matches
}

// scriptWords are in the lines of a shell's trace that a timeline needs: the directories of scripts, and the marks of AKS's scripts.
var scriptWords = []string{"/opt/azure/containers/", "/var/lib/cloud/", "/var/lib/waagent/custom-script/", "/opt/slipway/", "/opt/aks/", "customscript"}

// telling are the words of which a line must have one, by a file's name. Files with other names are kept whole.
var telling = map[string][]string{
	"cloud-init.log":        {"start: ", "finish: ", "Cloud-init v. ", "Writing to /", "Running command ["},
	"cloud-init-output.log": scriptWords,
	"stdout":                scriptWords,
	"stderr":                scriptWords,
}

// Reduce returns the lines of a document that a timeline needs, without secrets. A whole document in JSON is kept.
func Reduce(name string, data []byte) string {
	words, partly := telling[path.Base(name)]
	if !partly || json.Valid(data) {
		return redact.Secrets(string(data))
	}
	var kept bytes.Buffer
	for line := range bytes.Lines(data) {
		for _, word := range words {
			if bytes.Contains(line, []byte(word)) {
				kept.Write(line)
				break
			}
		}
	}
	return redact.Secrets(kept.String())
}
