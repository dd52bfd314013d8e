package resource

// Reach is how servers are reached that a node has things from: through which proxy, with which certificates, as whom.
type Reach struct {
	// Authorities are the contract's certificate authorities, in PEM: the machine may not trust them yet.
	Authorities string `json:"authorities,omitempty"`
	// Direct is what is reached without the proxies.
	Direct []string `json:"direct,omitempty"`
	// Identity is whom an Azure registry is asked as where it gives nobody what is wanted; nil for nobody.
	Identity *RegistryIdentity `json:"identity,omitempty"`
	// HTTP and HTTPS are proxies, which may have a password.
	HTTP  Hidden `json:"http,omitzero"`
	HTTPS Hidden `json:"https,omitzero"`
}

// RegistryIdentity is a managed identity of Azure's.
type RegistryIdentity struct {
	// Registry is the host and port of the one registry that is shown it.
	Registry string `json:"registry"`
	ClientID string `json:"clientID"`
	TenantID string `json:"tenantID"`
	// ResourceManager is the cloud's, for registries that take no other token.
	ResourceManager string `json:"resourceManager,omitempty"`
}

// Kept is the same as it may be kept: without proxies, which may have a password, and without whom the machine is known as, which an
// image would have from its first cluster.
func (r Reach) Kept() Reach {
	r.HTTP, r.HTTPS, r.Identity = Hidden{}, Hidden{}, nil
	return r
}

// Anonymous is the same without the machine's identity.
func (r Reach) Anonymous() Reach {
	r.Identity = nil
	return r
}

// IsZero reports whether there is nothing to say.
func (r Reach) IsZero() bool {
	return r.Authorities == "" && r.HTTP.IsZero() && r.HTTPS.IsZero() && len(r.Direct) == 0 && r.Identity == nil
}
