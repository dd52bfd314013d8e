package metadata

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/facts"
)

// cloud is a cloud's metadata service, as far as the agent uses it.
type cloud struct {
	// addresses are its addresses, in the order of trying.
	addresses []string
	reach     reach
	// header is the header of every request.
	header map[string]string
	// token is the header for a token that is fetched first. It may be empty.
	token    string
	policy   policy
	userData document
	// encoded reports whether the cloud encodes the user data in base64, in addition to the user's encodings.
	encoded  bool
	instance document
	describe func(data []byte) (facts.Instance, bool)
	// tags are the machine's tags alone, if the cloud has known tags.
	tags         document
	describeTags func(data []byte) (facts.Tags, bool)
	// lifecycle is a document with the machine's purchase option, if the instance's document does not have it.
	lifecycle document
	// hostname is a separate document with the name, if the instance's document does not have it.
	hostname document
	// role has the name of the machine's role, and below it the role's credentials, if the cloud has roles.
	role document
	// identities reports whether it gives tokens of the machine's identities.
	identities bool
}

// document is one document of a service's.
type document struct {
	path  string
	limit int
	// refused are media types of error pages, and of a service that does not support the request.
	refused []string
}

const (
	// overIPv4 is a link-local address, on both clouds.
	overIPv4 = "http://169.254.169.254"

	htmlType = "text/html"
	jsonType = "application/json"
)

// connectTimeout limits connecting if there is another address. It is half of the first try, so that the other address
// gets the rest.
const connectTimeout = firstTry / 2

// clouds are all clouds, by the names of their platforms ([facts.Platform]). Each is in a file that registers it.
var clouds = make(map[string]cloud)

// register adds a cloud. From it follow a source of contracts, NAME-imds, and a choice of "slipway-node watch
// --metadata".
func register(platform string, c cloud) bool {
	clouds[platform] = c
	return true
}

// Clouds are the names of the clouds with known metadata services, sorted.
func Clouds() []string { return slices.Sorted(maps.Keys(clouds)) }
