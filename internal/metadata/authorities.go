package metadata

import (
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
)

// The wire server's paths for certificate authorities (AKS: init-aks-cloud.sh).
const (
	optInPath   = "/acms/isOptedInForRootCerts"
	packagePath = "/machine?comp=acmspackage&type=%s&ext=%s"
	// wholePackage has all certificates in one document.
	wholePackage = "cacertificates"
)

var (
	// wholeRegions are the regions, by name prefix, whose wire server has all certificates in one document. In any
	// other region it first answers whether this machine gets any.
	wholeRegions = []string{"usnat", "ussec"}
	// filePackages list the files that have a certificate each.
	filePackages = []string{"operationrequestsroot", "operationrequestsintermediate"}
)

// The limits for a machine's certificates. Clouds have some twenty, of 2 KiB each.
const (
	maxAuthorities   = 64
	maxAuthorityFile = 16 << 10
	maxAuthorityList = 256 << 10
)

// authorityPolicy: the wire server answers 403 if there are too many requests.
var authorityPolicy = policy{
	again:  []int{http.StatusForbidden, http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests},
	settle: 10 * time.Second,
}

// Authorities returns the certificate authorities that the cloud requires a machine in this region to trust. It
// retries. With an error, an *Error, it returns those found until then.
func (w *WireServer) Authorities(ctx context.Context, region string) (facts.Authorities, error) {
	region = strings.ToLower(strings.Join(strings.Fields(region), ""))
	var found authorities
	var err error
	if slices.ContainsFunc(wholeRegions, func(prefix string) bool { return strings.HasPrefix(region, prefix) }) {
		err = w.wholeAuthorities(ctx, &found)
	} else {
		err = w.authorityFiles(ctx, &found)
	}
	return found.sorted(), err
}

// wholeAuthorities reads the document that has all certificates.
func (w *WireServer) wholeAuthorities(ctx context.Context, found *authorities) error {
	var d struct {
		Certificates []struct{ Name, CertBody string }
	}
	path := fmt.Sprintf(packagePath, wholePackage, "json")
	if err := w.document(ctx, path, &d); err != nil {
		return err
	}
	if len(d.Certificates) == 0 {
		return failed(wireAddress+path, WrongType, "names no certificate").error(1, 0, nil)
	}
	for _, c := range d.Certificates {
		if err := found.add(c.Name, c.CertBody); err != nil {
			return err
		}
	}
	return nil
}

// authorityFiles asks whether this machine gets certificates, and gets the lists of them, and each of them.
func (w *WireServer) authorityFiles(ctx context.Context, found *authorities) error {
	var wanted struct{ IsOptedInForRootCerts bool }
	if err := w.document(ctx, optInPath, &wanted); err != nil || !wanted.IsOptedInForRootCerts {
		return err
	}
	listed := 0
	var missed error // a missing file does not prevent the others
	for _, list := range filePackages {
		var d struct {
			OperationsInfo []struct {
				Misspelled string `json:"ResouceFileName"` // the wire server's spelling
				Name       string `json:"ResourceFileName"`
			}
		}
		if err := w.document(ctx, fmt.Sprintf(packagePath, list, "json"), &d); err != nil {
			return err
		}
		for _, file := range d.OperationsInfo {
			if listed++; listed > maxAuthorities {
				return tooManyAuthorities()
			}
			text, err := w.authorityFile(ctx, cmp.Or(file.Misspelled, file.Name))
			if err != nil {
				missed = cmp.Or(missed, err)
				continue
			}
			if err := found.add(cmp.Or(file.Misspelled, file.Name), text); err != nil {
				return err
			}
		}
	}
	if listed == 0 {
		return failed(wireAddress+optInPath, WrongType, "the machine is to have certificates, and none is listed").error(1, 0, nil)
	}
	return missed
}

// authorityFile reads a file with a certificate, if its name is valid.
func (w *WireServer) authorityFile(ctx context.Context, name string) (string, error) {
	if !isFileName(name) {
		return "", nil
	}
	ext := path.Ext(name)
	at := fmt.Sprintf(packagePath, url.QueryEscape(strings.TrimSuffix(name, ext)), url.QueryEscape(strings.TrimPrefix(ext, ".")))
	got, err := w.authorityDocument(ctx, at, maxAuthorityFile)
	return string(got), err
}

// isFileName reports whether a name is a plain file name: not a path, and printable.
func isFileName(name string) bool {
	return printable(strings.ReplaceAll(name, " ", "_"), maxID) && !strings.ContainsAny(name, `/\`) && name != "." && name != ".."
}

// document reads an object.
func (w *WireServer) document(ctx context.Context, path string, into any) error {
	got, err := w.authorityDocument(ctx, path, maxAuthorityList, htmlType)
	if err != nil {
		return err
	}
	if !decode(got, into) {
		return failed(wireAddress+path, WrongType, "the answer is not the document that was asked for").error(1, 0, nil)
	}
	return nil
}

func (w *WireServer) authorityDocument(ctx context.Context, path string, limit int, refused ...string) ([]byte, error) {
	got, err := retry(ctx, func(ctx context.Context) (answer, *failure) {
		return exchange(ctx, w.client, question{
			method: http.MethodGet, url: wireAddress + path,
			limit: limit, refused: refused, policy: authorityPolicy,
		})
	})
	return got.body, err
}

// authorities are collected one after another.
type authorities struct {
	facts.Authorities
	size int
}

// add adds a text if it is a certificate and has a valid file name. The error is for too many.
func (a *authorities) add(name, text string) error {
	certificates := certificatesOf(text)
	if !isFileName(name) || len(certificates) == 0 {
		a.Refused = append(a.Refused, fmt.Sprintf("%.80q", name))
	} else {
		a.Certificates = append(a.Certificates, certificates...)
	}
	a.size += len(text)
	if len(a.Certificates)+len(a.Refused) > maxAuthorities || a.size > maxAuthorityList {
		return tooManyAuthorities()
	}
	return nil
}

func tooManyAuthorities() error {
	return failed(wireAddress, TooLarge, fmt.Sprintf("names more than %d certificates, or certificates of more than %d bytes", maxAuthorities, maxAuthorityList)).error(1, 0, nil)
}

// sorted returns the certificates in a fixed order, independent of the wire server's, each once.
func (a *authorities) sorted() facts.Authorities {
	slices.Sort(a.Certificates)
	a.Certificates = slices.Compact(a.Certificates)
	return a.Authorities
}

// certificatesOf returns the certificates in a text, in a canonical form. It returns nil if the text has anything else.
func certificatesOf(text string) (all []string) {
	rest := []byte(text)
	for len(strings.TrimSpace(string(rest))) > 0 {
		var block *pem.Block
		block, rest = pem.Decode(rest)
		if block == nil || block.Type != "CERTIFICATE" {
			return nil
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return nil
		}
		all = append(all, string(pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes})))
	}
	return all
}
