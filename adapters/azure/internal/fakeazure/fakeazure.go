// Package fakeazure is a partial fake of Azure: a transport for the SDK's clients that forwards to the SDK's own fake servers, with
// prepared answers that win over theirs. It does not check credentials. The tests of package detect and of its program use it.
package fakeazure

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	azfake "github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"
	compute "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6"
	container "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/containerservice/armcontainerservice/v6/fake"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v8"
	network "github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v8/fake"
)

// Answer replaces an answer of a fake server.
type Answer struct {
	Status  int
	Code    string
	Message string
	// RetryAfter is in seconds. 0 means that the answer has none.
	RetryAfter int
}

// Version is a version of an image.
type Version struct {
	Name      string
	Published time.Time
	Excluded  bool
	// Regions and State belong only to the user's own gallery, where a version is listed for all regions.
	Regions []string
	State   armcompute.GalleryProvisioningState
}

// Gallery has the versions of its images by their definitions.
type Gallery map[string][]Version

// Cloud is a [policy.Transporter] of azcore.
type Cloud struct {
	// Cluster is the only cluster; its name does not matter. If nil, there is no cluster.
	Cluster *armcontainerservice.ManagedCluster
	// Kubeconfig is the one for the cluster's users.
	Kubeconfig []byte
	// SecurityGroups, RouteTables and Networks are those of every resource group, page by page.
	SecurityGroups, RouteTables [][]string
	Networks                    [][]*armnetwork.VirtualNetwork
	// Galleries are by region and name ("eastus/NAME"); the user's own by resource group and name.
	Galleries map[string]Gallery
	// PageSize is how many versions of an image are on a page. 0 means all.
	PageSize int
	// Answers are used up first, in their order, for a call by the SDK's name for it: "ManagedClustersClient.Get".
	Answers map[string][]Answer

	mu    sync.Mutex
	asked []string
	once  sync.Once
	to    map[string]interface {
		Do(*http.Request) (*http.Response, error)
	}
}

// Asked returns the requested paths, in their order.
func (c *Cloud) Asked() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]string(nil), c.asked...)
}

// Do implements policy.Transporter.
func (c *Cloud) Do(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err // the fake servers would panic because the client is gone
	}
	c.once.Do(c.start)
	name, _ := r.Context().Value(runtime.CtxAPINameKey{}).(string)
	c.mu.Lock()
	c.asked = append(c.asked, r.URL.Path)
	var first *Answer
	if queue := c.Answers[name]; len(queue) > 0 {
		first, c.Answers[name] = &queue[0], queue[1:]
	}
	c.mu.Unlock()
	if first != nil {
		return first.response(r), nil
	}
	for provider, server := range c.to {
		if strings.Contains(r.URL.Path, provider) {
			return server.Do(r)
		}
	}
	return nil, fmt.Errorf("no handler for %s", r.URL.Path)
}

// response writes the answer as Azure's resource manager does.
func (a *Answer) response(r *http.Request) *http.Response {
	body, err := json.Marshal(map[string]any{"error": map[string]string{"code": a.Code, "message": a.Message}})
	if err != nil {
		panic(err)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if a.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", a.Status, http.StatusText(a.Status)), StatusCode: a.Status, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Body: io.NopCloser(strings.NewReader(string(body))), ContentLength: int64(len(body)),
	}
}

// start starts the fake servers.
func (c *Cloud) start() {
	c.to = map[string]interface {
		Do(*http.Request) (*http.Response, error)
	}{
		"/Microsoft.ContainerService/": container.NewServerFactoryTransport(&container.ServerFactory{ManagedClustersServer: c.clusters()}),
		"/Microsoft.Network/": network.NewServerFactoryTransport(&network.ServerFactory{
			SecurityGroupsServer:  network.SecurityGroupsServer{NewListPager: c.securityGroups},
			RouteTablesServer:     network.RouteTablesServer{NewListPager: c.routeTables},
			VirtualNetworksServer: network.VirtualNetworksServer{NewListPager: c.networks, Get: c.network},
		}),
		"/Microsoft.Compute/": compute.NewServerFactoryTransport(c.galleries()),
	}
}

func (c *Cloud) clusters() container.ManagedClustersServer {
	return container.ManagedClustersServer{
		Get: func(context.Context, string, string, *armcontainerservice.ManagedClustersClientGetOptions) (ok azfake.Responder[armcontainerservice.ManagedClustersClientGetResponse], wrong azfake.ErrorResponder) {
			if c.Cluster == nil {
				wrong.SetResponseError(http.StatusNotFound, "ResourceNotFound")
				return ok, wrong
			}
			ok.SetResponse(http.StatusOK, armcontainerservice.ManagedClustersClientGetResponse{ManagedCluster: *c.Cluster}, nil)
			return ok, wrong
		},
		ListClusterUserCredentials: func(context.Context, string, string, *armcontainerservice.ManagedClustersClientListClusterUserCredentialsOptions) (ok azfake.Responder[armcontainerservice.ManagedClustersClientListClusterUserCredentialsResponse], wrong azfake.ErrorResponder) {
			var answer armcontainerservice.ManagedClustersClientListClusterUserCredentialsResponse
			if c.Kubeconfig != nil {
				answer.Kubeconfigs = []*armcontainerservice.CredentialResult{{Name: new("clusterUser"), Value: c.Kubeconfig}}
			}
			ok.SetResponse(http.StatusOK, answer, nil)
			return ok, wrong
		},
	}
}

// pages returns at least one page.
func pages[T any](all [][]T) [][]T {
	if len(all) == 0 {
		return [][]T{nil}
	}
	return all
}

func (c *Cloud) securityGroups(string, *armnetwork.SecurityGroupsClientListOptions) (answer azfake.PagerResponder[armnetwork.SecurityGroupsClientListResponse]) {
	for _, names := range pages(c.SecurityGroups) {
		var page armnetwork.SecurityGroupsClientListResponse
		for _, name := range names {
			page.Value = append(page.Value, &armnetwork.SecurityGroup{Name: &name})
		}
		answer.AddPage(http.StatusOK, page, nil)
	}
	return answer
}

func (c *Cloud) routeTables(string, *armnetwork.RouteTablesClientListOptions) (answer azfake.PagerResponder[armnetwork.RouteTablesClientListResponse]) {
	for _, names := range pages(c.RouteTables) {
		var page armnetwork.RouteTablesClientListResponse
		for _, name := range names {
			page.Value = append(page.Value, &armnetwork.RouteTable{Name: &name})
		}
		answer.AddPage(http.StatusOK, page, nil)
	}
	return answer
}

func (c *Cloud) networks(string, *armnetwork.VirtualNetworksClientListOptions) (answer azfake.PagerResponder[armnetwork.VirtualNetworksClientListResponse]) {
	for _, some := range pages(c.Networks) {
		var page armnetwork.VirtualNetworksClientListResponse
		page.Value = some
		answer.AddPage(http.StatusOK, page, nil)
	}
	return answer
}

func (c *Cloud) network(_ context.Context, _, name string, _ *armnetwork.VirtualNetworksClientGetOptions) (ok azfake.Responder[armnetwork.VirtualNetworksClientGetResponse], wrong azfake.ErrorResponder) {
	for _, some := range c.Networks {
		for _, v := range some {
			if *v.Name == name {
				ok.SetResponse(http.StatusOK, armnetwork.VirtualNetworksClientGetResponse{VirtualNetwork: *v}, nil)
				return ok, wrong
			}
		}
	}
	wrong.SetResponseError(http.StatusNotFound, "ResourceNotFound")
	return ok, wrong
}
