// Package download brings the files of components into the cache: from the cache itself, from directories, from HTTPS servers and OCI
// registries, in this order, by their digests.
//
// It is the agent's own fetching code (internal/fetch) around internal/image/cache: limits, continued downloads, several sources in
// order. It keeps nothing that is not right. internal/image/resolve and cmd/slipway's commands call it.
package download

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/image/cache"
	"github.com/slipway-dev/slipway/internal/image/fault"
	"github.com/slipway-dev/slipway/internal/image/spec"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

// Getter gets files. Several goroutines may use it.
type Getter struct {
	// Client downloads from servers. If nil, no server is asked.
	Client *fetch.Client
	Cache  *cache.Cache
	// Dir is the directory of the document, to which paths of sources are relative.
	Dir string
	// From are directories in the cache's layout, which are tried before the sources.
	From []string
	// Progress is called for each downloaded part of a file, with the file's name, its present and its total size, 0 if
	// unknown. It may be nil.
	Progress func(name string, bytes, total int64)
}

// Wanted is a file.
type Wanted struct {
	// Name is the component with its architecture, for people.
	Name string
	// Sources are where it is, in the order of trying.
	Sources []string
	// SHA256 is its digest in hexadecimal. Empty means unknown.
	SHA256 string
	// Architecture selects from a registry's index. It may be empty.
	Architecture string
	// Blob requests the blob with the digest from the sources' repositories.
	Blob bool
	// MaxBytes is its maximum size.
	MaxBytes int64
}

// Got is a file in the cache.
type Got struct {
	SHA256 string
	Bytes  int64
	// From is its source as shown to people. It is empty if the cache had the file.
	From string
	// Resumed is the part that an earlier run had downloaded.
	Resumed int64
	// Local reports that it came from a directory.
	Local bool
	// Checked reports whether the digest was known in advance, from the caller or from a registry's manifest.
	Checked bool
}

// File brings a file into the cache.
func (g *Getter) File(ctx context.Context, w Wanted) (Got, error) {
	if w.SHA256 != "" {
		defer g.Cache.Hold(w.SHA256)()
		size, err := g.Cache.Size(w.SHA256)
		if err != nil || size >= 0 {
			return Got{SHA256: w.SHA256, Bytes: size, Checked: true}, err
		}
	}
	paths, remote := g.places(&w)
	var missed []error
	for _, path := range paths {
		got, err := g.local(path, &w)
		if err == nil || isOwn(err) {
			return got, err
		}
		missed = append(missed, err)
	}
	if len(remote) == 0 || g.Client == nil {
		return Got{}, nowhere(missed, len(remote))
	}
	got, err := g.remote(ctx, remote, &w)
	if failed, ok := errors.AsType[*fetch.Error](err); ok && len(missed) > 0 {
		failed.Err = errors.Join(append(missed, failed.Err)...)
	}
	return got, err
}

// nowhere is the error of a file that no path has, if no server is asked.
func nowhere(missed []error, remote int) error {
	if remote > 0 {
		missed = append(missed, fmt.Errorf("%d sources are on servers, and no server is asked", remote))
	}
	if len(missed) == 0 {
		return errors.New("has no source")
	}
	e := &fetch.Error{Cause: fetch.NotFound, Err: errors.Join(missed...)}
	for _, err := range missed {
		if wrong, ok := errors.AsType[*fetch.Error](err); ok && wrong.Cause == fetch.WrongDigest {
			e.Cause, e.From = wrong.Cause, wrong.From
		}
	}
	if remote > 0 && e.Cause == fetch.NotFound {
		return &fault.Error{Err: e, Next: "run the command without --offline, or name a directory that has the file with --from"}
	}
	return e
}

// places splits the sources into paths and those on servers.
func (g *Getter) places(w *Wanted) (paths, remote []string) {
	if w.SHA256 != "" {
		for _, dir := range g.From {
			paths = append(paths, filepath.Join(dir, "blobs", "sha256", w.SHA256))
		}
	}
	for _, source := range w.Sources {
		switch {
		case spec.PlaceOf(source) != spec.Local:
			remote = append(remote, source)
		case strings.HasPrefix(source, "/"):
			paths = append(paths, source)
		default:
			paths = append(paths, filepath.Join(g.Dir, filepath.FromSlash(source)))
		}
	}
	return paths, remote
}

// errOwn is an error of the cache, and not of a source.
type errOwn struct{ error }

func (e errOwn) Unwrap() error { return e.error }

func isOwn(err error) bool {
	_, own := errors.AsType[errOwn](err)
	return own
}

// local copies a file into the cache.
func (g *Getter) local(path string, w *Wanted) (Got, error) {
	refused := func(cause fetch.Cause, format string, args ...any) (Got, error) {
		return Got{}, &fetch.Error{Cause: cause, From: path, Err: fmt.Errorf(format, args...)}
	}
	file, err := os.Open(path)
	if err != nil {
		return refused(fetch.NotFound, "%w", bare(err))
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return refused(fetch.NotFound, "%w", bare(err))
	case !info.Mode().IsRegular():
		return refused(fetch.WrongContent, "is not a regular file")
	case info.Size() == 0 || info.Size() > w.MaxBytes:
		return refused(fetch.WrongContent, "has %d bytes, and 1 to %d are allowed", info.Size(), w.MaxBytes)
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return refused(fetch.NotFound, "%w", bare(err))
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	if w.SHA256 != "" && digest != w.SHA256 {
		return refused(fetch.WrongDigest, "has SHA-256 %s, and %s is wanted", digest, w.SHA256)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return refused(fetch.NotFound, "%w", bare(err))
	}
	err = g.Cache.Put(digest, func(part *rootfs.Part) (bool, error) {
		return false, g.Cache.Failed(cache.CopyChecked(part, file, digest))
	})
	if err != nil {
		return Got{}, errOwn{err}
	}
	g.progress(w.Name, info.Size(), info.Size())
	return Got{SHA256: digest, Bytes: info.Size(), From: path, Local: true, Checked: w.SHA256 != ""}, nil
}

func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// remote downloads a file into the cache.
func (g *Getter) remote(ctx context.Context, from []string, w *Wanted) (got Got, err error) {
	client := *g.Client
	client.Progress = func(bytes, total int64) { g.progress(w.Name, bytes, total) }
	request := fetch.Request{From: from, SHA256: w.SHA256, Blob: w.Blob, MaxBytes: w.MaxBytes}
	if w.Architecture != "" {
		request.Platform = fetch.Platform{OS: "linux", Architecture: w.Architecture}
	}
	get := func(part *rootfs.Part) error {
		f, err := client.Get(ctx, request, part)
		if _, ofSource := errors.AsType[*fetch.Error](err); err != nil && !ofSource {
			err = g.Cache.Failed(err)
		}
		got = Got{SHA256: f.SHA256, Bytes: f.Bytes, From: f.From, Resumed: f.Resumed, Checked: f.Checked}
		return err
	}
	if w.SHA256 != "" {
		return got, g.Cache.Put(w.SHA256, func(part *rootfs.Part) (bool, error) { return true, get(part) })
	}
	_, err = g.Cache.PutUnknown(strings.Join(from, " "), func(part *rootfs.Part) (string, error) {
		err := get(part)
		return got.SHA256, err
	})
	return got, err
}

func (g *Getter) progress(name string, bytes, total int64) {
	if g.Progress != nil {
		g.Progress(name, bytes, total)
	}
}

// maxDocument limits a document: a list of versions, or of checksums.
const maxDocument = 8 << 20

// Document reads a small document from a URL or a path. The cache does not keep it.
func (g *Getter) Document(ctx context.Context, source string) ([]byte, error) {
	paths, _ := g.places(&Wanted{Sources: []string{source}})
	if len(paths) > 0 {
		file, err := os.Open(paths[0])
		if err != nil {
			return nil, &fetch.Error{Cause: fetch.NotFound, From: paths[0], Err: bare(err)}
		}
		defer file.Close()
		return io.ReadAll(io.LimitReader(file, maxDocument))
	}
	if g.Client == nil {
		return nil, nowhere(nil, 1)
	}
	file, err := os.CreateTemp("", "slipway-*")
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := os.Remove(file.Name()); err != nil {
		return nil, err
	}
	if _, err := g.Client.Get(ctx, fetch.Request{From: []string{source}, MaxBytes: maxDocument}, file); err != nil {
		return nil, err
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(file)
}
