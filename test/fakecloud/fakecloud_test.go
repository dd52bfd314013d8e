package fakecloud_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/test/fakecloud"
)

var instance = fakecloud.Instance{
	Name: "node", ID: "i-0123456789abcdef0", Type: "m5.large", Region: "us-east-1",
	MAC: "52:54:00:00:00:01", Address: "10.77.0.11", Prefix: 24, Role: "node", UserData: []byte("the user data"),
}

// serve starts a cloud with the given faults, and returns the addresses of its services.
func serve(t *testing.T, faults ...string) (cloud *fakecloud.Cloud, metadata, wire string) {
	t.Helper()
	cloud = fakecloud.New(instance)
	if err := cloud.Misbehave(faults...); err != nil {
		t.Fatal(err)
	}
	m, w := httptest.NewServer(cloud.Metadata()), httptest.NewServer(cloud.WireServer())
	t.Cleanup(m.Close)
	t.Cleanup(w.Close)
	return cloud, m.URL, w.URL
}

// ask makes a request; header is a list of names and values.
func ask(ctx context.Context, method, url string, header ...string) (status int, body string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, nil)
	if err != nil {
		return 0, "", err
	}
	for pair := range slices.Chunk(header, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, "", err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	return answer.StatusCode, string(content), err
}

const (
	instancePath = "/metadata/instance?api-version=2021-08-01"
	addressPath  = "/metadata/instance/network/interface/0/ipv4/ipAddress/0/privateIpAddress?api-version=2021-02-01&format=text"
)

func TestAzureMetadata(t *testing.T) {
	_, metadata, _ := serve(t)
	ctx := t.Context()
	for _, c := range []struct {
		name, path string
		header     []string
		status     int
	}{
		{"instance", instancePath, []string{"Metadata", "true"}, 200},
		{"extended", instancePath + "&extended=true", []string{"Metadata", "true"}, 200},
		{"no header", instancePath, nil, 400},
		{"forwarded", instancePath, []string{"Metadata", "true", "X-Forwarded-For", "10.0.0.1"}, 400},
		{"no version", "/metadata/instance", []string{"Metadata", "true"}, 400},
		{"a text", addressPath, []string{"Metadata", "true"}, 200},
		{"a text that is not there", strings.Replace(addressPath, "/0/ipv4", "/1/ipv4", 1), []string{"Metadata", "true"}, 404},
		{"unknown", "/metadata/nothing?api-version=2021-08-01", []string{"Metadata", "true"}, 404},
	} {
		status, body, err := ask(ctx, "GET", metadata+c.path, c.header...)
		if err != nil || status != c.status {
			t.Errorf("%s: %d, %v, want %d: %s", c.name, status, err, c.status, body)
		}
	}
	if _, body, err := ask(ctx, "GET", metadata+addressPath, "Metadata", "true"); err != nil || body != instance.Address {
		t.Errorf("the address is %q, %v", body, err)
	}
	_, body, err := ask(ctx, "GET", metadata+instancePath, "Metadata", "true")
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Compute struct{ Name, VMSize, UserData string }
		Network struct {
			Interface []struct{ MacAddress string }
		}
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	c := document.Compute
	if c.Name != "node" || c.VMSize != "m5.large" || c.UserData != "dGhlIHVzZXIgZGF0YQ==" || document.Network.Interface[0].MacAddress != "525400000001" {
		t.Errorf("the instance is %+v", document)
	}
}

func TestWireServer(t *testing.T) {
	_, _, wire := serve(t)
	for _, c := range []struct {
		method, path string
		status       int
		holds        string
	}{
		{"GET", "/?comp=versions", 200, "<Version>2012-11-30</Version>"},
		{"GET", "/machine/?comp=goalstate", 200, "<InstanceId>node</InstanceId>"},
		{"POST", "/machine?comp=health", 200, ""},
		{"GET", "/machine?comp=health", 404, ""},
		{"GET", "/", 404, ""},
	} {
		status, body, err := ask(t.Context(), c.method, wire+c.path)
		if err != nil || status != c.status || !strings.Contains(body, c.holds) {
			t.Errorf("%s %s: %d, %v, want %d with %q: %s", c.method, c.path, status, err, c.status, c.holds, body)
		}
	}
}

func TestEC2TokenFlow(t *testing.T) {
	_, metadata, _ := serve(t)
	ctx := t.Context()
	const ttl = "X-aws-ec2-metadata-token-ttl-seconds"
	if status, _, err := ask(ctx, "GET", metadata+"/latest/meta-data/instance-id"); err != nil || status != 401 {
		t.Errorf("without a token: %d, %v, want 401", status, err)
	}
	for _, c := range []struct {
		method, ttl string
		status      int
	}{{"GET", "60", 405}, {"PUT", "", 400}, {"PUT", "0", 400}, {"PUT", "21601", 400}} {
		if status, _, err := ask(ctx, c.method, metadata+"/latest/api/token", ttl, c.ttl); err != nil || status != c.status {
			t.Errorf("%s of a token for %q s: %d, %v, want %d", c.method, c.ttl, status, err, c.status)
		}
	}
	_, token, err := ask(ctx, "PUT", metadata+"/latest/api/token", ttl, "60")
	if err != nil || token == "" {
		t.Fatalf("no token: %v", err)
	}
	for path, want := range map[string]string{
		"/latest/meta-data/instance-id":              instance.ID,
		"/2021-03-23/meta-data/placement/region":     "us-east-1",
		"/latest/meta-data/network/interfaces/macs/": instance.MAC + "/",
		"/latest/user-data":                          "the user data",
		"/latest/dynamic/instance-identity/document": `"instanceType":"m5.large"`,
		"/latest/meta-data/placement/":               "availability-zone\nregion",
		"/latest/meta-data/network/interfaces/macs/" + instance.MAC + "/subnet-ipv4-cidr-block": "10.77.0.0/24",
	} {
		status, body, err := ask(ctx, "GET", metadata+path, "X-aws-ec2-metadata-token", token)
		if err != nil || status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d, %q, %v, want %q", path, status, body, err, want)
		}
	}
	for path, want := range map[string]string{"": instance.Role, instance.Role: `"AccessKeyId":"ASIA`} {
		_, body, err := ask(ctx, "GET", metadata+"/latest/meta-data/iam/security-credentials/"+path, "X-aws-ec2-metadata-token", token)
		if err != nil || !strings.Contains(body, want) {
			t.Errorf("credentials of %q: %q, %v, want %q", path, body, err, want)
		}
	}
	if status, _, err := ask(ctx, "GET", metadata+"/latest/meta-data/nothing", "X-aws-ec2-metadata-token", token); err != nil || status != 404 {
		t.Errorf("a path that is not there: %d, %v, want 404", status, err)
	}
}

func TestFaultsThatPass(t *testing.T) {
	cloud, metadata, wire := serve(t, "imds/metadata/instance status=404*2", "imds busy=3s*1", "wire garbage*1")
	for i, want := range []int{404, 404, 429, 200} {
		request, err := http.NewRequestWithContext(t.Context(), "GET", metadata+instancePath, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Metadata", "true")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("answer %d is %d, want %d", i+1, answer.StatusCode, want)
		}
		if retry := answer.Header.Get("Retry-After"); (want == 429) != (retry == "3") {
			t.Errorf("answer %d, %d, has Retry-After %q", i+1, want, retry)
		}
	}
	_, body, err := ask(t.Context(), "GET", wire+"/?comp=versions")
	if err != nil || body == "" || strings.Contains(body, "Version") {
		t.Errorf("garbage is %q, %v", body, err)
	}
	requests := cloud.Requests()
	if len(requests) != 5 || requests[0].Fault == "" || requests[0].Status != 404 || requests[3].Fault != "" || requests[4].Service != "wire" {
		t.Errorf("the requests are %+v", requests)
	}
}

// handled is a handler's answer to a request without a network, and its time in a bubble. A connection that is closed at once has
// no status.
func handled(t *testing.T, cloud *fakecloud.Cloud) (answer *httptest.ResponseRecorder, took time.Duration) {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), "GET", instancePath, nil)
	request.Header.Set("Metadata", "true")
	answer = httptest.NewRecorder()
	answer.Code = 0
	begin := time.Now()
	defer func() {
		if abort := recover(); abort != nil && abort != http.ErrAbortHandler {
			panic(abort)
		}
	}()
	cloud.Metadata().ServeHTTP(answer, request)
	return answer, time.Since(begin)
}

func TestLate(t *testing.T) {
	for fault, least := range map[string]time.Duration{"slow=3s": 3 * time.Second, "drip=3s": 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			cloud := fakecloud.New(instance)
			if err := cloud.Misbehave(fault); err != nil {
				t.Fatal(err)
			}
			answer, took := handled(t, cloud)
			if answer.Code != 200 || !json.Valid(answer.Body.Bytes()) || took < least || took > 3*time.Second {
				t.Errorf("%s: %d, %d bytes after %s", fault, answer.Code, answer.Body.Len(), took)
			}
		})
	}
}

func TestTruncated(t *testing.T) {
	_, metadata, _ := serve(t, "truncated")
	_, body, err := ask(t.Context(), "GET", metadata+instancePath, "Metadata", "true")
	if !errors.Is(err, io.ErrUnexpectedEOF) || body == "" {
		t.Errorf("truncated is %q, %v, want half a document and an unexpected end", body, err)
	}
}

func TestBlackHole(t *testing.T) {
	_, metadata, _ := serve(t, "blackhole")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	status, body, err := ask(ctx, "GET", metadata+instancePath, "Metadata", "true")
	if !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a black hole answers %d %q, %v", status, body, err)
	}
}

func TestInvalidFaults(t *testing.T) {
	cloud := fakecloud.New(instance)
	for _, way := range []string{"", "a b c", "explode", "slow", "slow=soon", "status=many", "garbage*0", "garbage*x", "garbage%0", "garbage%101", "garbage%x",
		"large=", "large=-1", "large=1GB", "redirect", "type=", "drip", "down=x"} {
		if err := cloud.Misbehave(way); err == nil {
			t.Errorf("%q is taken for a fault", way)
		}
	}
}

// What comes besides a status: the header's field and the body's length.
func TestFaultsOfTheAnswer(t *testing.T) {
	const whole = len(`"}` + "\n")
	for _, c := range []struct {
		fault, field, want string
		status, least      int
	}{
		{"redirect=http://192.0.2.1/x", "Location", "http://192.0.2.1/x", 302, 0},
		{"type=text/html", "Content-Type", "text/html", 200, whole},
		{"large=100KB", "Content-Type", "application/octet-stream", 200, 100_000},
		{"drip=20ms", "Content-Type", "application/json; charset=utf-8", 200, whole},
	} {
		_, metadata, _ := serve(t, c.fault)
		request, err := http.NewRequestWithContext(t.Context(), "GET", metadata+instancePath, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Metadata", "true")
		answer, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Errorf("%s: %v", c.fault, err)
			continue
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != c.status || answer.Header.Get(c.field) != c.want || len(body) < c.least {
			t.Errorf("%s: %d, %v, %d bytes, %v", c.fault, answer.StatusCode, answer.Header, len(body), err)
		}
	}
}

func TestDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cloud := fakecloud.New(instance)
		if err := cloud.Misbehave("down=3s"); err != nil {
			t.Fatal(err)
		}
		for _, want := range []int{0, 0, 200, 200} {
			if answer, _ := handled(t, cloud); answer.Code != want {
				t.Errorf("%d, want %d", answer.Code, want)
			}
			time.Sleep(1500 * time.Millisecond)
		}
	})
}

func TestFaultsOfSomeRequests(t *testing.T) {
	for _, c := range []struct {
		fault string
		want  []int
	}{
		{"status=503%50", []int{503, 200, 503, 200, 503, 200}},
		{"status=503%34", []int{503, 200, 503, 200, 200, 503}},
		{"status=503*2%50", []int{503, 200, 503, 200, 200, 200}},
		{"status=503%100", []int{503, 503, 503, 503, 503, 503}},
	} {
		_, metadata, _ := serve(t, c.fault)
		var got []int
		for range c.want {
			status, _, err := ask(t.Context(), "GET", metadata+instancePath, "Metadata", "true")
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, status)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %d, want %d", c.fault, got, c.want)
		}
	}
}

func TestHealth(t *testing.T) {
	cloud, _, wire := serve(t)
	for _, document := range []string{
		"<Health><GoalStateIncarnation>1</GoalStateIncarnation><Container><ContainerId>c</ContainerId><RoleInstanceList><Role>" +
			"<InstanceId>i</InstanceId><Health><State>NotReady</State><Details><SubStatus>ProvisioningFailed</SubStatus>" +
			"<Description>a &lt; b</Description></Details></Health></Role></RoleInstanceList></Container></Health>",
		"nonsense",
	} {
		answer, err := http.Post(wire+"/machine?comp=health", "text/xml", strings.NewReader(document))
		if err != nil || answer.StatusCode != 200 {
			t.Fatal(answer, err)
		}
		answer.Body.Close()
	}
	want := []fakecloud.Health{{
		State: "NotReady", SubStatus: "ProvisioningFailed", Description: "a < b", Incarnation: "1", Container: "c", Instance: "i",
	}}
	if got := cloud.Health(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
	if cloud.SetInstance(instance); len(cloud.Health()) != 0 {
		t.Error("another instance has the reports of the one before")
	}
}
