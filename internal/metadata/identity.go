package metadata

import (
	"context"
	"net/url"
)

// identityPath is the path for a token of one of the machine's identities:
// https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
const identityPath = "/metadata/identity/oauth2/token?api-version=2018-02-01"

// maxIdentity limits the document with a token, which has some 2 KiB.
const maxIdentity = 64 << 10

// IdentityToken returns an access token for an audience, of the identity with this client ID. It retries. The token is
// secret. The error is an *Error, and ErrNotFound for a cloud without such tokens.
func (s *Service) IdentityToken(ctx context.Context, audience, clientID string) (string, error) {
	return retry(ctx, func(ctx context.Context) (string, *failure) {
		if !s.identities {
			return "", failed(s.addresses[0], NotFound, "gives no token of an identity")
		}
		path := identityPath + "&resource=" + url.QueryEscape(audience) + "&client_id=" + url.QueryEscape(clientID)
		return described(ctx, s, document{path, maxIdentity, []string{htmlType}}, func(data []byte) (string, bool) {
			var d struct {
				Token string `json:"access_token"`
			}
			if !decode(data, &d) || !printable(d.Token, maxIdentity) {
				return "", false
			}
			return d.Token, true
		}, "the answer has no token")
	})
}
