package main
import ("github.com/spf13/cobra";"github.com/slipway-dev/slipway/internal/cli")
func newDiff(s cli.Streams) *cobra.Command { return &cobra.Command{Use:"diff",Run:func(*cobra.Command,[]string){}} }
func newExplain(s cli.Streams) *cobra.Command { return &cobra.Command{Use:"explain",Run:func(*cobra.Command,[]string){}} }
