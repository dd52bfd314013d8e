package fakecloud

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// The example of AWS's own documents (AWS General Reference, "Examples of the complete Signature Version 4 signing
// process").
func TestSignatureIsThatOfTheDocuments(t *testing.T) {
	r := httptest.NewRequest(http.MethodGet, "https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08", nil)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	r.Header.Set("X-Amz-Date", "20150830T123600Z")
	canonical := canonicalRequest(r, []string{"content-type", "host", "x-amz-date"}, nil)
	have := signature("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "20150830T123600Z", "20150830/us-east-1/iam/aws4_request", canonical)
	if want := "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7"; have != want {
		t.Errorf("the signature is %s, want %s, of:\n%s", have, want, canonical)
	}
}

// An instance has the identity of its role; a request that differs from the signed one has no identity.
func TestSTSKnowsWhoSigned(t *testing.T) {
	c := New(Instance{ID: "i-0123456789abcdef0", Region: "us-east-1", Role: "node"})
	credentials := c.roleCredentials(c.current())
	id, secret, token := credentials["AccessKeyId"].(string), credentials["SecretAccessKey"].(string), credentials["Token"].(string)
	ask := func(at time.Time, change func(*http.Request, url.Values)) (status int, body string) {
		t.Helper()
		stamp := at.UTC().Format(sigTime)
		scope := stamp[:8] + "/us-east-1/sts/aws4_request"
		query := url.Values{
			"Action": {"GetCallerIdentity"}, "Version": {"2011-06-15"}, "X-Amz-Algorithm": {sigAlgorithm}, "X-Amz-Credential": {id + "/" + scope},
			"X-Amz-Date": {stamp}, "X-Amz-Expires": {"60"}, "X-Amz-Security-Token": {token}, "X-Amz-SignedHeaders": {"host;x-k8s-aws-id"},
		}
		r := httptest.NewRequest(http.MethodGet, "https://sts.us-east-1.amazonaws.com/?"+query.Encode(), nil)
		r.Header.Set("X-K8s-Aws-Id", "prod")
		query.Set("X-Amz-Signature", signature(secret, stamp, scope, canonicalRequest(r, []string{"host", "x-k8s-aws-id"}, nil)))
		change(r, query)
		r.URL.RawQuery = query.Encode()
		w := httptest.NewRecorder()
		c.STS().ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	status, body := ask(time.Now(), func(*http.Request, url.Values) {})
	var answer map[string]map[string]map[string]string
	if err := json.Unmarshal([]byte(body), &answer); status != http.StatusOK || err != nil {
		t.Fatalf("%d %v: %s", status, err, body)
	}
	if arn := answer["GetCallerIdentityResponse"]["GetCallerIdentityResult"]["Arn"]; arn != "arn:aws:sts::"+Account+":assumed-role/node/i-0123456789abcdef0" {
		t.Errorf("it is %s", arn)
	}
	for name, change := range map[string]func(*http.Request, url.Values){
		"another cluster":   func(r *http.Request, _ url.Values) { r.Header.Set("X-K8s-Aws-Id", "other") },
		"another host":      func(r *http.Request, _ url.Values) { r.Host = "sts.eu-west-1.amazonaws.com" },
		"another method":    func(r *http.Request, _ url.Values) { r.Method = http.MethodHead },
		"another parameter": func(_ *http.Request, q url.Values) { q.Set("X-Amz-Expires", "61") },
		"another key":       func(_ *http.Request, q url.Values) { q.Set("X-Amz-Credential", "ASIA"+q.Get("X-Amz-Credential")) },
		"another token":     func(_ *http.Request, q url.Values) { q.Set("X-Amz-Security-Token", token+"x") },
		"no signature":      func(_ *http.Request, q url.Values) { q.Del("X-Amz-Signature") },
		"no algorithm":      func(_ *http.Request, q url.Values) { q.Del("X-Amz-Algorithm") },
		"fewer headers":     func(_ *http.Request, q url.Values) { q.Set("X-Amz-SignedHeaders", "x-k8s-aws-id") },
	} {
		if status, body := ask(time.Now(), change); status == http.StatusOK || strings.Contains(body, "assumed-role") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	for _, age := range []time.Duration{sigLife + time.Minute, -sigLife - time.Minute} {
		if status, body := ask(time.Now().Add(-age), func(*http.Request, url.Values) {}); status != http.StatusForbidden {
			t.Errorf("signed %s ago: %d %s", age, status, body)
		}
	}
}
