package antiphon_test

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"google.golang.org/grpc"
)

// connect serves what register registers on a unix socket and connects to it,
// for as long as the test runs.
func connect(t *testing.T, register func(*grpc.Server)) *grpc.ClientConn {
	t.Helper()
	// The path of a socket is short: t.TempDir has the test's name in it.
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	path := filepath.Join(folder, "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	register(server)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	connection, err := grpc.Dial("unix:"+path, grpc.WithInsecure())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { connection.Close() })
	return connection
}
