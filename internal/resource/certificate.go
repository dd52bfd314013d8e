package resource

import "fmt"

// Certificate is the kubelet's first client certificate, which an API server issues for a bootstrap token. The engine
// requests it beside the other work before the kubelet starts, and writes it as a kubelet does, so that the kubelet
// finds itself joined. A node with a kubeconfig has joined, and a node with a running kubelet joins by itself: both are
// left alone.
type Certificate struct {
	// Label names it within the plan.
	Label string `json:"label"`
	// APIServer is the server for the request, with the token.
	APIServer APIServer `json:"apiServer"`
	// Node is the Node's name. Empty means the host's name, in lower case.
	Node string `json:"node,omitempty"`
	// Usages are the certificate's key usages.
	Usages []string `json:"usages"`
	// Directory is where the kubelet keeps its certificates.
	Directory string `json:"directory"`
	// Kubeconfig is the kubeconfig's path, KubeconfigContent what a kubelet writes there when it joins. It is written
	// last, right before the unit starts.
	Kubeconfig        string `json:"kubeconfig"`
	KubeconfigContent string `json:"kubeconfigContent"`
	// Unit is the kubelet's unit. If the server does not answer, the unit does not wait: then the kubelet makes the
	// request.
	Unit string `json:"unit"`
	// Patience is how long to wait for an answer once the server has accepted the request: the kubelet would wait as
	// well.
	Patience Duration `json:"patience"`
	// ExitCodes are the provisioning's exit codes by cause. After every other cause the kubelet makes the request
	// itself.
	ExitCodes map[Cause]int `json:"exitCodes,omitempty"`
}

// Kind implements Spec.
func (*Certificate) Kind() string { return "Certificate" }

// Name implements Spec.
func (c *Certificate) Name() string { return c.Label }

// Paths implements Spec: the kubelet owns and replaces the written files from then on.
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
