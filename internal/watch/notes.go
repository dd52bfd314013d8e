package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/slipway-dev/slipway/internal/difference"
	"github.com/slipway-dev/slipway/internal/state"
)

// MemoryPath is the file that keeps the decisions about each source over restarts.
var MemoryPath = state.Watch.Path

const (
	memoryVersion = "slipway.dev/v1"
	memoryKind    = "WatchMemory"
)

// note is the decision about the bytes of a source. The generations do not suffice: an invalid config has no generation,
// and a config that an administrator has since replaced has a good one.
type note struct {
	// Sum names the bytes.
	Sum string `json:"sum"`
	// Rejected is why the watcher does not try the bytes again. Empty means that the config was applied.
	Rejected Rejection `json:"rejected,omitempty"`
	// Allowed is the class of change that was allowed, where that was too little.
	Allowed difference.Class `json:"allowed,omitzero"`
}

// stands reports whether a note still holds for a watcher that may have other permissions than the one that made it.
func (n note) stands(allow difference.Class, force bool) bool {
	switch n.Rejected {
	case Class:
		return allow <= n.Allowed
	case Older:
		return !force
	}
	return true
}

func (n note) verdict() string {
	if n.Rejected != "" {
		return string(n.Rejected)
	}
	return "applied"
}

// memory is the file of notes.
type memory struct {
	files Files
	doc   memoryDocument
}

type memoryDocument struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Sources    map[string]note `json:"sources"`
}

// recall reads what was remembered of the sources that are followed. What cannot be read is forgotten: it is
// decided again. Of a source that is not followed any more nothing is kept.
func recall(files Files, log *slog.Logger, followed []Source) *memory {
	m := &memory{files: files}
	data, err := state.Watch.Read(files)
	if err == nil {
		err = json.Unmarshal(data, &m.doc)
	}
	if err == nil && (m.doc.APIVersion != memoryVersion || m.doc.Kind != memoryKind) {
		err = fmt.Errorf("is %q %q, want %q %q", m.doc.APIVersion, m.doc.Kind, memoryVersion, memoryKind)
	}
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			log.Warn("cannot read what was remembered about the sources", "path", MemoryPath, "error", err)
		}
		m.doc = memoryDocument{}
	}
	m.doc.APIVersion, m.doc.Kind = memoryVersion, memoryKind
	notes := make(map[string]note)
	for _, s := range followed {
		if n, known := m.doc.Sources[s.Name]; known {
			notes[s.Name] = n
		}
	}
	m.doc.Sources = notes
	return m
}

func (m *memory) of(name string) note { return m.doc.Sources[name] }

// keep remembers a note. Sums are of documents that hold secrets, so the file is for the superuser alone.
func (m *memory) keep(name string, n note) error {
	m.doc.Sources[name] = n
	content, err := json.MarshalIndent(m.doc, "", "  ")
	if err != nil {
		return err
	}
	return state.Watch.Write(m.files, append(content, '\n'))
}
