package main

import (
	"bufio"
	"encoding/json"
	"io"
	"log"
	"os"

	"k8s.io/klog/v2"
)

// Question is a kubelet's input and its machine. A line of the program's input is one question in JSON.
type Question struct {
	// Config is the content of the file that --config names.
	Config string `json:"config"`
	// Args are the words of the command line after the program's name.
	Args []string `json:"args"`
	// CredentialProviders is the content of the file that --image-credential-provider-config names.
	CredentialProviders string  `json:"credentialProviders,omitempty"`
	Machine             Machine `json:"machine"`
}

// Machine is what a kubelet detects on its machine.
type Machine struct {
	CPUs        int    `json:"cpus"`
	NUMANodes   int    `json:"numaNodes"`
	MemoryBytes uint64 `json:"memoryBytes"`
	// CgroupVersion is 1 or 2.
	CgroupVersion int `json:"cgroupVersion"`
	// Swap reports whether the machine swaps.
	Swap bool `json:"swap,omitempty"`
}

// Answer is the kubelet's answer to a question. A line of the output is one answer, in the order of the questions.
type Answer struct {
	// Refused is why the kubelet would end. It is empty if it would start.
	Refused string `json:"refused,omitempty"`
	// By is the step of the start that refuses.
	By string `json:"by,omitempty"`
}

func main() {
	log.SetFlags(0)
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	scratch, err := os.MkdirTemp("", "kubelet")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(scratch)
	judge := newJudge(scratch)
	in, out := json.NewDecoder(bufio.NewReaderSize(os.Stdin, 1<<20)), bufio.NewWriter(os.Stdout)
	for {
		var q Question
		if err := in.Decode(&q); err == io.EOF {
			break
		} else if err != nil {
			log.Fatal(err)
		}
		if err := json.NewEncoder(out).Encode(judge.answer(q)); err != nil {
			log.Fatal(err)
		}
		if err := out.Flush(); err != nil {
			log.Fatal(err)
		}
	}
}
