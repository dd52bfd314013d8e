package host

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/failpoint"
	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/rootfs"
)

// maxDownload limits a download. Kubernetes' archive for nodes has some 130 MB.
const maxDownload = 1 << 30

// Downloaded returns the origin of a component in its store, or nil if the store is missing or incomplete.
func (m *Machine) Downloaded(d *resource.Download) (*apply.Origin, error) {
	return downloaded(m.Tree, d)
}

// Downloaded returns the origin of a component in its store, or nil if the store is missing or incomplete.
func (d *Directory) Downloaded(spec *resource.Download) (*apply.Origin, error) {
	return downloaded(d.Tree, spec)
}

// Stores are all store directories of a component.
func (m *Machine) Stores(component string) ([]string, error) { return stores(m.Tree, component) }

// Stores are all store directories of a component.
func (d *Directory) Stores(component string) ([]string, error) { return stores(d.Tree, component) }

// Download brings a component to its store, from the first of its sources that has it. It continues an incomplete
// download of an earlier run. Its error is a *apply.CheckError, except for errors of the machine's disk.
func (m *Machine) Download(ctx context.Context, d *resource.Download, report func(how string)) (*apply.Origin, error) {
	if err := tidy(m.Tree, d); err != nil {
		return nil, err
	}
	origin, missing, err := takeLocal(m.Tree, d)
	if origin != nil || err != nil {
		return origin, err
	}
	remote := remotePlaces(d)
	if len(remote) == 0 {
		return nil, missing
	}
	origin, err = m.fetch(ctx, d, remote, report)
	if failed, ok := errors.AsType[*apply.CheckError](err); ok && missing != nil {
		failed.Err = errors.Join(missing, failed.Err)
	}
	return origin, err
}

var actionDownload = records(failpoint.Download, labelField|argvField, 0) // a component and its sources

// Download unpacks a component that is on the disk. It does not fetch from a server, because a directory has no
// network, but records that a machine would.
func (d *Directory) Download(_ context.Context, spec *resource.Download, _ func(string)) (*apply.Origin, error) {
	if err := tidy(d.Tree, spec); err != nil {
		return nil, err
	}
	origin, missing, err := takeLocal(d.Tree, spec)
	remote := remotePlaces(spec)
	if origin != nil || err != nil || len(remote) == 0 {
		return origin, errors.Join(err, missing)
	}
	would := action{Action: actionDownload, Label: spec.Component, Argv: remote}
	done, err := d.did(would)
	if err == nil && !done {
		err = d.record(would)
	}
	return nil, cmp.Or(err, apply.ErrNotProbed)
}

// isLocal reports whether a source is a path of the machine.
func isLocal(place string) bool { return strings.HasPrefix(place, "/") }

// remotePlaces are a component's sources on servers.
func remotePlaces(d *resource.Download) []string {
	return slices.DeleteFunc(slices.Clone(d.From), isLocal)
}

// takeLocal takes a component from the first source on the machine that has it. missing is the reason if no source has
// it.
func takeLocal(t *rootfs.Tree, d *resource.Download) (origin *apply.Origin, missing, err error) {
	var all []error
	for _, place := range d.From {
		if !isLocal(place) {
			continue
		}
		origin, err := takeFile(t, d, place)
		if cause, ok := errors.AsType[*apply.CheckError](err); ok {
			all = append(all, cause)
			continue
		}
		return origin, nil, err
	}
	if len(all) == 0 {
		return nil, nil, nil
	}
	return nil, errors.Join(all...), nil
}

// takeFile takes a component from a file of the machine.
func takeFile(t *rootfs.Tree, d *resource.Download, place string) (*apply.Origin, error) {
	refused := func(cause resource.Cause, err error) error {
		return &apply.CheckError{Cause: cause, Endpoint: place, Err: err}
	}
	file, err := t.OpenKind(place, unix.S_IFREG)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, unix.ENOTDIR):
		return nil, refused(resource.CauseAbsent, errors.New("the image does not have it"))
	case errors.Is(err, fs.ErrInvalid):
		return nil, refused(resource.CauseContent, err)
	case err != nil:
		return nil, rootfs.Failed("open", place, err)
	}
	defer file.Close()
	hash := sha256.New()
	size, err := io.Copy(hash, file)
	if err != nil {
		return nil, rootfs.Failed("read", place, err)
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if d.SHA256 != "" && !strings.EqualFold(d.SHA256, sum) {
		return nil, refused(resource.CauseContent, fmt.Errorf("its SHA-256 is %s, and %s is wanted", sum, d.SHA256))
	}
	origin := &apply.Origin{From: place, SHA256: sum, Checked: d.SHA256 != "", Bytes: size}
	if err := fill(t, d, file, origin); err != nil {
		return nil, err
	}
	return origin, nil
}

// fetch downloads a component from a server. After a failure it keeps the downloaded part, so that the next run
// continues.
func (m *Machine) fetch(ctx context.Context, d *resource.Download, places []string, report func(how string)) (*apply.Origin, error) {
	client, err := m.fetcher(&d.Reach)
	if err != nil {
		return nil, err
	}
	client.Progress = func(bytes, total int64) {
		if total > 0 {
			report(fmt.Sprintf("%d of %d bytes have come", bytes, total))
		} else {
			report(fmt.Sprintf("%d bytes have come", bytes))
		}
	}
	client.Waiting = func(why error) { report("waits: " + why.Error()) }
	part, err := m.OpenPart(d.Path(partFile))
	if err != nil {
		return nil, err
	}
	defer part.Close()
	got, err := client.Get(ctx, fetch.Request{
		From: places, SHA256: d.SHA256, MaxBytes: maxDownload,
		Platform: fetch.Platform{OS: "linux", Architecture: runtime.GOARCH, OSVersion: d.OSVersion},
	}, part)
	if err != nil {
		return nil, fetchFailed(err)
	}
	origin := &apply.Origin{From: got.From, SHA256: got.SHA256, Checked: got.Checked, Bytes: got.Bytes}
	if err := fill(m.Tree, d, part, origin); err != nil {
		// The downloaded file is useless.
		return nil, errors.Join(err, m.Remove(d.Path(partFile)), m.Sync())
	}
	return origin, nil
}

// fetchCauses maps the causes of a failed download to a plan's causes.
var fetchCauses = map[fetch.Cause]resource.Cause{
	fetch.WrongDigest:  resource.CauseContent,
	fetch.WrongContent: resource.CauseContent,
	fetch.Refused:      resource.CauseRefused,
	fetch.NotFound:     resource.CauseAbsent,
	fetch.Server:       resource.CauseUnreachable,
	fetch.Unreachable:  resource.CauseUnreachable,
}

// loginCauses maps the causes of a registry login that the machine's identity did not get.
var loginCauses = map[fetch.LoginCause]resource.Cause{
	fetch.NoIdentity:          resource.CauseIdentity,
	fetch.RegistryUnreachable: resource.CauseUnreachable,
	fetch.RegistryRefused:     resource.CauseRefused,
}

// fetchFailed adds the cause to a failed download. An error of the machine's disk has no cause.
func fetchFailed(err error) error {
	failed, ok := errors.AsType[*fetch.Error](err)
	if !ok {
		return err
	}
	cause := fetchCauses[failed.Cause]
	if login, ok := errors.AsType[*fetch.LoginError](err); ok {
		cause = loginCauses[login.Cause]
	}
	return &apply.CheckError{Cause: cause, Endpoint: failed.From, Err: err}
}
