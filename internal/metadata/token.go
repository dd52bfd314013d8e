package metadata

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// tokenLife is the requested lifetime of a token, the longest possible: EC2 User Guide, "How Instance Metadata
	// Service Version 2 works".
	tokenLife = 6 * time.Hour
	// tokenReserve is the remaining lifetime below which a token is not used any more.
	tokenReserve = time.Minute
)

// renew fetches a token, unless the present one stays valid for a while. There is no fallback to the service's first
// version, which has no tokens: a program that can make the machine send a request could use that, too.
func (s *Service) renew(ctx context.Context, address string) *failure {
	if s.secret != "" && time.Until(s.until) > tokenReserve {
		return nil
	}
	until := time.Now().Add(tokenLife)
	got, f := exchange(ctx, s.client, question{
		method: http.MethodPut, url: address + ec2TokenPath,
		header: map[string]string{s.token + "-ttl-seconds": strconv.Itoa(int(tokenLife / time.Second))},
		limit:  maxToken, refused: []string{htmlType, jsonType}, policy: s.policy,
	})
	if f != nil {
		if f.kind == NotFound {
			f.kind = Status // a service without tokens, which is no answer about the document
		}
		return f
	}
	if !printable(string(got.body), maxToken) {
		return failed(address+ec2TokenPath, WrongType, "the answer is not a token")
	}
	s.secret, s.until = string(got.body), until
	return nil
}

// printable reports whether a value can be sent back in a header: it has one to limit bytes, all visible ASCII.
func printable(value string, limit int) bool {
	return value != "" && len(value) <= limit && !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' })
}
