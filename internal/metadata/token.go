package metadata

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	// tokenLife is how long a token is asked to be good for, which is the longest that can be had: EC2 User
	// Guide, "How Instance Metadata Service Version 2 works".
	tokenLife = 6 * time.Hour
	// tokenReserve is how long one is good for that is still used.
	tokenReserve = time.Minute
)

// renew fetches a token, unless the one that there is stays good for a while. The service's first version,
// which has none, is not fallen back to: whoever can make the machine send a request could ask it too.
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
			f.kind = Status // a service without tokens, which says nothing about the document
		}
		return f
	}
	if !printable(string(got.body), maxToken) {
		return failed(address+ec2TokenPath, WrongType, "the answer is not a token")
	}
	s.secret, s.until = string(got.body), until
	return nil
}

// printable reports whether a value can be sent back in a header: it has a byte at least, limit at most, and
// only visible ones of ASCII.
func printable(value string, limit int) bool {
	return value != "" && len(value) <= limit && !strings.ContainsFunc(value, func(r rune) bool { return r <= ' ' || r > '~' })
}
