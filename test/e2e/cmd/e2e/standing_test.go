package main

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStandingProcess(t *testing.T) {
	repo := t.TempDir()
	if err := os.MkdirAll(filepath.Dir(standingDir(repo)), 0o755); err != nil {
		t.Fatal(err)
	}
	if pid, err := standing(repo); pid != 0 || err != nil {
		t.Errorf("with no lab there is process %d, %v", pid, err)
	}
	if err := writeProcess(repo, os.Getpid()); err != nil {
		t.Fatal(err)
	}
	if pid, err := standing(repo); pid != os.Getpid() || err != nil {
		t.Errorf("the lab is process %d, %v, want %d", pid, err, os.Getpid())
	}
	// Another process has the number now.
	note, err := os.ReadFile(processFile(repo))
	if err != nil {
		t.Fatal(err)
	}
	other := strings.TrimSpace(string(note)) + "1\n"
	if err := os.WriteFile(processFile(repo), []byte(other), 0o644); err != nil {
		t.Fatal(err)
	}
	if pid, err := standing(repo); pid != 0 || err != nil {
		t.Errorf("another process, %d, is taken for the lab: %v", pid, err)
	}
	if _, err := os.Stat(processFile(repo)); err == nil {
		t.Error("the note of a process that is gone stays")
	}
}

func TestForward(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	go func() {
		conn, err := server.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		asked, err := io.ReadAll(conn)
		if err == nil {
			conn.Write(append([]byte("answer to "), asked...))
		}
	}()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer front.Close()
	go forward(front, server.Addr().String())
	conn, err := net.Dial("tcp", front.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("question")); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil || string(answer) != "answer to question" {
		t.Errorf("the answer is %q, %v", answer, err)
	}
}
