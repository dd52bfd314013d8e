package fakecloud

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// AWS's requests are signed (IAM User Guide, "AWS Signature Version 4 for API requests"). What is here checks a signature in
// a URL; it shares no code with whoever signs.
const (
	sigAlgorithm = "AWS4-HMAC-SHA256"
	sigTime      = "20060102T150405Z"
	// sigLife is how long STS takes a signed URL, whatever the URL says.
	sigLife = 15 * time.Minute
)

// key is what an identity signs with.
type key struct {
	secret, token string
	// role and session are whose it is.
	role, session string
	expires       time.Time
}

// signer returns the key that a request to a service of a region is signed with, or says what is wrong with the signature.
func (c *Cloud) signer(r *http.Request, service string) (key, error) {
	query := r.URL.Query()
	parts := strings.Split(query.Get("X-Amz-Credential"), "/") // key ID, date, region, service, "aws4_request"
	if query.Get("X-Amz-Algorithm") != sigAlgorithm || len(parts) != 5 {
		return key{}, errors.New("MissingAuthenticationToken: the request is not signed")
	}
	id, scope := parts[0], strings.Join(parts[1:], "/")
	c.mu.Lock()
	k, known := c.keys[id]
	c.mu.Unlock()
	at, err := time.Parse(sigTime, query.Get("X-Amz-Date"))
	names := strings.Split(query.Get("X-Amz-SignedHeaders"), ";")
	switch age := time.Since(at); {
	case !known || query.Get("X-Amz-Security-Token") != k.token:
		return key{}, errors.New("InvalidClientTokenId: the security token included in the request is invalid")
	case time.Now().After(k.expires):
		return key{}, errors.New("ExpiredToken: the security token included in the request is expired")
	case err != nil || age > sigLife || age < -sigLife:
		return key{}, errors.New("SignatureDoesNotMatch: the signature is expired, or not yet current")
	case parts[1] != at.Format("20060102") || parts[3] != service || parts[4] != "aws4_request" || r.Host != service+"."+parts[2]+".amazonaws.com":
		return key{}, errors.New("SignatureDoesNotMatch: the credential is for another day, region or service")
	case !slices.Contains(names, "host"):
		return key{}, errors.New("SignatureDoesNotMatch: the host is not signed")
	}
	want := signature(k.secret, at.Format(sigTime), scope, canonicalRequest(r, names))
	if !hmac.Equal([]byte(want), []byte(query.Get("X-Amz-Signature"))) {
		return key{}, errors.New("SignatureDoesNotMatch: the request signature we calculated does not match the signature you provided")
	}
	return k, nil
}

// canonicalRequest is a request without a body, as it is signed.
func canonicalRequest(r *http.Request, signed []string) string {
	var headers strings.Builder
	for _, name := range signed {
		value := strings.Join(r.Header.Values(name), ",")
		if name == "host" {
			value = r.Host
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
	empty := sha256.Sum256(nil)
	return strings.Join([]string{r.Method, path, strings.Join(query, "&"), headers.String(), strings.Join(signed, ";"), hex.EncodeToString(empty[:])}, "\n")
}

// escaped is a text as a signed query has it (RFC 3986).
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
