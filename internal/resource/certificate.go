package resource

import "fmt"

// Certificate is the kubelet's first client certificate, which an API server issues for a bootstrap token. It is asked for
// beside what else precedes the kubelet, and written as a kubelet writes it, so that the kubelet finds itself joined. A node
// that has a kubeconfig has joined, or has a kubelet that does so: it is left alone.
type Certificate struct {
	// Label names it within the plan.
	Label string `json:"label"`
	// APIServer is the server that is asked, with the token.
	APIServer APIServer `json:"apiServer"`
	// Node is the Node's name; where it is empty, it is the host's name, in lower case.
	Node string `json:"node,omitempty"`
	// Usages are what the certificate is for.
	Usages []string `json:"usages"`
	// Directory is where the kubelet keeps its certificates.
	Directory string `json:"directory"`
	// Kubeconfig is the kubeconfig's path, KubeconfigContent what a kubelet writes there when it joins. It is written last,
	// right before the unit starts.
	Kubeconfig        string `json:"kubeconfig"`
	KubeconfigContent string `json:"kubeconfigContent"`
	// Unit is the kubelet's. While the server does not answer, it is not kept waiting: then the kubelet asks itself.
	Unit string `json:"unit"`
	// Patience is how long an answer is waited for once the server has taken the request: the kubelet would wait as well.
	Patience Duration `json:"patience"`
	// ExitCodes are the codes of a provisioning that fails here, by cause. After every other cause the kubelet asks itself.
	ExitCodes map[Cause]int `json:"exitCodes,omitempty"`
}

// Kind implements Spec.
func (*Certificate) Kind() string { return "Certificate" }

// Name implements Spec.
func (c *Certificate) Name() string { return c.Label }

// Paths implements Spec: what it writes is the kubelet's from then on, which replaces it.
func (*Certificate) Paths() []string { return nil }

// Valid implements Spec.
func (c *Certificate) Valid() error {
	if err := named(c); err != nil {
		return err
	}
	for _, path := range []string{c.Directory, c.Kubeconfig} {
		if err := checkPath(path); err != nil {
			return fmt.Errorf("certificate %q: %w", c.Label, err)
		}
	}
	return nil
}

// Describe implements Spec.
func (c *Certificate) Describe() Description {
	return Description{Title: c.Label, What: "from " + c.APIServer.Server}
}

// withoutToken is the certificate without the token. The agent requests none without a token.
func (c *Certificate) withoutToken() *Certificate {
	bare := *c
	bare.APIServer.Token = Hidden{}
	return &bare
}
