package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
)

// IsCode reports whether a name is an exit code's, or a number, and not a field's.
func IsCode(name string) bool {
	return strings.HasPrefix(name, "ERR_") || name == "SUCCESS" || name != "" && strings.Trim(name, "0123456789") == ""
}

// Code finds an exit code by its number or name. The error is a [NotFoundError].
func Code(name string) (exitcode.Code, error) {
	n, err := strconv.Atoi(name)
	if err == nil {
		if code, ok := exitcode.Lookup(n); ok {
			return code, nil
		}
		return exitcode.Code{}, &NotFoundError{Err: fmt.Errorf("%s is not an exit code of provisioning", name)}
	}
	all := exitcode.All()
	if i := slices.IndexFunc(all, func(c exitcode.Code) bool { return c.Name == name }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	return exitcode.Code{}, notFound(fmt.Errorf("%s is not the name of an exit code", name), name, names, "")
}
