// Command payload is the only program in the test's container images. Without arguments it is the
// sandbox: it waits until a signal ends it. "serve ADDRESS" answers HTTP with its host name, and
// "say WORD" prints a word, for kubectl exec. It is static, and runs in an image without other
// files. test/e2e/parts builds it.
package main

import (
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		os.Exit(serve(os.Args[2]))
	case len(os.Args) == 3 && os.Args[1] == "say":
		fmt.Println(os.Args[2])
	default:
		wait()
	}
}

// serve answers every request with the host name.
func serve(address string) int {
	host, err := os.Hostname()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println("payload serves", address, "on", host)
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		fmt.Println(r.Method, r.URL.Path)
		fmt.Fprintln(w, "payload on", host)
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(address, nil))
	return 1
}

// wait runs the sandbox: it adopts orphans, and ends on a signal.
func wait() {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD)
	for s := range signals {
		if s != syscall.SIGCHLD {
			return
		}
		for {
			if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); pid <= 0 || err != nil {
				break
			}
		}
	}
}
