package metadata

import (
	"context"
	"net/http"
	"net/url"
)

// identityPath gives a token of one of the machine's identities:
// https://learn.microsoft.com/entra/identity/managed-identities-azure-resources/how-to-use-vm-token
const identityPath = "/metadata/identity/oauth2/token?api-version=2018-02-01"

// maxIdentity bounds the document with a token, which has some 2 KiB.
const maxIdentity = 64 << 10

// IdentityToken returns an access token for an audience, of the identity with this client ID, with patience; it is secret. The
// error is an *Error, and ErrNotFound for a cloud that gives no such tokens.
func (s *Service) IdentityToken(ctx context.Context, audience, clientID string) (string, error) {
	return insist(ctx, func(ctx context.Context) (string, *failure) {
		if !s.identities {
			return "", failed(s.addresses[0], NotFound, "gives no token of an identity")
		}
		where := s.addresses[0] + identityPath
		query := url.Values{"resource": {audience}, "client_id": {clientID}}
		got, f := exchange(ctx, s.client, question{
			method: http.MethodGet, url: where + "&" + query.Encode(), header: s.header,
			limit: maxIdentity, refused: []string{htmlType}, policy: s.policy,
		})
		if f != nil {
			return "", f
		}
		var d struct {
			Token string `json:"access_token"`
		}
		if !decode(got.body, &d) || !printable(d.Token, maxIdentity) {
			return "", failed(where, WrongType, "the answer has no token")
		}
		return d.Token, nil
	})
}
