package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
)

// isExitCode reports whether an argument names an exit code.
func isExitCode(arg string) bool {
	return strings.HasPrefix(arg, "ERR_") || arg == "SUCCESS" || arg != "" && strings.Trim(arg, "0123456789") == ""
}

func explainCode(s cli.Streams, arg, output string) error {
	code, err := findCode(arg)
	if err != nil {
		return err
	}
	if output == command.AsJSON {
		return command.WriteJSON(s, code)
	}
	return command.Write(s, codeText(code, cli.StyleOf(s.Out)))
}

// findCode finds an exit code by its number or name.
func findCode(arg string) (exitcode.Code, error) {
	n, err := strconv.Atoi(arg)
	if err == nil {
		if code, ok := exitcode.Lookup(n); ok {
			return code, nil
		}
		return exitcode.Code{}, command.Failed("%s is not an exit code of provisioning", arg)
	}
	all := exitcode.All()
	if i := slices.IndexFunc(all, func(c exitcode.Code) bool { return c.Name == arg }); i >= 0 {
		return all[i], nil
	}
	var names []string
	for _, c := range all {
		names = append(names, c.Name)
	}
	hint := ""
	if near := nearest(arg, names); len(near) > 0 {
		hint = "did you mean " + cli.List(near, "or") + "?"
	}
	return exitcode.Code{}, &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf("%s is not the name of an exit code", arg), Hint: hint}
}

// codeText is an exit code for people.
func codeText(code exitcode.Code, style cli.Style) string {
	w := &explanationWriter{style: style}
	w.line("%s", style.Bold(fmt.Sprintf("%d %s", code.Number, code.Name)))
	w.line("")
	w.entry("Meaning", cli.Wrap(code.Meaning, textWidth-labelWidth)...)
	w.entry("To do", cli.Wrap(code.Action, textWidth-labelWidth)...)
	from := "Slipway"
	if code.Source == exitcode.AKS {
		from = "the scripts of AKS images; Slipway itself never returns it"
	}
	w.entry("From", from)
	return w.out.String()
}
