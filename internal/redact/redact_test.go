package redact

import (
	"strings"
	"testing"
	"unicode/utf8"
)

const token = "abcdef.0123456789abcdef"

const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln-_"

// texts are texts with secrets, and without.
var texts = map[string]string{
	"--token=" + token:                                                        "--token=[redacted]",
	`{"token":"` + token + `"} and ` + token:                                  `{"token":"[redacted]"} and [redacted]`,
	"x" + token + "y":                                                         "x[redacted]y", // redacting too much is better than too little
	"Authorization: Bearer " + token:                                          "Authorization: Bearer [redacted]",
	"Authorization: Bearer opaque-0123456789":                                 "Authorization: Bearer [redacted]",
	`-H "Authorization: Basic dXNlcjpwYXNz"`:                                  `-H "Authorization: Basic [redacted]"`,
	"Authorization: opaque":                                                   "Authorization: [redacted]",
	"Proxy-Authorization: Basic Q0FOQVJZ":                                     "Proxy-Authorization: Basic [redacted]",
	"X-Registry-Auth: canary, X-aws-ec2-metadata-token: canary":               "X-Registry-Auth: [redacted], X-aws-ec2-metadata-token: [redacted]",
	"X-Amz-Security-Token=canary":                                             "X-Amz-Security-Token=[redacted]",
	"Set-Cookie: session=canary; Path=/":                                      "Set-Cookie: [redacted]",
	"k8s-aws-v1.aHR0cHM6Ly9zdHM expired":                                      "[redacted] expired",
	"-----BEGIN EC PRIVATE KEY----- aa bb -----END EC PRIVATE KEY----- next":  "[redacted] next",
	"-----BEGIN PRIVATE KEY-----\naa\nbb":                                     "[redacted]",
	"http://user:p@canary@proxy:3128: refused":                                "http://[redacted]@proxy:3128: refused",
	"http://user:pcanary/x@proxy:3128":                                        "http://[redacted]@proxy:3128",
	"http://canary@proxy:3128":                                                "http://[redacted]@proxy:3128",
	"oci://user:@host/a":                                                      "oci://[redacted]@host/a",
	`"https://a:b@c/", "https://d/e@f"`:                                       `"https://[redacted]@c/", "https://d/e@f"`,
	"https://h/x?se=1&sig=canary%3D&sv=2":                                     "https://h/x?se=1&sig=[redacted]&sv=2",
	"https://h/x?X-Amz-Signature=canary&X-Amz-Date=1":                         "https://h/x?X-Amz-Signature=[redacted]&X-Amz-Date=1",
	"https://h/x?access_token=canary":                                         "https://h/x?access_token=[redacted]",
	"--token canary --v 5":                                                    "--token [redacted] --v 5",
	"--tls-bootstrap-token='canary' --password=\"canary\"":                    "--tls-bootstrap-token='[redacted]' --password=\"[redacted]\"",
	"--token-file /etc/token --authentication-token-webhook=true":             "--token-file /etc/token --authentication-token-webhook=true",
	"AWS_SECRET_ACCESS_KEY=canary AccountKey=canary;":                         "AWS_SECRET_ACCESS_KEY=[redacted] AccountKey=[redacted];",
	`{"auth":"canary","identitytoken":"canary","clientSecret": "canary"}`:     `{"auth":"[redacted]","identitytoken":"[redacted]","clientSecret": "[redacted]"}`,
	"https://registry:5000/a@sha256:0123":                                     "https://registry:5000/a@sha256:0123",
	"authentication failed: the key of the secret store is gone":              "authentication failed: the key of the secret store is gone",
	"bearer 0123456789abcdefXYZ":                                              "bearer [redacted]",
	"token " + jwt + " expired":                                               "token [redacted] expired",
	"proxyconnect http://me:pa55@proxy:3128 failed":                           "proxyconnect http://[redacted]@proxy:3128 failed",
	"dial https://api.example.org:443/x?y=a:b@c":                              "dial https://api.example.org:443/x?y=a:b@c",
	"failed to load /etc/kubernetes/kubelet.conf":                             "failed to load /etc/kubernetes/kubelet.conf",
	"the bearer token is invalid; basic settings are kept":                    "the bearer token is invalid; basic settings are kept",
	"pull registry.k8s.io/pause:3.10@sha256:0123456789abcdef0123456789abcdef": "pull registry.k8s.io/pause:3.10@sha256:0123456789abcdef0123456789abcdef",
	"node aks-pool-12345678-vmss000000.internal.cloudapp.net":                 "node aks-pool-12345678-vmss000000.internal.cloudapp.net",
	`parse "http://user:p canary@proxy:3128": bad`:                            `parse "http://[redacted]@proxy:3128": bad`,
	"http://user:p canary@proxy:3128":                                         "http://[redacted]@proxy:3128",
	"HTTPS_PROXY=user:canary@proxy:3128":                                      "HTTPS_PROXY=[redacted]@proxy:3128",
	"connect to proxy user:c@nary@proxy:3128 failed":                          "connect to proxy [redacted]@proxy:3128 failed",
	"proxy 10.0.0.1:3128 refused; write to a@b":                               "proxy 10.0.0.1:3128 refused; write to a@b",
	"http://proxy:3128 refused a@b":                                           "http://proxy:3128 refused a@b",
	"https://h/x?AWSAccessKeyId=canary&Signature=canary&Expires=1":            "https://h/x?AWSAccessKeyId=[redacted]&Signature=[redacted]&Expires=1",
	"https://h/x?a=b;sig=canary":                                              "https://h/x?a=b;sig=[redacted]",
	"https%3A%2F%2Fh%2Fx%3Fsig%3Dcanary":                                      "https%3A%2F%2Fh%2Fx%3Fsig%3D[redacted]",
	"https://h/x?subscription-key=canary&secret=canary&auth=canary":           "https://h/x?subscription-key=[redacted]&secret=[redacted]&auth=[redacted]",
	"https://h/x#access_token=canary":                                         "https://h/x#access_token=[redacted]",
	"https://h/x?author=a&code_version=2":                                     "https://h/x?author=a&code_version=2",
	`Authorization: Digest username="a", response="canary" failed`:            "Authorization: Digest [redacted] failed",
	"Authorization: AWS4-HMAC-SHA256 Credential=canary/x, Signature=canary":   "Authorization: AWS4-HMAC-SHA256 [redacted]",
	"Authorization:\tBearer\tcanary":                                          "Authorization:\tBearer\t[redacted]",
	`Authorization: Bearer "canary"`:                                          `Authorization: Bearer "[redacted]"`,
	"Authorization: SharedKey me:canary":                                      "Authorization: [redacted]",
	"--authorization-mode=Webhook":                                            "--authorization-mode=Webhook",
	"authorization failed with 401":                                           "authorization failed with 401",
	`{"authorization": {"mode": "Webhook"}}`:                                  `{"authorization": {"mode": "Webhook"}}`,
	`authorization.mode: Webhook`:                                             `authorization.mode: Webhook`,
	`{"Authorization":["canary"]}`:                                            `{"Authorization":["[redacted]"]}`,
	`{"Authorization":"canary"}`:                                              `{"Authorization":"[redacted]"}`,
	"x-ms-authorization-auxiliary: Bearer canary":                             "x-ms-authorization-auxiliary: Bearer [redacted]",
	"Cookie: a=b; c=canary; next":                                             "Cookie: [redacted]; next",
	`{"password": "can,ary canary"}`:                                          `{"password": "[redacted]"}`,
	`{"password": "a\"canary"}`:                                               `{"password": "[redacted]"}`,
	`{\"password\":\"canary\",\"a\":1}`:                                       `{\"password\":\"[redacted]\",\"a\":1}`,
	"password=[canary[b, passwd={canary":                                      "password=[redacted], passwd=[redacted]",
	"password='can ary'":                                                      "password='[redacted]'",
	`{"token":"canary","Token" : "canary", "secret":"canary"}`:                `{"token":"[redacted]","Token" : "[redacted]", "secret":"[redacted]"}`,
	"TOKEN=canary AWS_SESSION_TOKEN=canary secret=canary":                     "TOKEN=[redacted] AWS_SESSION_TOKEN=[redacted] secret=[redacted]",
	"token: canary0123456789":                                                 "token: [redacted]",
	"failed to get a token: unauthorized":                                     "failed to get a token: unauthorized",
	`id_token: canary, client-key-data: canary`:                               `id_token: [redacted], client-key-data: [redacted]`,
	`{"private_key": "canary", "certificateKey":"canary"}`:                    `{"private_key": "[redacted]", "certificateKey":"[redacted]"}`,
	"cannot read the private key: no such file":                               "cannot read the private key: no such file",
	`secret "a" not found, "secret": {"name": "a"}`:                           `secret "a" not found, "secret": {"name": "a"}`,
}

func TestSecrets(t *testing.T) {
	for text, want := range texts {
		if got := Secrets(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		" \t a\tb\r\n":                    "a b",
		"\x1b[31mred\x00\x07":             "[31mred",
		"a\u202eb\u200b\ufeff\u2028c":     "ab c",
		"\xff\xfeé":                       "é",
		"abcdef\x1b.\x000123456789abcdef": redacted, // control characters do not hide a secret
		strings.Repeat("x", 20):           strings.Repeat("x", 20),
		strings.Repeat("x", 21):           strings.Repeat("x", 17) + "...",
		strings.Repeat("é", 11):           strings.Repeat("é", 8) + "...",
		"0123456789 " + token + " more":   "0123456789 [redac...",
	} {
		got := Line(text, 20)
		if got != want || !utf8.ValidString(got) || len(got) > 20 {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
