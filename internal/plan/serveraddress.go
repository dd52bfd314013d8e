package plan

import "net/url"

// serverAddress is where a server listens: its host, and its port.
func serverAddress(u *url.URL) string {
	if u.Port() != "" {
		return u.Host
	}
	return u.Host + ":" + httpsPort
}

// httpsPort is that of a server that names none.
const httpsPort = "443"
