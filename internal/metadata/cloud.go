package metadata

import (
	"maps"
	"slices"

	"github.com/slipway-dev/slipway/internal/facts"
)

// cloud is a cloud's metadata service, as far as it is asked.
type cloud struct {
	// addresses are where it is, in the order in which they are tried.
	addresses []string
	reach     reach
	// header is what every question has.
	header map[string]string
	// token is the header of a token that is fetched first; empty for none.
	token    string
	policy   policy
	userData document
	// encoded says that the user data is in base64, by the cloud and besides what the user has done to it.
	encoded  bool
	instance document
	describe func(data []byte) (facts.Instance, bool)
	// tags are the machine's tags alone, where the cloud has any that are known.
	tags         document
	describeTags func(data []byte) (facts.Tags, bool)
	// lifecycle is a document with how the machine was bought, where the instance's does not say it.
	lifecycle document
	// hostname is a document of its own where the instance's has none.
	hostname document
	// role has the name of the machine's role, and below it the role's credentials, where the cloud has such.
	role document
	// identities says that it gives tokens of the machine's identities.
	identities bool
}

// document is one document of a service's.
type document struct {
	path  string
	limit int
	// refused are media types of error pages, and of a service that does not know the question.
	refused []string
}

const (
	// overIPv4 is a link-local address, on both clouds.
	overIPv4 = "http://169.254.169.254"

	htmlType = "text/html"
	jsonType = "application/json"
)

// connectTimeout bounds a connection being made where there is another address. It is half of the first try,
// so that the other one has its share.
const connectTimeout = firstTry / 2

// clouds are all clouds, by the names of their platforms ([facts.Platform]). Each is in a file that registers it.
var clouds = make(map[string]cloud)

// register adds a cloud. A source of contracts, NAME-imds, and a choice of "slipway-node watch --metadata" follow from that.
func register(platform string, c cloud) bool {
	clouds[platform] = c
	return true
}

// Clouds are the names of the clouds whose metadata services are known, sorted.
func Clouds() []string { return slices.Sorted(maps.Keys(clouds)) }
