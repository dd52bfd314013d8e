package fakecloud

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// ECRUser is the user of every login to an AWS registry (Amazon ECR User Guide, "Private registry authentication").
const ECRUser = "AWS"

// loginLife is how long a login is valid.
const loginLife = 12 * time.Hour

// ECR answers as AWS's image registry does to a request for a login (Amazon ECR API Reference, GetAuthorizationToken). It returns
// this password to a machine's role. It checks the signature itself.
func (c *Cloud) ECR(password string) http.Handler {
	fail := func(w http.ResponseWriter, status int, code, text string) {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"__type": code, "message": text})
	}
	return c.service("ecr", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := c.signer(r, inHeader(r), "ecr", "api.ecr")
		switch {
		case r.Method != http.MethodPost || r.Header.Get("X-Amz-Target") != "AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken":
			fail(w, http.StatusBadRequest, "UnknownOperationException", "only GetAuthorizationToken is known")
		case err != nil:
			code, text, _ := strings.Cut(err.Error(), ": ")
			fail(w, http.StatusBadRequest, code, text)
		default:
			w.Header().Set("Content-Type", "application/x-amz-json-1.1")
			_ = json.NewEncoder(w).Encode(map[string]any{"authorizationData": []any{map[string]any{
				"authorizationToken": base64.StdEncoding.EncodeToString([]byte(ECRUser + ":" + password)),
				"expiresAt":          float64(time.Now().Add(loginLife).Unix()),
				"proxyEndpoint":      "https://" + Account + ".dkr." + strings.TrimPrefix(r.Host, "api."),
			}}})
		}
	}))
}
