package compile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/nodeconfig/dialect"
)

// unwrap returns the contract in a document that is user data, such as a MIME archive: a file is read as the agent reads the
// same bytes from a metadata service. It returns another document unchanged. The problems are set if the user data has no contract.
func unwrap(d Document, as Reading) (Document, []nodeconfig.Problem) {
	if !envelope.IsUserData(d.Data) || dialect.Claims(d.Data, as.Dialect) {
		return d, nil
	}
	found, err := envelope.Open(d.Data, profile.ContractPaths())
	if err == nil {
		return Document{Name: strings.TrimSpace(d.Name + " (in " + strings.Join(found.Wrapping, ", ") + ")"), Data: found.Data}, nil
	}
	reason := err.Error()
	if none, ok := errors.AsType[*envelope.NoneError](err); ok {
		reason = fmt.Sprintf("is user data without a contract: it has %s; %s", strings.Join(none.Seen, ", and "), dialect.Wanted())
	}
	problem := nodeconfig.Problem{Kind: nodeconfig.Invalid, Path: "$", Reason: reason, Fatal: true}
	return d, append([]nodeconfig.Problem{problem}, dialect.Embedded(d.Data, as.Dialect)...)
}
