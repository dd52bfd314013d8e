// Package fakecloud answers as the metadata services of Azure and EC2 do, so that cloud-init's own data sources and the agent's
// sources run against it unmodified. It also answers as AWS's STS does, so that an instance can prove its identity. It misbehaves
// on request.
//
// It has one instance, keeps no state except a log of requests and the reports of the machine's health, and knows nothing about
// Slipway. It must listen only on loopback or in a network namespace of a test, because all machines use the clouds' addresses.
// Tests and test/e2e call it; test/fakecloud/cmd/fakecloud serves it for a person.
package fakecloud

import (
	"net/http"
	"sync"
	"time"
)

// The addresses of the clouds' services.
const (
	// MetadataAddress is the address of Azure's and EC2's metadata services, and MetadataAddressIPv6 EC2's second one.
	MetadataAddress     = "169.254.169.254"
	MetadataAddressIPv6 = "fd00:ec2::254"
	// WireServerAddress is the address of the server that controls Azure's guest agent.
	WireServerAddress = "168.63.129.16"
)

// Instance is the only machine of the services.
type Instance struct {
	// Name is the host name.
	Name string
	// ID identifies the instance; "i-..." on EC2, a UUID on Azure.
	ID string
	// Type is its size, such as "Standard_D2s_v5" or "m5.large".
	Type string
	// Region is "eastus" or "us-east-1"; the zone is its first.
	Region string
	// MAC and Address are those of its first interface; Prefix is the length of its subnet's prefix.
	MAC     string
	Address string
	Prefix  int
	// Secondary are its other interfaces, in Azure's IMDS.
	Secondary []Interface
	// Role is the role of its identity in EC2. Empty means no role.
	Role string
	// UserData is EC2's user data, and userData in Azure's IMDS.
	UserData []byte
	// Tags are its tags in Azure's IMDS.
	Tags []Tag
	// OptedIn reports whether the wire server has certificates for it in a list, and Authorities are these, in the order of the
	// list; only the first is a root. For every instance, the wire server also has them in one document of another form.
	OptedIn     bool
	Authorities []Authority
	// AccessToken is the token that Azure's IMDS returns for the identity Identity and each of the audiences.
	AccessToken, Identity string
	Audiences             []string
}

// Interface is an interface of an instance, in the subnet of the first one.
type Interface struct{ MAC, Address string }

// Tag is a tag of an instance.
type Tag struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Authority is a certificate of the wire server for an instance, by its file name: "root.crt".
type Authority struct{ Name, PEM string }

// Request is one request that was answered.
type Request struct {
	Time    time.Time `json:"time"`
	Service string    `json:"service"`
	Method  string    `json:"method"`
	Path    string    `json:"path"`
	Query   string    `json:"query,omitempty"`
	Status  int       `json:"status"`
	// Fault is the requested misbehaviour, if any.
	Fault string `json:"fault,omitempty"`
}

// Cloud is the services of one instance.
type Cloud struct {
	mu       sync.Mutex
	instance Instance
	faults   []*fault
	requests []Request
	tokens   map[string]time.Time
	// keys are the returned credentials, by their ID.
	keys   map[string]key
	health []Health
}

// New returns a well-behaved cloud with one instance.
func New(instance Instance) *Cloud {
	return &Cloud{instance: instance, tokens: make(map[string]time.Time), keys: make(map[string]key)}
}

// SetInstance replaces the instance, and forgets the requests and the reports.
func (c *Cloud) SetInstance(instance Instance) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instance, c.requests, c.health = instance, nil, nil
}

// SetAddress changes the instance's address, as its network may while it is off.
func (c *Cloud) SetAddress(address string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instance.Address = address
}

// SetUserData changes the instance's user data, as a cloud's customer may while the machine runs.
func (c *Cloud) SetUserData(data []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instance.UserData = data
}

// SetTags changes the instance's tags, as its owner may while it runs.
func (c *Cloud) SetTags(tags ...Tag) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instance.Tags = tags
}

// SetAuthorities changes the wire server's certificates for the instance.
func (c *Cloud) SetAuthorities(optedIn bool, all ...Authority) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.instance.OptedIn, c.instance.Authorities = optedIn, all
}

// Requests returns the requests so far.
func (c *Cloud) Requests() []Request {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Request(nil), c.requests...)
}

func (c *Cloud) current() Instance {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.instance
}

// Metadata answers at MetadataAddress: as Azure's IMDS below /metadata/, as EC2's elsewhere.
func (c *Cloud) Metadata() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/metadata/", c.service("imds", http.HandlerFunc(c.azureMetadata)))
	mux.Handle("/", c.service("ec2", http.HandlerFunc(c.ec2Metadata)))
	return mux
}

// WireServer answers at WireServerAddress.
func (c *Cloud) WireServer() http.Handler {
	return c.service("wire", http.HandlerFunc(c.wireServer))
}

// service records requests and applies faults.
func (c *Cloud) service(name string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := &recorder{ResponseWriter: w, status: http.StatusOK}
		f := c.faultFor(name, r.URL.Path)
		request := Request{Time: time.Now(), Service: name, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery}
		if f != nil {
			request.Fault = f.text
		}
		defer func() {
			request.Status = answer.status
			c.mu.Lock()
			defer c.mu.Unlock()
			c.requests = append(c.requests, request)
		}()
		if f != nil {
			f.apply(answer, r, next)
			return
		}
		next.ServeHTTP(answer, r)
	})
}

// recorder records the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (r *recorder) WriteHeader(status int) {
	r.status = status
	r.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }
