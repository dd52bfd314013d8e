package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"

	"github.com/slipway-dev/slipway/internal/resource"
)

// AnnotateNode sets annotations of this machine's Node, with the kubelet's certificate. It waits until the kubelet has
// registered the Node.
func (c Cluster) AnnotateNode(ctx context.Context, node *resource.FreeName, annotations map[string]string) error {
	return defaultProber.annotate(ctx, node, credentialsIn(c.Files), annotations)
}

func (p *prober) annotate(ctx context.Context, node *resource.FreeName, read func(path string) ([]byte, error), annotations map[string]string) error {
	name, err := nameOr(node.Node, hostName)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": annotations}})
	if err != nil {
		return err
	}
	way := node.AsNode
	way.Bootstrap = "" // a bootstrap token may not change a Node
	t, _, err := p.asNode(&way, read, nodesPath+name, maxNode, nil)
	if err != nil {
		return err
	}
	t.talk = p.patching(t, "annotate node "+name, body)
	return p.try(ctx, t)
}

// patching sends a patch of a Node. If the Node does not exist yet, it tries again.
func (p *prober) patching(t *target, what string, body []byte) func(context.Context, *http.ClientConn, netip.AddrPort) *failure {
	return func(ctx context.Context, conn *http.ClientConn, address netip.AddrPort) *failure {
		ctx, cancel := context.WithTimeout(ctx, p.attemptTimeout)
		defer cancel()
		response, err := t.send(ctx, conn, http.MethodPatch, t.url, body)
		if err != nil {
			return t.failed(asking, resource.CauseConnection, address, err)
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxNode))
		cause := resource.CauseConnection
		switch response.StatusCode {
		case http.StatusOK:
			return nil
		case http.StatusForbidden:
			cause = resource.CauseForbidden
		}
		return t.failed(asking, cause, address, fmt.Errorf("%s: the server answers with HTTP status %d", what, response.StatusCode)).
			retryIf(response.StatusCode == http.StatusNotFound || mayPass(response.StatusCode))
	}
}
