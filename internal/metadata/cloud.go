package metadata

import (
	"net/http"
	"time"

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
	overIPv6 = "http://[fd00:ec2::254]"

	htmlType = "text/html"
	jsonType = "application/json"

	ec2TokenPath = "/latest/api/token"
	ec2Token     = "X-aws-ec2-metadata-token"
)

// connectTimeout bounds a connection being made where there is another address. It is half of the first try,
// so that the other one has its share.
const connectTimeout = firstTry / 2

// Azure: https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service, "Errors and debugging":
// 410 for 70 seconds at most, while the service is updated, 429 beyond five requests a second. 404 is
// answered for a moment then too, "Managed identities, Error handling"; a machine without user data is
// answered 200, with nothing. EC2: User Guide, "Use instance metadata": 404 where there is no user data, 403
// where the service is turned off, 503 for "again, please".
var clouds = map[string]cloud{
	"azure": {
		addresses: []string{overIPv4},
		reach:     onLink,
		header:    map[string]string{"Metadata": "true"},
		policy:    policy{again: []int{http.StatusRequestTimeout, http.StatusGone, http.StatusTooManyRequests}, settle: 10 * time.Second},
		userData:  document{"/metadata/instance/compute/userData?api-version=2021-01-01&format=text", maxEncoded, []string{htmlType, jsonType}},
		encoded:   true,
		instance:  document{"/metadata/instance?api-version=2021-08-01", maxInstance, []string{htmlType}},
		describe:  describeAzure,

		tags:         document{"/metadata/instance/compute/tagsList?api-version=2021-08-01", maxInstance, []string{htmlType}},
		describeTags: describeAzureTags,
		identities:   true,
	},
	"ec2": {
		addresses: []string{overIPv4, overIPv6},
		reach:     onLinkOrEC2,
		token:     ec2Token,
		policy:    policy{again: []int{http.StatusRequestTimeout, http.StatusTooManyRequests}},
		userData:  document{"/latest/user-data", MaxUserData, []string{htmlType, jsonType}},
		instance:  document{"/latest/dynamic/instance-identity/document", maxInstance, []string{htmlType}},
		describe:  describeEC2,
		lifecycle: document{"/latest/meta-data/instance-life-cycle", maxHostname, []string{htmlType, jsonType}},
		hostname:  document{"/latest/meta-data/local-hostname", maxHostname, []string{htmlType, jsonType}},
	},
}

// Clouds are the names of the clouds whose metadata services are known.
func Clouds() []string { return []string{"azure", "ec2"} }
