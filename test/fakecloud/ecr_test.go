package fakecloud

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A machine's role gets a login; a request that differs from the signed one gets no password.
func TestECRKnowsWhoSigned(t *testing.T) {
	c := New(Instance{ID: "i-0123456789abcdef0", Region: "us-east-1", Role: "node"})
	credentials := c.roleCredentials(c.current())
	id, secret, token := credentials["AccessKeyId"].(string), credentials["SecretAccessKey"].(string), credentials["Token"].(string)
	ask := func(signed, sent string, change func(*http.Request)) (status int, body string) {
		t.Helper()
		stamp := time.Now().UTC().Format(sigTime)
		scope, headers := stamp[:8]+"/us-east-1/ecr/aws4_request", []string{"content-length", "host", "x-amz-date", "x-amz-security-token", "x-amz-target"}
		r := httptest.NewRequest(http.MethodPost, "https://api.ecr.us-east-1.amazonaws.com/", strings.NewReader(sent))
		r.Header.Set("X-Amz-Date", stamp)
		r.Header.Set("X-Amz-Security-Token", token)
		r.Header.Set("X-Amz-Target", "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken")
		sum := signature(secret, stamp, scope, canonicalRequest(r, headers, []byte(signed)))
		r.Header.Set("Authorization", sigAlgorithm+" Credential="+id+"/"+scope+", SignedHeaders="+strings.Join(headers, ";")+", Signature="+sum)
		change(r)
		w := httptest.NewRecorder()
		c.ECR("open sesame").ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	status, body := ask("{}", "{}", func(*http.Request) {})
	var answer struct {
		AuthorizationData []struct{ AuthorizationToken, ProxyEndpoint string }
	}
	if err := json.Unmarshal([]byte(body), &answer); status != http.StatusOK || err != nil || len(answer.AuthorizationData) != 1 {
		t.Fatalf("%d %v: %s", status, err, body)
	}
	data := answer.AuthorizationData[0]
	login, _ := base64.StdEncoding.DecodeString(data.AuthorizationToken)
	if string(login) != "AWS:open sesame" || data.ProxyEndpoint != "https://"+Account+".dkr.ecr.us-east-1.amazonaws.com" {
		t.Errorf("the login is %q, for %s", login, data.ProxyEndpoint)
	}
	for name, change := range map[string]func(*http.Request){
		"another host":   func(r *http.Request) { r.Host = "api.ecr.eu-west-1.amazonaws.com" },
		"another method": func(r *http.Request) { r.Method = http.MethodPut },
		"another token":  func(r *http.Request) { r.Header.Set("X-Amz-Security-Token", token+"x") },
		"no signature":   func(r *http.Request) { r.Header.Del("Authorization") },
		"another action": func(r *http.Request) { r.Header.Set("X-Amz-Target", "AmazonEC2ContainerRegistry_V20150921.ListImages") },
	} {
		if status, body := ask("{}", "{}", change); status == http.StatusOK {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	if status, body := ask("{}", "[]", func(*http.Request) {}); status == http.StatusOK {
		t.Errorf("another body: %d %s", status, body)
	}
}
