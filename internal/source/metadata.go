package source

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/slipway-dev/slipway/internal/document"
)

// Where the clouds' metadata services are, and what a machine's user data is called there (Azure: Instance
// Metadata Service, "userData"; EC2: Instance Metadata Service Version 2).
const (
	metadataHost = "http://169.254.169.254"
	azurePath    = "/metadata/instance/compute/userData?api-version=2021-01-01&format=text"
	ec2Path      = "/latest/user-data"
	ec2TokenPath = "/latest/api/token"
)

const (
	// requestTimeout bounds one request, with its answer: the service is on the machine's own host.
	requestTimeout = 10 * time.Second
	// tokenLife is how long an EC2 token is asked to be good for, which is the longest that can be had.
	tokenLife = 6 * time.Hour
	// maxToken bounds a token, which has some fifty bytes.
	maxToken = 4 << 10
)

// cloud is a metadata service, as far as it has user data.
type cloud struct {
	path string
	// header is what every request for the data has, besides what makes it conditional.
	header map[string]string
	// token says that a token is fetched first, and sent in that header; empty for none.
	token string
	// base64 says that the data is encoded once more.
	base64 bool
}

var clouds = map[string]cloud{
	"azure": {path: azurePath, header: map[string]string{"Metadata": "true"}, base64: true},
	"ec2":   {path: ec2Path, token: "X-aws-ec2-metadata-token"},
}

// Clouds are the names of the clouds whose metadata services are known.
func Clouds() []string { return []string{"azure", "ec2"} }

// Metadata is a machine's user data, as its cloud's metadata service has it. It asks that service and
// nobody else: by no proxy, on a link-local address only, and nowhere that it is sent on to.
type Metadata struct {
	cloud
	client *http.Client

	mu sync.Mutex
	// last is what was fetched last, and tag the service's name for it, where it has one.
	last Contract
	tag  string
	// secret is the token, good until the time given.
	secret string
	until  time.Time
}

// Dial connects to an address.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// NewMetadata returns the user data of a machine in a cloud. How the service is reached is for tests to
// say; it is nil otherwise.
func NewMetadata(name string, dial Dial) (*Metadata, error) {
	c, known := clouds[name]
	if !known {
		return nil, fmt.Errorf("unknown metadata service %q, want one of %s", name, strings.Join(Clouds(), ", "))
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: requestTimeout, Control: linkLocal}).DialContext
	}
	return &Metadata{cloud: c, client: &http.Client{
		Timeout: requestTimeout,
		// A Proxy that is nil is none: IMDS must not be asked through one, and an answer of a proxy's is
		// not the machine's.
		Transport: &http.Transport{
			DialContext: dial, DisableKeepAlives: true, DisableCompression: true,
			MaxResponseHeaderBytes: 64 << 10,
		},
		// Whoever answers with another address wants something that is not the machine's own.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// linkLocal refuses to connect to what is not on the machine's own link.
func linkLocal(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err == nil && !to.Addr().IsLinkLocalUnicast() {
		err = fmt.Errorf("%s is no link-local address", to.Addr())
	}
	return err
}

// Fetch returns the user data. What has not changed since is not fetched again, where the service can tell.
// The error of a machine that has no user data is ErrNotFound; no error holds any of the data.
func (m *Metadata) Fetch(ctx context.Context) (Contract, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, err := m.fetch(ctx)
	if errors.Is(err, errUnauthorized) && m.secret != "" {
		m.secret = "" // the service has forgotten it, as one does that is started again
		data, err = m.fetch(ctx)
	}
	if err != nil {
		return Contract{Path: metadataHost + m.path}, fmt.Errorf("user data cannot be read from the metadata service: %w", err)
	}
	m.last = Contract{Path: metadataHost + m.path, Data: data}
	return m.last, nil
}

var errUnauthorized = errors.New("answers 401 Unauthorized")

func (m *Metadata) fetch(ctx context.Context) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, metadataHost+m.path, nil)
	if err != nil {
		return nil, err
	}
	for name, value := range m.header {
		request.Header.Set(name, value)
	}
	if m.token != "" {
		if err := m.renew(ctx); err != nil {
			return nil, err
		}
		request.Header.Set(m.token, m.secret)
	}
	if m.tag != "" {
		request.Header.Set("If-None-Match", m.tag)
	}
	limit := document.MaxBytes
	if m.base64 {
		limit = base64.StdEncoding.EncodedLen(document.MaxBytes) + 64 // and white space around it
	}
	answer, body, err := m.do(request, limit)
	if err != nil {
		return nil, err
	}
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusNotModified:
		if m.tag != "" {
			return m.last.Data, nil
		}
		return nil, errors.New("answers 304 to a request that has no condition")
	case http.StatusNotFound:
		return nil, fmt.Errorf("%w: the machine has no user data", ErrNotFound)
	case http.StatusUnauthorized:
		return nil, errUnauthorized
	default:
		return nil, fmt.Errorf("answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	}
	if m.base64 {
		if body, err = base64.StdEncoding.AppendDecode(nil, []byte(strings.TrimSpace(string(body)))); err != nil {
			return nil, errors.New("is not base64") // the error itself tells a byte of it
		}
	}
	if len(body) == 0 {
		return nil, fmt.Errorf("%w: the machine's user data is empty", ErrNotFound)
	}
	if len(body) > document.MaxBytes {
		return nil, fmt.Errorf("is larger than the limit of %d bytes", document.MaxBytes)
	}
	m.tag = answer.Header.Get("ETag")
	return body, nil
}

// renew fetches a token, unless the one that there is stays good for a while.
func (m *Metadata) renew(ctx context.Context) error {
	if m.secret != "" && time.Until(m.until) > time.Minute {
		return nil
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPut, metadataHost+ec2TokenPath, nil)
	if err != nil {
		return err
	}
	request.Header.Set(m.token+"-ttl-seconds", strconv.Itoa(int(tokenLife/time.Second)))
	until := time.Now().Add(tokenLife)
	answer, body, err := m.do(request, maxToken)
	switch {
	case err != nil:
		return fmt.Errorf("get a token: %w", err)
	case answer.StatusCode != http.StatusOK:
		return fmt.Errorf("get a token: answers %d %s", answer.StatusCode, http.StatusText(answer.StatusCode))
	case !isToken(body):
		return errors.New("get a token: the answer is none")
	}
	m.secret, m.until = string(body), until
	return nil
}

// isToken tells whether an answer can be sent back in a header.
func isToken(body []byte) bool {
	for _, b := range body {
		if b <= ' ' || b > '~' {
			return false
		}
	}
	return len(body) > 0
}

// do makes a request, and reads its answer to the end, which is limit bytes at most.
func (m *Metadata) do(request *http.Request, limit int) (*http.Response, []byte, error) {
	answer, err := m.client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, int64(limit)+1))
	if err != nil {
		return nil, nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	if len(body) > limit {
		return nil, nil, fmt.Errorf("is larger than the limit of %d bytes", document.MaxBytes)
	}
	return answer, body, nil
}

// Sum names what a source held: two contracts with the same sum have the same bytes.
func (c Contract) Sum() string { return fmt.Sprintf("%x", sha256.Sum256(c.Data)) }
