package apply

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/truststore"
)

const (
	// maxBundle limits what is read of a trust store, whose bundle is some 200 KiB.
	maxBundle = 16 << 20
	// bundleMode is the mode that distributions' tools give a bundle.
	bundleMode = 0o644
)

// compareTrustStore reports whether the store lacks a certificate of the plan, or an input has changed. It does not
// check whether the tool would build the same store: a store of the tool's is correct, too.
func compareTrustStore(r *run, _ context.Context, n *node) (Action, error) {
	s := n.Spec.(*resource.TrustStore)
	if has(r.intent.Commands, s.Label) {
		return Updated, nil
	}
	files := &storeFiles{run: r, most: maxBundle}
	bundle := files.Content(s.Bundle)
	for _, added := range s.Added {
		if !bytes.Contains(bundle, files.Content(added)) {
			return Updated, files.err
		}
	}
	return "", files.err
}

// undoTrustStore builds a store without the certificates that the plan does not have any more.
func undoTrustStore(r *run, _ context.Context, n *node) (Action, error) {
	if has(r.intent.Commands, n.Spec.Name()) {
		return Updated, nil
	}
	return "", nil
}

// bringTrustStore builds a store: first its bundle, which most programs read, and at the end the removals. Each part is
// replaced atomically, and if a run dies in between, the next one finishes the work.
func bringTrustStore(r *run, _ context.Context, n *node, action Action) error {
	s := n.Spec.(*resource.TrustStore)
	return r.does(n, action, func() error {
		files := &storeFiles{run: r, most: maxBundle}
		store := truststore.Of(files, s)
		if files.err != nil {
			return files.err
		}
		if err := r.replaceBundle(files, s.Bundle, store.Bundle); err != nil {
			return err
		}
		if store.Links != nil {
			if err := r.replaceLinks(files, s.Links, store.Links); err != nil {
				return err
			}
		}
		return r.Host.Sync()
	})
}

func (r *run) replaceBundle(files *storeFiles, name string, content []byte) error {
	if have := files.Content(name); bytes.Equal(have, content) || have == nil && len(content) == 0 {
		return files.err
	}
	err := r.Host.Stage(&resource.File{Path: name, Mode: bundleMode, Content: content})
	if err == nil {
		err = r.Host.Commit(name)
	}
	if err != nil {
		return errors.Join(err, r.Host.Unstage(name))
	}
	return nil
}

func (r *run) replaceLinks(files *storeFiles, dir string, links map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(links)) {
		if files.Target(dir+"/"+name) == links[name] {
			continue
		}
		if err := r.Host.MakeSymlink(&resource.Symlink{Path: dir + "/" + name, Target: links[name]}); err != nil {
			return err
		}
	}
	for _, name := range files.Names(dir) {
		if _, wanted := links[name]; wanted || files.Target(dir+"/"+name) == "" {
			continue
		}
		if err := r.Host.Remove(dir + "/" + name); err != nil {
			return err
		}
	}
	return files.err
}

// storeFiles are the host's files for building a trust store. Only the first error is kept.
type storeFiles struct {
	*run
	// most is the limit of a file's size.
	most int64
	err  error
}

// note keeps the first error, except that a file is missing.
func (s *storeFiles) note(err error) {
	if s.err == nil && !errors.Is(err, fs.ErrNotExist) {
		s.err = err
	}
}

// Names implements truststore.Reader.
func (s *storeFiles) Names(dir string) []string {
	if s.entry(dir).Kind != Directory {
		return nil
	}
	names, err := s.Host.ReadDir(dir)
	s.note(err)
	return names
}

// Content implements truststore.Reader.
func (s *storeFiles) Content(name string) []byte {
	for range maxLinks {
		have := s.entry(name)
		switch {
		case have.Kind == RegularFile:
			content, err := s.Host.ReadFile(name, s.most)
			if s.note(err); err == nil && content == nil {
				content = []byte{}
			}
			return content
		case have.Kind != Symlink:
			return nil
		case !path.IsAbs(have.Target):
			have.Target = path.Join(path.Dir(name), have.Target)
		}
		name = path.Clean(have.Target)
	}
	return nil
}

// Target implements truststore.Reader.
func (s *storeFiles) Target(name string) string { return s.entry(name).Target }

func (s *storeFiles) entry(name string) Entry {
	entry, err := s.Host.Stat(name)
	s.note(err)
	return entry
}
