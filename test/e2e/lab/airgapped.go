package lab

import (
	"bytes"
	"context"
	"net/http"
	"path/filepath"
	"sync"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/slipway-dev/slipway/test/e2e/registry"
	"github.com/slipway-dev/slipway/test/fakecloud"
)

// The registry of an air-gapped cluster, which the sandbox's DNS server knows.
const (
	IsolatedRegistry = isolatedHost + isolatedPort

	// tenant is the tenant of the machines' identity, in the contracts of the cases.
	tenant = "11111111-1111-1111-1111-111111111111"

	isolatedHost    = "isolated.azurecr.io"
	isolatedAddress = "10.77.0.3"
	isolatedPort    = ":5443"
	// registryAudience is the audience of a token that Azure's registries accept.
	registryAudience = "https://containerregistry.azure.net"
)

// Isolated is a registry like Azure's: only the machine's identity may read from it.
type Isolated struct {
	// PKI has signed its certificate.
	PKI  *PKI
	door *fakecloud.AzureRegistry

	mu       sync.Mutex
	registry http.Handler
	// damaged are the blobs that it serves with one bit changed, by their paths.
	damaged map[string]bool
}

// isolated starts the registry on the sandbox's network.
func (l *Lab) isolated() error {
	pki, err := NewPKI(filepath.Join(l.dir, "isolated-pki"), "e2e-isolated-ca")
	if err != nil {
		return err
	}
	l.Isolated = newIsolated(pki, l.Token)
	_, err = serveTLS(l.Registries.Requests.of("isolated", l.Isolated.door), isolatedAddress+isolatedPort, pki, isolatedHost)
	return err
}

// newIsolated makes an empty registry. It knows the identity's token.
func newIsolated(pki *PKI, token string) *Isolated {
	i := &Isolated{PKI: pki}
	i.door = &fakecloud.AzureRegistry{Host: IsolatedRegistry, Tenant: tenant, AccessToken: token, Content: http.HandlerFunc(i.content)}
	i.Clear()
	return i
}

// Clear removes everything from the registry, and gives the machine's identity its rights.
func (i *Isolated) Clear() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.registry, i.damaged = registry.Empty(), make(map[string]bool)
	i.door.Allow("read")
}

// Refuse takes all rights from the machine's identity.
func (i *Isolated) Refuse() { i.door.Allow() }

// content serves clients with a token.
func (i *Isolated) content(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	registry, damaged := i.registry, i.damaged[r.URL.Path]
	i.mu.Unlock()
	if damaged {
		w = &damager{ResponseWriter: w}
	}
	registry.ServeHTTP(w, r)
}

// damager changes the first bit of the data that is written.
type damager struct {
	http.ResponseWriter
	done bool
}

func (d *damager) Write(data []byte) (int, error) {
	if !d.done && len(data) > 0 {
		data, d.done = bytes.Clone(data), true
		data[0] ^= 0x80
	}
	return d.ResponseWriter.Write(data)
}

// Package is a file in the registry under a name and a tag, for machines of one kind.
type Package struct {
	Repository, Tag string
	// Title is the file's name, and Type its media type.
	Title, Type string
	Content     []byte
	// Architecture and OSVersion are those of the package's machines.
	Architecture, OSVersion string
	// Damaged means that the file is served with one bit changed, so its digest differs from the registry's.
	Damaged bool
}

// Publish pushes a package to the registry, as an index with one manifest (OCI image specification, "Image Index").
func (i *Isolated) Publish(ctx context.Context, p Package) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	push := registry.Pusher{Registry: i.registry, Repository: p.Repository}
	layer, err := push.Blob(ctx, types.MediaType(p.Type), p.Content)
	if err != nil {
		return err
	}
	i.damaged["/v2/"+p.Repository+"/blobs/"+layer.Digest.String()] = p.Damaged
	layer.Annotations = map[string]string{"org.opencontainers.image.title": p.Title}
	config, err := push.Blob(ctx, "application/vnd.oci.empty.v1+json", []byte("{}"))
	if err != nil {
		return err
	}
	one, err := push.Manifest(ctx, "", types.OCIManifestSchema1, v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Config: config, Layers: []v1.Descriptor{layer},
	})
	if err != nil {
		return err
	}
	one.Platform = &v1.Platform{OS: "linux", Architecture: p.Architecture, OSVersion: p.OSVersion}
	_, err = push.Manifest(ctx, p.Tag, types.OCIImageIndex, v1.IndexManifest{
		SchemaVersion: 2, MediaType: types.OCIImageIndex, Manifests: []v1.Descriptor{one},
	})
	return err
}
