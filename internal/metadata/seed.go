package metadata

import (
	"context"
	"net/http"
	"net/url"
	"strings"
)

// seedPolicy: a seed consists of files on a web server, so a missing file is missing for good.
var seedPolicy = policy{again: []int{http.StatusRequestTimeout, http.StatusTooManyRequests}}

// FetchURL returns a document of NoCloud's network seed, of at most MaxUserData bytes: name is "user-data" or
// "meta-data", and base the URL, http or https, that the firmware or the kernel's command line gives. Like cloud-init,
// it appends name to base, with a slash in between if base ends in none and has no query. If name is empty, it fetches
// base itself.
//
// It retries, connects to any address, uses no proxy and follows no redirect. The error is an *Error, and ErrNotFound
// if there is no such document or it is empty. It does not repeat a password in the URL.
func FetchURL(ctx context.Context, base, name string) ([]byte, error) {
	address := base
	if name != "" && !strings.HasSuffix(base, "/") && !strings.Contains(base, "?") {
		address += "/"
	}
	address += name
	parsed, err := url.Parse(address)
	if err != nil || parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return nil, failed(redacted(address), WrongType, "is not an http or https URL").error(0, 0, nil)
	}
	client := newClient(anywhere, nil, 0)
	return retry(ctx, func(ctx context.Context) ([]byte, *failure) {
		got, f := exchange(ctx, client, question{
			method: http.MethodGet, url: address, limit: MaxUserData, refused: []string{htmlType}, policy: seedPolicy,
		})
		if f == nil && len(got.body) == 0 {
			return nil, failed(parsed.Redacted(), NotFound, "is empty")
		}
		return got.body, f
	})
}
