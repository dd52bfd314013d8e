package main
import ("github.com/spf13/cobra";"github.com/slipway-dev/slipway/internal/cli")
func newExplain(s cli.Streams) *cobra.Command { return &cobra.Command{Use:"explain",Run:func(*cobra.Command,[]string){}} }
