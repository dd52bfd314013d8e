package commands

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/slipway-dev/slipway/internal/anatomy"
)

// clusterView gets a cluster's view of a machine by a kubeconfig: the Node, the events about it, and the certificate requests.
func clusterView(ctx context.Context, path, node string) ([]anatomy.Document, error) {
	server, err := openKubeconfig(path)
	if err != nil {
		return nil, err
	}
	var documents []anatomy.Document
	for _, part := range []struct{ name, path string }{
		{"cluster/node.json", "/api/v1/nodes/" + url.PathEscape(node)},
		{"cluster/events.json", "/api/v1/namespaces/default/events?fieldSelector=" + url.QueryEscape("involvedObject.kind=Node,involvedObject.name="+node)},
		{"cluster/csr.json", "/apis/certificates.k8s.io/v1/certificatesigningrequests"},
	} {
		data, err := server.get(ctx, part.path)
		if err != nil {
			return nil, fmt.Errorf("the cluster's view of %s: %w", node, err)
		}
		documents = append(documents, anatomy.Document{Name: part.name, Data: data})
	}
	return documents, nil
}

// get gets a path of the API. A missing object has no text, and is no error: the Node may not exist.
func (s *apiServer) get(ctx context.Context, path string) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if s.token != "" {
		request.Header.Set("Authorization", "Bearer "+s.token)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, fmt.Errorf("GET %s: %w", path, err)
	case response.StatusCode == http.StatusNotFound:
		return []byte("{}"), nil
	case response.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("GET %s: the API server answers %s", path, response.Status)
	}
	return data, nil
}
