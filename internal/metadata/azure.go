package metadata

import (
	"net/http"
	"time"

	"github.com/slipway-dev/slipway/internal/facts"
)

// Azure: https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service, "Errors and debugging": 410 for
// 70 seconds at most, while the service is updated, 429 above five requests a second. It also answers 404 for a moment
// then, "Managed identities, Error handling". For a machine without user data it answers 200 with an empty body.
var _ = register(facts.Azure, cloud{
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
})
