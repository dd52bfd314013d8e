package tlsbootstrap

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
)

const (
	pairPrefix = "kubelet-client-"
	pairSuffix = ".pem"
	// Current is the name of the link to the newest pair.
	Current = pairPrefix + "current" + pairSuffix
)

// PairName is the name of the file in which a kubelet keeps a pair from a certain time (client-go:
// certificate_store.go, filename).
func PairName(at time.Time) string { return pairPrefix + at.Format("2006-01-02-15-04-05") + pairSuffix }

// IsPairName reports whether a name in a kubelet's directory of certificates is a pair's.
func IsPairName(name string) bool {
	stamp, ok := strings.CutPrefix(name, pairPrefix)
	return ok && strings.HasSuffix(stamp, pairSuffix) && name != Current && path.Base(name) == name
}

// Pair is the file's content: the certificates and the key (client-go: certificate_store.go, Update). It returns an
// error if the certificate is not a client certificate for this key and this Node, or is not valid any more.
func (k *Key) Pair(certificates []byte, node string, now time.Time) ([]byte, error) {
	leaf, chain, err := readChain(certificates)
	if err != nil {
		return nil, err
	}
	switch want := NodeUser + node; {
	case !k.private.PublicKey.Equal(leaf.PublicKey):
		return nil, errors.New("the certificate is for another key")
	case leaf.Subject.CommonName != want:
		return nil, fmt.Errorf("the certificate is for %.80q, not for %q", leaf.Subject.CommonName, want)
	case !slices.Contains(leaf.Subject.Organization, nodesGroup):
		return nil, fmt.Errorf("the certificate is for no member of the group %s", nodesGroup)
	case len(leaf.ExtKeyUsage) > 0 && !slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageClientAuth) &&
		!slices.Contains(leaf.ExtKeyUsage, x509.ExtKeyUsageAny):
		return nil, errors.New("the certificate is not for clients")
	case now.After(leaf.NotAfter):
		return nil, fmt.Errorf("the certificate expired at %s", leaf.NotAfter.UTC().Format(time.RFC3339))
	}
	key, err := k.encoded()
	return append(chain, key...), err
}

// encoded is the key in PEM.
func (k *Key) encoded() ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(k.private)
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), err
}

// readChain parses certificates in PEM: it returns the first, and all of them in their canonical form.
func readChain(data []byte) (leaf *x509.Certificate, chain []byte, err error) {
	for {
		var block *pem.Block
		if block, data = pem.Decode(data); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, nil, fmt.Errorf("there is a %.40q among the certificates", block.Type)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, nil, fmt.Errorf("the certificate cannot be read: %w", err)
		}
		if leaf == nil {
			leaf = certificate
		}
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: block.Bytes})...)
	}
	if leaf == nil || len(bytes.TrimSpace(data)) > 0 {
		return nil, nil, errors.New("what was issued is not a certificate in PEM")
	}
	return leaf, chain, nil
}
