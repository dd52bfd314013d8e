package fakecloud

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// AWS's requests are signed (IAM User Guide, "AWS Signature Version 4 for API requests"). This code checks a signature in a URL or
// in headers; it shares no code with the program that signs.
const (
	sigAlgorithm = "AWS4-HMAC-SHA256"
	sigTime      = "20060102T150405Z"
	// sigLife is how long AWS accepts a signed request, independently of its URL.
	sigLife = 15 * time.Minute
)

// key is an identity's signing key.
type key struct {
	secret, token string
	// role and session are its owner.
	role, session string
	expires       time.Time
}

// claim is the signature's data in a request.
type claim struct {
	algorithm, credential, date, token, signature string
	// headers are the names of the signed headers.
	headers []string
	body    []byte
}

// inURL is the claim of a request with its signature in its URL. It has no body.
func inURL(r *http.Request) claim {
	q := r.URL.Query()
	return claim{q.Get("X-Amz-Algorithm"), q.Get("X-Amz-Credential"), q.Get("X-Amz-Date"), q.Get("X-Amz-Security-Token"), q.Get("X-Amz-Signature"),
		strings.Split(q.Get("X-Amz-SignedHeaders"), ";"), nil}
}

// inHeader is the claim of a request with its signature in its headers. It reads the body.
func inHeader(r *http.Request) claim {
	c := claim{date: r.Header.Get("X-Amz-Date"), token: r.Header.Get("X-Amz-Security-Token")}
	var rest string
	c.algorithm, rest, _ = strings.Cut(r.Header.Get("Authorization"), " ")
	for field := range strings.SplitSeq(rest, ",") {
		switch name, value, _ := strings.Cut(strings.TrimSpace(field), "="); name {
		case "Credential":
			c.credential = value
		case "SignedHeaders":
			c.headers = strings.Split(value, ";")
		case "Signature":
			c.signature = value
		}
	}
	c.body, _ = io.ReadAll(io.LimitReader(r.Body, maxSignedBody))
	return c
}

// maxSignedBody is larger than any signed request here, in bytes.
const maxSignedBody = 64 << 10

// signer returns the key that signed a request to a service, or what is wrong with the signature. prefix is the text before the
// region in the names of the service's hosts.
func (c *Cloud) signer(r *http.Request, claim claim, service, prefix string) (key, error) {
	parts := strings.Split(claim.credential, "/") // key ID, date, region, service, "aws4_request"
	if claim.algorithm != sigAlgorithm || len(parts) != 5 {
		return key{}, errors.New("MissingAuthenticationToken: the request is not signed")
	}
	id, scope := parts[0], strings.Join(parts[1:], "/")
	c.mu.Lock()
	k, known := c.keys[id]
	c.mu.Unlock()
	at, err := time.Parse(sigTime, claim.date)
	switch age := time.Since(at); {
	case !known || claim.token != k.token:
		return key{}, errors.New("InvalidClientTokenId: the security token included in the request is invalid")
	case time.Now().After(k.expires):
		return key{}, errors.New("ExpiredToken: the security token included in the request is expired")
	case err != nil || age > sigLife || age < -sigLife:
		return key{}, errors.New("SignatureDoesNotMatch: the signature is expired, or not yet current")
	case parts[1] != at.Format("20060102") || parts[3] != service || parts[4] != "aws4_request" || !ofRegion(r.Host, prefix, parts[2]):
		return key{}, errors.New("SignatureDoesNotMatch: the credential is for another day, region or service")
	case !slices.Contains(claim.headers, "host"):
		return key{}, errors.New("SignatureDoesNotMatch: the host is not signed")
	}
	want := signature(k.secret, at.Format(sigTime), scope, canonicalRequest(r, claim.headers, claim.body))
	if !hmac.Equal([]byte(want), []byte(claim.signature)) {
		return key{}, errors.New("SignatureDoesNotMatch: the request signature we calculated does not match the signature you provided")
	}
	return k, nil
}

// ofRegion reports whether a host is an endpoint in a region, of any partition; FIPS endpoints have a marker in their name. prefix
// is the text before the region in the names of a service's hosts.
func ofRegion(host, prefix, region string) bool {
	rest, is := strings.CutPrefix(host, prefix)
	return is && strings.HasPrefix(strings.TrimPrefix(rest, "-fips"), "."+region+".")
}

// canonicalRequest is the form of a request that is signed.
func canonicalRequest(r *http.Request, signed []string, body []byte) string {
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		switch name {
		case "host":
			value = r.Host
		case "content-length": // net/http removes it from the headers
			value = strconv.FormatInt(r.ContentLength, 10)
		}
		fmt.Fprintf(&headers, "%s:%s\n", name, strings.Join(strings.Fields(value), " "))
	}
	var query []string
	for name, values := range r.URL.Query() {
		for _, value := range values {
			if name != "X-Amz-Signature" {
				query = append(query, escaped(name)+"="+escaped(value))
			}
		}
	}
	slices.Sort(query)
	path := r.URL.EscapedPath()
	if path == "" {
		path = "/"
	}
	sum := sha256.Sum256(body)
	return strings.Join([]string{r.Method, path, strings.Join(query, "&"), headers.String(), strings.Join(signed, ";"), hex.EncodeToString(sum[:])}, "\n")
}

// escaped is a text in the form for a signed query (RFC 3986).
func escaped(text string) string { return strings.ReplaceAll(url.QueryEscape(text), "+", "%20") }

// signature signs a canonical request. scope is "date/region/service/aws4_request".
func signature(secret, at, scope, canonical string) string {
	sum := sha256.Sum256([]byte(canonical))
	text := strings.Join([]string{sigAlgorithm, at, scope, hex.EncodeToString(sum[:])}, "\n")
	derived := []byte("AWS4" + secret)
	for part := range strings.SplitSeq(scope, "/") {
		derived = keyed(derived, part)
	}
	return hex.EncodeToString(keyed(derived, text))
}

func keyed(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(text))
	return mac.Sum(nil)
}
