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
	t.talk = func(ctx context.Context, conn *http.ClientConn, address netip.AddrPort) *failure {
		ctx, cancel := context.WithTimeout(ctx, p.attemptTimeout)
		defer cancel()
		response, err := t.send(ctx, conn, http.MethodPatch, t.url, body)
		if err != nil {
			return t.failed(asking, resource.CauseConnection, address, err)
		}
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxNode))
		if response.StatusCode == http.StatusOK {
			return nil
		}
		return t.failed(asking, resource.CauseConnection, address, fmt.Errorf("annotate node %s: the server answers with HTTP status %d", name, response.StatusCode)).
			retryIf(response.StatusCode == http.StatusNotFound || mayPass(response.StatusCode))
	}
	return p.try(ctx, t)
}
